"""A call without the model whose gates or hooks fail: it has a result all the same, which says why it did not run."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from hookagent import Agent, PluginError, Stop, Suspend, ToolResult
from hookagent.events import ToolEnd
from tests.core.broken_clock import BrokenClock, WordlessError
from tests.core.plugin_making import made
from tests.core.scripts import calls, make_agent, ok


def agent_with(gate: str, function: Callable[..., Any], *others: Any) -> Agent:
    return make_agent([], made("gate", **{gate: function}), *others)


def results(agent: Agent) -> list[ToolResult]:
    return [one.result for one in agent.session.trace if isinstance(one, ToolEnd)]


# ---- a gate or a hook failed, or was interrupted ----


def fails() -> None:
    raise ValueError("jammed")


def interrupts() -> None:
    raise KeyboardInterrupt


@pytest.mark.parametrize("gate", ["before_tools", "before_each_tool"])
@pytest.mark.parametrize(
    ("function", "error", "text"),
    [
        (fails, PluginError, f"not run: plugin 'gate': hook '{{}}' raised ValueError: jammed ({__file__}:"),
        (interrupts, KeyboardInterrupt, "not run: interrupted"),
    ],
)
def test_a_gate_that_fails_is_named_in_the_result_and_raised(
    gate: str, function: Callable[..., Any], error: type[BaseException], text: str
) -> None:
    told: list[Any] = []
    hears = made("hears", after_each_tool=lambda tool_call, result: told.append((tool_call.id, result)))
    agent = agent_with(gate, function, hears)

    async def main() -> None:
        with pytest.raises(error) as raised:
            await agent.call_tool("quick")
        if error is PluginError:
            assert results(agent)[0].content == f"not run: {raised.value}"

    asyncio.run(main())
    [result] = results(agent)
    [(call_id, heard)] = told
    assert heard == result
    assert result.content.startswith(text.format(gate))
    assert (result.status, result.is_error, result.call_id) == ("not_run", True, call_id)
    assert len(agent.transcript) == 0


def test_a_caller_that_is_cancelled_while_a_gate_thinks_leaves_a_call_that_did_not_run() -> None:
    async def main() -> Agent:
        asked = asyncio.Event()

        async def thinks() -> None:
            asked.set()
            await asyncio.Event().wait()

        agent = agent_with("before_each_tool", thinks)
        calling = asyncio.ensure_future(agent.call_tool("quick"))
        await asked.wait()
        calling.cancel()
        with pytest.raises(asyncio.CancelledError):
            await calling
        return agent

    [result] = results(asyncio.run(main()))
    assert (result.content, result.status, result.is_error) == ("not run: cancelled", "not_run", True)


def test_a_gate_that_fails_after_an_abort_leaves_a_call_that_was_aborted() -> None:
    def aborts() -> None:
        agent.abort("enough")
        raise ValueError("jammed")

    agent = agent_with("before_each_tool", aborts)

    async def main() -> None:
        with pytest.raises(PluginError, match="jammed"):
            await agent.call_tool("quick")

    asyncio.run(main())
    [result] = results(agent)
    assert (result.content, result.status, result.is_error) == ("not run: aborted by user", "not_run", True)


def test_a_call_that_an_aborted_tool_makes_does_not_run() -> None:
    got: list[ToolResult] = []

    async def calling() -> str:
        """Call another one when it is too late."""
        agent.abort("enough")
        got.append(await agent.call_tool("ok"))
        return "never"

    agent = make_agent([calls("calling")], tools=[calling, ok])
    assert agent.run_sync("go").status == "aborted"
    [result] = got
    assert (result.content, result.status, result.is_error) == ("not run: aborted by user", "not_run", True)


@pytest.mark.parametrize(
    ("then", "error", "said"),
    [(interrupts, KeyboardInterrupt, "^$"), (fails, PluginError, "plugin 'gate': hook 'before_each_tool' raised")],
)
def test_the_gate_failed_first_and_only_an_interrupt_is_graver(
    then: Callable[..., Any], error: type[BaseException], said: str
) -> None:
    agent = agent_with("before_each_tool", fails, made("hears", after_each_tool=lambda: then()))

    async def main() -> None:
        with pytest.raises(error, match=said):
            await agent.call_tool("quick")

    asyncio.run(main())
    assert [one.status for one in results(agent)] == ["not_run"]


def test_what_fails_of_the_program_itself_is_named_by_its_kind_where_it_has_no_words() -> None:
    clock = BrokenClock()
    agent = make_agent([], made("gate", before_each_tool=lambda: clock.break_once()), clock=clock)

    async def main() -> None:
        with pytest.raises(WordlessError):
            await agent.call_tool("quick")

    asyncio.run(main())
    assert [one.content for one in results(agent)] == ["not run: WordlessError"]


# ---- a gate decided ----


@pytest.mark.parametrize(
    ("verdict", "expected"),
    [
        (Stop("enough"), ("not run: 'gate' stopped the run: enough", "not_run", True)),
        (Suspend("sure?"), ("not run: nobody answered for it", "denied", True)),
    ],
)
def test_a_gate_that_stops_or_that_nobody_answers_is_in_the_result(
    verdict: Any, expected: tuple[str, str, bool]
) -> None:
    told: list[str] = []
    hears = made("hears", before_tools=lambda tool_calls: told.append(tool_calls[0].id))
    agent = agent_with("before_each_tool", lambda: verdict, hears)
    result = asyncio.run(agent.call_tool("quick"))
    assert (result.content, result.status, result.is_error) == expected
    assert results(agent) == [result]
    assert [result.call_id] == told
