"""Calls that run beside each other: how many at once, in which order, and those that a limit forbids."""

from __future__ import annotations

import asyncio
import gc
from typing import Any

import pytest

from hookagent import PluginError, tool
from tests.core.plugin_making import made
from tests.core.scripts import calls, make_agent
from tests.core.waiting_tools import Tools, ends, results, seen, turns

ANSWER = {"text": "done"}


@pytest.fixture
def tools() -> Any:
    """The tools of one test; what still waits in a thread is let go behind it."""
    made_here = Tools()
    yield made_here
    made_here.free.set()


# ---- how many at once ----


@pytest.mark.parametrize(("cap", "most"), [(1, 1), (2, 2), (3, 3), (4, 4), (9, 5), (None, 5)])
def test_as_many_run_at_once_as_is_allowed(tools: Tools, cap: int | None, most: int) -> None:
    agent = make_agent([calls(*["counted"] * 5), ANSWER], tools=tools.all(), max_parallel_tools=cap)
    assert agent.run_sync("go").status == "completed"
    assert tools.most == most
    starts = [one for one in ends(agent) if one.startswith("+")]
    assert starts == ["+c1", "+c2", "+c3", "+c4", "+c5"]
    assert ends(agent)[:most] == starts[:most]


@pytest.mark.parametrize(
    ("names", "order"),
    [
        (["alone", "counted"], "+c1 -c1 +c2 -c2"),
        (["counted", "alone"], "+c1 -c1 +c2 -c2"),
        (["counted", "alone", "counted", "counted"], "+c1 -c1 +c2 -c2 +c3 +c4 -c3 -c4"),
    ],
)
def test_a_tool_that_runs_alone_has_nothing_beside_it(tools: Tools, names: list[str], order: str) -> None:
    @tool(alone=True)
    async def alone() -> str:
        """Work alone."""
        await turns(3)
        return "alone"

    agent = make_agent([calls(*names), ANSWER], tools=[alone, *tools.all()])
    agent.run_sync("go")
    assert " ".join(ends(agent)) == order


def test_calls_over_the_limit_have_a_result_that_says_so_and_the_others_run() -> None:
    agent = make_agent([calls("quick", "ok", "quick", "ok"), ANSWER], limits={"max_tool_calls": 2})
    result = agent.run_sync("go")
    over = ("not run: stopped after 2 tool calls: the limit max_tool_calls is 2", "not_run", True)
    assert seen(agent) == [("quick 0", "ok", False), ("ok 0", "ok", False), over, over]
    assert {one.error_type for one in results(agent)[2:]} == {"Limit"}
    assert (result.status, result.limit, result.tool_calls) == ("limit", "max_tool_calls", 2)


def test_where_no_call_may_run_any_more_each_has_a_result_that_says_so() -> None:
    agent = make_agent(
        [calls("quick"), calls("quick", "ok", "quick", ids=["d", "e", "f"])], limits={"max_tool_calls": 1}
    )
    assert agent.run_sync("go").limit == "max_tool_calls"
    over = ("not run: stopped after 1 tool call: the limit max_tool_calls is 1", "not_run", True)
    assert seen(agent) == [("quick 0", "ok", False), over, over, over]


def fails(call_id: str, raised: type[BaseException]) -> Any:
    """A plugin whose `after_each_tool` raises at one call."""

    def after_each_tool(tool_call: Any, result: Any) -> None:
        if tool_call.id == call_id:
            raise raised(f"at {call_id}")

    return made(f"at-{call_id}", after_each_tool=after_each_tool)


@pytest.mark.parametrize("kind", [ValueError, KeyboardInterrupt])
def test_hooks_that_fail_at_calls_over_the_limit_the_first_or_graver_reason_is_raised(kind: Any) -> None:
    plugins = [fails("c2", kind), fails("c3", ValueError)]
    agent = make_agent([calls("quick", "ok", "ok", "quick")], *plugins, limits={"max_tool_calls": 1})
    with pytest.raises((PluginError, KeyboardInterrupt), match="at c2"):
        asyncio.run(agent.run("go"))
    assert [one.error_type for one in results(agent)[1:]] == ["Limit"] * 3


@pytest.mark.parametrize("kind", [ValueError, KeyboardInterrupt])
@pytest.mark.parametrize("name", ["quick", "stubborn"])
def test_hooks_that_fail_at_calls_that_ran_the_first_or_graver_reason_is_raised(
    tools: Tools, name: str, kind: Any
) -> None:
    def listen(event: Any) -> None:
        if name == "stubborn" and event.type == "tool_start" and event.call.id == "c2":
            # When both are under way: who aborts as a start is told keeps the tool from running.
            loop = asyncio.get_running_loop()
            loop.call_soon(loop.call_soon, agent.abort, "enough")

    async def main() -> None:
        try:
            await agent.run("go")
        finally:
            tools.free.set()
            await turns()

    plugins = [fails("c1", kind), fails("c2", ValueError)]
    agent = make_agent([calls(name, name)], *plugins, tools=tools.all(), grace_seconds=0.0)
    agent.subscribe(listen)
    with pytest.raises((PluginError, KeyboardInterrupt), match="at c1"):
        asyncio.run(main())
    assert len(results(agent)) == 2


@pytest.mark.parametrize("names", [("quick", "ok", "quick"), ("quick", "quick"), ("quick", "ok", "ok", "quick")])
def test_calls_that_end_whenever_they_like_trouble_nobody(names: Any) -> None:
    """Together, and while a hook of another one's result still works: the event loop is told of no fault."""
    faults: list[Any] = []

    async def after_each_tool(tool_call: Any) -> None:
        await turns(5)

    async def main() -> None:
        asyncio.get_running_loop().set_exception_handler(lambda _, context: faults.append(context["message"]))
        agent = make_agent(
            [calls(*names), ANSWER], made("slow", after_each_tool=after_each_tool), limits={"max_tool_calls": 2}
        )
        await agent.run("go")
        assert [one.status for one in results(agent)] == ["ok", "ok", *["not_run"] * (len(names) - 2)]
        gc.collect()

    asyncio.run(main())
    assert faults == []
