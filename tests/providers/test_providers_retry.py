from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

from hookagent.errors import ProviderError, RequestRefusedError
from hookagent.messages import AssistantMessage
from hookagent.providers.base import Delta, Retrying
from hookagent.providers.retry import RetryPolicy, ask_with_retries
from hookagent.providers.scripted import ScriptedProvider
from hookagent.testing import Fault, Reply, StrictServer


class StepClock:
    """A clock whose timers fire as soon as the loop is free, and which remembers what was waited for."""

    def __init__(self) -> None:
        self.waits: list[float] = []
        self.now = 0.0

    def monotonic(self) -> float:
        return self.now

    def wall(self) -> float:
        return self.now

    def call_later(self, seconds: float, callback: Callable[[], object]) -> asyncio.Handle:
        self.waits.append(seconds)
        self.now += seconds
        return asyncio.get_running_loop().call_soon(callback)


def run(provider: Any, request: Any, may_retry: Callable[[], bool] = lambda: True, **policy: Any) -> Any:
    clock = StepClock()

    async def collect() -> list[Any]:
        settings = RetryPolicy(random_fraction=lambda: 0.0, **policy)
        heard: list[Any] = []

        def hear(item: Delta | Retrying) -> bool:
            heard.append(item)
            return True

        reply = await ask_with_retries(provider, request, hear, clock=clock, policy=settings, may_retry=may_retry)
        return [*heard, reply]

    return asyncio.run(collect()), clock.waits


def test_waits_grow_and_the_answer_comes_once(make_request: Any) -> None:
    provider = ScriptedProvider([{"error": "overloaded"}, {"error": "connection"}, {"error": "server"}, "hello"])
    items, waits = run(provider, make_request("hi"))
    assert waits == [1.0, 2.0, 4.0]
    assert [item.attempt for item in items if isinstance(item, Retrying)] == [2, 3, 4]
    assert [item.text for item in items if isinstance(item, Delta)] == ["hello"]
    assert isinstance(items[-1], AssistantMessage)


def test_attempts_are_limited(make_request: Any) -> None:
    provider = ScriptedProvider([{"error": "timeout"}] * 9)
    with pytest.raises(ProviderError):
        run(provider, make_request("hi"))
    assert provider.requests_answered == 4


@pytest.mark.parametrize("kind", ["authentication", "invalid_request", "filtered", "too_long", "response", "not_found"])
def test_what_cannot_get_better_is_not_tried_again(kind: str, make_request: Any) -> None:
    provider = ScriptedProvider([{"error": kind}, "hello"])
    with pytest.raises(ProviderError) as failed:
        run(provider, make_request("hi"))
    assert failed.value.kind == kind
    assert provider.requests_answered == 1


@pytest.mark.parametrize(("asked", "waited"), [(0.0, 0.0), (7.5, 7.5), (60.0, 60.0), (4_294_967.0, 60.0)])
def test_a_wait_that_the_server_asks_for_is_capped(asked: float, waited: float, make_request: Any) -> None:
    _, waits = run(ScriptedProvider([{"error": "rate_limit", "retry_after": asked}, "hello"]), make_request("hi"))
    assert waits == [waited]


def test_jitter_takes_at_most_half() -> None:
    error = ProviderError("server", "x", "y")
    waits = [RetryPolicy(random_fraction=lambda f=f: f).wait_seconds(3, error) for f in (0.0, 0.5, 1.0)]  # type: ignore[misc]
    assert waits == [4.0, 3.0, 2.0]
    assert RetryPolicy(random_fraction=lambda: 0.0).wait_seconds(50, error) == 60.0


def test_nothing_is_tried_again_once_somebody_saw_a_delta(make_request: Any) -> None:
    provider = ScriptedProvider([{"text": "half an ans", "error": "incomplete"}, "whole"])
    with pytest.raises(ProviderError):
        run(provider, make_request("hi"), may_retry=lambda: False)
    assert provider.requests_answered == 1


def test_deltas_that_nobody_saw_do_not_stop_a_second_attempt(make_request: Any) -> None:
    provider = ScriptedProvider([{"text": "half an ans", "error": "incomplete"}, "whole"])
    items, _ = run(provider, make_request("hi"))
    assert items[-1].text == "whole"


def test_a_provider_without_a_message_at_the_end_is_incomplete(make_request: Any) -> None:
    class Silent(ScriptedProvider):
        async def stream(self, request: Any) -> AsyncIterator[Delta | AssistantMessage]:
            yield Delta("text", "half")

    with pytest.raises(ProviderError) as failed:
        run(Silent([]), make_request("hi"), max_attempts=1)
    assert failed.value.kind == "incomplete"


def test_leaving_early_closes_the_attempt(make_request: Any) -> None:
    closed = []

    class Long(ScriptedProvider):
        async def stream(self, request: Any) -> AsyncIterator[Delta | AssistantMessage]:
            try:
                for _ in range(9):
                    yield Delta("text", "x")
            finally:
                closed.append(True)

    async def leave() -> None:
        assert await ask_with_retries(Long([]), make_request("hi"), lambda item: False) is None
        assert closed == [True]

    asyncio.run(leave())


def test_a_request_that_no_hook_may_make_is_refused_before_anything_is_sent(make_request: Any) -> None:
    provider = ScriptedProvider(["hello"])
    with pytest.raises(RequestRefusedError):
        run(provider, make_request(" \n"))
    assert provider.requests_answered == 0


def test_an_overload_inside_a_stream_is_tried_again(wire: Any, make_request: Any) -> None:
    fault = Fault(
        kind="error_event", status=529, after=0, code="overloaded_error" if wire.name != "anthropic" else None
    )
    with StrictServer([fault, Reply(text="hello")]) as server:
        items, waits = run(wire.provider(server), make_request("hi"))
    assert [type(item) for item in items if not isinstance(item, Delta)] == [Retrying, AssistantMessage]
    assert items[-1].text == "hello"
    assert len(waits) == 1


def test_a_cut_stream_is_tried_again_and_never_an_answer(wire: Any, make_request: Any) -> None:
    with StrictServer([Reply(text="The ans", fault=Fault(kind="cut")), Reply(text="The answer is 4")]) as server:
        items, _ = run(wire.provider(server), make_request("hi"))
    assert [item.text for item in items if isinstance(item, AssistantMessage)] == ["The answer is 4"]


def test_a_dropped_connection_is_tried_again(wire: Any, make_request: Any) -> None:
    with StrictServer([Reply(text="The ans", fault=Fault(kind="drop")), Reply(text="The answer is 4")]) as server:
        items, _ = run(wire.provider(server), make_request("hi"))
    assert items[-1].text == "The answer is 4"


def test_the_wait_comes_from_the_header_and_the_sdk_does_not_retry(wire: Any, make_request: Any) -> None:
    with StrictServer([Fault(status=429, retry_after="1"), Reply(text="hello")]) as server:
        _, waits = run(wire.provider(server), make_request("hi"))
        assert waits == [1.0]
        assert len(server.requests) == 2


def test_a_used_up_quota_is_not_tried_again(wires: Any, make_request: Any) -> None:
    with StrictServer([Fault(status=429, code="insufficient_quota"), Reply(text="hello")]) as server:
        with pytest.raises(ProviderError, match="quota"):
            run(wires["openai"].provider(server), make_request("hi"))
        assert len(server.requests) == 1
