"""An abort while a tool is carried out in the run's own task."""

from __future__ import annotations

import asyncio
import gc
import weakref
from typing import Any

import anyio
import pytest

from hookagent import Agent, current_call
from hookagent.events import ToolStart
from hookagent.testing import FakeClock
from tests.core.plugin_making import Around
from tests.core.scripts import calls, make_agent, words

ANSWER = {"text": "done"}
WRAPPED = pytest.mark.parametrize("wrapped", [False, True], ids=["bare", "wrapped"])


async def _pass(given: Any, call_next: Any) -> Any:
    return await call_next()


def agent_of(tool: Any, wrapped: bool, **options: Any) -> Agent:
    plugins = [Around("outer", _pass), Around("inner", _pass)] if wrapped else []
    return make_agent([calls(tool.__name__), ANSWER, ANSWER], *plugins, tools=[tool], **options)


async def turns(number: int = 10) -> None:
    for _ in range(number):
        await asyncio.sleep(0)


async def aborted(agent: Agent, begun: asyncio.Event, goes_on: asyncio.Event) -> Any:
    """Abort a run in the midst of a tool, and let what the tool waits for then come a while later."""
    running = asyncio.ensure_future(agent.run("go"))
    await begun.wait()
    agent.abort("enough")
    await turns()
    goes_on.set()
    return await running


@WRAPPED
def test_a_tool_cleans_up_in_its_own_task_and_undisturbed(wrapped: bool) -> None:
    log: list[Any] = []

    async def main() -> None:
        begun, goes_on = asyncio.Event(), asyncio.Event()

        async def tidy() -> str:
            """Wait, and tidy up with a wait."""
            log.append(asyncio.current_task())
            try:
                begun.set()
                await asyncio.Event().wait()
            finally:
                await goes_on.wait()
                log.append(asyncio.current_task())
            return "never"

        agent = agent_of(tidy, wrapped)
        result = await aborted(agent, begun, goes_on)
        assert (result.status, words(agent.transcript)[2]) == ("aborted", "R c1 interrupted")

    asyncio.run(main())
    assert len(log) == 2
    assert log[0] is log[1]


@WRAPPED
@pytest.mark.parametrize("way", ["shield", "task group", "time-out", "limiter"])
def test_what_belongs_to_a_task_outlives_an_abort(wrapped: bool, way: str) -> None:
    async def main() -> None:
        begun, goes_on = asyncio.Event(), asyncio.Event()
        log: list[str] = []

        async def wait() -> None:
            begun.set()
            await asyncio.Event().wait()

        async def tidy() -> None:
            await goes_on.wait()
            log.append("tidy")

        async def scoped() -> str:
            """Wait inside of something that knows its task."""
            if way == "shield":
                try:
                    with anyio.fail_after(600):
                        await wait()
                finally:
                    with anyio.CancelScope(shield=True):
                        await tidy()
            elif way == "task group":
                async with anyio.create_task_group() as group:
                    group.start_soon(asyncio.Event().wait)
                    try:
                        await wait()
                    finally:
                        with anyio.CancelScope(shield=True):
                            await tidy()
            elif way == "time-out":
                async with asyncio.timeout(600) as limit:
                    try:
                        await wait()
                    finally:
                        limit.reschedule(asyncio.get_running_loop().time())
                        try:
                            await asyncio.Event().wait()
                        finally:
                            log.append("tidy")
            else:
                async with anyio.CapacityLimiter(1):
                    try:
                        await wait()
                    finally:
                        await tidy()
            return "never"

        agent = agent_of(scoped, wrapped)
        result = await aborted(agent, begun, goes_on)
        assert (result.status, words(agent.transcript)[2], log) == ("aborted", "R c1 interrupted", ["tidy"])
        assert (await agent.run("again")).answer == "done"

    asyncio.run(main())


def test_a_hook_around_a_stubborn_tool_has_half_of_the_grace_time() -> None:
    log: list[str] = []

    async def saving(tool_call: Any, call_next: Any) -> Any:
        got = await call_next()
        log.append(type(got).__name__)
        await asyncio.sleep(0)
        log.append("saved")
        return got

    async def main() -> None:
        begun, over = asyncio.Event(), asyncio.Event()

        async def stubborn() -> str:
            """Wait, whatever comes."""
            while not over.is_set():
                begun.set()
                try:
                    await over.wait()
                except asyncio.CancelledError:
                    log.append("tool told")
            log.append("tool over")
            return "late"

        clock = FakeClock()
        agent = make_agent(
            [calls("stubborn")], Around("saves", saving), tools=[stubborn], clock=clock, grace_seconds=4.0
        )
        running = asyncio.ensure_future(agent.run("go"))
        await begun.wait()
        agent.abort("enough")
        await turns()
        assert log == ["tool told"]
        clock.advance(2.5)
        await turns()
        assert [entry for entry in log if entry != "tool told"] == ["Aborted", "saved"]
        clock.advance(2.0)
        result = await running
        assert (result.status, words(agent.transcript)[2]) == ("aborted", "R c1 interrupted")
        over.set()
        await turns()
        assert log[-1] == "tool over"

    asyncio.run(main())


def test_a_plain_tool_is_not_started_after_an_abort_by_who_hears_of_it() -> None:
    ran: list[str] = []

    def mark() -> str:
        """Leave a mark."""
        ran.append("mark")
        return "marked"

    agent = agent_of(mark, wrapped=False)
    agent.subscribe(lambda event: agent.abort("not that one") if isinstance(event, ToolStart) else None)
    result = agent.run_sync("go")
    assert (result.status, ran, words(agent.transcript)[2]) == ("aborted", [], "R c1 interrupted")


@WRAPPED
def test_an_aborted_agent_is_gone_without_a_garbage_collection(wrapped: bool) -> None:
    async def main() -> None:
        began = asyncio.Event()

        async def slow() -> str:
            """Wait for ever."""
            began.set()
            await asyncio.Event().wait()
            return "never"

        agent = agent_of(slow, wrapped)
        running = asyncio.ensure_future(agent.run("go"))
        await began.wait()
        agent.abort("enough")
        assert (await running).status == "aborted"
        await agent.close()
        gone = weakref.ref(agent)
        del running, agent
        await turns()
        assert gone() is None

    gc.collect()
    gc.disable()
    try:
        asyncio.run(main())
    finally:
        gc.enable()


@WRAPPED
def test_an_abort_ends_a_tool_that_calls_another_one_at_once(wrapped: bool) -> None:
    log: list[str] = []

    async def main() -> None:
        begun = asyncio.Event()

        async def slow() -> str:
            """Wait for ever."""
            begun.set()
            try:
                await asyncio.Event().wait()
            finally:
                log.append("called")
            return "never"

        async def calling() -> str:
            """Call the other tool, and go on."""
            try:
                await current_call().agent.call_tool("slow")
                await asyncio.Event().wait()
            finally:
                log.append("calling")
            return "never"

        plugins = [Around("passes", _pass)] if wrapped else []
        agent = make_agent([calls("calling")], *plugins, tools=[calling, slow], clock=FakeClock())
        result = await aborted(agent, begun, asyncio.Event())
        assert (result.status, words(agent.transcript)[2]) == ("aborted", "R c1 interrupted")

    asyncio.run(main())
    assert log == ["called", "calling"]
