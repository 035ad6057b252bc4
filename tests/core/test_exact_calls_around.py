"""Calls with hooks around them: whose result counts, what `on_error` is told, and who may give a call up."""

from __future__ import annotations

import asyncio
import gc
from typing import Annotated, Any

import pytest
from pydantic import AfterValidator

from hookagent import PluginError, ToolResult
from tests.core.plugin_making import Around, made
from tests.core.scripts import calls, make_agent, quick
from tests.core.ways_around import WAYS, around, results, turns

ANSWER = {"text": "done"}
ALONE = pytest.mark.parametrize("alone", [True, False], ids=["alone", "beside another"])


def outcomes(*given: Any) -> tuple[Any, list[Any]]:
    """A tool that gives, or raises, one after the other, and what `on_error` is told."""
    left, told = list(given), []

    async def work() -> Any:
        """Work."""
        one = left.pop(0)
        if isinstance(one, BaseException):
            raise one
        return one

    hears = made("hears", on_error=lambda error, tool_call: told.append((error, tool_call.id)))
    return (work, hears), told


FIRST, SECOND = ValueError("first"), KeyError("second")


async def the_first(tool_call: Any, call_next: Any) -> Any:
    result = await call_next()
    await call_next()
    return result


async def the_second(tool_call: Any, call_next: Any) -> Any:
    await call_next()
    return await call_next()


async def its_own_failure(tool_call: Any, call_next: Any) -> Any:
    await call_next()
    await call_next()
    return ToolResult("both failed", True, "error", "another id")


async def its_own_answer(tool_call: Any, call_next: Any) -> Any:
    await call_next()
    return ToolResult("a guess", call_id="another id")


@pytest.mark.parametrize(
    ("hook", "given", "text", "told"),
    [
        (the_first, [FIRST, "fine"], "ValueError: first", [FIRST]),
        (the_first, ["fine", SECOND], "fine", []),
        (the_second, [FIRST, "fine"], "fine", []),
        (the_second, ["fine", SECOND], "KeyError: 'second'", [SECOND]),
        (its_own_failure, [FIRST, SECOND], "both failed", [SECOND]),
        (its_own_failure, [FIRST, "fine"], "both failed", [FIRST]),
        (its_own_failure, ["fine", "fine"], "both failed", []),
        (its_own_answer, [FIRST], "a guess", []),
    ],
)
@ALONE
def test_what_is_told_of_a_call_is_what_became_of_the_result_that_counts(
    alone: bool, hook: Any, given: list[Any], text: str, told: list[BaseException]
) -> None:
    (work, hears), heard = outcomes(*given)

    async def only_work(tool_call: Any, call_next: Any) -> Any:
        return await (hook(tool_call, call_next) if tool_call.name == "work" else call_next())

    names = ["work"] if alone else ["work", "quick"]
    agent = make_agent([calls(*names), ANSWER], hears, Around("own", only_work), tools=[work, quick])
    assert agent.run_sync("go").status == "completed"
    result = results(agent)[0]
    assert (result.content, result.call_id, result.is_error) == (text, "c1", "fine" not in text and "guess" not in text)
    assert heard == [(one, "c1") for one in told]


def test_a_hook_that_fails_over_a_call_that_failed_does_not_hide_why_it_did() -> None:
    (work, hears), heard = outcomes(FIRST)

    async def breaks(tool_call: Any, call_next: Any) -> Any:
        await call_next()
        raise LookupError("broken")

    agent = make_agent([calls("work"), ANSWER], hears, Around("breaks", breaks), tools=[work])
    with pytest.raises(PluginError, match="plugin 'breaks': hook 'wrap_tool_call' raised LookupError: broken"):
        agent.run_sync("go")
    [result] = results(agent)
    assert result.content.startswith(
        "the call failed closed: plugin 'breaks': hook 'wrap_tool_call' raised LookupError"
    )
    assert result.content.endswith("; the tool itself raised ValueError: first")
    assert heard[0] == (FIRST, "c1")


@pytest.mark.parametrize("how", ["time-out", "task"])
def test_a_hook_may_give_a_call_up_and_answer_itself(how: str) -> None:
    ended: list[str] = []

    async def endless() -> str:
        """Wait for ever."""
        try:
            await asyncio.Event().wait()
        finally:
            ended.append("cancelled")
        return "never"

    async def gives_up(tool_call: Any, call_next: Any) -> Any:
        if how == "time-out":
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0):
                    await call_next()
        else:
            task = asyncio.create_task(call_next())
            await turns()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
        return ToolResult("without it")

    agent = make_agent([calls("endless"), ANSWER], Around("own", gives_up), tools=[endless])
    assert asyncio.run(agent.run("go")).status == "completed"
    assert ([one.content for one in results(agent)], ended) == (["without it"], ["cancelled"])


def test_a_call_that_nobody_finishes_is_collected_and_no_context_is_missed() -> None:
    told: list[BaseException] = []
    closed: list[bool] = []

    async def endless() -> str:
        """Wait for ever."""
        try:
            await asyncio.Event().wait()
        finally:
            closed.append(True)
        return "never"

    loop = asyncio.new_event_loop()
    loop.set_exception_handler(lambda loop, context: None)
    hears = made("hears", on_error=lambda error: told.append(error))
    agent: Any = make_agent([calls("endless"), ANSWER], hears, *around("around", "tool"), tools=[endless], log=False)
    task: Any = loop.create_task(agent.run("go"))
    loop.run_until_complete(turns(20))
    assert not task.done()
    loop.close()
    del agent, task, loop
    gc.collect()
    assert closed == [True]
    # Closed from another context, there is nothing to give back to the one it began in: that is no error of the call.
    assert not [one for one in told if isinstance(one, ValueError | TypeError)]


@WAYS
@ALONE
def test_a_tool_that_cancels_its_own_task_is_interrupted_and_no_plugin_is_blamed(way: str, alone: bool) -> None:
    async def ends_itself() -> str:
        """Cancel the task that it runs in."""
        task = asyncio.current_task()
        assert task is not None
        task.cancel()
        await asyncio.sleep(0)
        return "never"

    names = ["ends_itself"] if alone else ["ends_itself", "quick"]
    agent = make_agent([calls(*names), ANSWER], *around(way, "tool"), tools=[ends_itself, quick])
    assert agent.run_sync("go").status == "completed"
    text = "interrupted: it was cancelled, by itself or because the run failed, while it ran; it may have run"
    assert results(agent)[0] == ToolResult(text, True, "interrupted", "c1")


validated: list[int] = []


def counted(values: list[int]) -> list[int]:
    """Let a list through, and count it."""
    validated.append(len(values))
    return values


async def consume(values: Annotated[list[int], AfterValidator(counted)]) -> str:
    """Take all that it is given."""
    text = f"taken: {values}"
    values.clear()
    return text


def test_each_call_of_call_next_gets_arguments_of_its_own_and_the_first_those_that_were_validated() -> None:
    validated.clear()
    given: list[str] = []

    async def twice(tool_call: Any, call_next: Any) -> Any:
        given.extend([(await call_next()).content, (await call_next()).content])
        return await call_next()

    agent = make_agent([calls("consume", values=[1, 2]), ANSWER], Around("twice", twice), tools=[consume])
    agent.run_sync("go")
    assert [*given, *(one.content for one in results(agent))] == ["taken: [1, 2]"] * 3
    assert validated == [2, 2, 2]


def test_a_tool_without_arguments_may_be_called_several_times() -> None:
    (work, _), _ = outcomes("one", "two")
    agent = make_agent([calls("work"), ANSWER], Around("twice", the_second), tools=[work])
    agent.run_sync("go")
    assert [one.content for one in results(agent)] == ["two"]
