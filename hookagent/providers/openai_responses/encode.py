"""From a Request to the body of an OpenAI Responses request: stateless, reasoning items replayed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hookagent.frozen import thaw
from hookagent.messages import AssistantMessage, ProviderPart, TextPart, UserMessage
from hookagent.providers.encoding import (
    CONTINUE,
    arguments_text,
    encoded_blocks,
    replayable,
    result_text,
    round_results,
    sendable,
    tail_texts,
    user_texts,
    wire_call_id,
    wire_tool_name,
)
from hookagent.providers.json_schema import closed_schema, takes_strict
from hookagent.providers.openai_responses import WIRE
from hookagent.providers.settings import ModelSettings, add_extras, is_openai_reasoning, read_settings, refuse_setting
from hookagent.providers.tool_lists import PerTools
from hookagent.providers.wire.message import WireMessage
from hookagent.requests import Request
from hookagent.transcript import Block, ToolRound

if TYPE_CHECKING:
    from hookagent.tools.tool import Tool

PROVIDER = "openai"
_LONGEST_CALL_ID = 64
_LONGEST_CACHE_KEY = 64


def encode(request: Request, model: str) -> dict[str, Any]:
    """The body to send, without `stream`.

    Raises `ProviderError` (`unsupported_setting`) for a setting that the model does not take.
    """
    settings = read_settings(request.settings, PROVIDER)
    body: dict[str, Any] = {"model": model, "store": False, "include": ["reasoning.encrypted_content"]}
    if request.system.strip():
        body["instructions"] = sendable(request.system)
    body["input"] = build_items(request, model)
    if request.tools:
        body["tools"] = _TOOLS(request.tools)
        if request.tool_choice == "none":
            body["tool_choice"] = "none"
    if request.session_id:
        body["prompt_cache_key"] = request.session_id[:_LONGEST_CACHE_KEY]
    _add_settings(body, settings, request, model)
    return body


def build_items(request: Request, model: str) -> list[WireMessage]:
    """The input items in order; the last one is never the model's own."""
    items = list(encoded_blocks(request, WIRE, model, encode_block, user_item))
    if items and items[0].get("role") != "user":
        items.insert(0, user_item(CONTINUE))
    items += [user_item(note) for note in tail_texts(request)]
    if items and items[-1].get("role") != "user" and items[-1].get("type") != "function_call_output":
        items.append(user_item(CONTINUE))
    return items


def encode_block(block: Block, replay: bool) -> tuple[WireMessage, ...]:
    """One block as items; an empty tuple where there is nothing in it that can be sent."""
    if isinstance(block, UserMessage):
        text = user_texts(block)
        if not block.images:
            return (user_item(text),) if text else ()
        parts: list[dict[str, Any]] = [
            {"type": "input_image", "image_url": f"data:{image.media_type};base64,{image.data}", "detail": "auto"}
            for image in block.images
        ]
        if text:
            parts.append({"type": "input_text", "text": text})
        return (WireMessage(type="message", role="user", content=parts),)
    if isinstance(block, ToolRound):
        return (*encode_reply(block.reply, replay), *encode_results(block))
    return encode_reply(block, replay)


def encode_reply(reply: AssistantMessage, replay: bool) -> tuple[WireMessage, ...]:
    """A reply as its items in order; reasoning that no item of the reply follows is left out."""
    items: list[WireMessage] = []
    head: dict[str, Any] = {}
    replay = replay and all(_can_return(part) for part in reply.parts)
    for part in reply.parts:
        if isinstance(part, TextPart):
            if part.text.strip():
                content = [{"type": "output_text", "text": sendable(part.text), "annotations": []}]
                items.append(WireMessage({"type": "message", "role": "assistant", **head, "content": content}))
            head = {}
        elif isinstance(part, ProviderPart):
            data = replayable(part, WIRE) if replay else None
            if data is None:
                continue
            if data.get("type") == "message":
                # What names the message that follows: its id belongs to the reasoning before it.
                head = data
            else:
                items.append(WireMessage(data))
        else:
            items.append(
                WireMessage(
                    type="function_call",
                    call_id=wire_call_id(part.id, _LONGEST_CALL_ID),
                    name=wire_tool_name(part.name),
                    arguments=arguments_text(part),
                )
            )
    while items and items[-1].get("type") == "reasoning":
        items.pop()
    return tuple(items)


def _can_return(part: object) -> bool:
    """Whether a part can come back without a store: reasoning only with its encrypted content."""
    if not isinstance(part, ProviderPart) or part.kind != "reasoning" or part.provider != WIRE:
        return True
    return isinstance(part.data, dict) and bool(part.data.get("encrypted_content"))


def encode_results(tool_round: ToolRound) -> tuple[WireMessage, ...]:
    """The results of a round, in call order."""
    return tuple(
        WireMessage(
            type="function_call_output", call_id=wire_call_id(call.id, _LONGEST_CALL_ID), output=result_text(result)
        )
        for call, result in round_results(tool_round)
    )


def user_item(text: str) -> WireMessage:
    """A user item of one text."""
    return WireMessage(type="message", role="user", content=[{"type": "input_text", "text": sendable(text)}])


def _encode_tools(tools: tuple[Tool, ...]) -> list[dict[str, Any]]:
    return [
        {
            "type": "function",
            "name": tool.name,
            "description": sendable(tool.description),
            "parameters": thaw(tool.parameters),
            "strict": False,
        }
        for tool in tools
    ]


_TOOLS = PerTools(_encode_tools)


def _add_settings(body: dict[str, Any], settings: ModelSettings, request: Request, model: str) -> None:
    if settings.max_output_tokens is not None:
        body["max_output_tokens"] = settings.max_output_tokens
    if settings.temperature is not None:
        if is_openai_reasoning(model) and settings.effort != "none":
            raise refuse_setting(PROVIDER, "temperature", model, "reasoning models take none; leave it out")
        body["temperature"] = settings.temperature
    if settings.effort is not None:
        if not is_openai_reasoning(model) and model.startswith(("gpt-3", "gpt-4", "chatgpt-", "gpt-5")):
            raise refuse_setting(PROVIDER, "effort", model, "it does not reason; leave it out")
        body["reasoning"] = {"effort": settings.effort}
    if settings.stop:
        raise refuse_setting(
            PROVIDER, "stop", model, "the Responses API has no stop texts; leave it out, or use 'openai-chat'"
        )
    if settings.seed is not None:
        raise refuse_setting(
            PROVIDER, "seed", model, "the Responses API has no seed; leave it out, or use 'openai-chat'"
        )
    if request.output_schema is not None:
        strict = takes_strict(request.output_schema)
        body["text"] = {
            "format": {
                "type": "json_schema",
                "name": request.output_name,
                "schema": closed_schema(request.output_schema, all_required=True)
                if strict
                else thaw(request.output_schema),
                "strict": strict,
            }
        }
    add_extras(body, settings.extras, PROVIDER)
