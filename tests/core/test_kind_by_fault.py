"""Every hook by every fault: what the run becomes, that nothing is lost or left open, and who is named."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from checks.tally import count
from hookagent import MessageOrderError, MisuseError, PluginError, PluginLoadError, discovery
from hookagent.contract import CONTRACTS
from hookagent.events import HookReport
from hookagent.testing import FakeClock
from hookagent.transcript import Transcript
from tests.core.faults import (
    DISTRIBUTION,
    FAULTS,
    OVERRAN,
    Act,
    Seen,
    forms,
    implementing,
    installed_as,
    observe,
    raising,
    says,
)
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


def check_named(hook: str, failure: BaseException | None, words: str) -> None:
    assert isinstance(failure, PluginError), failure
    assert (failure.plugin, failure.distribution, failure.hook) == ("faulty", DISTRIBUTION, hook)
    assert str(failure).startswith(f"plugin 'faulty' ({DISTRIBUTION}): hook '{hook}' {words}")


# ---- the cells ----

INTERRUPT, OVERRUNS, OVERRUNS_PLAIN = "KeyboardInterrupt", "overruns, async", "overruns, plain"
MESSAGE, CALLS_TOOL, CALLS_ENDLESSLY = "a message where none is allowed", "calls a tool", "calls tools without end"
COLUMNS = (*FAULTS, INTERRUPT, OVERRUNS, OVERRUNS_PLAIN, MESSAGE, CALLS_TOOL, CALLS_ENDLESSLY)
IN_A_CALL = ("before_tools", "before_each_tool", "resolve_suspended", "wrap_tool_call", "after_each_tool")
"""The hooks that a `call_tool` runs through, too."""
REGISTERING = ("exception", "SystemExit", "CancelledError", "GeneratorExit", "wrong type", MESSAGE, INTERRUPT)
NO_CELL: dict[str, dict[str, str]] = {
    "register_tools": {
        **{fault: "it is given no agent" for fault in COLUMNS if fault.startswith(("re-enters", "calls"))},
        "mutates": "it is given nothing but the function that registers",
        **{fault: "no run is there yet" for fault in COLUMNS if fault.startswith(("cancels", "overruns"))},
    },
    **{hook: {MESSAGE: "messages are allowed"} for hook in RUN_HOOKS if CONTRACTS[hook].messages},
}
FORMS_WITHOUT = {
    OVERRUNS: "plain",
    CALLS_TOOL: "plain",
    CALLS_ENDLESSLY: "plain",
    OVERRUNS_PLAIN: "async",
}
"""Columns that a hook of that one form cannot have."""


def hooks_of(column: str) -> list[str]:
    """The hooks that have a cell in a column, but `register_tools`, which has a test of its own."""
    found = [hook for hook in RUN_HOOKS if column not in NO_CELL.get(hook, {})]
    found = [hook for hook in found if CONTRACTS[hook].form != FORMS_WITHOUT.get(column)]
    return [hook for hook in found if column != CALLS_ENDLESSLY or hook in IN_A_CALL]


def test_no_cell_is_missing() -> None:
    assert set(CONTRACTS) == {"register_tools", *RUN_HOOKS}
    for hook, contract in CONTRACTS.items():
        for column in COLUMNS:
            tested = column in REGISTERING if hook == "register_tools" else hook in hooks_of(column)
            reason = NO_CELL.get(hook, {}).get(column) or (contract.form == FORMS_WITHOUT.get(column))
            if column == CALLS_ENDLESSLY and hook not in IN_A_CALL:
                reason = reason or "it is not called again by the call that it makes"
            assert tested is not bool(reason), (hook, column)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(("hook", "fault"), [(hook, fault) for fault in FAULTS for hook in hooks_of(fault)])
def test_a_fault_stops_the_run_as_its_kind_says(
    hook: str, fault: str, mode: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for act in forms(hook, FAULTS[fault]):
        count("kind by fault cells")
        monkeypatch.setattr(discovery, "installed", installed_as(implementing(hook, act)))
        seen = observe("faulty", mode, FakeClock())
        check(hook, seen, mode)
        if hook == "on_complete":
            assert seen.failure is None
            assert (seen.result.status, seen.result.answer, len(seen.result.errors)) == ("completed", "done", 1)
            assert f"plugin 'faulty' ({DISTRIBUTION}): hook 'on_complete' {says(fault, act)}" in seen.result.errors[0]
            continue
        check_named(hook, seen.failure, says(fault, act))
        assert (seen.raised is None) == (hook == "on_session_end")
        assert seen.result.status == ("completed" if hook == "on_session_end" else "failed")
        told = [given["error"] for name, given in seen.neighbour.calls if name == "on_error"]
        plugin_errors = [error for error in told if isinstance(error, PluginError)]
        assert plugin_errors == ([] if hook in QUIET else [seen.failure])


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("hook", hooks_of(INTERRUPT))
def test_a_keyboard_interrupt_is_raised_as_it_is_when_everything_is_closed(
    hook: str, mode: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for act in forms(hook, raising(KeyboardInterrupt)):
        monkeypatch.setattr(discovery, "installed", installed_as(implementing(hook, act)))
        count("kind by fault cells")
        seen = observe("faulty", mode, FakeClock())
        assert type(seen.closing if hook == "on_session_end" else seen.raised) is KeyboardInterrupt
        statuses = [one.replace("R c1 error", "R c1 interrupted") for one in words(seen.agent.session.transcript)]
        expected = [one.replace("R c1 error", "R c1 interrupted") for one in LEFT[hook][MODES.index(mode)]]
        assert [one.replace("R c2 error", "R c2 interrupted") for one in statuses] == [
            one.replace("R c2 error", "R c2 interrupted") for one in expected
        ]
        assert seen.agent.session.transcript.open_round is None
        assert seen.counts["on_complete"] == 1


@pytest.mark.parametrize("heeds", [True, False])
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("hook", hooks_of(OVERRUNS))
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
    count("kind by fault cells")
    seen = observe("faulty", mode, clock)
    check(hook, seen, mode)
    if hook == "on_complete":
        assert f"hook 'on_complete' {OVERRAN}" in seen.result.errors[0]
    else:
        check_named(hook, seen.failure, OVERRAN)
    reports = [one for one in seen.agent.session.trace if isinstance(one, HookReport) and one.plugin == "faulty"]
    assert "overran" in [one.outcome for one in reports]


@pytest.mark.parametrize("hook", hooks_of(OVERRUNS_PLAIN))
def test_a_plain_hook_that_overruns_is_named_and_nothing_else(hook: str, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = FakeClock()

    def act(given: dict[str, Any]) -> None:
        clock.advance(61.0)

    monkeypatch.setattr(discovery, "installed", installed_as(implementing(hook, act)))
    count("kind by fault cells")
    seen = observe("faulty", "parallel", clock)
    assert seen.failure is None
    assert words(seen.agent.session.transcript) == DONE
    slow = [one for one in seen.agent.session.trace if isinstance(one, HookReport) and one.outcome == "slow"]
    assert {(one.plugin, one.hook) for one in slow} == {("faulty", hook)}
    assert all(one.detail.startswith("took 61.0 s, over its limit of 60 s (") for one in slow)


@pytest.mark.parametrize("hook", hooks_of(MESSAGE))
@pytest.mark.parametrize("message", ["text", "list", "mixed"])
def test_a_message_where_none_is_allowed_is_refused(hook: str, message: str, monkeypatch: pytest.MonkeyPatch) -> None:
    returned: Any = {"text": "hello", "list": ["one", "two"], "mixed": ["one", None]}[message]
    for act in forms(hook, lambda given: returned):
        monkeypatch.setattr(discovery, "installed", installed_as(implementing(hook, act)))
        count("kind by fault cells")
        seen = observe("faulty", "parallel", FakeClock())
        check(hook, seen, "parallel")
        check_named(hook, seen.failure, "returned a message, which ")
        assert isinstance(seen.failure, MessageOrderError) == (hook in MESSAGE_REFUSED)
        if isinstance(seen.failure, MessageOrderError):
            assert "return it from 'after_tools', or queue it with agent.steer(...)" in str(seen.failure)


def calling(hook: str, once: bool) -> tuple[Act, list[str]]:
    """A hook that calls a tool, once or whenever it is called, and then goes on; and what the calls gave."""
    got: list[str] = []
    called = False

    async def act(given: dict[str, Any]) -> Any:
        nonlocal called
        if not (once and called):
            called = True
            got.append((await given["agent"].call_tool("quick", {"n": 7})).content)
        if "call_next" not in given:
            return None
        return await (given["call_next"](given["request"]) if "request" in given else given["call_next"]())

    return act, got


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("hook", hooks_of(CALLS_TOOL))
def test_any_async_hook_may_call_a_tool_but_at_the_end_of_the_session(
    hook: str, mode: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    count("kind by fault cells")
    act, got = calling(hook, once=True)
    monkeypatch.setattr(discovery, "installed", installed_as(implementing(hook, act)))
    seen = observe("faulty", mode, FakeClock())
    if hook == "on_session_end":
        check(hook, seen, mode)
        check_named(hook, seen.failure, "raised MisuseError: call_tool(): the session was closed")
        return
    assert seen.failure is None
    assert got == ["quick 7"]
    assert words(seen.agent.session.transcript) == DONE
    assert (seen.counts["on_complete"], seen.counts["on_session_end"]) == (1, 1)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("hook", hooks_of(CALLS_ENDLESSLY))
def test_a_hook_that_calls_tools_without_end_is_stopped(hook: str, mode: str, monkeypatch: pytest.MonkeyPatch) -> None:
    count("kind by fault cells")
    act, got = calling(hook, once=False)
    monkeypatch.setattr(discovery, "installed", installed_as(implementing(hook, act)))
    seen = observe("faulty", mode, FakeClock())
    assert got == []
    assert words(seen.agent.session.transcript)[:2] == ["U go", "A c1 c2"]
    assert seen.agent.session.transcript.open_round is None
    assert isinstance(seen.failure, PluginError)
    assert (seen.failure.plugin, seen.failure.hook, seen.result.status) == ("faulty", hook, "failed")
    innermost: BaseException = seen.failure
    while innermost.__cause__ is not None:
        innermost = innermost.__cause__
    assert isinstance(innermost, MisuseError)
    assert str(innermost).startswith("call_tool(): called inside of its own hooks or tools, 32 deep")


@pytest.mark.parametrize("fault", REGISTERING)
def test_a_fault_while_tools_are_registered_keeps_the_agent_from_being_built(
    fault: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    count("kind by fault cells")
    own: dict[str, Act] = {MESSAGE: lambda given: "hello", INTERRUPT: raising(KeyboardInterrupt)}
    plugin = implementing("register_tools", own.get(fault) or FAULTS[fault])
    monkeypatch.setattr(discovery, "installed", installed_as(plugin))
    if fault == INTERRUPT:
        with pytest.raises(KeyboardInterrupt):
            observe("faulty", "parallel", FakeClock())
        return
    with pytest.raises(PluginLoadError, match=r"plugin 'faulty' \(hookagent-faulty 1.2\): hook 'register_tools' r"):
        observe("faulty", "parallel", FakeClock())
