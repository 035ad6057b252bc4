"""When asking the model comes to another end: cancelled from within, given up by a hook, aborted, left behind."""

from __future__ import annotations

import asyncio
from contextvars import ContextVar
from typing import Any

import pytest

from hookagent.abort import Aborted
from hookagent.errors import ProviderError
from hookagent.events import ErrorEvent
from hookagent.messages import AssistantMessage, TextPart
from hookagent.providers.base import Delta
from hookagent.testing import FakeClock
from tests.core.own_models import agent_with
from tests.core.plugin_making import Around, made
from tests.core.scripts import words
from tests.core.ways_around import WAYS, turns

REPLY = AssistantMessage((TextPart("done"),))


# ---- cancelled, and by nobody who may ----


async def waits_for_what_is_cancelled() -> None:
    future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    future.cancel()
    await future


async def cancels_its_own_task() -> None:
    task = asyncio.current_task()
    assert task is not None
    task.cancel()
    await asyncio.sleep(0)


@WAYS
@pytest.mark.parametrize("cancelled", [waits_for_what_is_cancelled, cancels_its_own_task])
def test_a_call_that_is_cancelled_from_within_is_a_lost_connection_and_no_plugins_fault(
    way: str, cancelled: Any
) -> None:
    told: list[BaseException] = []

    async def stream(request: Any) -> Any:
        await cancelled()
        yield REPLY

    async def on_error(error: BaseException) -> None:
        await turns(2)  # nothing of the cancellation is left to arrive here
        told.append(error)

    agent = agent_with(stream, made("hears", on_error=on_error), way=way)
    result = asyncio.run(agent.run("go"))
    assert (result.status, result.error_kind) == ("failed", "connection")
    assert result.reason == "own: the model call was cancelled from within"
    [error] = told
    assert isinstance(error, ProviderError)
    assert (error.provider, type(error.__cause__)) == ("own", asyncio.CancelledError)
    assert words(agent.transcript) == ["U go"]


@pytest.mark.parametrize("way", ["bare", "around"])
def test_a_model_that_cancels_its_own_task_and_replies_all_the_same_has_replied(way: str) -> None:
    async def stream(request: Any) -> Any:
        task = asyncio.current_task()
        assert task is not None
        task.cancel()
        yield REPLY

    agent = agent_with(stream, way=way)
    assert asyncio.run(agent.run("go")).answer == "done"
    assert words(agent.transcript) == ["U go", "A done"]


@pytest.mark.parametrize("how", ["time-out", "task"])
def test_a_hook_around_the_model_may_give_a_call_up_and_answer_itself(how: str) -> None:
    ended: list[str] = []

    async def stream(request: Any) -> Any:
        try:
            await asyncio.Event().wait()
        finally:
            ended.append("cancelled")
        yield REPLY

    async def wrap(request: Any, call_next: Any) -> Any:
        if how == "time-out":
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0):
                    await call_next(request)
        else:
            task = asyncio.create_task(call_next(request))
            await turns()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
        return AssistantMessage((TextPart("without it"),))

    result = asyncio.run(agent_with(stream, Around("own", model=wrap)).run("go"))
    assert (result.status, result.answer, ended) == ("completed", "without it", ["cancelled"])


# ---- giving up ----


@WAYS
def test_an_abort_while_the_model_is_waited_for_is_no_failure_of_it(way: str) -> None:
    told: list[BaseException] = []

    async def stream(request: Any) -> Any:
        await asyncio.Event().wait()
        yield REPLY

    async def main() -> Any:
        task = asyncio.create_task(agent.run("go"))
        await turns()
        agent.abort("enough")
        return await task

    agent = agent_with(stream, made("hears", on_error=lambda error: told.append(error)), way=way)
    result = asyncio.run(main())
    assert (result.status, result.reason, told) == ("aborted", "enough", [])
    assert not [one for one in agent.session.trace if isinstance(one, ErrorEvent)]


@WAYS
def test_the_callers_own_cancellation_while_the_model_is_waited_for_is_raised(way: str) -> None:
    async def stream(request: Any) -> Any:
        await asyncio.Event().wait()
        yield REPLY

    async def main() -> None:
        task = asyncio.create_task(agent.run("go"))
        await turns()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    agent = agent_with(stream, way=way)
    asyncio.run(main())
    assert agent.last_result is not None
    assert (agent.last_result.status, agent.last_result.reason) == ("aborted", "cancelled by the caller")


@WAYS
def test_who_cancels_the_task_that_the_model_is_asked_in_ends_the_run(way: str) -> None:
    tasks: list[Any] = []

    async def stream(request: Any) -> Any:
        await asyncio.Event().wait()
        yield REPLY

    async def main() -> None:
        task = asyncio.create_task(agent.run("go"))
        await turns()
        tasks[0].cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    note = made("notes", shape_request=lambda request: tasks.append(asyncio.current_task()))
    agent = agent_with(stream, note, way=way)
    asyncio.run(main())
    assert agent.last_result is not None
    assert (agent.last_result.status, agent.last_result.reason) == ("aborted", "cancelled")


@WAYS
def test_an_abort_by_who_hears_that_the_request_left_asks_nobody(way: str) -> None:
    asked: list[int] = []

    async def stream(request: Any) -> Any:
        asked.append(1)
        yield REPLY

    agent = agent_with(stream, way=way)
    agent.subscribe(lambda event: agent.abort("no") if event.type == "request" else None)
    result = agent.run_sync("go")
    assert (result.status, result.reason, asked) == ("aborted", "no", [])


def test_a_hook_around_the_model_gets_the_reason_of_an_abort_in_the_midst_of_a_reply() -> None:
    got: list[Any] = []
    closed: list[bool] = []

    async def wrap(request: Any, call_next: Any) -> Any:
        got.append(await call_next(request))
        return got[0]

    async def stream(request: Any) -> Any:
        try:
            yield Delta("text", "half")
            yield Delta("text", "never")
        finally:
            closed.append(True)

    agent = agent_with(stream, Around("own", model=wrap))
    deltas: list[str] = []

    def listen(event: Any) -> None:
        if event.type == "message_delta":
            deltas.append(event.text)
            agent.abort("enough")

    agent.subscribe(listen)
    result = agent.run_sync("go")
    assert (result.status, result.reason, deltas, closed) == ("aborted", "enough", ["half"], [True])
    assert [(type(one), one.reason) for one in got] == [(Aborted, "enough")]


def test_a_hook_around_the_model_gets_the_reason_of_an_abort_when_the_request_left() -> None:
    got: list[Any] = []

    async def wrap(request: Any, call_next: Any) -> Any:
        got.append(await call_next(request))
        return got[0]

    async def stream(request: Any) -> Any:
        yield REPLY

    agent = agent_with(stream, Around("own", model=wrap))
    started: list[str] = []

    def listen(event: Any) -> None:
        if event.type == "message_start" and event.role == "assistant":
            started.append(event.role)
            agent.abort("no more")

    agent.subscribe(listen)
    assert agent.run_sync("go").status == "aborted"
    assert ([one.reason for one in got], started) == (["no more"], ["assistant"])


def test_a_model_that_is_left_behind_goes_on_in_the_context_that_it_began_in() -> None:
    clock, variable = FakeClock(), ContextVar("variable", default="unset")
    ended: list[str] = []
    events: list[str] = []

    async def main() -> None:
        free = asyncio.Event()

        async def stream(request: Any) -> Any:
            token = variable.set("of the model")
            while not free.is_set():
                try:
                    await free.wait()
                except asyncio.CancelledError:
                    continue
            ended.append(variable.get())
            variable.reset(token)  # in another context this raises
            ended.append(variable.get())
            yield Delta("text", "late")
            ended.append("it was read on")

        agent = agent_with(stream, clock=clock, grace_seconds=5.0)
        variable.set("of the caller")
        task = asyncio.create_task(agent.run("go"))
        await turns()
        agent.abort("enough")
        await turns()
        clock.advance(5.0)
        assert (await task).reason == "enough"
        agent.subscribe(lambda event: events.append(event.type))
        free.set()
        await turns()

    asyncio.run(main())
    assert (ended, events) == (["of the model", "of the caller"], [])
