"""Starting a call: what it knows of itself, what is announced of it, and where it runs."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from hookagent import MisuseError, ToolContext, ToolResult, current_call, tool
from hookagent.events import ToolProgress, ToolStart
from tests.core.plugin_making import Around, made
from tests.core.scripts import calls, make_agent, ok
from tests.core.ways_around import WAYS, around, results

ANSWER = {"text": "done"}
ALONE = pytest.mark.parametrize("alone", [True, False], ids=["alone", "beside another"])


# ---- what a call knows of itself ----


@WAYS
@pytest.mark.parametrize("limit", [None, 30.0])
def test_a_call_knows_what_it_belongs_to_and_what_came_before_it(way: str, limit: float | None) -> None:
    seen: list[Any] = []
    contexts: list[ToolContext] = []

    @tool(time_limit=limit)
    async def look(context: ToolContext) -> str:
        """Look."""
        assert current_call() is context
        assert context.agent is agent
        assert context.session.id == agent.session.id
        assert not context.abort.aborted
        assert context.finished is False
        contexts.append(context)
        seen.append((context.task, context.iteration, context.call_id, context.tool_name, context.previous_tools))
        return "seen"

    script = [calls("look", ids=["a"]), calls("ok", "look", "look", ids=["b", "c", "d"]), ANSWER, calls("look"), ANSWER]
    agent = make_agent(script, *around(way, "tool"), tools=[look, ok])
    result = agent.run_sync("first")
    agent.run_sync("second")
    assert seen == [
        ("first", 1, "a", "look", ()),
        ("first", 2, "c", "look", ("look", "ok")),
        ("first", 2, "d", "look", ("look", "ok", "look")),
        ("second", 1, "c1", "look", ()),
    ]
    assert all(one.finished for one in contexts)
    assert result.tool_calls == 4
    started = [one.call for one in agent.session.trace if isinstance(one, ToolStart)]
    assert [(one.id, one.name) for one in started] == [
        ("a", "look"), ("b", "ok"), ("c", "look"), ("d", "look"), ("c1", "look"),
    ]  # fmt: skip


@WAYS
def test_what_a_call_reports_is_announced_with_the_call_to_who_listens(way: str) -> None:
    def works(context: ToolContext) -> str:
        """Work."""
        context.report_progress({"percent": 50})
        return "worked"

    agent = make_agent([calls("works"), ANSWER], *around(way, "tool"), tools=[works])
    heard: list[Any] = []
    agent.subscribe(lambda event: heard.append(event) if isinstance(event, ToolProgress) else None)
    agent.run_sync("go")
    assert [(one.call.id, one.value) for one in heard] == [("c1", {"percent": 50})]


def test_a_call_without_hooks_and_limits_runs_in_the_runs_own_task() -> None:
    tasks: list[Any] = []

    async def look() -> str:
        """Look."""
        tasks.append(asyncio.current_task())
        return "seen"

    notes = made("notes", before_tools=lambda tool_calls: tasks.append(asyncio.current_task()))
    make_agent([calls("look"), ANSWER], notes, tools=[look]).run_sync("go")
    assert tasks[0] is tasks[1]


def test_a_call_that_was_announced_when_the_run_was_cancelled_may_have_run() -> None:
    def cancel(event: Any) -> None:
        task = asyncio.current_task()
        if event.type == "tool_start" and task is not None:
            task.cancel()

    agent = make_agent([calls("quick"), ANSWER])
    agent.subscribe(cancel)
    with pytest.raises(asyncio.CancelledError):
        asyncio.run(agent.run("go"))
    text = "interrupted: it was started, and may have run: not run: cancelled"
    assert results(agent) == [ToolResult(text, True, "interrupted", "c1")]


def test_a_hook_around_a_call_knows_which_it_is_and_nobody_does_when_it_is_over() -> None:
    known: list[str] = []
    after: list[str] = []

    async def looks(tool_call: Any, call_next: Any) -> Any:
        known.append(current_call().call_id)
        result = await call_next()
        known.append(current_call().call_id)
        return result

    def after_tools(tool_round: Any) -> None:
        with pytest.raises(MisuseError):
            current_call()
        after.append("after")

    for names in (["quick"], ["quick", "ok"]):
        make_agent([calls(*names), ANSWER], Around("looks", looks), made("after", after_tools=after_tools)).run_sync(
            "go"
        )
    assert known[:2] == ["c1", "c1"]
    assert sorted(known[2:]) == ["c1", "c1", "c2", "c2"]
    assert after == ["after", "after"]
