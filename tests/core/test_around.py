"""Around hooks: nested, watched and ended; what they may not swallow, forge or leave behind."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from hookagent import Aborted, Agent, PluginError, ToolResult, freeze
from hookagent.host import PluginEntry
from hookagent.providers.scripted import ScriptedProvider
from hookagent.testing import FakeClock
from tests.core.plugin_making import Around, made
from tests.core.scripts import calls, make_agent, quick, words

ANSWER = {"text": "done"}


def test_around_hooks_nest_the_first_outermost() -> None:
    log: list[str] = []

    def nesting(name: str) -> Any:
        async def tool(tool_call: Any, call_next: Any) -> Any:
            log.append(f"{name} in")
            result = await call_next()
            log.append(f"{name} out")
            return result

        return Around(name, tool)

    make_agent([calls("quick"), ANSWER], nesting("a"), nesting("b"), nesting("c")).run_sync("go")
    assert log == ["a in", "b in", "c in", "c out", "b out", "a out"]


@pytest.mark.parametrize("times", [0, 1, 3])
def test_call_next_may_be_called_never_once_or_several_times(times: int) -> None:
    ran: list[int] = []

    async def counted() -> str:
        ran.append(1)
        return f"run {len(ran)}"

    async def tool(tool_call: Any, call_next: Any) -> Any:
        result = ToolResult("from the cache")
        for _ in range(times):
            result = await call_next()
        return result

    agent = make_agent([calls("counted"), ANSWER], Around("many", tool), tools=[counted])
    content = agent.run_sync("go").session.transcript[1].results[0].content  # type: ignore[union-attr]
    assert content == (f"run {times}" if times else "from the cache")
    assert len(ran) == times


def test_two_inner_calls_at_a_time_are_refused() -> None:
    gate: list[asyncio.Event] = []
    refused: list[str] = []
    most = [0, 0]

    async def slow() -> str:
        most[0] += 1
        most[1] = max(most)
        await gate[0].wait()
        most[0] -= 1
        return "slow"

    async def tool(tool_call: Any, call_next: Any) -> Any:
        gate.append(asyncio.Event())
        first = asyncio.ensure_future(call_next())
        await asyncio.sleep(0)
        try:
            await call_next()
        except Exception as error:
            refused.append(str(error))
        gate[0].set()
        return await first

    make_agent([calls("slow"), ANSWER], Around("greedy", tool), tools=[slow]).run_sync("go")
    assert refused == ["plugin 'greedy': call_next() is still running; one call at a time"]
    assert most[1] == 1


def test_an_inner_call_that_a_hook_gave_up_does_not_run_on() -> None:
    log: list[str] = []

    async def slow() -> str:
        log.append("start")
        try:
            await asyncio.get_running_loop().create_future()
        finally:
            log.append("end")
        return "never"

    async def tool(tool_call: Any, call_next: Any) -> Any:
        for _ in range(2):
            waiting = asyncio.ensure_future(call_next())
            for _ in range(5):
                await asyncio.sleep(0)
            waiting.cancel()
            await asyncio.wait({waiting})
        return ToolResult("gave up")

    agent = make_agent([calls("slow"), ANSWER], Around("impatient", tool), Around("below", _pass), tools=[slow])
    result = agent.run_sync("go")
    assert log == ["start", "end", "start", "end"]
    assert (result.status, words(result.session.transcript)[2]) == ("completed", "R c1 ok")


async def _pass(given: Any, call_next: Any) -> Any:
    return await call_next()


def test_an_inner_call_still_running_when_the_hook_returns_is_cancelled_and_awaited() -> None:
    log: list[str] = []
    kept: list[Any] = []

    async def slow() -> str:
        log.append("start")
        try:
            await asyncio.get_running_loop().create_future()
        except asyncio.CancelledError:
            await asyncio.sleep(0)
            log.append("cancelled")
            raise
        return "never"

    async def tool(tool_call: Any, call_next: Any) -> Any:
        kept.append(call_next)
        kept.append(asyncio.ensure_future(call_next()))
        for _ in range(5):
            await asyncio.sleep(0)
        return ToolResult("early")

    def after(result: Any) -> None:
        log.append(result.content)

    async def too_late() -> None:
        try:
            await kept[0]()
        except Exception as error:
            log.append(str(error))

    plugins = [Around("early", tool), made("sees", after_each_tool=after, after_tools=too_late)]
    make_agent([calls("slow"), ANSWER], *plugins, tools=[slow]).run_sync("go")
    assert log == ["start", "cancelled", "early", "plugin 'early': the hook has returned"]


def test_call_next_of_a_tool_runs_the_judged_call_and_no_other() -> None:
    ran: list[int] = []

    def note(n: int = 1) -> str:
        """Note a number."""
        ran.append(n)
        return "noted"

    async def changing(tool_call: Any, call_next: Any) -> Any:
        return await call_next(replace(tool_call, arguments=freeze({"n": 2})))

    agent = make_agent([calls("note")], Around("changing", changing), tools=[note])
    with pytest.raises(PluginError, match=r"call_next\(\) takes nothing here, not a ToolCall: .*return Amend"):
        agent.run_sync("go")
    assert ran == []
    assert words(agent.session.transcript)[-1] == "R c1 error"


@pytest.mark.parametrize("kind", ["tool", "model"])
def test_an_abort_that_never_was_cannot_be_returned(kind: str) -> None:
    async def forging(given: Any, call_next: Any) -> Any:
        return Aborted("I say so")

    plugin = Around("forging", forging) if kind == "tool" else Around("forging", model=forging)
    agent = make_agent([calls("quick"), ANSWER], plugin)
    with pytest.raises(PluginError, match=r"plugin 'forging': hook '.*' returned an Aborted, but nobody aborted"):
        agent.run_sync("go")
    assert agent.last_result is not None
    assert agent.last_result.status == "failed"


def test_a_hook_that_sees_an_abort_may_say_so_without_calling_on() -> None:
    async def giving_up(given: Any, call_next: Any) -> Any:
        agent.abort("enough")
        return Aborted("enough")

    agent = make_agent([calls("quick"), ANSWER], Around("giving up", giving_up))
    result = agent.run_sync("go")
    assert (result.status, result.reason) == ("aborted", "enough")


@pytest.mark.parametrize("what", ["raises", "returns", "passes on", "hangs"])
@pytest.mark.parametrize("kind", ["tool", "model"])
def test_after_an_abort_call_next_gives_aborted_and_what_the_hook_does_then_is_ignored(kind: str, what: str) -> None:
    clock = FakeClock()
    log: list[Any] = []

    async def hang() -> Any:
        try:
            await asyncio.get_running_loop().create_future()
        except asyncio.CancelledError:
            log.append("inner cancelled")
            raise

    async def slow() -> str:
        agent.abort("enough")
        return str(await hang())

    async def wrap(given: Any, call_next: Any) -> Any:
        got = await (call_next() if kind == "tool" else call_next(given))
        log.append(repr(got))
        if what == "raises":
            return got.content
        if what == "hangs":
            asyncio.get_running_loop().call_soon(clock.advance, 6.0)
            await asyncio.get_running_loop().create_future()
        return got if what == "passes on" else "something else"

    async def reply(request: Any) -> Any:
        agent.abort("enough")
        return await hang()

    script: Any = [calls("slow")] if kind == "tool" else reply
    plugin = Around("wraps", wrap) if kind == "tool" else Around("wraps", model=wrap)
    agent = Agent(tools=[slow], model=ScriptedProvider(script), plugins=[plugin], clock=clock, grace_seconds=5.0)
    result = asyncio.run(agent.run("go"))
    assert log[-1] == "Aborted('enough')" or log == ["Aborted('enough')", "inner cancelled"]
    assert "inner cancelled" in log
    assert (result.status, result.errors) == ("aborted", ())
    expected = ["U go", "A c1", "R c1 interrupted"] if kind == "tool" else ["U go"]
    assert words(result.session.transcript) == expected


def test_time_in_call_next_is_neither_counted_nor_charged() -> None:
    clock = FakeClock()

    async def slow() -> str:
        asyncio.get_running_loop().call_soon(clock.advance, 500.0)
        for _ in range(3):
            await asyncio.sleep(0)
        return "slow"

    async def wrap(tool_call: Any, call_next: Any) -> Any:
        clock.advance(20.0)
        result = await call_next()
        clock.advance(20.0)
        for _ in range(3):
            await asyncio.sleep(0)
        return result

    plugin = PluginEntry(Around("timed", wrap), time_limit=60.0)
    agent = make_agent([calls("slow"), ANSWER], plugin, tools=[slow], clock=clock)
    assert agent.run_sync("go").status == "completed"
    assert agent.session.hook_calls["timed"] == (1, 40.0)


def test_own_time_before_and_after_call_next_is_one_limit() -> None:
    clock = FakeClock()

    async def wrap(tool_call: Any, call_next: Any) -> Any:
        for _ in range(2):
            clock.advance(40.0)
            await asyncio.sleep(0)
            await asyncio.sleep(0)
            await call_next()
        return await call_next()

    agent = make_agent([calls("quick")], PluginEntry(Around("timed", wrap), time_limit=60.0), clock=clock)
    with pytest.raises(PluginError, match="overran its time limit of 60 s"):
        agent.run_sync("go")


@pytest.mark.parametrize("kind", ["tool", "model"])
def test_an_outer_hook_cannot_swallow_the_failure_of_an_inner_plugin(kind: str) -> None:
    async def broken(given: Any, call_next: Any) -> Any:
        raise ValueError("inner")

    async def swallowing(given: Any, call_next: Any) -> Any:
        try:
            return await (call_next() if kind == "tool" else call_next(given))
        except BaseException:
            return ToolResult("all is well") if kind == "tool" else None

    plugins = [Around("outer", **{kind: swallowing}), Around("inner", **{kind: broken})]
    agent = make_agent([calls("quick"), ANSWER], *plugins)
    with pytest.raises(PluginError) as raised:
        agent.run_sync("go")
    assert (raised.value.plugin, raised.value.hook) == ("inner", f"wrap_{kind}_call")
    if kind == "tool":
        assert words(agent.session.transcript) == ["U go", "A c1", "R c1 error"]


def test_a_keyboard_interrupt_of_a_tool_cannot_be_swallowed() -> None:
    async def interrupts() -> str:
        raise KeyboardInterrupt

    async def swallowing(tool_call: Any, call_next: Any) -> Any:
        try:
            return await call_next()
        except BaseException:
            return ToolResult("all is well")

    agent = make_agent([calls("interrupts")], Around("outer", swallowing), tools=[interrupts])
    with pytest.raises(KeyboardInterrupt):
        asyncio.run(agent.run("go"))
    assert words(agent.session.transcript) == ["U go", "A c1", "R c1 interrupted"]


@pytest.mark.parametrize("wrapped", [False, True])
def test_hooks_and_what_they_are_around_take_no_tasks_of_their_own(wrapped: bool) -> None:
    made_tasks: list[Any] = []

    async def main() -> None:
        def factory(loop: Any, coroutine: Any, **named: Any) -> Any:
            made_tasks.append(coroutine)
            return asyncio.Task(coroutine, loop=loop, **named)

        asyncio.get_running_loop().set_task_factory(factory)
        plugins = [Around("wraps", _pass)] if wrapped else [made("plain", before_each_tool=lambda: None)]
        await make_agent([calls("quick"), ANSWER], *plugins, tools=[quick]).run("go")
        asyncio.get_running_loop().set_task_factory(None)

    asyncio.run(main())
    assert len(made_tasks) == 1  # the run's
