"""The Anthropic SDK talks to the strict server: text, calls, thinking, round trips and faults, streaming and not."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import anthropic
import httpx2
import pytest

from hookagent.testing import Call, Fault, NoId, Reply, ServerCall, StrictServer, Thinking, Usage

TOOLS: list[Any] = [{"name": "look", "input_schema": {"type": "object", "properties": {"q": {"type": "string"}}}}]
ASK: dict[str, Any] = {
    "model": "claude-sonnet-5",
    "max_tokens": 4096,
    "messages": [{"role": "user", "content": "go"}],
    "tools": TOOLS,
}


def client(server: StrictServer, key: str = "k") -> Any:
    return anthropic.Anthropic(api_key=key, base_url=server.anthropic_url, max_retries=0)


def ask(server: StrictServer, stream: bool, **changes: Any) -> Any:
    with client(server) as sdk:
        if not stream:
            return sdk.messages.create(**(ASK | changes))
        with sdk.messages.stream(**(ASK | changes)) as events:
            return events.get_final_message()


def raw_events(server: StrictServer) -> Iterator[Any]:
    with client(server) as sdk, sdk.messages.create(**ASK, stream=True) as events:
        yield from events


@pytest.mark.parametrize("stream", [False, True])
def test_every_kind_of_part_arrives(stream: bool) -> None:
    usage = Usage(50, 30, cache_read_tokens=150, cache_write_tokens=100, thinking_tokens=9)
    calls = [Call("look", {"q": "größer als gedacht 🙂"}, id="c1"), Call("look", id="c2")]
    with StrictServer([Reply("Looking at it closely.", calls, thinking="Where could it be?", usage=usage)]) as server:
        message = ask(server, stream)

    assert [block.type for block in message.content] == ["thinking", "text", "tool_use", "tool_use"]
    assert message.content[0].thinking == "Where could it be?"
    assert message.content[0].signature
    assert message.content[1].text == "Looking at it closely."
    assert [(block.id, block.input) for block in message.content[2:]] == [("c1", calls[0].arguments), ("c2", {})]
    assert message.stop_reason == "tool_use"
    counts = message.usage
    assert (counts.input_tokens, counts.output_tokens) == (50, 30)
    assert (counts.cache_read_input_tokens, counts.cache_creation_input_tokens) == (150, 100)
    assert counts.output_tokens_details.thinking_tokens == 9
    assert server.remaining == 0
    assert server.failures == []


@pytest.mark.parametrize("stream", [False, True])
def test_a_round_trip_with_thinking_is_taken_and_a_changed_one_refused(stream: bool) -> None:
    replies = [
        Reply(parts=[Thinking("Hm."), Thinking("secret", redacted=True), "One moment.", Call("look"), "Behind it."]),
        Reply("done"),
    ]
    thinking = {"type": "enabled", "budget_tokens": 1024}
    with StrictServer(replies) as server:
        first = ask(server, stream, thinking=thinking)
        blocks = [block.model_dump(exclude_none=True) for block in first.content]
        for block in blocks:
            block.pop("parsed_output", None)
        call = next(block for block in blocks if block["type"] == "tool_use")
        result = {"type": "tool_result", "tool_use_id": call["id"], "content": "found"}
        history = [*ASK["messages"], {"role": "assistant", "content": blocks}, {"role": "user", "content": [result]}]
        for position, field in ((0, "thinking"), (0, "signature"), (1, "data")):
            changed = [dict(block) for block in blocks]
            changed[position][field] += "!"
            messages = [history[0], {"role": "assistant", "content": changed}, history[2]]
            with pytest.raises(anthropic.BadRequestError, match="thinking-changed") as caught:
                ask(server, stream, messages=messages)
            assert caught.value.type == "invalid_request_error"
        answer = ask(server, stream, messages=history, thinking=thinking)

    assert [block["type"] for block in blocks] == ["thinking", "redacted_thinking", "text", "tool_use", "text"]
    assert answer.content[0].text == "done"
    assert [(refusal.rule, refusal.index) for refusal in server.refused] == [("thinking-changed", 1)] * 3
    assert len(server.requests) == 5


def test_a_transcript_goes_on_at_another_server_of_the_same_key_only() -> None:
    with StrictServer([Reply("hi", thinking="Hm.")]) as server:
        first = ask(server, False)
    blocks = [block.model_dump(exclude_none=True) for block in first.content]
    history = [*ASK["messages"], {"role": "assistant", "content": blocks}, {"role": "user", "content": "and?"}]
    with StrictServer([Reply("more")]) as server:
        assert ask(server, False, messages=history).content[0].text == "more"
    with StrictServer([Reply("more")], signing_key=b"other") as server:
        with pytest.raises(anthropic.BadRequestError, match="thinking-changed"):
            ask(server, False, messages=history)
        assert server.remaining == 1


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize(
    ("stop", "expected"),
    [
        (None, "end_turn"),
        ("end", "end_turn"),
        ("length", "max_tokens"),
        ("stop_sequence", "stop_sequence"),
        ("refusal", "refusal"),
        ("content_filter", "refusal"),
        ("weird_new", "weird_new"),
    ],
)
def test_stop_reasons(stream: bool, stop: str | None, expected: str) -> None:
    with StrictServer([Reply("text", stop=stop)]) as server:
        message = ask(server, stream, stop_sequences=["END"])

    assert message.stop_reason == expected
    assert message.stop_sequence == ("END" if expected == "stop_sequence" else None)
    assert (message.stop_details is not None) == (expected == "refusal")


@pytest.mark.parametrize("stream", [False, True])
def test_a_paused_turn_is_continued(stream: bool) -> None:
    searching = Reply(parts=[ServerCall("web_search", {"query": "x"}, id="s1")], stop="pause")
    found = Reply(parts=[ServerCall("web_search", {"query": "y"}, result=[]), "Found."])
    with StrictServer([searching, found]) as server:
        first = ask(server, stream)
        block = first.content[0].model_dump(exclude_none=True)
        second = ask(server, stream, messages=[*ASK["messages"], {"role": "assistant", "content": [block]}])

    assert first.stop_reason == "pause_turn"
    assert block == {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {"query": "x"}}
    assert [part.type for part in second.content] == ["server_tool_use", "web_search_tool_result", "text"]


def test_a_cut_call_keeps_its_broken_text_in_a_stream() -> None:
    cut = Reply(calls=[Call("look", '{"q": "aaa', id="c1")], stop="length")
    with StrictServer([cut, cut]) as server:
        events = list(raw_events(server))
        whole = ask(server, False)

    texts = [e.delta.partial_json for e in events if e.type == "content_block_delta"]
    assert "".join(texts) == '{"q": "aaa'
    assert events[-2].delta.stop_reason == "max_tokens"
    assert whole.content[0].input == {}


def test_strange_call_ids_are_sent_as_scripted() -> None:
    calls = [Call("look", id=id) for id in ("", NoId.NULL, NoId.MISSING, "c1", "c1")]
    with StrictServer([Reply(calls=calls), Reply(calls=[Call("look"), Call("look")])]) as server:
        blocks = ask(server, False).content
        fresh = [block.id for block in ask(server, True).content]

    assert [block.to_dict().get("id", "missing") for block in blocks] == ["", None, "missing", "c1", "c1"]
    assert len(set(fresh)) == 2
    assert all(id.startswith("toolu_") for id in fresh)


def test_events_come_in_the_vendors_order() -> None:
    with StrictServer([Reply("hi", thinking="Hm")]) as server:
        events = list(raw_events(server))

    block = ["content_block_start", "content_block_delta", "content_block_stop"]
    signed = [block[0], block[1], *block[1:]]
    assert [e.type for e in events] == ["message_start", *signed, *block, "message_delta", "message_stop"]
    assert events[0].message.usage.input_tokens == events[-2].usage.input_tokens > 0


@pytest.mark.parametrize(
    ("fault", "error"),
    [
        (Fault(status=429, retry_after="1"), anthropic.RateLimitError),
        (Fault(status=500), anthropic.InternalServerError),
        (Fault(status=529, message="busy"), anthropic.InternalServerError),
        (Fault(status=413), anthropic.APIStatusError),
        (Fault(kind="drop"), anthropic.APIConnectionError),
    ],
)
@pytest.mark.parametrize("stream", [False, True])
def test_faults_instead_of_a_reply(stream: bool, fault: Fault, error: type[Exception]) -> None:
    with StrictServer([fault, Reply("well")]) as server:
        with pytest.raises(error) as caught:
            ask(server, stream)
        assert ask(server, stream).content[0].text == "well"

    if isinstance(caught.value, anthropic.APIStatusError):
        assert caught.value.status_code == fault.status
        assert caught.value.response.headers.get("retry-after") == fault.retry_after
        assert fault.message in caught.value.message


def test_an_error_event_before_and_behind_the_first_text() -> None:
    overloaded = Fault(kind="error_event", status=529, message="busy")
    with StrictServer([overloaded, Reply("The answer is 4", fault=overloaded)]) as server:
        for _ in range(2):
            with pytest.raises(anthropic.APIStatusError, match="overloaded_error"):
                list(raw_events(server))


def test_a_cut_stream_ends_without_its_closing_events() -> None:
    with StrictServer([Reply("The answer is 4", fault=Fault(kind="cut"))]) as server:
        message = ask(server, True)

    assert message.content[0].text == "The answer is 4"
    assert message.stop_reason is None


@pytest.mark.parametrize("after", [None, 1, 4])
def test_a_dropped_stream_is_a_broken_connection(after: int | None) -> None:
    with (
        StrictServer([Reply("The answer is 4", fault=Fault(kind="drop", after=after))]) as server,
        pytest.raises(httpx2.RemoteProtocolError),
    ):
        ask(server, True)


def test_a_body_cut_half_way_is_a_broken_connection() -> None:
    with (
        StrictServer([Reply("The answer is 4", fault=Fault(kind="cut"))]) as server,
        pytest.raises((httpx2.RemoteProtocolError, anthropic.APIConnectionError)),
    ):
        ask(server, False)


def test_a_stalled_stream_goes_on_when_released() -> None:
    with StrictServer([Reply("The answer is 4", fault=Fault(kind="stall", after=4))]) as server:
        seen = []
        for event in raw_events(server):
            seen.append(event.type)
            if event.type == "content_block_delta":
                server.release()

    assert seen[-1] == "message_stop"


def test_closing_the_server_ends_a_stall() -> None:
    server = StrictServer([Fault(kind="stall")])
    with client(server) as sdk:
        with server:
            events = sdk.messages.create(**ASK, stream=True)
        with pytest.raises(httpx2.TransportError):
            list(events)
        events.close()


@pytest.mark.parametrize("stream", [False, True])
def test_the_async_client_gets_the_same(stream: bool) -> None:
    async def run(server: StrictServer) -> Any:
        sdk: Any = anthropic.AsyncAnthropic(api_key="k", base_url=server.anthropic_url, max_retries=0)
        async with sdk:
            if not stream:
                return await sdk.messages.create(**ASK)
            async with sdk.messages.stream(**ASK) as events:
                return await events.get_final_message()

    with StrictServer([Reply("hello there")]) as server:
        assert asyncio.run(run(server)).content[0].text == "hello there"


def test_a_literal_body_is_sent_as_it_is() -> None:
    events: list[dict[str, Any]] = [
        {"type": "message_start", "message": {"id": "m", "content": []}},
        {"type": "message_stop"},
    ]
    with StrictServer([Reply(raw={"type": "message", "content": None}), Reply(raw=events)]) as server:
        message = ask(server, False)
        types = [event.type for event in raw_events(server)]

    assert message.content is None
    assert types == ["message_start", "message_stop"]


def test_keys_models_and_paths() -> None:
    with StrictServer([Reply("hi")], api_key="right", models={"claude-sonnet-5"}) as server:
        with client(server, key="wrong") as sdk, pytest.raises(anthropic.AuthenticationError):
            sdk.messages.create(**ASK)
        with client(server, key="right") as sdk:
            with pytest.raises(anthropic.NotFoundError, match="claude-9") as caught:
                sdk.messages.create(**(ASK | {"model": "claude-9"}))
            with pytest.raises(anthropic.NotFoundError, match="count_tokens"):
                sdk.messages.count_tokens(model="m", messages=ASK["messages"])
            assert sdk.messages.create(**ASK).content[0].text == "hi"
            with pytest.raises(anthropic.InternalServerError, match="no reply left: all 1 were used"):
                sdk.messages.create(**ASK)

    assert caught.value.type == "not_found_error"
    assert "right" not in str(server.requests)
    assert server.requests[0].headers["authorization"] == "[redacted]"
    assert server.requests[0].body["model"] == "claude-9"


def test_sampling_settings_are_taken_by_the_older_api_version_only() -> None:
    setting = {"temperature": 0.2}
    with StrictServer([Reply("hi")]) as server, client(server) as sdk:
        with pytest.raises(anthropic.BadRequestError, match="unknown-field"):
            sdk.messages.create(**ASK, extra_body=setting)
        older = {"anthropic-version": "2023-06-01"}
        assert sdk.messages.create(**ASK, extra_body=setting, extra_headers=older).content[0].text == "hi"
