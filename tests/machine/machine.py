"""The state machine: one session, and everything that can be done with it, in any order."""

from __future__ import annotations

from typing import Any

from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

from checks.tally import count
from tests.machine.plans import Plan, Setup, plans, setups
from tests.machine.session import FoundError, MachineSession


class AgentMachine(RuleBasedStateMachine):
    """Drives the real agent; each step looks at everything that must hold."""

    def __init__(self) -> None:
        super().__init__()
        self.session: Any = None
        count("machine examples")

    @initialize(setup=setups())
    def begin(self, setup: Setup) -> None:
        """Make an agent."""
        self.session = MachineSession(setup)

    @rule(plan=plans())
    def run(self, plan: Plan) -> None:
        """Give it a prompt."""
        self._step(lambda: self.session.run(plan))

    @precondition(lambda self: self.session is not None and self.session.may_go_on)
    @rule(plan=plans())
    def go_on(self, plan: Plan) -> None:
        """Let it go on without a prompt."""
        self._step(lambda: self.session.run(plan, prompt=False))

    def teardown(self) -> None:
        """Close the session, and count what was checked."""
        if self.session is None:
            return
        self.session.finish()
        count("requests checked", self.session.world.checked)
        count("requests refused", self.session.world.refused)

    def _step(self, step: Any) -> None:
        count("machine steps")
        try:
            step()
        except AssertionError:
            raise
        except Exception as error:
            raise FoundError(f"raised: {type(error).__name__}: {error}") from error
