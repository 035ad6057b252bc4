"""The machine finds every seeded fault, and nothing where there is none; at the full size only, since it takes long."""

from __future__ import annotations

import pytest

from checks.tally import FULL, count
from tests.machine.seeded.__main__ import control, hunt
from tests.machine.seeded.fault import Fault
from tests.machine.seeded.table import FAULTS

pytestmark = pytest.mark.skipif(not FULL, reason="takes long: python -m tests.machine.seeded, or tox -e prove")


def test_nothing_is_found_in_a_copy_without_a_fault() -> None:
    verdict = control()
    assert verdict.found, verdict.said


@pytest.mark.parametrize("fault", FAULTS, ids=[fault.name for fault in FAULTS])
def test_a_seeded_fault_is_found(fault: Fault) -> None:
    verdict = hunt(fault)
    count("seeded faults found", int(verdict.found))
    assert verdict.found, verdict.said
