"""The bytes that are sent: as the SDKs would write them, whatever was kept of earlier requests, on both ways."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hookagent.messages import AssistantMessage, TextPart, ToolCall, ToolResult, UserMessage
from hookagent.providers.anthropic_messages.provider import AnthropicProvider, post_stream
from hookagent.providers.body_bytes import body_bytes
from hookagent.providers.openai_chat.provider import OpenAIChatProvider
from hookagent.providers.openai_responses.provider import OpenAIResponsesProvider
from hookagent.requests import BlockView, Request
from hookagent.testing import Call, Reply, StrictServer, Usage
from hookagent.transcript import Transcript
from tests.providers.protected import protected_in

REPLY = Reply(thinking="hm", text="I look", calls=[Call("t", {"q": "é"}, id="call_1")], usage=Usage(10, 5, 3))
STEPS = st.lists(st.sampled_from(["user", "reply", "round"]), min_size=1, max_size=8)
TEXTS = st.text(min_size=1, max_size=20).filter(str.strip)


def grown(transcript: Transcript, steps: Sequence[str], text: str) -> Transcript:
    """A transcript with one block more for each step, and a prompt behind them."""
    for step in steps:
        number = len(transcript)
        if step == "user":
            transcript = transcript.with_user(UserMessage(f"{text} {number}"))
        elif step == "reply":
            transcript = transcript.with_reply(AssistantMessage((TextPart(text),)))
        else:
            reply = AssistantMessage((ToolCall(f"c{number}", "t", None, text, "odd"),), "tool_calls")
            transcript = transcript.with_reply(reply).with_result(ToolResult(text, call_id=f"c{number}"))
    return transcript.with_user(UserMessage("go on"))


def request_of(transcript: Transcript, start: int = 0) -> Request:
    return Request(BlockView(transcript), system="s", protected=protected_in(transcript)).dropping_before(start)


def written_by_the_sdk(body: dict[str, Any]) -> Any:
    return json.loads(json.dumps(body, ensure_ascii=False))


@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(first=STEPS, then=STEPS, text=TEXTS, start=st.integers(0, 9))
def test_bytes_that_were_kept_equal_fresh_ones(
    wires: dict[str, Any], first: list[str], then: list[str], text: str, start: int
) -> None:
    before = grown(Transcript().with_user(UserMessage("begin")), first, text)
    after = grown(before, then, text)
    fork = grown(before, then[::-1], f"{text}?")  # an old snapshot grown on: what is shared must serve both
    for wire in wires.values():
        for transcript in (before, after, fork):
            body = wire.body(request_of(transcript, start))
            kept = body_bytes(body, wire.list_field)
            assert json.loads(kept) == written_by_the_sdk(body)
            for block in transcript:
                block.wire_cache.clear()
            assert body_bytes(wire.body(request_of(transcript, start)), wire.list_field) == kept


def test_a_message_is_written_once(wires: dict[str, Any]) -> None:
    transcript = grown(Transcript().with_user(UserMessage("begin")), ["round", "round"], "x")
    for wire in wires.values():
        if wire.name == "anthropic":
            continue  # its newest turns carry marks for the vendor's cache, in copies
        first = wire.body(request_of(transcript))
        body_bytes(first, wire.list_field)
        again = wire.body(request_of(transcript))
        shared = [one for one in again[wire.list_field] if any(one is other for other in first[wire.list_field])]
        assert len(shared) >= 6
        assert all(one.written is not None for one in shared)


@pytest.mark.parametrize("value", [float("nan"), object()])
def test_what_json_cannot_carry_is_an_error(value: object) -> None:
    with pytest.raises((TypeError, ValueError)):
        body_bytes({"messages": [], "temperature": value}, "messages")


def test_anthropic_post_and_create_send_and_read_the_same(wires: Any, make_request: Any, tool: Any) -> None:
    import anthropic

    request = make_request("hi", system="be brief", tools=(tool(q="string"),), session_id="s1")

    async def both(url: str) -> list[list[Any]]:
        async with anthropic.AsyncAnthropic(api_key="k", base_url=url, max_retries=0) as client:
            heard = []
            for documented in (False, True):
                events = await post_stream(client, wires["anthropic"].body(request), documented=documented)
                heard.append([event async for event in events])
            return heard

    with StrictServer([REPLY, REPLY]) as server:
        first, second = asyncio.run(both(server.anthropic_url))
        posted, created = server.requests
    assert posted.body == created.body
    assert posted.path == created.path
    assert dict(posted.headers) == dict(created.headers)
    assert [type(event) for event in first] == [type(event) for event in second]
    assert [event.type for event in first] == [event.type for event in second]


@pytest.mark.parametrize(
    ("make", "address"),
    [
        (AnthropicProvider, "anthropic_url"),
        (OpenAIResponsesProvider, "openai_url"),
        (OpenAIChatProvider, "openai_url"),
    ],
)
def test_the_switch_to_the_documented_call_changes_nothing(make: Any, address: str, make_request: Any) -> None:
    request = make_request("hi", system="be brief")
    model = "claude-sonnet-5" if make is AnthropicProvider else "gpt-5"

    async def replies(url: str) -> list[Any]:
        last = []
        for documented in (False, True):
            provider = make(model, api_key="k", base_url=url, documented_call=documented)
            last.append([item async for item in provider.stream(request)][-1])
        return last

    with StrictServer([Reply(text="hello"), Reply(text="hello")]) as server:
        direct, documented = asyncio.run(replies(getattr(server, address)))
        posted, created = server.requests
    assert posted.body == created.body
    assert direct.text == documented.text == "hello"
    assert direct.usage == documented.usage
