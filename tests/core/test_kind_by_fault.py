"""Every hook by every fault: what the run becomes, that nothing is lost or left open, and who is named."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from hookagent import MessageOrderError, PluginError, PluginLoadError, discovery
from hookagent.contract import CONTRACTS
from hookagent.events import HookReport
from hookagent.testing import FakeClock
from hookagent.transcript import Transcript
from tests.core.faults import DISTRIBUTION, Act, Seen, implementing, installed_as, observe
from tests.core.scripts import words

NOT_RUN = ["U go", "A c1 c2", "R c1 not_run", "R c2 not_run"]
RAN = ["U go", "A c1 c2", "R c1 ok", "R c2 error"]
DONE = [*RAN, "A done"]
# hook -> the transcript when it failed, in a parallel and in a sequential round
LEFT: dict[str, tuple[list[str], list[str]]] = {
    "on_session_start": ([], []),
    "on_session_end": (DONE, DONE),
    "after_user_input": ([], []),
    "before_llm": (["U go"], ["U go"]),
    "shape_request": (["U go"], ["U go"]),
    "wrap_model_call": (["U go"], ["U go"]),
    "after_llm": (NOT_RUN, NOT_RUN),
    "before_tools": (NOT_RUN, NOT_RUN),
    "before_each_tool": (NOT_RUN, NOT_RUN),
    "resolve_suspended": (NOT_RUN, NOT_RUN),
    "wrap_tool_call": (
        ["U go", "A c1 c2", "R c1 error", "R c2 error"],
        ["U go", "A c1 c2", "R c1 error", "R c2 not_run"],
    ),
    "after_each_tool": (RAN, ["U go", "A c1 c2", "R c1 ok", "R c2 not_run"]),
    "on_error": (RAN, RAN),
    "after_tools": (RAN, RAN),
    "before_complete": (DONE, DONE),
    "on_complete": (DONE, DONE),
    "on_event": (["U go"], ["U go"]),
}
QUIET = ("on_error", "on_event", "on_complete", "on_session_end")
"""Hooks whose failure `on_error` is not told of."""
MESSAGE_REFUSED = ("before_each_tool", "resolve_suspended", "wrap_tool_call", "after_each_tool", "on_error")
RUN_HOOKS = list(LEFT)
MODES = ["parallel", "sequential"]


def raising(error: type[BaseException]) -> Act:
    def act(given: dict[str, Any]) -> Any:
        raise error("broken")

    return act


def wrong_type(given: dict[str, Any]) -> Any:
    return object()


def reentering(given: dict[str, Any]) -> Any:
    return given["agent"].run_sync("again")


async def reentering_async(given: dict[str, Any]) -> Any:
    return await given["agent"].run("again")


def mutating(given: dict[str, Any]) -> Any:
    if "tool_calls" in given:
        given["tool_calls"][0].arguments["n"] = 5
    elif "pending" in given:
        given["pending"][0].call.arguments.update(n=5)
    elif "result" in given:
        given["result"].content = "mine"
    elif given.get("tool_call") is not None and "error" not in given:
        given["tool_call"].arguments["n"] = 5
    elif "response" in given:
        given["response"].parts = ()
    elif "request" in given:
        given["request"].summary = "mine"
    elif "message" in given:
        given["message"].text = "mine"
    elif "tool_round" in given:
        given["tool_round"].results = ()
    elif "outcome" in given:
        given["outcome"].status = "failed"
    elif "event" in given:
        given["event"].number = 0
    else:
        given["session"].turn = 7


def cancelling(given: dict[str, Any]) -> Any:
    task = asyncio.current_task()
    assert task is not None
    task.cancel()


def cancelling_at_last(given: dict[str, Any]) -> Any:
    cancelling(given)


FAULTS: dict[str, Act] = {
    "exception": raising(ValueError),
    "SystemExit": raising(SystemExit),
    "CancelledError": raising(asyncio.CancelledError),
    "wrong type": wrong_type,
    "mutates": mutating,
    "re-enters": reentering,
    "cancels the task it runs in": cancelling,
    "cancels it and returns": cancelling_at_last,
}
SAYS = {
    "exception": "raised ValueError: broken",
    "SystemExit": "raised SystemExit: broken",
    "CancelledError": "raised CancelledError: broken",
    "wrong type": "returned a object",
    "mutates": "",
    "re-enters": "raised MisuseError: ",
    "cancels the task it runs in": "",
    "cancels it and returns": "",
    "overruns": "overran its time limit of 60 s",
}


def as_async(act: Act) -> Act:
    async def act_async(given: dict[str, Any]) -> Any:
        return act(given)

    async def cancel_and_wait(given: dict[str, Any]) -> Any:
        act(given)
        await asyncio.sleep(0)

    own: dict[Act, Act] = {reentering: reentering_async, cancelling: cancel_and_wait}
    return own.get(act, act_async)


def forms(hook: str, act: Act) -> list[Act]:
    form = CONTRACTS[hook].form
    plain = [] if form == "async" else [act]
    return plain + ([] if form == "plain" else [as_async(act)])


def check(hook: str, seen: Seen, mode: str) -> None:
    """What holds whatever the fault was."""
    transcript = seen.agent.session.transcript
    assert words(transcript) == LEFT[hook][MODES.index(mode)]
    assert transcript.open_round is None
    assert list(Transcript(list(transcript))) == list(transcript)
    assert not seen.agent.session.waiting
    assert not seen.agent.running
    assert seen.counts["on_complete"] == 1
    assert seen.counts["on_session_end"] == 1
    results = sum(one.startswith("R ") for one in words(transcript))
    assert seen.counts["after_each_tool"] == results
    stored = sum(one.startswith("U ") for one in words(transcript))
    assert len(seen.result.not_stored) == 1 - stored


def check_named(hook: str, failure: BaseException | None, says: str) -> None:
    assert isinstance(failure, PluginError), failure
    assert (failure.plugin, failure.distribution, failure.hook) == ("faulty", DISTRIBUTION, hook)
    assert str(failure).startswith(f"plugin 'faulty' ({DISTRIBUTION}): hook '{hook}' {says}")
    assert "faults.py" not in says


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("hook", RUN_HOOKS)
def test_a_fault_stops_the_run_as_its_kind_says(
    hook: str, fault: str, mode: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if fault.startswith("cancels") and hook == "on_event":
        return  # it is called between two steps, where nothing can be awaited: the run ends as cancelled
    for act in forms(hook, FAULTS[fault]):
        monkeypatch.setattr(discovery, "installed", installed_as(implementing(hook, act)))
        seen = observe("faulty", mode, FakeClock())
        check(hook, seen, mode)
        if hook == "on_complete":
            assert seen.failure is None
            assert (seen.result.status, seen.result.answer, len(seen.result.errors)) == ("completed", "done", 1)
            assert f"plugin 'faulty' ({DISTRIBUTION}): hook 'on_complete' {SAYS[fault]}" in seen.result.errors[0]
            continue
        check_named(hook, seen.failure, SAYS[fault])
        assert (seen.raised is None) == (hook == "on_session_end")
        assert seen.result.status == ("completed" if hook == "on_session_end" else "failed")
        told = [given["error"] for name, given in seen.neighbour.calls if name == "on_error"]
        plugin_errors = [error for error in told if isinstance(error, PluginError)]
        assert plugin_errors == ([] if hook in QUIET else [seen.failure])


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("hook", [hook for hook in RUN_HOOKS if hook != "on_session_end"])
def test_a_keyboard_interrupt_is_raised_as_it_is_when_everything_is_closed(
    hook: str, mode: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for act in forms(hook, raising(KeyboardInterrupt)):
        monkeypatch.setattr(discovery, "installed", installed_as(implementing(hook, act)))
        seen = observe("faulty", mode, FakeClock())
        assert type(seen.raised) is KeyboardInterrupt
        statuses = [one.replace("R c1 error", "R c1 interrupted") for one in words(seen.agent.session.transcript)]
        expected = [one.replace("R c1 error", "R c1 interrupted") for one in LEFT[hook][MODES.index(mode)]]
        assert [one.replace("R c2 error", "R c2 interrupted") for one in statuses] == [
            one.replace("R c2 error", "R c2 interrupted") for one in expected
        ]
        assert seen.agent.session.transcript.open_round is None
        assert seen.counts["on_complete"] == 1


@pytest.mark.parametrize("heeds", [True, False])
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("hook", [hook for hook in RUN_HOOKS if CONTRACTS[hook].form != "plain"])
def test_an_async_hook_that_overruns_fails_whether_it_heeds_its_cancellation_or_not(
    hook: str, mode: str, heeds: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = FakeClock()
    left: list[asyncio.Future[None]] = []

    async def act(given: dict[str, Any]) -> Any:
        loop = asyncio.get_running_loop()
        never: asyncio.Future[None] = loop.create_future()
        loop.call_soon(clock.advance, 60.5)
        try:
            await never
        except asyncio.CancelledError:
            if heeds:
                raise
            left.append(loop.create_future())
            loop.call_soon(clock.advance, 6.0)
            await left[-1]

    monkeypatch.setattr(discovery, "installed", installed_as(implementing(hook, act)))
    seen = observe("faulty", mode, clock)
    check(hook, seen, mode)
    if hook == "on_complete":
        assert f"hook 'on_complete' {SAYS['overruns']}" in seen.result.errors[0]
    else:
        check_named(hook, seen.failure, SAYS["overruns"])
    reports = [one for one in seen.agent.session.trace if isinstance(one, HookReport) and one.plugin == "faulty"]
    assert "overran" in [one.outcome for one in reports]


@pytest.mark.parametrize("hook", [hook for hook in RUN_HOOKS if CONTRACTS[hook].form != "async"])
def test_a_plain_hook_that_overruns_is_named_and_nothing_else(hook: str, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = FakeClock()

    def act(given: dict[str, Any]) -> None:
        clock.advance(61.0)

    monkeypatch.setattr(discovery, "installed", installed_as(implementing(hook, act)))
    seen = observe("faulty", "parallel", clock)
    assert seen.failure is None
    assert words(seen.agent.session.transcript) == DONE
    slow = [one for one in seen.agent.session.trace if isinstance(one, HookReport) and one.outcome == "slow"]
    assert {(one.plugin, one.hook) for one in slow} == {("faulty", hook)}
    assert all(one.detail.startswith("took 61.0 s, over its limit of 60 s (") for one in slow)


@pytest.mark.parametrize("hook", [hook for hook in RUN_HOOKS if not CONTRACTS[hook].messages])
@pytest.mark.parametrize("message", ["text", "list", "mixed"])
def test_a_message_where_none_is_allowed_is_refused(hook: str, message: str, monkeypatch: pytest.MonkeyPatch) -> None:
    returned: Any = {"text": "hello", "list": ["one", "two"], "mixed": ["one", None]}[message]
    for act in forms(hook, lambda given: returned):
        monkeypatch.setattr(discovery, "installed", installed_as(implementing(hook, act)))
        seen = observe("faulty", "parallel", FakeClock())
        check(hook, seen, "parallel")
        check_named(hook, seen.failure, "returned a message, which ")
        assert isinstance(seen.failure, MessageOrderError) == (hook in MESSAGE_REFUSED)
        if isinstance(seen.failure, MessageOrderError):
            assert "return it from 'after_tools', or queue it with agent.steer(...)" in str(seen.failure)


@pytest.mark.parametrize("fault", ["exception", "SystemExit", "CancelledError", "wrong type"])
def test_a_fault_while_tools_are_registered_keeps_the_agent_from_being_built(
    fault: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(discovery, "installed", installed_as(implementing("register_tools", FAULTS[fault])))
    with pytest.raises(PluginLoadError, match=r"plugin 'faulty' \(hookagent-faulty 1.2\): hook 'register_tools' r"):
        observe("faulty", "parallel", FakeClock())


# ---- on_error: warn and disable ----

OBSERVING = [hook for hook, contract in CONTRACTS.items() if contract.softened]


def test_observing_hooks_are_these() -> None:
    assert OBSERVING == ["on_session_start", "on_session_end", "on_error", "on_event"]


@pytest.mark.parametrize("on_error", ["warn", "disable"])
@pytest.mark.parametrize("hook", RUN_HOOKS)
def test_softening_reaches_hooks_that_only_look(hook: str, on_error: str, monkeypatch: pytest.MonkeyPatch) -> None:
    called: list[str] = []

    def act(given: dict[str, Any]) -> None:
        called.append(hook)
        raise ValueError("broken")

    for form in forms(hook, act):
        called.clear()
        monkeypatch.setattr(discovery, "installed", installed_as(implementing(hook, form)))
        seen = observe("faulty", "parallel", FakeClock(), on_error=on_error)
        if hook not in OBSERVING:
            check(hook, seen, "parallel")
            assert (seen.failure is None) == (hook == "on_complete")
            continue
        assert seen.failure is None
        assert words(seen.agent.session.transcript) == DONE
        assert seen.result.status == "completed"
        if hook != "on_session_end":
            assert any("plugin 'faulty'" in one and "ValueError: broken" in one for one in seen.result.warnings)
        many = on_error == "warn" and hook == "on_event"
        assert (len(called) > 1) == many


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
