"""What limits do to a call: it is not run, cut short, left behind, or its result is cut; and what is said of that."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from hookagent import PluginError, ToolResult, tool
from hookagent.testing import FakeClock
from tests.core.plugin_making import made
from tests.core.scripts import calls, make_agent, quick
from tests.core.ways_around import WAYS, around, results, turns

ANSWER = {"text": "done"}
ALONE = pytest.mark.parametrize("alone", [True, False], ids=["alone", "beside another"])


# ---- calls that are one too many ----


@pytest.mark.parametrize("names", [["quick"], ["quick", "ok"]])
def test_a_call_that_a_limit_forbids_says_so(names: list[str]) -> None:
    agent = make_agent([calls("ok", ids=["first"]), calls(*names), ANSWER], limits={"max_tool_calls": 1})
    result = agent.run_sync("go")
    text = f"not run: {result.reason}"
    assert "max_tool_calls" in text
    assert results(agent)[1:] == [ToolResult(text, True, "not_run", f"c{n}", "Limit") for n in range(1, len(names) + 1)]
    assert (result.status, result.tool_calls) == ("limit", 1)


@pytest.mark.parametrize("names", [["quick"], ["quick", "ok"]])
def test_a_hook_that_fails_over_a_call_that_a_limit_forbids_stops_the_run(names: list[str]) -> None:
    def after_each_tool(tool_call: Any, result: Any) -> None:
        if result.status == "not_run":
            raise ValueError("no such result")

    script = [calls("ok", ids=["first"]), calls(*names), ANSWER]
    agent = make_agent(script, made("fails", after_each_tool=after_each_tool), limits={"max_tool_calls": 1})
    with pytest.raises(PluginError, match="plugin 'fails': hook 'after_each_tool' raised ValueError: no such result"):
        agent.run_sync("go")
    assert [one.status for one in results(agent)[1:]] == ["not_run"] * len(names)


# ---- results that are too long, and calls that take too long ----


@WAYS
@ALONE
def test_a_result_is_cut_and_timed_by_the_agents_own_measures(way: str, alone: bool) -> None:
    clock = FakeClock()

    @tool(time_limit=60.0)
    async def long() -> str:
        """Give much, after a while."""
        clock.now += 0.5
        return "x" * 5000

    names = ["long"] if alone else ["long", "long"]
    agent = make_agent([calls(*names), ANSWER], *around(way, "tool"), tools=[long], clock=clock, tool_result_limit=300)
    agent.run_sync("go")
    for result in results(agent):
        assert len(result.content) < 500
        assert (result.milliseconds, result.status) == (500.0, "ok")


@WAYS
@ALONE
def test_a_call_that_overruns_its_limit_is_cancelled_and_told_as_a_time_out(way: str, alone: bool) -> None:
    clock, log, told = FakeClock(), [], []

    @tool(time_limit=2.5)
    async def slow() -> str:
        """Wait for ever."""
        asyncio.get_running_loop().call_soon(clock.advance, 2.5)
        try:
            await asyncio.Event().wait()
        finally:
            log.append("cancelled")
        return "never"

    hears = made("hears", on_error=lambda error: told.append(error))
    names = ["slow"] if alone else ["slow", "quick"]
    agent = make_agent([calls(*names), ANSWER], hears, *around(way, "tool"), tools=[slow, quick], clock=clock)
    assert agent.run_sync("go").status == "completed"
    text = "overran its time limit of 2.5 s: the outcome is unknown, it may have run"
    assert results(agent)[0] == ToolResult(text, True, "interrupted", "c1", "TimeLimit")
    assert [(type(one), str(one)) for one in told] == [(TimeoutError, text)]
    assert log == ["cancelled"]


@ALONE
@pytest.mark.parametrize("heeds", [True, False])
def test_a_call_with_a_limit_says_after_an_abort_whether_it_has_stopped(heeds: bool, alone: bool) -> None:
    clock, ended, told = FakeClock(), [], []

    async def main() -> Any:
        free = asyncio.Event()

        @tool(time_limit=30.0)
        async def slow() -> str:
            """Wait for ever."""
            while not free.is_set():
                try:
                    await free.wait()
                except asyncio.CancelledError:
                    if heeds:
                        raise
            ended.append(True)
            return "late"

        hears = made("hears", on_error=lambda error: told.append(error))
        names = ["slow"] if alone else ["slow", "slow"]
        agent = make_agent([calls(*names)], hears, tools=[slow], clock=clock, grace_seconds=5.0)
        task = asyncio.create_task(agent.run("go"))
        await turns()
        agent.abort("enough")
        await turns()
        assert task.done() is heeds
        clock.advance(5.0)
        assert (await task).reason == "enough"
        free.set()
        await turns()
        return agent

    got = results(asyncio.run(main()))
    stopped = "interrupted: aborted by user (enough) while it ran; it may have run"
    left = "aborted by user: the tool did not stop in the grace time; it may still be running, and may have run"
    assert got == [ToolResult(stopped if heeds else left, True, "interrupted", f"c{n}") for n in range(1, len(got) + 1)]
    assert (told, bool(ended)) == ([], not heeds)
