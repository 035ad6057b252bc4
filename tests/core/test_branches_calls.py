"""Calls on their rarer ways: validated twice, begun but not written, reported to nobody; and how tools are found."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any

import pytest
from pydantic import AfterValidator

from hookagent import ConfigurationError, PluginError, ToolContext, hookimpl
from hookagent.events import TurnStart
from hookagent.transcript import ToolRound
from tests.core.plugin_making import Around, made
from tests.core.scripts import calls, make_agent, ok, quick

ANSWER = {"text": "done"}


def results(agent: Any) -> list[Any]:
    return [one for block in agent.transcript if isinstance(block, ToolRound) for one in block.results]


seen: list[int] = []


def once(value: int) -> int:
    """Let a value through that comes for the first time."""
    seen.append(value)
    if len(seen) > 1:
        raise ValueError("only once")
    return value


def test_arguments_that_do_not_fit_a_second_time_fail_the_call() -> None:
    seen.clear()

    def look(n: Annotated[int, AfterValidator(once)]) -> str:
        """Look."""
        return f"seen {n}"

    async def twice(tool_call: Any, call_next: Any) -> Any:
        await call_next()
        return await call_next()

    agent = make_agent([calls("look", n=3), ANSWER], Around("twice", twice), tools=[look])
    assert agent.run_sync("go").status == "completed"
    [result] = results(agent)
    assert (result.status, result.error_type, result.is_error) == ("error", "ArgumentsError", True)
    assert "only once" in result.content
    assert seen == [3, 3]


def test_progress_that_nobody_hears_is_not_announced() -> None:
    def works(context: ToolContext) -> str:
        """Work."""
        context.report_progress("half")
        return "done"

    agent = make_agent([calls("works"), ANSWER], tools=[works])
    assert agent.run_sync("go").answer == "done"
    heard: list[str] = []
    agent = make_agent([calls("works"), ANSWER], tools=[works])
    agent.subscribe(lambda event: heard.append(event.type))
    agent.run_sync("go")
    assert heard.count("tool_progress") == 1


def test_a_call_that_was_started_when_its_start_could_not_be_written_may_have_run() -> None:
    agent = make_agent([calls("ok", "ok"), ANSWER], log=False)

    def journal(event: Any) -> None:
        if event.type == "tool_start" and event.call.id == "c2":
            raise OSError("disk full")

    agent._emitter.journal = journal
    with pytest.raises(OSError, match="disk full"):
        asyncio.run(agent.run("go"))
    assert [one.status for one in results(agent)] == ["interrupted", "interrupted"]
    assert {one.content for one in results(agent)} == {
        "interrupted: it was started, and may have run: not run: disk full"
    }


def test_tools_are_found_by_name_wherever_they_come_from() -> None:
    class Brings:
        name = "brings"

        @hookimpl
        def register_tools(self, register: Any) -> None:
            def look() -> str:
                """Look."""
                return "seen"

            register(look)

    agent = make_agent([], Brings(), tools=["read_file", "look", ok])
    assert set(agent.tools.names) == {"read_file", "look", "ok"}
    assert set(make_agent([], tools="files").tools.names) >= {"read_file", "write_file"}
    with pytest.raises(ConfigurationError, match="look"):
        make_agent([], tools=["look"])
    with pytest.raises(ConfigurationError, match=r"^tools: expected a list of functions and names, got 5$"):
        make_agent([], tools=5)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("second", "seen"), [(ValueError("after"), PluginError), (KeyboardInterrupt(), KeyboardInterrupt)]
)
def test_a_direct_call_that_fails_twice_raises_the_first_reason_or_the_graver_one(
    second: BaseException, seen: type[BaseException]
) -> None:
    def gate(tool_call: Any) -> None:
        raise ValueError("gate")

    def after(tool_call: Any, result: Any) -> None:
        raise second

    agent = make_agent([], made("gate", before_each_tool=gate), made("after", after_each_tool=after))
    with pytest.raises(seen) as raised:
        asyncio.run(agent.call_tool("quick", {"n": 3}))
    assert getattr(raised.value, "plugin", "gate") == "gate"


def test_an_interrupt_in_a_direct_call_is_raised_as_it_is() -> None:
    async def interrupts() -> str:
        """Interrupt."""
        raise KeyboardInterrupt

    agent = make_agent([{"text": "done"}], tools=[interrupts, quick])
    with pytest.raises(KeyboardInterrupt):
        asyncio.run(agent.call_tool("interrupts"))
    assert not [one for one in agent.session.trace if isinstance(one, TurnStart)]
    assert agent.run_sync("go").answer == "done"
