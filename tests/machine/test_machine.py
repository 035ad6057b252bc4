"""The state machine, as many examples as the size of the session asks for."""

from __future__ import annotations

from hypothesis import HealthCheck, settings

from checks.tally import FULL, size
from tests.machine.machine import AgentMachine

EXAMPLES = size(300, 2_000)

TestAgentMachine = AgentMachine.TestCase
TestAgentMachine.settings = settings(
    max_examples=EXAMPLES,
    stateful_step_count=6,
    deadline=None,
    database=None,
    derandomize=not FULL,
    print_blob=True,
    suppress_health_check=list(HealthCheck),
)
