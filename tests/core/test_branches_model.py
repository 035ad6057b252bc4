"""A model that does as it likes: it goes on, answers too late, is cancelled, or fails where nobody expects it."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from hookagent.errors import ProviderError
from hookagent.events import IterationStart, MessageReplaced, Retry
from hookagent.messages import AssistantMessage, TextPart
from hookagent.providers.base import Delta
from hookagent.providers.scripted import ScriptedProvider
from hookagent.testing import FakeClock
from tests.core.plugin_making import made
from tests.core.scripts import make_agent, words

ANSWER = {"text": "done"}


async def turns(count: int = 6) -> None:
    for _ in range(count):
        await asyncio.sleep(0)


def with_model(model: Any, *plugins: Any, **options: Any) -> Any:
    """An agent with a model of its own making: a provider, or a function of a request."""
    agent = make_agent([], *plugins, **options)
    agent._provider = model if hasattr(model, "stream") else ScriptedProvider(model)
    return agent


class Provider:
    """A model whose stream, and whose window, is what a test makes of it."""

    name, model, wire, api_key = "own", "model", None, None

    def __init__(self, stream: Any = None, window: Any = lambda: None) -> None:
        self._stream, self._window = stream, window

    @property
    def context_window(self) -> int | None:
        window: int | None = self._window()
        return window

    def stream(self, request: Any) -> Any:
        return self._stream(request)


def test_an_abort_while_a_request_is_made_sends_none_and_the_iteration_is_in_the_trace() -> None:
    agent: Any = with_model(Provider(window=lambda: agent.abort("enough")))
    result = agent.run_sync("go")
    assert (result.status, result.reason) == ("aborted", "enough")
    assert [one.maximum for one in agent.session.trace if isinstance(one, IterationStart)] == [10]
    assert words(agent.transcript) == ["U go"]


def test_what_nobody_expects_is_raised_when_the_turn_has_ended_in_order() -> None:
    outcomes: list[Any] = []

    def window() -> None:
        raise LookupError("no window")

    agent = with_model(Provider(window=window), made("hears", on_complete=lambda outcome: outcomes.append(outcome)))
    with pytest.raises(LookupError, match="no window"):
        agent.run_sync("go")
    assert [(one.status, one.reason) for one in outcomes] == [("failed", "no window")]
    assert (agent.status, words(agent.transcript)) == ("idle", ["U go"])


def test_a_provider_that_goes_on_after_the_grace_time_is_left_behind() -> None:
    clock, ended = FakeClock(), []
    free: list[asyncio.Event] = []

    async def stream(request: Any) -> Any:
        free.append(asyncio.Event())
        while not free[0].is_set():
            try:
                await free[0].wait()
            except asyncio.CancelledError:
                continue
        ended.append(True)
        yield Delta("text", "late")
        yield AssistantMessage((TextPart("late"),))

    async def main() -> None:
        agent = with_model(Provider(stream), clock=clock, grace_seconds=5.0)
        task = asyncio.create_task(agent.run("go"))
        await turns()
        agent.abort("enough")
        await turns()
        assert not task.done()
        clock.advance(5.0)
        result = await task
        assert (result.status, result.reason, agent.streaming_text) == ("aborted", "enough", None)
        number = len(agent.session.trace)
        free[0].set()
        await turns()
        assert ended == [True]
        assert len(agent.session.trace) == number
        assert words(agent.transcript) == ["U go"]

    asyncio.run(main())


def test_a_provider_that_answers_when_it_is_cancelled_is_too_late() -> None:
    async def model(request: Any) -> Any:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            return {"text": "all the same"}

    async def main() -> None:
        agent = with_model(model)
        task = asyncio.create_task(agent.run("go"))
        await turns()
        agent.abort("enough")
        assert (await task).status == "aborted"
        assert words(agent.transcript) == ["U go"]

    asyncio.run(main())


def test_who_cancels_the_runs_own_task_while_the_model_is_asked_ends_the_run() -> None:
    tasks: list[Any] = []

    async def model(request: Any) -> Any:
        tasks.append(asyncio.current_task())
        await asyncio.Event().wait()

    async def main() -> None:
        agent = with_model(model)
        task = asyncio.create_task(agent.run("go"))
        await turns()
        tasks[0].cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert words(agent.transcript) == ["U go"]
        assert agent.last_result is not None
        assert (agent.last_result.status, agent.last_result.reason) == ("aborted", "cancelled")

    asyncio.run(main())


def test_settings_that_are_no_json_reach_the_provider_as_they_are() -> None:
    asked: list[Any] = []
    value = object()

    async def model(request: Any) -> Any:
        asked.append(request.settings)
        return ANSWER

    assert with_model(model, model_settings={"scripted": {"own": value}}).run_sync("go").answer == "done"
    assert asked[0]["scripted"]["own"] is value


def test_a_second_attempt_takes_back_what_was_streamed() -> None:
    clock, seen = FakeClock(), []

    async def stream(request: Any) -> Any:
        seen.append(agent.streaming_text)
        yield Delta("text", "half an")
        yield Delta("thinking", "hm")
        seen.append(agent.streaming_text)
        if len(seen) == 2:
            asyncio.get_running_loop().call_soon(clock.advance, 9.0)
            raise ProviderError("connection", "own", "lost")
        yield AssistantMessage((TextPart("whole"),))

    agent: Any = with_model(Provider(stream), clock=clock)
    assert agent.run_sync("go").answer == "whole"
    assert seen == ["", "half an", "", "half an"]
    assert agent.streaming_text is None
    assert [one.reason for one in agent.session.trace if isinstance(one, MessageReplaced)] == ["retry"]
    assert [(one.attempt, one.error) for one in agent.session.trace if isinstance(one, Retry)] == [(2, "own: lost")]
