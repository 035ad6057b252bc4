"""While the model is asked: what is said as a reply comes in, what is counted, and when a call is tried again."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from hookagent.errors import ProviderError
from hookagent.events import MessageDelta, MessageReplaced, MessageStart, ResponseReceived, Retry, TurnEnd
from hookagent.messages import AssistantMessage, TextPart
from hookagent.providers.base import Delta
from hookagent.providers.retry import RetryPolicy
from hookagent.testing import FakeClock
from hookagent.usage import Usage
from tests.core.own_models import agent_with
from tests.core.plugin_making import made
from tests.core.scripts import calls, make_agent
from tests.core.ways_around import WAYS, turns

ANSWER = {"text": "done"}
REPLY = AssistantMessage((TextPart("done"),))


# ---- what is said and counted ----


@WAYS
def test_what_is_said_while_a_reply_comes_in(way: str) -> None:
    clock, used = FakeClock(), Usage(5, 3, 2, 1)

    async def stream(request: Any) -> Any:
        clock.now += 0.25
        yield Delta("thinking", "hm")
        yield Delta("text", "do")
        yield Delta("text", "ne")
        yield AssistantMessage((TextPart("done"),), usage=used)

    agent = agent_with(stream, way=way, clock=clock)
    clock.now = 100.0
    heard: list[Any] = []
    agent.subscribe(heard.append)
    agent.run_sync("go")
    own = [one for one in heard if isinstance(one, MessageStart | MessageDelta | ResponseReceived)]
    assert [tuple(one)[4:] for one in own] == [
        ("user",),
        ("assistant",),
        ("thinking", "hm"),
        ("text", "do"),
        ("text", "ne"),
        (used, "end", 250.0),
    ]
    assert [type(one) for one in own[2:]] == [MessageDelta, MessageDelta, MessageDelta, ResponseReceived]


@pytest.mark.parametrize("requests", [0, 3])
def test_what_a_reply_used_counts_for_call_turn_run_and_session(requests: int) -> None:
    counts = [Usage(1, 2, 3, 4, 0.5, requests), Usage(10, 20, 30, 40, 0.25, requests), Usage(5, 5, 5, 5, 1.0, requests)]
    given = iter(counts)

    async def stream(request: Any) -> Any:
        yield AssistantMessage((TextPart("done"),), usage=next(given))

    agent = agent_with(stream)
    agent.follow_up("and on")
    first = agent.run_sync("go")
    second = agent.run_sync("more")
    each = max(requests, 1)
    assert first.usage == Usage(11, 22, 33, 44, 0.75, 2 * each)
    assert second.usage == Usage(5, 5, 5, 5, 1.0, each)
    assert agent.session.usage == Usage(16, 27, 38, 49, 1.75, 3 * each)
    ended = [one.usage for one in agent.session.trace if isinstance(one, TurnEnd)]
    assert [(one.input_tokens, one.requests) for one in ended] == [(11, 2 * each), (5, each)]
    received = [one.usage for one in agent.session.trace if isinstance(one, ResponseReceived)]
    assert received == counts


def test_turns_of_one_run_are_counted_apart() -> None:
    async def stream(request: Any) -> Any:
        yield AssistantMessage((TextPart("done"),), usage=Usage(2, output_tokens=1))

    def again(outcome: Any) -> None:
        if outcome.turn == 1:
            agent.follow_up("again")

    agent = agent_with(stream, made("again", on_complete=again))
    assert agent.run_sync("go").usage.total_tokens == 6
    assert [one.usage.total_tokens for one in agent.session.trace if isinstance(one, TurnEnd)] == [3, 3]
    agent.run_sync("go")
    assert agent.session.usage.total_tokens == 9


def test_a_nested_run_is_counted_with_the_run_that_it_is_nested_in() -> None:
    inner = make_agent([{"text": "inner", "usage": {"input_tokens": 30}}])

    async def nest() -> str:
        """Ask another agent."""
        return (await inner.run("inner")).answer

    step = {**calls("nest"), "usage": {"input_tokens": 20}}
    outer = make_agent([step, ANSWER], tools=[nest], limits={"max_tokens": 50})
    result = outer.run_sync("go")
    assert (result.limit, result.usage.input_tokens) == ("max_tokens", 20)
    assert "50 tokens" in result.answer


def test_the_size_of_the_context_is_that_of_the_newest_reply_that_tells_it() -> None:
    given = iter([Usage(100, 20, 3, 7), Usage()])

    async def stream(request: Any) -> Any:
        yield AssistantMessage((TextPart("done"),), usage=next(given))

    agent = agent_with(stream)
    provider: Any = agent.provider
    provider.context_window = 1000
    for _ in range(2):
        agent.run_sync("go")
        assert agent.session.context_percent == pytest.approx(13.0)


@WAYS
def test_the_text_of_a_reply_can_be_read_while_it_comes_in_and_not_before_or_after(way: str) -> None:
    read: list[str | None] = []

    async def stream(request: Any) -> Any:
        read.append(agent.streaming_text)
        for delta in (Delta("text", "do"), Delta("thinking", "hm"), Delta("text", "ne")):
            yield delta
            read.append(agent.streaming_text)
        yield REPLY

    agent = agent_with(stream, way=way)
    assert agent.streaming_text is None
    agent.run_sync("go")
    assert read == ["", "do", "do", "done"]
    assert agent.streaming_text is None


# ---- trying again ----


def failing_once(*pieces: Delta) -> Any:
    attempts: list[int] = []

    async def stream(request: Any) -> Any:
        attempts.append(len(attempts) + 1)
        for piece in pieces:
            yield piece
        if len(attempts) == 1:
            raise ProviderError("overloaded", "own", "busy")
        yield REPLY

    return stream, attempts


@WAYS
@pytest.mark.parametrize(
    ("pieces", "heard", "tried"),
    [((), True, 2), ((Delta("text", "do"),), True, 1), ((Delta("text", "do"),), False, 2)],
    ids=["nothing came", "somebody heard it", "nobody heard it"],
)
def test_a_call_is_tried_again_unless_somebody_heard_a_piece(
    way: str, pieces: tuple[Delta, ...], heard: bool, tried: int
) -> None:
    clock = FakeClock()
    events: list[Any] = []
    policy = RetryPolicy(first_wait=4.0, random_fraction=lambda: 0.5)
    stream, attempts = failing_once(*pieces)
    agent = agent_with(stream, way=way, clock=clock, retry_policy=policy)

    async def main() -> Any:
        if heard:
            agent.subscribe(events.append)
        task = asyncio.create_task(agent.run("go"))
        await turns(12)
        clock.advance(2.9)
        await turns()
        assert len(attempts) == 1
        clock.advance(0.1)
        await turns(12)
        assert task.done()
        return await task

    result = asyncio.run(main())
    assert (result.status, len(attempts)) == ("completed" if tried == 2 else "failed", tried)
    retried = [tuple(one)[4:] for one in agent.session.trace if isinstance(one, Retry | MessageReplaced)]
    assert retried == ([(2, 3.0, "own: busy"), ("retry",)] if tried == 2 else [])
