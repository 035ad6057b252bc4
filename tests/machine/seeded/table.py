"""All seeded faults, area by area."""

from __future__ import annotations

from tests.machine.seeded import gate_faults, loop_faults, provider_faults, transcript_faults, window_faults
from tests.machine.seeded.fault import Fault

FAULTS: tuple[Fault, ...] = (
    *loop_faults.FAULTS,
    *transcript_faults.FAULTS,
    *window_faults.FAULTS,
    *provider_faults.FAULTS,
    *gate_faults.FAULTS,
)

AREAS = ("loop", "transcript", "window", "providers", "gates")
"""The areas that have at least four faults each."""
