"""Renders replies and errors as the Anthropic Messages API sends them, streaming and not."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from hookagent.testing.server.rendering import Rendered, StreamEvent, call_id_field, fresh_id, pieces, usage_of
from hookagent.testing.server.replies import Call, Part, Reply, ServerCall, Thinking, Usage
from hookagent.testing.server.signing import TranscriptSigner

_STOP_REASONS: Final[Mapping[str, str]] = {
    "end": "end_turn",
    "tool_use": "tool_use",
    "length": "max_tokens",
    "stop_sequence": "stop_sequence",
    # There is no content filter on this wire: what is filtered is refused.
    "content_filter": "refusal",
    "refusal": "refusal",
    "pause": "pause_turn",
}
_ERROR_TYPES: Final[Mapping[int, str]] = {
    400: "invalid_request_error",
    401: "authentication_error",
    402: "billing_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    504: "timeout_error",
    529: "overloaded_error",
}


def render_messages(reply: Reply, request: Mapping[str, Any], signer: TranscriptSigner) -> Rendered:
    """Render a reply to one request, as a message and as its stream events."""
    blocks: list[tuple[dict[str, Any], str]] = []
    for part in reply.all_parts():
        blocks.extend(_blocks(part, signer))
    stop = _STOP_REASONS.get(reply.neutral_stop(), reply.neutral_stop())
    stop_sequence = (request.get("stop_sequences") or [None])[0] if stop == "stop_sequence" else None
    usage = _usage(usage_of(reply, request))
    refused = {"type": "refusal", "category": None, "explanation": None} if stop == "refusal" else None
    message = {
        "id": fresh_id("msg"),
        "type": "message",
        "role": "assistant",
        "model": request["model"],
        "content": [block for block, _ in blocks],
        "stop_reason": stop,
        "stop_sequence": stop_sequence,
        "stop_details": refused,
        "usage": usage,
    }
    start = message | {"content": [], "stop_reason": None, "stop_details": None, "stop_sequence": None}
    start["usage"] = usage | {"output_tokens": 1}
    events = [_event("message_start", message=start), _event("ping")]
    for index, (block, arguments) in enumerate(blocks):
        events.extend(_block_events(index, block, arguments))
    delta = {"stop_reason": stop, "stop_sequence": stop_sequence, "stop_details": refused}
    totals = {name: count for name, count in usage.items() if isinstance(count, int)}
    events += [_event("message_delta", delta=delta, usage=totals), _event("message_stop")]
    return Rendered(message, events, closing=2)


def messages_error(status: int, message: str, code: str | None = None, index: int | None = None) -> dict[str, Any]:
    """Give the body of an HTTP error; the rule's id and the place stand in the message, as the shape has no field."""
    place = "" if index is None else f"messages.{index}: "
    prefix = "" if code is None else f"{code}: "
    kind = _ERROR_TYPES.get(status, "api_error" if status >= 500 else "invalid_request_error")
    error = {"type": kind, "message": f"{place}{prefix}{message}"}
    return {"type": "error", "error": error, "request_id": fresh_id("req")}


def messages_error_event(status: int, message: str, code: str | None = None) -> StreamEvent:
    """Give the error event of a stream that began well."""
    return StreamEvent("error", messages_error(status, message, code))


def _event(name: str, **fields: Any) -> StreamEvent:
    return StreamEvent(name, {"type": name, **fields})


def _usage(usage: Usage) -> dict[str, Any]:
    return {
        "input_tokens": usage.input_tokens,
        "cache_creation_input_tokens": usage.cache_write_tokens,
        "cache_read_input_tokens": usage.cache_read_tokens,
        "output_tokens": usage.output_tokens,
        "output_tokens_details": {"thinking_tokens": usage.thinking_tokens},
        "service_tier": "standard",
    }


def _blocks(part: Part, signer: TranscriptSigner) -> list[tuple[dict[str, Any], str]]:
    """Give the content blocks of a part, each with the argument text that its stream carries."""
    if isinstance(part, Thinking):
        if part.redacted:
            return [({"type": "redacted_thinking", "data": signer.make_redacted(part.text)}, "")]
        return [({"type": "thinking", "thinking": part.text, "signature": signer.sign_thinking(part.text)}, "")]
    if isinstance(part, Call):
        block = {"type": "tool_use", **call_id_field(part, "id", "toolu"), "name": part.name}
        return [(block | {"input": _object(part)}, part.arguments_text())]
    if isinstance(part, ServerCall):
        id = part.id or fresh_id("srvtoolu")
        arguments = dict(part.arguments)
        block = {"type": "server_tool_use", "id": id, "name": part.name, "input": arguments}
        blocks = [(block, json.dumps(arguments))]
        if part.result is not None:
            result = {"type": f"{part.name}_tool_result", "tool_use_id": id, "content": list(part.result)}
            blocks.append((result, ""))
        return blocks
    return [({"type": "text", "text": part}, "")]


def _object(call: Call) -> dict[str, Any]:
    # Without a stream the API sends an object also when the output limit cut the arguments.
    try:
        value = json.loads(call.arguments_text())
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


def _block_events(index: int, block: dict[str, Any], arguments: str) -> list[StreamEvent]:
    deltas: list[dict[str, Any]] = []
    start = block
    if block["type"] == "text":
        start = block | {"text": ""}
        deltas = [{"type": "text_delta", "text": piece} for piece in pieces(block["text"])]
    elif block["type"] == "thinking":
        start = block | {"thinking": "", "signature": ""}
        deltas = [{"type": "thinking_delta", "thinking": piece} for piece in pieces(block["thinking"])]
        deltas.append({"type": "signature_delta", "signature": block["signature"]})
    elif block["type"] in {"tool_use", "server_tool_use"}:
        start = block | {"input": {}}
        # The first piece is empty, and it is the only one when there are no arguments.
        texts = ["", *(pieces(arguments) if arguments != "{}" else ())]
        deltas = [{"type": "input_json_delta", "partial_json": piece} for piece in texts]
    return [
        _event("content_block_start", index=index, content_block=start),
        *(_event("content_block_delta", index=index, delta=delta) for delta in deltas),
        _event("content_block_stop", index=index),
    ]
