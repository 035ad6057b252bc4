"""`on_error: warn` and `disable`: they soften what hooks that only look do wrong, whatever it is, and nothing else."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from checks.tally import count
from hookagent import MessageOrderError, discovery
from hookagent.contract import CONTRACTS
from hookagent.testing import FakeClock
from tests.core.faults import FAULTS, forms, implementing, installed_as, observe, says
from tests.core.scripts import words
from tests.core.test_kind_by_fault import DONE, RUN_HOOKS, check

OBSERVING = [hook for hook, contract in CONTRACTS.items() if contract.softened]


def test_observing_hooks_are_these() -> None:
    assert OBSERVING == ["on_session_start", "on_session_end", "on_error", "on_event"]


SOFTENED = [fault for fault in FAULTS if not fault.startswith("cancels")]


@pytest.mark.parametrize("on_error", ["warn", "disable"])
@pytest.mark.parametrize("fault", SOFTENED)
@pytest.mark.parametrize("hook", OBSERVING)
def test_a_hook_that_only_looks_is_softened(
    hook: str, fault: str, on_error: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    called: list[str] = []

    for form in forms(hook, FAULTS[fault]):
        count("kind by fault cells")
        called.clear()
        monkeypatch.setattr(discovery, "installed", installed_as(implementing(hook, counting(form, called))))
        seen = observe("faulty", "parallel", FakeClock(), on_error=on_error)
        assert seen.failure is None
        assert words(seen.agent.session.transcript) == DONE
        assert seen.result.status == "completed"
        if hook != "on_session_end":
            said = f"hook '{hook}' {says(fault, form)}"
            assert any("plugin 'faulty'" in one and said in one for one in seen.result.warnings), seen.result.warnings
        many = on_error == "warn" and hook == "on_event"
        assert (len(called) > 1) == many


def counting(act: Any, called: list[str]) -> Any:
    """The same act, and a note of each call."""
    if not asyncio.iscoroutinefunction(act):

        def noted(given: dict[str, Any]) -> Any:
            called.append("")
            return act(given)

        return noted

    async def noted_async(given: dict[str, Any]) -> Any:
        called.append("")
        return await act(given)

    return noted_async


@pytest.mark.parametrize("on_error", ["warn", "disable"])
@pytest.mark.parametrize("hook", [hook for hook in RUN_HOOKS if hook not in OBSERVING])
def test_no_other_hook_is_softened(hook: str, on_error: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for form in forms(hook, FAULTS["exception"]):
        count("kind by fault cells")
        monkeypatch.setattr(discovery, "installed", installed_as(implementing(hook, form)))
        seen = observe("faulty", "parallel", FakeClock(), on_error=on_error)
        check(hook, seen, "parallel")
        assert (seen.failure is None) == (hook == "on_complete")


@pytest.mark.parametrize("on_error", ["warn", "disable"])
def test_no_setting_softens_a_message_that_cannot_stand_there(on_error: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(discovery, "installed", installed_as(implementing("on_error", lambda given: "a note")))
    seen = observe("faulty", "parallel", FakeClock(), on_error=on_error)
    assert isinstance(seen.raised, MessageOrderError)
    check("on_error", seen, "parallel")


def test_a_softened_overrun_is_listed_too(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = FakeClock()

    async def act(given: dict[str, Any]) -> None:
        asyncio.get_running_loop().call_soon(clock.advance, 60.5)
        await asyncio.get_running_loop().create_future()

    monkeypatch.setattr(discovery, "installed", installed_as(implementing("on_session_start", act)))
    seen = observe("faulty", "parallel", clock, on_error="warn")
    assert seen.failure is None
    assert ["overran its time limit of 60 s" in one for one in seen.result.warnings] == [True]
