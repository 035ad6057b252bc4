"""Liberties that servers take which are compatible with Chat Completions, more or less."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from hookagent.errors import ProviderError
from hookagent.messages import UserMessage
from hookagent.providers.base import Delta
from hookagent.testing import Reply, StrictServer, check_chat_request
from hookagent.transcript import Transcript


def failure(ask: Any, provider: Any, request: Any) -> ProviderError:
    with pytest.raises(ProviderError) as failed:
        ask(provider, request)
    error: ProviderError = failed.value
    return error


@pytest.mark.parametrize(
    ("raw", "kind", "said"),
    [
        ({"choices": None}, "response", '{"choices": null}'),
        ({"choices": []}, "response", '{"choices": []}'),
        ({"id": "x"}, "response", '"id": "x"'),
        ({"error": {"message": "busy"}}, "server", "busy"),
        ({"choices": [], "prompt_filter_results": [{"violence": "filtered"}]}, "filtered", "violence"),
    ],
)
def test_chat_replies_without_choices(
    raw: dict[str, Any], kind: str, said: str, wires: Any, make_request: Any, ask: Any
) -> None:
    with StrictServer([Reply(raw=raw)]) as server:
        error = failure(ask, wires["openai-chat"].provider(server), make_request("hi"))
    assert error.kind == kind
    assert said in str(error)


def chunk(finish: str | None = None, **delta: Any) -> dict[str, Any]:
    return {"id": "c", "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}


def call_piece(**fields: Any) -> dict[str, Any]:
    name, arguments = fields.pop("name", None), fields.pop("arguments", None)
    return {"type": "function", "function": {"name": name, "arguments": arguments}, **fields}


@pytest.mark.parametrize(
    "pieces",
    [
        # whole calls, all under index 0
        [
            [call_piece(index=0, id="a", name="t", arguments="{}")],
            [call_piece(index=0, id="b", name="t", arguments="{}")],
        ],
        # no index at all
        [[call_piece(id="a", name="t", arguments="{}")], [call_piece(id="b", name="t", arguments="{}")]],
        # pieces of both in turn
        [
            [call_piece(index=0, id="a", name="t"), call_piece(index=1, id="b", name="t")],
            [call_piece(index=1, arguments="{"), call_piece(index=0, arguments="{}")],
            [call_piece(index=1, arguments="}")],
        ],
        # the id again with each piece
        [
            [call_piece(index=0, id="a", name="t", arguments="{")],
            [call_piece(index=0, id="a", arguments="}")],
            [call_piece(index=1, id="b", name="t", arguments="{}")],
        ],
        # arguments as an object instead of a text
        [[call_piece(index=0, id="a", name="t", arguments={}), call_piece(index=1, id="b", name="t", arguments={})]],
    ],
)
def test_chat_calls_however_they_are_cut_into_pieces(
    pieces: Any, wires: Any, make_request: Any, ask: Any, tool: Any
) -> None:
    raw = [*[chunk(tool_calls=piece) for piece in pieces], chunk("tool_calls")]
    with StrictServer([Reply(raw=raw)]) as server:
        message = ask(wires["openai-chat"].provider(server), make_request("hi", tools=(tool(),)))
    assert [(call.id, call.name, call.arguments) for call in message.tool_calls] == [("a", "t", {}), ("b", "t", {})]


def test_reasoning_of_compatible_servers_is_shown_and_never_sent_back(
    wires: Any, make_request: Any, items_of: Any
) -> None:
    raw = [chunk(reasoning_content="let me"), chunk(reasoning=" think"), chunk(content="42"), chunk("stop")]
    wire = wires["openai-chat"]
    with StrictServer([Reply(raw=raw)]) as server:
        items = items_of(wire.provider(server), make_request("hi"))
    message = items[-1]
    assert [item.text for item in items if isinstance(item, Delta) and item.kind == "thinking"] == ["let me", " think"]
    assert message.text == "42"
    grown = Transcript([UserMessage("hi")]).with_reply(message).with_user(UserMessage("more"))
    assert "think" not in json.dumps(wire.body(make_request(grown)))


def test_a_call_in_two_places_is_one_call(wires: Any, make_request: Any, ask: Any, tool: Any) -> None:
    piece = call_piece(index=0, id="c1", name="t", arguments="{}")
    raw = [chunk(content="x", tool_calls=[piece], function_call={"name": "t", "arguments": "{}"}), chunk("tool_calls")]
    with StrictServer([Reply(raw=raw)]) as server:
        message = ask(wires["openai-chat"].provider(server), make_request("hi", tools=(tool(),)))
    assert [call.id for call in message.tool_calls] == ["c1"]


def unstreamed(wire: Any, body: str, content_type: str = "application/json") -> Any:
    """Ask a server that passes no stream back; the request is held to the strict rules all the same."""
    import httpx2

    def answer(request: httpx2.Request) -> httpx2.Response:
        wire.check_kit(json.loads(request.content))
        return httpx2.Response(200, headers={"content-type": content_type}, text=body)

    async def run(request: Any) -> list[Any]:
        async with httpx2.AsyncClient(transport=httpx2.MockTransport(answer)) as pool:
            provider = wire.make(wire.model, api_key="k", base_url="http://127.0.0.1:1/v1", http_client=pool)
            return [item async for item in provider.stream(request)]

    return lambda request: asyncio.run(run(request))


def test_a_whole_reply_instead_of_a_stream_is_read(wires: Any, make_request: Any, tool: Any) -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "t", "arguments": "{}"}}
    message = {"role": "assistant", "content": "look", "tool_calls": [call]}
    usage = {"prompt_tokens": 5, "completion_tokens": 2, "total_tokens": 7}
    body = json.dumps(
        {"id": "x", "choices": [{"index": 0, "message": message, "finish_reason": "stop"}], "usage": usage}
    )
    items = unstreamed(wires["openai-chat"], body)(make_request("hi", tools=(tool(),)))
    assert items[0] == Delta("text", "look")
    assert (items[-1].stop_reason, items[-1].tool_calls[0].id, items[-1].usage.input_tokens) == ("tool_calls", "c1", 5)


@pytest.mark.parametrize(
    ("body", "content_type", "kind", "said"),
    [
        ('{"choices": null}', "application/json", "response", "choices"),
        ('{"error": {"message": "busy", "type": "overloaded_error"}}', "application/json", "overloaded", "busy"),
        ("<html>gateway login</html>", "text/html", "response", "gateway login"),
        ("[]", "application/json", "response", "[]"),
    ],
)
def test_what_is_no_stream_is_a_typed_error_that_shows_it(
    body: str, content_type: str, kind: str, said: str, wire: Any, make_request: Any
) -> None:
    with pytest.raises(ProviderError) as failed:
        unstreamed(wire, body, content_type)(make_request("hi"))
    assert failed.value.kind == kind
    assert said in str(failed.value)


def test_two_replies_in_a_row_stand_apart(wires: Any, make_request: Any) -> None:
    from hookagent.messages import AssistantMessage, TextPart

    first, second = (AssistantMessage((TextPart(text),)) for text in ("one", "two"))
    grown = Transcript([UserMessage("go"), first, second, UserMessage("on")])
    body = wires["openai-chat"].body(make_request(grown))
    check_chat_request({**body, "stream": True})
    assert [m["content"] for m in body["messages"]] == ["go", "one", "Continue.", "two", "on"]
