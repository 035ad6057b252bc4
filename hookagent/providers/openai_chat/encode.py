"""From a Request to the body of a Chat Completions request."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hookagent.frozen import thaw
from hookagent.messages import AssistantMessage, TextPart, ToolCall, UserMessage
from hookagent.providers.encoding import (
    CONTINUE,
    arguments_text,
    encoded_blocks,
    result_text,
    round_results,
    sendable,
    tail_texts,
    user_texts,
    wire_call_id,
    wire_tool_name,
)
from hookagent.providers.json_schema import closed_schema, takes_strict
from hookagent.providers.openai_chat import WIRE
from hookagent.providers.settings import ModelSettings, add_extras, is_openai_reasoning, read_settings, refuse_setting
from hookagent.providers.tool_lists import PerTools
from hookagent.providers.wire.message import WireMessage
from hookagent.requests import Request
from hookagent.transcript import Block, ToolRound

if TYPE_CHECKING:
    from hookagent.tools.tool import Tool

PROVIDER = "openai-chat"
_LONGEST_CALL_ID = 40
_LONGEST_CACHE_KEY = 64


def encode(
    request: Request, model: str, *, limit_name: str, is_foreign: bool, without: frozenset[str] = frozenset()
) -> dict[str, Any]:
    """The body to send, without `stream`.

    `limit_name` is the field that holds the output limit: `max_completion_tokens` for OpenAI's own models,
    `max_tokens` for other servers, many of which refuse the newer name or pass over it. `without` are fields that
    this server refused before.

    Raises `ProviderError` (`unsupported_setting`) for a setting that the model does not take.
    """
    settings = read_settings(request.settings, PROVIDER)
    body: dict[str, Any] = {"model": model, "messages": build_messages(request, model)}
    if "stream_options" not in without:
        body["stream_options"] = {"include_usage": True}
    if request.tools:
        body["tools"] = _TOOLS(request.tools)
        if request.tool_choice == "none":
            body["tool_choice"] = "none"
    if request.session_id and not is_foreign:
        body["prompt_cache_key"] = request.session_id[:_LONGEST_CACHE_KEY]
    if settings.max_output_tokens is not None:
        body[limit_name] = settings.max_output_tokens
    _add_settings(body, settings, request, model, is_foreign)
    return body


def build_messages(request: Request, model: str) -> list[WireMessage]:
    """The messages in order, the system text first; the last one is never the model's own."""
    messages: list[WireMessage] = []
    if request.system.strip():
        messages.append(WireMessage(role="system", content=sendable(request.system)))
    head = len(messages)
    messages += encoded_blocks(request, WIRE, model, encode_block, user_message)
    if len(messages) > head and messages[head]["role"] != "user":
        messages.insert(head, user_message(CONTINUE))
    messages += [user_message(note) for note in tail_texts(request)]
    if len(messages) > head and messages[-1]["role"] == "assistant":
        messages.append(user_message(CONTINUE))
    return messages


def encode_block(block: Block, replay: bool) -> tuple[WireMessage, ...]:
    """One block as messages; an empty tuple where there is nothing in it that can be sent."""
    if isinstance(block, UserMessage):
        text = user_texts(block)
        if not block.images:
            return (user_message(text),) if text else ()
        parts: list[dict[str, Any]] = [
            {"type": "image_url", "image_url": {"url": f"data:{image.media_type};base64,{image.data}"}}
            for image in block.images
        ]
        if text:
            parts.append({"type": "text", "text": text})
        return (WireMessage(role="user", content=parts),)
    if isinstance(block, ToolRound):
        return (*encode_reply(block.reply), *encode_results(block))
    return encode_reply(block)


def encode_reply(reply: AssistantMessage) -> tuple[WireMessage, ...]:
    """A reply as one message; thinking has no place on this wire form, and is unsigned anyway."""
    text = "".join(part.text for part in reply.parts if type(part) is TextPart)
    calls = [_encode_call(part) for part in reply.parts if type(part) is ToolCall]
    content = sendable(text) if text.strip() else None
    if calls:
        return (WireMessage(role="assistant", content=content, tool_calls=calls),)
    return (WireMessage(role="assistant", content=content),) if content else ()


def encode_results(tool_round: ToolRound) -> tuple[WireMessage, ...]:
    """The results of a round, in call order."""
    return tuple(
        WireMessage(role="tool", tool_call_id=wire_call_id(call.id, _LONGEST_CALL_ID), content=result_text(result))
        for call, result in round_results(tool_round)
    )


def user_message(text: str) -> WireMessage:
    """A user message of one text."""
    return WireMessage(role="user", content=sendable(text))


def _encode_call(call: ToolCall) -> dict[str, Any]:
    function = {"name": wire_tool_name(call.name), "arguments": arguments_text(call)}
    return {"id": wire_call_id(call.id, _LONGEST_CALL_ID), "type": "function", "function": function}


def _encode_tools(tools: tuple[Tool, ...]) -> list[dict[str, Any]]:
    return [
        {
            "type": "function",
            "function": {
                "name": tool.name,
                "description": sendable(tool.description),
                "parameters": thaw(tool.parameters),
            },
        }
        for tool in tools
    ]


_TOOLS = PerTools(_encode_tools)


def _add_settings(
    body: dict[str, Any], settings: ModelSettings, request: Request, model: str, is_foreign: bool
) -> None:
    reasons = not is_foreign and is_openai_reasoning(model)
    if settings.temperature is not None:
        if reasons and settings.effort != "none":
            raise refuse_setting(PROVIDER, "temperature", model, "reasoning models take none; leave it out")
        body["temperature"] = settings.temperature
    if settings.effort is not None:
        if not is_foreign and not reasons and model.startswith(("gpt-3", "gpt-4", "chatgpt-", "gpt-5")):
            raise refuse_setting(PROVIDER, "effort", model, "it does not reason; leave it out")
        body["reasoning_effort"] = settings.effort
    if settings.stop:
        if reasons:
            raise refuse_setting(PROVIDER, "stop", model, "reasoning models take no stop texts; leave it out")
        body["stop"] = list(settings.stop)
    if settings.seed is not None:
        body["seed"] = settings.seed
    if request.output_schema is not None:
        strict = takes_strict(request.output_schema)
        schema = closed_schema(request.output_schema, all_required=True) if strict else thaw(request.output_schema)
        body["response_format"] = {
            "type": "json_schema",
            "json_schema": {"name": request.output_name, "schema": schema, "strict": strict},
        }
    add_extras(body, settings.extras, PROVIDER)
