"""Replies and requests at their edges: what servers and the SDKs may hand over, and turns with nothing before them."""

from __future__ import annotations

import asyncio
import json
from types import SimpleNamespace
from typing import Any

import httpx2
import pytest

from hookagent.errors import ProviderError
from hookagent.messages import AssistantMessage, ProviderPart, TextPart, ToolCall, ToolResult, UserMessage
from hookagent.providers.anthropic_messages.decode import MessageReader
from hookagent.providers.anthropic_messages.turns import stored_turns, with_tail
from hookagent.providers.base import Delta
from hookagent.providers.call_ids import FreshIds
from hookagent.providers.decoding import plain_item, returnable
from hookagent.providers.encoding import CONTINUE
from hookagent.providers.openai_chat.decode import ChatReader
from hookagent.providers.openai_responses.decode import ResponseReader
from hookagent.providers.wire.request_rules import check_request
from hookagent.transcript import Transcript

FRESH = FreshIds(Transcript())


class Event(SimpleNamespace):
    """An event or an object of an SDK: fields by name."""

    def to_dict(self, **_: Any) -> dict[str, Any]:
        return {name: value.to_dict() if isinstance(value, Event) else value for name, value in vars(self).items()}


# ---- what comes as an item ----


def test_an_item_is_taken_as_a_mapping_or_an_object_and_nothing_else() -> None:
    given = {"type": "x"}
    assert plain_item(given) == given
    assert plain_item(given) is not given
    assert plain_item(Event(type="y")) == {"type": "y"}
    with pytest.raises(TypeError, match=r"^expected an object, got 'text'$"):
        plain_item("text")


@pytest.mark.parametrize("item", [{}, {"type": ""}, {"type": 5}, {"type": "x"}, {"type": "x", "data": None}])
def test_a_part_that_could_not_go_back_is_refused(item: dict[str, Any]) -> None:
    with pytest.raises(ProviderError, match=r"the reply has a part without '(type|data)'") as failed:
        returnable(item, "p", "data")
    assert failed.value.kind == "response"
    for odd in (" ", "\ud800", "a b", "1", "\u0456"):
        with pytest.raises(ProviderError, match="the reply has a part of a type that is no name"):
            returnable({"type": odd, "data": "y"}, "p", "data")
    with pytest.raises(ProviderError, match="the reply has a part that is no UTF-8"):
        returnable({"type": "x", "data": "y", "more": [{"text": "\udfff"}]}, "p", "data")
    assert returnable({"type": "x", "data": "y"}, "p", "data") == {"type": "x", "data": "y"}


# ---- anthropic ----


def messages_reader(*events: Event) -> MessageReader:
    reader = MessageReader(FRESH, "claude-sonnet-5")
    for event in events:
        reader.read(event)
    return reader


def block(index: int = 0, **fields: Any) -> Event:
    return Event(type="content_block_start", index=index, content_block=Event(**fields))


def piece(kind: str, index: int = 0, **fields: Any) -> Event:
    return Event(type="content_block_delta", index=index, delta=Event(type=kind, **fields))


STOPPED = Event(type="message_delta", delta=Event(stop_reason="end_turn"), usage=Event(output_tokens=4))
CLOSED = Event(type="message_stop")


def test_what_a_stream_may_hold_beside_its_reply_is_passed_over() -> None:
    started = Event(type="message_start", message=Event(usage=Event(input_tokens=9, output_tokens=None)))
    unfinished = Event(type="message_delta", delta=Event(stop_reason=None), usage=Event(output_tokens="many"))
    reader = messages_reader(started, Event(type="ping"), block(type="text", text=""))
    assert reader.read(piece("text_delta", text="Yes")) == Delta("text", "Yes")
    assert reader.read(piece("citations_delta", citation={"url": "x"})) is None
    assert reader.read(unfinished) is None
    with pytest.raises(ProviderError, match="the stream ended before the reply was whole"):
        reader.message()
    reader.read(STOPPED)
    reader.read(CLOSED)
    message = reader.message()
    assert (message.text, message.stop_reason) == ("Yes", "end")
    assert (message.usage.input_tokens, message.usage.output_tokens) == (9, 4)


def test_a_piece_of_a_block_that_never_began_is_an_error() -> None:
    reader = messages_reader(block(type="text", text="a"))
    with pytest.raises(ProviderError, match="the stream goes on with a block that it never began") as failed:
        reader.read(piece("text_delta", index=1, text="b"))
    assert failed.value.kind == "response"


def test_arguments_may_come_with_the_beginning_of_their_call() -> None:
    call = block(type="tool_use", id="c1", name="look", input={"path": "a"})
    message = messages_reader(call, STOPPED, CLOSED).message()
    assert [(one.id, one.name, one.arguments) for one in message.tool_calls] == [("c1", "look", {"path": "a"})]
    assert message.stop_reason == "tool_calls"


@pytest.mark.parametrize(("pieces", "kept"), [(('{"query": "x"}',), {"query": "x"}), (("{",), {}), ((), {"as": "is"})])
def test_what_the_vendor_runs_itself_is_kept_with_its_arguments(pieces: tuple[str, ...], kept: dict[str, str]) -> None:
    begun = block(type="server_tool_use", id="s1", name="web_search", input={"as": "is"})
    reader = messages_reader(begun, *(piece("input_json_delta", partial_json=one) for one in pieces), STOPPED, CLOSED)
    (part,) = reader.message().parts
    assert isinstance(part, ProviderPart)
    assert part.data == {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": kept}


@pytest.mark.parametrize("kind", ["tool_result", "image", "document", "search_result"])
def test_a_reply_with_a_block_of_the_users_side_is_an_error(kind: str) -> None:
    with pytest.raises(ProviderError, match=f"the reply has a block of type '{kind}', which is no reply's"):
        messages_reader(block(type=kind, tool_use_id="c1"), STOPPED, CLOSED).message()


def test_a_paused_turn_goes_back_without_the_white_space_behind_it(make_request: Any) -> None:
    search = {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {}}
    found = {"type": "web_search_tool_result", "tool_use_id": "s1", "content": []}
    parts = [ProviderPart("anthropic-messages", "item", one) for one in (search, found)]
    for text, sent in (("so far \n", "so far"), ("so far", "so far")):
        reply = AssistantMessage((*parts, TextPart(text)), "pause", model="claude-sonnet-5", provider="anthropic")
        request = make_request(Transcript([UserMessage("go"), reply]))
        turns = with_tail(stored_turns(request, "claude-sonnet-5"), request)
        assert turns[-1]["role"] == "assistant"
        assert turns[-1]["content"][2]["text"] == sent
    reply = AssistantMessage(tuple(parts), "pause", model="claude-sonnet-5", provider="anthropic")
    request = make_request(Transcript([UserMessage("go"), reply]))
    assert with_tail(stored_turns(request, "claude-sonnet-5"), request)[-1]["content"] == [search, found]


# ---- all wire forms ----


def test_what_begins_with_the_models_own_words_is_sent_behind_ours(wire: Any, make_request: Any) -> None:
    request = make_request(
        Transcript([AssistantMessage((TextPart("I said"),)), UserMessage("more")]), system="Be brief."
    )
    body = wire.body(request)
    wire.check_kit({**body, "stream": True})
    wire.check_own(body, request)
    sent = json.dumps(body[wire.list_field])
    assert 0 < sent.index(CONTINUE) < sent.index("I said") < sent.index("more")


def test_a_round_that_was_replaced_is_compared_once(make_request: Any, answered: Any) -> None:
    reply = AssistantMessage((ToolCall("c1", "look", None),), "tool_calls")
    request = make_request(answered(Transcript([UserMessage("go")]), reply, "long " * 100)).with_result_text(
        1, "c1", "-"
    )
    stand_in = request.blocks.replaced[1]
    assert "stands_for" not in stand_in.wire_cache
    check_request(request)
    assert stand_in.wire_cache["stands_for"] is request.blocks.transcript[1]
    check_request(request)
    assert [one.content for one in stand_in.results if isinstance(one, ToolResult)] == ["-"]


# ---- openai ----


def test_a_response_that_was_cancelled_or_failed_is_no_reply() -> None:
    reader = ResponseReader(FRESH, "gpt-5")
    cancelled = Event(status="cancelled", output=[], error=None)
    assert reader.read(Event(type="response.cancelled", response=cancelled)) is None
    with pytest.raises(ProviderError, match="the response was cancelled"):
        reader.message()
    reader.read(Event(type="response.completed", response=Event(status="failed", error={"code": "server_error"})))
    with pytest.raises(ProviderError, match="server_error"):
        reader.message()


def test_a_response_without_output_is_no_reply_and_one_without_text_is_an_empty_one() -> None:
    reader = ResponseReader(FRESH, "gpt-5")
    reader.read(Event(type="response.completed", response=Event(status="completed")))
    with pytest.raises(ProviderError, match=r"the reply has no output: \{'status': 'completed'\}"):
        reader.message()
    empty = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": ""}]}
    reader.read(Event(type="response.completed", response=Event(status="completed", output=[empty, empty])))
    assert (reader.message().parts, reader.message().stop_reason) == ((), "end")


def test_an_error_between_the_chunks_is_told_by_its_kind() -> None:
    reader = ChatReader(FRESH, "gpt-4o")
    with pytest.raises(ProviderError, match="slow down") as failed:
        reader.read(Event(error={"message": "slow down", "code": "rate_limit_exceeded"}))
    assert failed.value.kind == "rate_limit"
    with pytest.raises(ProviderError, match="the stream ended before the reply began") as failed:
        reader.message()
    assert failed.value.kind == "incomplete"


def chat_with(wires: Any, answer: Any, request: Any) -> list[Any]:
    """What one attempt streams; `answer` gives status and body for each body, which is held to the strict rules."""
    wire = wires["openai-chat"]

    def respond(sent: httpx2.Request) -> httpx2.Response:
        body = json.loads(sent.content)
        wire.check_kit(body)
        status, said = answer(body)
        return httpx2.Response(status, json=said)

    async def run() -> list[Any]:
        async with httpx2.AsyncClient(transport=httpx2.MockTransport(respond)) as pool:
            provider = wire.make(wire.model, api_key="k", base_url="http://127.0.0.1:1/v1", http_client=pool)
            return [item async for item in provider.stream(request)]

    return asyncio.run(run())


def test_a_whole_reply_that_says_nothing_is_an_empty_one(wires: Any, make_request: Any) -> None:
    choice = {"index": 0, "message": {"role": "assistant", "content": None}, "finish_reason": "stop"}
    items = chat_with(wires, lambda body: (200, {"id": "x", "choices": [choice]}), make_request("hi"))
    assert [(item.parts, item.stop_reason) for item in items] == [((), "end")]


def test_a_server_that_refuses_what_the_settings_insist_on_is_not_asked_for_ever(wires: Any, make_request: Any) -> None:
    bodies: list[Any] = []

    def refuse(body: Any) -> tuple[int, Any]:
        bodies.append(body)
        return 400, {"error": {"message": "Unsupported parameter: 'stream_options'", "param": "stream_options"}}

    extras = {"openai-chat": {"stream_options": {"include_usage": False}}}
    with pytest.raises(ProviderError, match="the server refuses the request in every form we know") as failed:
        chat_with(wires, refuse, make_request("hi", settings=extras))
    assert failed.value.kind == "invalid_request"
    assert [body["stream_options"] for body in bodies] == [{"include_usage": False}] * 3
