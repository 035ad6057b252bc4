"""Messages as plain mappings for people to read: what was said, called and returned, and nothing for machines."""

from __future__ import annotations

from typing import Any

from hookagent.messages import AssistantMessage, Message, ProviderPart, ToolCall, ToolResult, UserMessage
from hookagent.usage import Usage


def plain_message(message: Message) -> dict[str, Any]:
    """One message; images and parts that only a vendor understands are named, not shown."""
    if isinstance(message, UserMessage):
        out: dict[str, Any] = {"role": "user", "text": message.text}
        if message.via != "prompt":
            out["via"] = message.via
        if message.origin is not None:
            out["origin"] = message.origin
        if message.images:
            out["images"] = [image.media_type for image in message.images]
        return out
    if isinstance(message, ToolResult):
        return {
            "role": "tool",
            "call_id": message.call_id,
            "status": message.status,
            "milliseconds": None if message.milliseconds is None else round(message.milliseconds, 3),
            "text": message.content,
        }
    return _plain_reply(message)


def _plain_reply(message: AssistantMessage) -> dict[str, Any]:
    out: dict[str, Any] = {"role": "assistant", "text": message.text}
    hidden = [f"{part.provider} {part.kind}" for part in message.parts if isinstance(part, ProviderPart)]
    if hidden:
        out["parts"] = hidden
    if message.tool_calls:
        out["tool_calls"] = [plain_call(call) for call in message.tool_calls]
    if message.stop_reason not in ("end", "tool_calls"):
        out["stop_reason"] = message.stop_reason
    return out


def plain_call(call: ToolCall) -> dict[str, Any]:
    """One call, with the text as it came where its arguments could not be understood."""
    out: dict[str, Any] = {"id": call.id, "name": call.name}
    if call.arguments is not None:
        out["arguments"] = call.arguments
    else:
        out["raw"], out["problem"] = call.raw or "", call.problem or ""
    return out


def plain_tokens(usage: Usage) -> dict[str, int]:
    """The four counts, which do not overlap."""
    return {
        "input": usage.input_tokens,
        "cache_read": usage.cache_read_tokens,
        "cache_write": usage.cache_write_tokens,
        "output": usage.output_tokens,
    }


def plain_cost(usage: Usage) -> float | None:
    """The cost in US dollars, None where a price was unknown."""
    return None if usage.cost_usd is None else round(usage.cost_usd, 9)
