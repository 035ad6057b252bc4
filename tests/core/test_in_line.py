"""Models and hooks that cancel their task, heed no cancellation or leave something behind, in the run's own task."""

from __future__ import annotations

import asyncio
import contextvars
import sys
from collections.abc import AsyncIterator
from typing import Any

import pytest

from hookagent import Agent, PluginError
from hookagent.messages import AssistantMessage, ToolResult
from hookagent.providers.base import Delta
from hookagent.requests import Request
from hookagent.testing import FakeClock
from hookagent.work import in_line
from tests.core.plugin_making import Around
from tests.core.scripts import calls, make_agent, quick, words

ANSWER = {"text": "done"}
WRAPPED = pytest.mark.parametrize("wrapped", [False, True], ids=["bare", "wrapped"])


async def _pass(given: Any, call_next: Any) -> Any:
    return await call_next()


async def turns(number: int = 10) -> None:
    for _ in range(number):
        await asyncio.sleep(0)


async def _pass_model(request: Any, call_next: Any) -> Any:
    return await call_next(request)


class Model:
    """A model that is one function."""

    name, model, wire, context_window, notice = "odd", "one", None, None, ""

    def __init__(self, act: Any) -> None:
        self._act = act

    async def stream(self, request: Request) -> AsyncIterator[Delta | AssistantMessage]:
        yield await self._act()


@WRAPPED
def test_a_model_that_ignores_its_cancellation_is_left_behind(wrapped: bool) -> None:
    async def main() -> None:
        began, late = asyncio.Event(), asyncio.Event()
        told: list[str] = []
        events: list[str] = []

        async def ignore() -> Delta:
            while not late.is_set():
                began.set()
                try:
                    await late.wait()
                except asyncio.CancelledError:
                    told.append("told")
            told.append("late")
            return Delta("text", "late")

        clock = FakeClock()
        plugins = [Around("passes", model=_pass_model)] if wrapped else []
        agent = Agent(model=Model(ignore), plugins=plugins, clock=clock, grace_seconds=4.0)
        running = asyncio.ensure_future(agent.run("go"))
        await began.wait()
        agent.abort("enough")
        await turns()
        assert told == ["told"]
        clock.advance(5.0)
        assert (await running).status == "aborted"
        agent.subscribe(lambda event: events.append(event.type))
        late.set()
        await turns()
        assert (told[-1], events) == ("late", [])

    asyncio.run(main())


@WRAPPED
def test_a_model_that_cancels_its_task_fails_and_cancels_no_run(wrapped: bool) -> None:
    async def cancel() -> Delta:
        task = asyncio.current_task()
        assert task is not None
        task.cancel()
        await asyncio.sleep(0)
        return Delta("text", "never")

    plugins = [Around("passes", model=_pass_model)] if wrapped else []
    result = Agent(model=Model(cancel), plugins=plugins, clock=_immediate()).run_sync("go")
    assert (result.status, result.error_kind) == ("failed", "connection")


def _immediate() -> FakeClock:
    """A clock on which nothing has to be waited for."""

    class Immediate(FakeClock):
        def call_later(self, seconds: float, callback: Any) -> Any:
            handle = super().call_later(0.0, callback)
            asyncio.get_running_loop().call_soon(self.advance, 1.0)
            return handle

    return Immediate()


@pytest.mark.parametrize("outer", ["alone", "wrapped"])
def test_a_hook_that_cancels_itself_and_goes_on_is_the_one_that_is_named(outer: str) -> None:
    async def rash(tool_call: Any, call_next: Any) -> Any:
        task = asyncio.current_task()
        assert task is not None
        task.cancel()
        return await call_next()

    others = [Around("innocent", _pass)] if outer == "wrapped" else []
    agent = make_agent([calls("quick"), ANSWER], *others, Around("rash", rash), tools=[quick])
    with pytest.raises(PluginError) as raised:
        agent.run_sync("go")
    assert raised.value.plugin == "rash"


def test_what_is_carried_out_is_closed_in_its_own_context() -> None:
    log: list[str] = []
    variable: contextvars.ContextVar[str] = contextvars.ContextVar("variable", default="outside")

    async def work() -> None:
        token = variable.set("inside")
        try:
            await asyncio.sleep(0)
        finally:
            log.append(variable.get())
            variable.reset(token)

    async def main() -> None:
        task = asyncio.current_task()
        assert task is not None

        async def carry() -> None:
            await in_line(work(), contextvars.copy_context().run, task, lambda: False)

        half_run = carry()
        half_run.send(None)
        half_run.close()

    asyncio.run(main())
    assert log == ["inside"]


@pytest.mark.skipif(sys.version_info < (3, 12), reason="there are no eager tasks")
@pytest.mark.parametrize("between", [False, True])
def test_what_a_hook_began_in_an_eager_task_ends_with_the_hook(between: bool) -> None:
    log: list[str] = []

    async def slow() -> str:
        """Wait for ever."""
        try:
            await asyncio.Event().wait()
        finally:
            log.append("ended")
        return "never"

    async def hasty(tool_call: Any, call_next: Any) -> Any:
        began = asyncio.ensure_future(call_next())
        began.add_done_callback(lambda task: task.cancelled())
        return ToolResult("something else")

    async def main() -> None:
        asyncio.get_running_loop().set_task_factory(getattr(asyncio, "eager_task_factory", None))
        plugins = [Around("hasty", hasty), *([Around("between", _pass)] if between else [])]
        agent = make_agent([calls("slow"), ANSWER], *plugins, tools=[slow])
        result = await agent.run("go")
        assert (result.answer, words(agent.transcript)[2], log) == ("done", "R c1 ok", ["ended"])

    asyncio.run(main())
