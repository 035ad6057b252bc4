"""The OpenAI SDK talks to the strict server on both of its wire forms, streaming and not."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import openai
import pytest

from hookagent.testing import Call, NoId, Reply, ServerCall, StrictServer, Thinking, Usage
from hookagent.testing.server.replies import Part

SCHEMA = {"type": "object", "properties": {"q": {"type": "string"}}}
RESPONSES: dict[str, Any] = {
    "model": "gpt-5",
    "input": [{"role": "user", "content": "go"}],
    "tools": [{"type": "function", "name": "look", "parameters": SCHEMA, "strict": False}],
    "store": False,
    "include": ["reasoning.encrypted_content"],
    "reasoning": {"summary": "auto"},
}
CHAT: dict[str, Any] = {
    "model": "gpt-5",
    "messages": [{"role": "user", "content": "go"}],
    "tools": [{"type": "function", "function": {"name": "look", "parameters": SCHEMA}}],
}
USAGE: dict[str, Any] = {"stream_options": {"include_usage": True}}
EITHER = pytest.mark.parametrize("stream", [False, True])
WIRES = pytest.mark.parametrize("wire", ["responses", "chat"])


def client(server: StrictServer, key: str = "k") -> Any:
    return openai.OpenAI(api_key=key, base_url=server.openai_url, max_retries=0)


def respond(server: StrictServer, stream: bool, **changes: Any) -> Any:
    with client(server) as sdk:
        if not stream:
            return sdk.responses.create(**(RESPONSES | changes))
        with sdk.responses.stream(**(RESPONSES | changes)) as events:
            return events.get_final_response()


def complete(server: StrictServer, stream: bool, **changes: Any) -> Any:
    with client(server) as sdk:
        if not stream:
            return sdk.chat.completions.create(**(CHAT | changes))
        with sdk.chat.completions.stream(**(CHAT | USAGE | changes)) as events:
            return events.get_final_completion()


def stream_events(server: StrictServer, wire: str) -> list[Any]:
    with client(server) as sdk:
        if wire == "responses":
            with sdk.responses.create(**RESPONSES, stream=True) as events:
                return list(events)
        with sdk.chat.completions.create(**CHAT, **USAGE, stream=True) as events:
            return list(events)


def text_of(answer: Any) -> Any:
    return answer.output_text if answer.object == "response" else answer.choices[0].message.content


def ask(server: StrictServer, wire: str, stream: bool, **changes: Any) -> Any:
    return (respond if wire == "responses" else complete)(server, stream, **changes)


@EITHER
def test_every_kind_of_part_arrives_on_responses(stream: bool) -> None:
    usage = Usage(50, 30, cache_read_tokens=150, cache_write_tokens=100, thinking_tokens=9)
    calls = [Call("look", {"q": "größer 🙂"}, id="c1"), Call("look", id="c2")]
    with StrictServer([Reply("Looking at it closely.", calls, thinking="Where is it?", usage=usage)]) as server:
        response = respond(server, stream)

    assert [item.type for item in response.output] == ["reasoning", "message", "function_call", "function_call"]
    assert response.output[0].summary[0].text == "Where is it?"
    assert response.output[0].encrypted_content
    assert response.output_text == "Looking at it closely."
    assert [(i.call_id, json.loads(i.arguments)) for i in response.output[2:]] == [
        ("c1", calls[0].arguments),
        ("c2", {}),
    ]
    assert response.status == "completed"
    assert (response.usage.input_tokens, response.usage.output_tokens, response.usage.total_tokens) == (300, 30, 330)
    assert response.usage.input_tokens_details.cached_tokens == 150
    assert response.usage.output_tokens_details.reasoning_tokens == 9
    assert server.failures == []


@EITHER
def test_every_kind_of_part_arrives_on_chat(stream: bool) -> None:
    usage = Usage(50, 30, cache_read_tokens=150, cache_write_tokens=100, thinking_tokens=9)
    calls = [Call("look", {"q": "größer 🙂"}, id="c1"), Call("look", id="c2")]
    with StrictServer([Reply("Looking at it closely.", calls, usage=usage)]) as server:
        completion = complete(server, stream)

    choice = completion.choices[0]
    assert choice.message.content == "Looking at it closely."
    found = [(call.id, json.loads(call.function.arguments)) for call in choice.message.tool_calls]
    assert found == [("c1", calls[0].arguments), ("c2", {})]
    assert choice.finish_reason == "tool_calls"
    counts = completion.usage
    assert (counts.prompt_tokens, counts.completion_tokens, counts.total_tokens) == (300, 30, 330)
    assert counts.prompt_tokens_details.cached_tokens == 150
    assert counts.completion_tokens_details.reasoning_tokens == 9


@EITHER
def test_a_round_trip_on_responses_keeps_reasoning_with_its_item(stream: bool) -> None:
    parts: list[Part] = [Thinking("Hm."), Call("look"), Thinking("And?", redacted=True), Call("look"), "Behind them."]
    with StrictServer([Reply(parts=parts), Reply("done")]) as server:
        first = respond(server, stream)
        items = [item.to_dict() for item in first.output]
        for item in items:
            item.pop("parsed_arguments", None)
            for content in item.get("content") or ():
                content.pop("parsed", None)
        results = [
            {"type": "function_call_output", "call_id": item["call_id"], "output": "found"}
            for item in items
            if item["type"] == "function_call"
        ]
        history = [*RESPONSES["input"], *items, *results]
        with pytest.raises(openai.BadRequestError, match="without its reasoning item") as caught:
            respond(server, stream, input=[*history[:1], *history[2:]])
        forged = [dict(item) for item in history]
        forged[1]["encrypted_content"] += "!"
        with pytest.raises(openai.BadRequestError) as changed:
            respond(server, stream, input=forged)
        answer = respond(server, stream, input=history)

    assert [item["type"] for item in items] == ["reasoning", "function_call", "reasoning", "function_call", "message"]
    assert items[2]["summary"] == []
    assert (caught.value.code, caught.value.param) == ("reasoning-missing", "input[1]")
    assert changed.value.code == "reasoning-changed"
    assert answer.output_text == "done"
    assert [refusal.rule for refusal in server.refused] == ["reasoning-missing", "reasoning-changed"]


def test_reasoning_is_encrypted_only_when_the_request_includes_it() -> None:
    with StrictServer([Reply("hi", thinking="Hm.")]) as server:
        items = respond(server, False, include=[], reasoning={"effort": "low"}).output
        assert items[0].to_dict().keys() == {"type", "id", "summary"}
        assert items[0].summary == []
        history = [*RESPONSES["input"], *(item.to_dict() for item in items), {"role": "user", "content": "and?"}]
        with pytest.raises(openai.BadRequestError) as caught:
            respond(server, False, input=history)

    assert caught.value.code == "reasoning-content"


@EITHER
def test_a_round_trip_on_chat(stream: bool) -> None:
    with StrictServer([Reply("One moment.", [Call("look"), Call("look")]), Reply("done")]) as server:
        message = complete(server, stream).choices[0].message
        calls = [
            {"id": call.id, "type": "function", "function": {"name": "look", "arguments": call.function.arguments}}
            for call in message.tool_calls
        ]
        asked = {"role": "assistant", "content": message.content, "tool_calls": calls}
        results = [{"role": "tool", "tool_call_id": call["id"], "content": "found"} for call in calls]
        with pytest.raises(openai.BadRequestError) as caught:
            complete(server, stream, messages=[*CHAT["messages"], asked, results[0]])
        answer = complete(server, stream, messages=[*CHAT["messages"], asked, *results])

    assert (caught.value.code, caught.value.param) == ("call-unanswered", "messages[1]")
    assert answer.choices[0].message.content == "done"
    assert server.remaining == 0


@EITHER
def test_stop_reasons_on_responses(stream: bool) -> None:
    reasons = {"end": None, "refusal": None, "content_filter": "content_filter", "weird_new": "weird_new"}
    with StrictServer([Reply("text", stop=stop) for stop in reasons]) as server:
        events = [respond(server, False) if not stream else stream_events(server, "responses")[-1] for _ in reasons]

    answers = [event.response if stream else event for event in events]
    for answer, expected in zip(answers, reasons.values(), strict=True):
        assert answer.status == ("completed" if expected is None else "incomplete")
        assert (answer.incomplete_details and answer.incomplete_details.reason) == expected
    assert answers[1].output[0].content[0].refusal == "text"


def test_stop_reasons_on_chat() -> None:
    reasons = {
        "end": "stop",
        "length": "length",
        "content_filter": "content_filter",
        "refusal": "stop",
        "weird_new": "weird_new",
    }
    with StrictServer([Reply("text", stop=stop) for stop in [*reasons, *reasons]]) as server:
        whole = [complete(server, False).choices[0] for _ in reasons]
        chunks = [stream_events(server, "chat") for _ in reasons]

    assert [choice.finish_reason for choice in whole] == list(reasons.values())
    assert [events[-2].choices[0].finish_reason for events in chunks] == list(reasons.values())
    assert (whole[3].message.refusal, whole[3].message.content) == ("text", None)
    assert "".join(event.choices[0].delta.refusal or "" for event in chunks[3][:-1]) == "text"


def test_a_cut_call_keeps_its_broken_text() -> None:
    cut = Reply(calls=[Call("look", '{"q": "aaa')], stop="length")
    with StrictServer([cut] * 4) as server:
        responses = [respond(server, False), stream_events(server, "responses")[-1].response]
        chat = complete(server, False).choices[0]
        chunks = stream_events(server, "chat")

    for response in responses:
        assert (response.output[0].arguments, response.output[0].status) == ('{"q": "aaa', "incomplete")
        assert response.incomplete_details.reason == "max_output_tokens"
    assert (chat.message.tool_calls[0].function.arguments, chat.finish_reason) == ('{"q": "aaa', "length")
    calls = [call for chunk in chunks[:-1] for call in chunk.choices[0].delta.tool_calls or ()]
    assert "".join(call.function.arguments for call in calls) == '{"q": "aaa'


@WIRES
def test_strange_call_ids_are_sent_as_scripted(wire: str) -> None:
    calls = [Call("look", id=id) for id in ("", NoId.NULL, NoId.MISSING, "c1", "c1")]
    with StrictServer([Reply(calls=calls)]) as server:
        answer = ask(server, wire, False).to_dict()

    sent = answer["output"] if wire == "responses" else answer["choices"][0]["message"]["tool_calls"]
    field = "call_id" if wire == "responses" else "id"
    assert [call.get(field, "missing") for call in sent] == ["", None, "missing", "c1", "c1"]


def test_chat_reports_usage_in_a_stream_only_when_asked() -> None:
    with StrictServer([Reply("hi")] * 2) as server, client(server) as sdk:
        with sdk.chat.completions.create(**CHAT, stream=True) as events:
            plain = list(events)
        asked = stream_events(server, "chat")

    assert all(chunk.usage is None for chunk in plain)
    assert [chunk.choices for chunk in asked[-1:]] == [[]]
    assert asked[-1].usage.prompt_tokens > 0


def test_responses_events_are_numbered_and_in_the_vendors_order() -> None:
    with StrictServer([Reply("hi", [Call("look", {"q": "x"})], thinking="Hm")]) as server:
        events = stream_events(server, "responses")

    assert [event.sequence_number for event in events] == list(range(len(events)))
    assert [event.type.removeprefix("response.") for event in events] == [
        "created",
        "in_progress",
        "output_item.added",
        "reasoning_summary_part.added",
        "reasoning_summary_text.delta",
        "reasoning_summary_text.done",
        "reasoning_summary_part.done",
        "output_item.done",
        "output_item.added",
        "content_part.added",
        "output_text.delta",
        "output_text.done",
        "content_part.done",
        "output_item.done",
        "output_item.added",
        "function_call_arguments.delta",
        "function_call_arguments.done",
        "output_item.done",
        "completed",
    ]


@WIRES
def test_what_a_wire_form_does_not_have_is_a_script_error(wire: str) -> None:
    with StrictServer([Reply(parts=[ServerCall("web_search")]), Reply("a", stop="pause")]) as server:
        for _ in range(2):
            with pytest.raises(openai.InternalServerError) as caught:
                ask(server, wire, False)
            assert caught.value.code == "script"


@WIRES
def test_a_callable_reply_sees_the_body_and_its_failure_is_kept(wire: str) -> None:
    with StrictServer(lambda body: Reply(body["model"])) as server:
        assert [text_of(ask(server, wire, False)) for _ in range(2)] == ["gpt-5", "gpt-5"]
    with StrictServer([lambda body: body["nothing"]]) as server:
        with pytest.raises(openai.APIConnectionError):
            ask(server, wire, False)
        assert [repr(failure) for failure in server.failures] == ["KeyError('nothing')"]


@WIRES
def test_keys_models_and_paths(wire: str) -> None:
    with StrictServer([], api_key="right", models={"gpt-5"}) as server:
        with pytest.raises(openai.AuthenticationError) as caught:
            ask(server, wire, False)
        assert caught.value.code == "invalid_api_key"
        with client(server, "right") as sdk:
            with pytest.raises(openai.NotFoundError) as missing:
                sdk.chat.completions.create(**(CHAT | {"model": "gpt-9"}))
            with pytest.raises(openai.NotFoundError, match="/v1/models"):
                sdk.models.list()
            with pytest.raises(openai.InternalServerError, match="no reply left"):
                sdk.responses.create(**RESPONSES)

    assert missing.value.code == "model_not_found"


def test_the_async_client_gets_the_same_from_many_tasks() -> None:
    async def run(server: StrictServer) -> list[str]:
        async with openai.AsyncOpenAI(api_key="k", base_url=server.openai_url, max_retries=0) as sdk:
            return [
                response.output_text
                for response in await asyncio.gather(*(sdk.responses.create(**RESPONSES) for _ in range(8)))
            ]

    with StrictServer([Reply(str(number)) for number in range(8)]) as server:
        assert sorted(asyncio.run(run(server))) == [str(number) for number in range(8)]
        assert len(server.requests) == 8
