"""The values of a conversation as JSON objects, and back: messages, calls, results, usage, verdicts.

What has its default is left out. Whatever is read, the outcome is a good value or a `SessionError`.
"""

from __future__ import annotations

import math
from typing import Any, get_args

from hookagent.frozen import FrozenDict, JsonValue
from hookagent.messages import (
    STOP_REASONS,
    AssistantMessage,
    AssistantPart,
    Image,
    ProviderPart,
    ResultStatus,
    TextPart,
    ToolCall,
    ToolResult,
    UserMessage,
    Via,
)
from hookagent.sessions.errors import SessionError
from hookagent.sessions.fields import Fields
from hookagent.usage import Usage
from hookagent.verdicts import Amend, Deny, Stop, Suspend, Verdict

_VIAS = frozenset(get_args(Via))
_STATUSES = frozenset(get_args(ResultStatus))
_COUNTS = ("input_tokens", "cache_read_tokens", "cache_write_tokens", "output_tokens", "requests")


def usage_json(usage: Usage) -> dict[str, Any]:
    """See `read_usage`. A cost of None is written, since it says that a price was unknown."""
    out: dict[str, Any] = {name: count for name in _COUNTS if (count := getattr(usage, name))}
    if usage.cost_usd != 0.0:
        out["cost_usd"] = _finite(usage.cost_usd)
    return out


def read_usage(value: JsonValue) -> Usage:
    """Read what `usage_json` wrote."""
    fields = Fields({"cost_usd": 0.0, **value} if isinstance(value, dict) else value, "usage")
    counts = {name: fields.whole(name, 0) for name in _COUNTS}
    return Usage(cost_usd=fields.optional_number("cost_usd"), **counts)


def user_json(message: UserMessage) -> dict[str, Any]:
    """See `read_user`."""
    out: dict[str, Any] = {"text": message.text, "via": message.via}
    if message.images:
        out["images"] = [{"data": image.data, "media_type": image.media_type} for image in message.images]
    if message.origin is not None:
        out["origin"] = message.origin
    return out


def read_user(value: JsonValue) -> UserMessage:
    """Read what `user_json` wrote."""
    fields = Fields(value, "user message")
    images = [Fields(image, "image") for image in fields.items("images")]
    return UserMessage(
        text=fields.text("text"),
        images=tuple(Image(image.text("data"), image.text("media_type")) for image in images),
        origin=fields.optional_text("origin"),
        via=fields.choice("via", _VIAS, "prompt"),
    )


def call_json(call: ToolCall) -> dict[str, Any]:
    """See `read_call`."""
    out: dict[str, Any] = {"id": call.id, "name": call.name, "arguments": call.arguments}
    if call.raw is not None:
        out["raw"] = call.raw
    if call.problem is not None:
        out["problem"] = call.problem
    return out


def read_call(value: JsonValue) -> ToolCall:
    """Read what `call_json` wrote."""
    fields = Fields(value, "tool call")
    arguments = fields.json("arguments")
    if arguments is not None and not isinstance(arguments, FrozenDict):
        raise SessionError(f"tool call: 'arguments': expected an object, got {type(arguments).__name__}")
    return ToolCall(
        fields.text("id"), fields.text("name"), arguments, fields.optional_text("raw"), fields.optional_text("problem")
    )


def reply_json(reply: AssistantMessage) -> dict[str, Any]:
    """See `read_reply`."""
    out: dict[str, Any] = {"parts": [_part_json(part) for part in reply.parts], "stop_reason": reply.stop_reason}
    for name in ("model", "provider", "stop_detail"):
        if getattr(reply, name):
            out[name] = getattr(reply, name)
    usage = usage_json(reply.usage)
    if usage:
        out["usage"] = usage
    return out


def read_reply(value: JsonValue) -> AssistantMessage:
    """Read what `reply_json` wrote."""
    fields = Fields(value, "reply")
    return AssistantMessage(
        parts=tuple(_read_part(part) for part in fields.items("parts")),
        stop_reason=fields.choice("stop_reason", STOP_REASONS, "end"),
        usage=read_usage(fields.json("usage")) if fields.has("usage") else Usage(),
        model=fields.text("model", ""),
        provider=fields.text("provider", ""),
        stop_detail=fields.text("stop_detail", ""),
    )


def _part_json(part: AssistantPart) -> dict[str, Any]:
    if isinstance(part, TextPart):
        return {"text": part.text}
    if isinstance(part, ToolCall):
        return {"call": call_json(part)}
    return {"provider": part.provider, "kind": part.kind, "data": part.data, "shown": part.text}


def _read_part(value: JsonValue) -> AssistantPart:
    fields = Fields(value, "part of a reply")
    if fields.has("call"):
        return read_call(value["call"])
    if fields.has("provider"):
        return ProviderPart(fields.text("provider"), fields.text("kind"), fields.json("data"), fields.text("shown", ""))
    return TextPart(fields.text("text"))


def result_json(result: ToolResult) -> dict[str, Any]:
    """See `read_result`."""
    out: dict[str, Any] = {"call_id": result.call_id, "content": result.content, "status": result.status}
    if result.is_error:
        out["is_error"] = True
    if result.error_type is not None:
        out["error_type"] = result.error_type
    if result.milliseconds is not None:
        out["milliseconds"] = _finite(result.milliseconds)
    return out


def read_result(value: JsonValue) -> ToolResult:
    """Read what `result_json` wrote."""
    fields = Fields(value, "tool result")
    return ToolResult(
        content=fields.text("content"),
        is_error=fields.flag("is_error", False),
        status=fields.choice("status", _STATUSES, "ok"),
        call_id=fields.text("call_id"),
        error_type=fields.optional_text("error_type"),
        milliseconds=fields.optional_number("milliseconds"),
    )


def _finite(number: float | None) -> float | None:
    return number if number is None or math.isfinite(number) else None


def verdict_json(verdict: Verdict) -> dict[str, Any]:
    """See `read_verdict`."""
    if isinstance(verdict, Amend):
        return {"verdict": "amend", "arguments": verdict.arguments}
    out: dict[str, Any] = {"verdict": type(verdict).__name__.lower(), "reason": verdict.reason}
    if isinstance(verdict, Deny) and verdict.unanswered:
        out["unanswered"] = True
    return out


def read_verdict(value: JsonValue) -> Verdict:
    """Read what `verdict_json` wrote."""
    fields = Fields(value, "verdict")
    kind = fields.choice("verdict", frozenset({"stop", "deny", "suspend", "amend"}))
    if kind == "amend":
        arguments = fields.json("arguments")
        if not isinstance(arguments, FrozenDict):
            raise SessionError("verdict: 'arguments': expected an object")
        return Amend(arguments)
    if kind == "deny":
        return Deny(fields.text("reason"), fields.flag("unanswered", False))
    return Stop(fields.text("reason")) if kind == "stop" else Suspend(fields.text("reason"))
