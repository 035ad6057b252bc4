"""Rounds on their rarer ways: aborted while they are judged, over a limit, closed while hooks fail."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from hookagent import Amend, Deny, PluginError, Stop, tool
from hookagent.events import ErrorEvent, MessageEnd
from hookagent.messages import AssistantMessage
from hookagent.testing import FakeClock
from hookagent.transcript import ToolRound
from tests.core.plugin_making import made
from tests.core.scripts import calls, make_agent, ok, words
from tests.core.verdict_tables import both_modes

ANSWER = {"text": "done"}


async def turns(count: int = 6) -> None:
    for _ in range(count):
        await asyncio.sleep(0)


def results(agent: Any) -> list[Any]:
    return [one for block in agent.transcript if isinstance(block, ToolRound) for one in block.results]


# ---- aborts ----


@both_modes
@pytest.mark.parametrize("names", [("quick",), ("quick", "ok")])
def test_an_abort_by_who_hears_of_the_reply_starts_none_of_its_calls(names: Any, mode: Any) -> None:
    agent = make_agent([calls(*names), ANSWER], tool_execution=mode)

    def listener(event: Any) -> None:
        if isinstance(event, MessageEnd) and isinstance(event.message, AssistantMessage):
            agent.abort("seen enough")

    agent.subscribe(listener)
    result = agent.run_sync("go")
    assert (result.status, result.reason, result.tool_calls) == ("aborted", "seen enough", 0)
    assert {one.content for one in results(agent)} == {"not run: aborted by user before it started"}


@both_modes
@pytest.mark.parametrize("hook", ["before_tools", "before_each_tool"])
def test_an_abort_by_a_gate_that_looks_once_more_ends_the_asking(hook: str, mode: Any) -> None:
    asked: list[int] = []

    def look(given: Any) -> None:
        call = given[0] if isinstance(given, tuple) else given
        asked.append(call.arguments.get("n", 0))
        if call.arguments.get("n") == 7:
            agent.abort("not seven")

    if hook == "before_tools":
        first = made("first", before_tools=lambda tool_calls: look(tool_calls))
    else:
        first = made("first", before_each_tool=lambda tool_call: look(tool_call))
    last: list[str] = []

    def each(tool_call: Any) -> Any:
        last.append(tool_call.id)
        return Amend({"n": 7}) if not tool_call.arguments else None

    agent = make_agent([calls("ok"), ANSWER], first, made("amends", before_each_tool=each), tool_execution=mode)
    result = agent.run_sync("go")
    assert (result.status, result.reason, asked) == ("aborted", "not seven", [0, 7])
    assert last == ["c1"]
    assert words(agent.transcript) == ["U go", "A c1", "R c1 not_run"]


def test_a_call_that_was_left_behind_has_its_result_although_a_hook_fails_at_it() -> None:
    clock = FakeClock()
    free: list[asyncio.Event] = []

    async def stubborn() -> str:
        """Wait, whatever comes."""
        free.append(asyncio.Event())
        while not free[-1].is_set():
            try:
                await free[-1].wait()
            except asyncio.CancelledError:
                continue
        return "late"

    def fails(tool_call: Any, result: Any) -> None:
        raise ValueError(f"not {tool_call.id}")

    async def main() -> Any:
        agent = make_agent(
            [calls("stubborn", "stubborn")],
            made("fails", after_each_tool=fails),
            tools=[stubborn],
            clock=clock,
            grace_seconds=5.0,
        )
        task = asyncio.create_task(agent.run("go"))
        while len(free) < 2:
            await asyncio.sleep(0)
        agent.abort("enough")
        await turns()
        clock.advance(5.0)
        with pytest.raises(PluginError, match=r"^plugin 'fails': hook 'after_each_tool' raised ValueError: not c1 "):
            await task
        for one in free:
            one.set()
        await turns()
        return agent

    agent = asyncio.run(main())
    assert words(agent.transcript) == ["U go", "A c1 c2", "R c1 interrupted", "R c2 interrupted"]
    assert {one.content for one in results(agent)} == {
        "aborted by user: the tool did not stop in the grace time; it may still be running, and may have run"
    }


# ---- limits ----


@both_modes
@pytest.mark.parametrize("names", [("quick",), ("quick", "ok")])
def test_a_call_over_the_limit_has_its_result_although_a_hook_fails_at_it(names: Any, mode: Any) -> None:
    def fails(tool_call: Any, result: Any) -> None:
        if result.status == "not_run":
            raise ValueError("over")

    agent = make_agent(
        [calls("quick", ids=["c0"]), calls(*names)],
        made("fails", after_each_tool=fails),
        limits={"max_tool_calls": 1},
        tool_execution=mode,
    )
    with pytest.raises(PluginError, match=r"^plugin 'fails': hook 'after_each_tool' raised ValueError: over "):
        agent.run_sync("go")
    assert [one.status for one in results(agent)] == ["ok"] + ["not_run"] * len(names)
    assert results(agent)[1].content == "not run: stopped after 1 tool call: the limit max_tool_calls is 1"


def test_rounds_of_nothing_but_denials_are_no_repetition() -> None:
    agent = make_agent(
        [calls("ok", ids=[f"c{number}"]) for number in range(4)] + [ANSWER],
        made("denies", before_each_tool=lambda tool_call: Deny("no")),
        limits={"max_equal_calls": 2},
    )
    assert agent.run_sync("go").status == "completed"
    assert [one.status for one in results(agent)] == ["denied"] * 4


# ---- tools with a time limit ----


@both_modes
@pytest.mark.parametrize("seconds", [0.0, 1.0, 3.0])
def test_a_tool_has_its_own_time_limit_and_is_not_waited_for_longer(seconds: float, mode: Any) -> None:
    clock = FakeClock()

    @tool(time_limit=2.0)
    async def slow() -> str:
        """Take some time."""
        if seconds:
            loop = asyncio.get_running_loop()
            done = asyncio.Event()
            clock.call_later(seconds, done.set)
            loop.call_soon(clock.advance, min(seconds, 2.0))
            await done.wait()
        return "in time"

    agent = make_agent([calls("slow", "ok"), ANSWER], tools=[slow, ok], clock=clock, tool_execution=mode)
    assert agent.run_sync("go").status == "completed"
    if seconds <= 2.0:
        assert (results(agent)[0].content, results(agent)[0].status) == ("in time", "ok")
        return
    late = results(agent)[0]
    assert (late.status, late.error_type) == ("interrupted", "TimeLimit")
    assert late.content == "overran its time limit of 2 s: the outcome is unknown, it may have run"
    [error] = [one for one in agent.session.trace if isinstance(one, ErrorEvent)]
    assert (error.kind, error.source, error.message) == ("tool", "slow", late.content)


def test_an_interrupt_of_a_tool_with_a_time_limit_is_raised_when_the_round_is_closed() -> None:
    @tool(time_limit=2.0)
    async def interrupts() -> str:
        """Interrupt."""
        raise KeyboardInterrupt

    agent = make_agent([calls("interrupts")], tools=[interrupts])
    with pytest.raises(KeyboardInterrupt):
        asyncio.run(agent.run("go"))
    assert words(agent.transcript) == ["U go", "A c1", "R c1 interrupted"]


# ---- closing ----


def test_each_open_call_is_closed_although_hooks_fail_meanwhile_and_the_first_reason_is_raised() -> None:
    def fails(name: str) -> Any:
        def after_each_tool(tool_call: Any, result: Any) -> None:
            raise ValueError(f"{name} at {tool_call.id}")

        return made(name, after_each_tool=after_each_tool)

    gate = made("gate", before_each_tool=lambda tool_call: Stop("enough"))
    told: list[str] = []
    hears = made("hears", on_error=lambda error, tool_call: told.append(str(error).partition(" (")[0]))
    agent = make_agent([calls("ok", "quick", "ok")], gate, fails("first"), fails("second"), hears)
    with pytest.raises(PluginError) as raised:
        agent.run_sync("go")
    assert (raised.value.plugin, raised.value.hook) == ("first", "after_each_tool")
    assert words(agent.transcript)[2:] == ["R c1 not_run", "R c2 not_run", "R c3 not_run"]
    assert {one.content for one in results(agent)} == {"not run: 'gate' stopped the run: enough"}
    assert told == ["plugin 'first': hook 'after_each_tool' raised ValueError: first at c1"]


def test_an_interrupt_while_a_round_is_closed_is_graver_than_what_a_plugin_did() -> None:
    def fails(tool_call: Any, result: Any) -> None:
        if tool_call.id == "c2":
            raise KeyboardInterrupt

    gate = made("gate", before_each_tool=lambda tool_call: Stop("enough"))
    other = made("other", after_each_tool=lambda tool_call, result: 1 // 0)
    agent = make_agent([calls("ok", "quick")], gate, other, made("fails", after_each_tool=fails))
    with pytest.raises(KeyboardInterrupt):
        asyncio.run(agent.run("go"))
    assert words(agent.transcript)[2:] == ["R c1 not_run", "R c2 not_run"]
