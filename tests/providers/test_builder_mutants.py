"""Faults planted in the builders of requests: our own last check refuses each, and so does the strict server."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from hookagent.errors import ProviderError, RequestRefusedError
from hookagent.frozen import FrozenDict
from hookagent.messages import AssistantMessage, TextPart, ToolCall, ToolResult, UserMessage
from hookagent.providers.anthropic_messages import encode as messages_encode
from hookagent.providers.anthropic_messages import provider as messages_provider
from hookagent.providers.openai_chat import encode as chat_encode
from hookagent.providers.openai_chat import provider as chat_provider
from hookagent.providers.openai_responses import encode as responses_encode
from hookagent.providers.openai_responses import provider as responses_provider
from hookagent.providers.wire.message import WireMessage
from hookagent.testing import Reply, StrictServer
from hookagent.transcript import Transcript

Bodies = dict[str, Any]
MODULES = {
    "anthropic": (messages_encode, messages_provider),
    "openai": (responses_encode, responses_provider),
    "openai-chat": (chat_encode, chat_provider),
}


def two_rounds() -> Transcript:
    """A task, a round of two calls, a steering message, a second round."""

    def call(call_id: str) -> ToolCall:
        return ToolCall(call_id, "t", FrozenDict({"q": call_id}))

    first = AssistantMessage((TextPart("looking"), call("c1"), call("c2")), "tool_calls")
    transcript = Transcript([UserMessage("find it")]).with_reply(first)
    for call_id in ("c1", "c2"):
        transcript = transcript.with_result(ToolResult(f"found {call_id}", call_id=call_id))
    transcript = transcript.with_user(UserMessage("and more", via="steer"))
    transcript = transcript.with_reply(AssistantMessage((call("c3"),), "tool_calls"))
    return transcript.with_result(ToolResult("found c3", call_id="c3"))


def is_result(message: dict[str, Any]) -> bool:
    content = message.get("content")
    inner = isinstance(content, list) and any(part.get("type") == "tool_result" for part in content)
    return inner or message.get("role") == "tool" or message.get("type") == "function_call_output"


def is_model(message: dict[str, Any]) -> bool:
    return message.get("role") == "assistant" or message.get("type") == "function_call"


def first_result(messages: list[Any]) -> int:
    return next(index for index, message in enumerate(messages) if is_result(message))


def drop_result(messages: list[Any]) -> list[Any]:
    place = first_result(messages)
    message = messages[place]
    if not isinstance(message.get("content"), list):
        return [*messages[:place], *messages[place + 1 :]]
    return [*messages[:place], WireMessage({**message, "content": message["content"][1:]}), *messages[place + 1 :]]


def move_result_behind_user_text(messages: list[Any]) -> list[Any]:
    place = first_result(messages)
    message = messages[place]
    if not isinstance(message.get("content"), list):
        user = next(index for index in range(place, len(messages)) if messages[index].get("role") == "user")
        return [*messages[:place], *messages[place + 1 : user + 1], message, *messages[user + 1 :]]
    content = [*message["content"][1:], message["content"][0]]
    return [*messages[:place], WireMessage({**message, "content": content}), *messages[place + 1 :]]


def repeat_result(messages: list[Any]) -> list[Any]:
    place = first_result(messages)
    message = messages[place]
    if not isinstance(message.get("content"), list):
        return [*messages[: place + 1], message, *messages[place + 1 :]]
    content = [message["content"][0], *message["content"]]
    return [*messages[:place], WireMessage({**message, "content": content}), *messages[place + 1 :]]


def drop_calls(messages: list[Any]) -> list[Any]:
    place = next(index for index, message in enumerate(messages) if is_model(message))
    end = place
    while is_model(messages[end]):
        end += 1
    return [*messages[:place], *messages[end:]]


def end_with_the_model(messages: list[Any]) -> list[Any]:
    model = "I will go on"
    if any("type" in message for message in messages):
        content = [{"type": "output_text", "text": model, "annotations": []}]
        return [*messages, WireMessage(type="message", role="assistant", content=content)]
    if isinstance(messages[-1]["content"], list):
        return [*messages, WireMessage(role="assistant", content=[{"type": "text", "text": model}])]
    return [*messages, WireMessage(role="assistant", content=model)]


def begin_with_the_model(messages: list[Any]) -> list[Any]:
    return [*end_with_the_model(messages)[-1:], *messages]


def blank_text(messages: list[Any]) -> list[Any]:
    first = messages[0] if messages[0]["role"] == "user" else messages[1]
    content = first["content"]
    blank = " \n" if isinstance(content, str) else [{**content[0], "text": " \n"}]
    return [WireMessage({**m, "content": blank}) if m is first else m for m in messages]


def repeat_ids(messages: list[Any]) -> list[Any]:
    def renamed(value: Any) -> Any:
        if isinstance(value, list):
            return [renamed(item) for item in value]
        if isinstance(value, dict):
            kind = type(value)
            return kind({key: renamed(item) for key, item in value.items()})
        return "c1" if value == "c3" else value

    return list(renamed(messages))


MUTANTS: dict[str, tuple[Callable[[list[Any]], list[Any]], set[str]]] = {
    "a result is missing": (drop_result, {"call-unanswered"}),
    "a result stands behind other content": (
        move_result_behind_user_text, {"result-misplaced", "result-late", "call-unanswered"},
    ),
    "a result is sent twice": (repeat_result, {"result-duplicate"}),
    "the calls are missing": (drop_calls, {"result-orphaned"}),
    "the model has the last word": (end_with_the_model, {"last-turn"}),
    "the model has the first word": (begin_with_the_model, {"first-role"}),
    "a blank text is kept": (blank_text, {"blank-text"}),
    "two calls have one id": (repeat_ids, {"call-id-duplicate"}),
}  # fmt: skip


@pytest.mark.parametrize("fault", list(MUTANTS))
def test_a_planted_fault_is_refused_by_our_check_and_by_the_server(
    fault: str, wire: Any, make_request: Any, tool: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    change, rules = MUTANTS[fault]
    encoder, sender = MODULES[wire.name]
    builder = {"anthropic": "with_tail", "openai": "build_items", "openai-chat": "build_messages"}[wire.name]
    right = getattr(encoder, builder)
    request = make_request(two_rounds(), system="be brief", tools=(tool(),))
    with StrictServer([Reply(text="fine")]) as server:
        asyncio.run(_send(wire.provider(server), request))
        monkeypatch.setattr(encoder, builder, lambda *arguments: change(right(*arguments)))
        with pytest.raises(RequestRefusedError):
            asyncio.run(_send(wire.provider(server), request))
        assert len(server.requests) == 1
        monkeypatch.setattr(sender, "check_body", lambda body, request: None)
        with pytest.raises(ProviderError) as refused:
            asyncio.run(_send(wire.provider(server), request))
        assert refused.value.kind == "invalid_request"
        assert server.refused[0].rule in rules


def test_a_dropped_system_text_is_seen_by_the_server(wire: Any, make_request: Any) -> None:
    with StrictServer([Reply(text="fine")]) as server:
        asyncio.run(_send(wire.provider(server), make_request("hello", system="speak like a pirate")))
        assert "speak like a pirate" in str(server.requests[0].body)


async def _send(provider: Any, request: Any) -> None:
    async for _ in provider.stream(request):
        pass
