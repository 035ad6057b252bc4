"""Renders replies as the OpenAI Responses API sends them, streaming and not."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from typing import Any, Final

from hookagent.testing.server.rendering import Rendered, StreamEvent, call_id_field, fresh_id, pieces, usage_of
from hookagent.testing.server.replies import Call, Reply, ScriptError, ServerCall, Thinking, Usage
from hookagent.testing.server.signing import TranscriptSigner

# Reasons that leave a response incomplete; any other one ends it as completed, since the wire has no stop reason.
_INCOMPLETE: Final[Mapping[str, str]] = {"length": "max_output_tokens", "content_filter": "content_filter"}
_ENDS: Final = frozenset({"end", "tool_use", "stop_sequence", "refusal"})


def render_responses(reply: Reply, request: Mapping[str, Any], signer: TranscriptSigner) -> Rendered:
    """Render a reply to one request, as a response and as its stream events.

    Reasoning comes encrypted only if the request includes `reasoning.encrypted_content`, and with a summary only if the
    request asks for one, as at the vendor. A stop reason that the wire does not know is sent as the reason of an
    incomplete response. Raises `ScriptError` for a server tool call or a paused turn, which are not rendered here.
    """
    stop = reply.neutral_stop()
    if stop == "pause" or any(isinstance(part, ServerCall) for part in reply.all_parts()):
        raise ScriptError("server tool calls and paused turns are rendered for Anthropic Messages only")
    reason = None if stop in _ENDS else _INCOMPLETE.get(stop, stop)
    output = _output(reply, request, signer, refused=stop == "refusal")
    if reason is not None and output:
        output[-1]["status"] = "incomplete"
    done = {
        "id": fresh_id("resp"),
        "object": "response",
        "created_at": int(time.time()),
        "status": "completed" if reason is None else "incomplete",
        "error": None,
        "incomplete_details": None if reason is None else {"reason": reason},
        "instructions": request.get("instructions"),
        "max_output_tokens": request.get("max_output_tokens"),
        "metadata": request.get("metadata") or {},
        "model": request["model"],
        "output": output,
        "parallel_tool_calls": request.get("parallel_tool_calls", True),
        "previous_response_id": request.get("previous_response_id"),
        "reasoning": request.get("reasoning") or {"effort": None, "summary": None},
        "store": request.get("store", True),
        "temperature": 1.0,
        "text": {"format": {"type": "text"}},
        "tool_choice": request.get("tool_choice", "auto"),
        "tools": request.get("tools") or [],
        "top_p": 1.0,
        "truncation": "disabled",
        "usage": _usage(usage_of(reply, request)),
    }
    begun = done | {"status": "in_progress", "incomplete_details": None, "output": [], "usage": None}
    data: list[dict[str, Any]] = [
        {"type": "response.created", "response": begun},
        {"type": "response.in_progress", "response": begun},
    ]
    for index, item in enumerate(output):
        data.extend(_item_events(index, item))
    data.append({"type": "response.completed" if reason is None else "response.incomplete", "response": done})
    events = [StreamEvent(entry["type"], entry | {"sequence_number": number}) for number, entry in enumerate(data)]
    return Rendered(done, events, closing=1)


def responses_error_event(status: int, message: str, code: str | None = None) -> StreamEvent:
    """Give the error event of a stream that began well."""
    codes = {429: "rate_limit_exceeded"}
    error = {"type": "error", "code": code or codes.get(status, "server_error"), "message": message, "param": None}
    return StreamEvent("error", error | {"sequence_number": 0})


def _output(reply: Reply, request: Mapping[str, Any], signer: TranscriptSigner, refused: bool) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = []
    reasoning_id: str | None = None
    for part in reply.all_parts():
        if isinstance(part, Thinking):
            reasoning_id = signer.make_item_id("rs")
            items.append(_reasoning(part, reasoning_id, request, signer))
            continue
        if isinstance(part, Call):
            item = {
                "type": "function_call",
                "id": signer.make_item_id("fc", reasoning_id),
                **call_id_field(part, "call_id", "call"),
                "name": part.name,
                "arguments": part.arguments_text(),
                "status": "completed",
            }
        else:
            content: dict[str, Any] = {"type": "output_text", "text": part, "annotations": [], "logprobs": []}
            item = {
                "type": "message",
                "id": signer.make_item_id("msg", reasoning_id),
                "role": "assistant",
                "status": "completed",
                "content": [{"type": "refusal", "refusal": part} if refused else content],
            }
        # Only the item directly behind the reasoning needs it back.
        reasoning_id = None
        items.append(item)
    return items


def _reasoning(thinking: Thinking, id: str, request: Mapping[str, Any], signer: TranscriptSigner) -> dict[str, Any]:
    asked = (request.get("reasoning") or {}).get("summary")
    summary = [{"type": "summary_text", "text": thinking.text}] if asked and not thinking.redacted else []
    item: dict[str, Any] = {"type": "reasoning", "id": id, "summary": summary}
    if "reasoning.encrypted_content" in (request.get("include") or ()):
        item["encrypted_content"] = signer.encrypt_reasoning(id)
    return item


def _item_events(index: int, item: dict[str, Any]) -> Iterator[dict[str, Any]]:
    empty: dict[str, dict[str, Any]] = {
        "message": {"content": []},
        "function_call": {"arguments": ""},
        "reasoning": {"summary": []},
    }
    start = item | empty[item["type"]]
    if "status" in item:
        start["status"] = "in_progress"
    place = {"item_id": item["id"], "output_index": index}
    yield {"type": "response.output_item.added", "output_index": index, "item": start}
    if item["type"] == "function_call":
        for piece in pieces(item["arguments"]):
            yield {"type": "response.function_call_arguments.delta", **place, "delta": piece}
        done = {"name": item["name"], "arguments": item["arguments"]}
        yield {"type": "response.function_call_arguments.done", **place, **done}
    elif item["type"] == "reasoning":
        for number, part in enumerate(item["summary"]):
            yield from _summary_events(place | {"summary_index": number}, part)
    else:
        for number, part in enumerate(item["content"]):
            yield from _content_events(place | {"content_index": number}, part)
    yield {"type": "response.output_item.done", "output_index": index, "item": item}


def _summary_events(place: dict[str, Any], part: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield {"type": "response.reasoning_summary_part.added", **place, "part": part | {"text": ""}}
    for piece in pieces(part["text"]):
        yield {"type": "response.reasoning_summary_text.delta", **place, "delta": piece}
    yield {"type": "response.reasoning_summary_text.done", **place, "text": part["text"]}
    yield {"type": "response.reasoning_summary_part.done", **place, "part": part}


def _content_events(place: dict[str, Any], part: dict[str, Any]) -> Iterator[dict[str, Any]]:
    field, stem = ("refusal", "refusal") if part["type"] == "refusal" else ("text", "output_text")
    extra: dict[str, Any] = {} if field == "refusal" else {"logprobs": []}
    yield {"type": "response.content_part.added", **place, "part": part | {field: ""}}
    for piece in pieces(part[field]):
        yield {"type": f"response.{stem}.delta", **place, "delta": piece, **extra}
    yield {"type": f"response.{stem}.done", **place, field: part[field], **extra}
    yield {"type": "response.content_part.done", **place, "part": part}


def _usage(usage: Usage) -> dict[str, Any]:
    given = usage.input_tokens + usage.cache_read_tokens + usage.cache_write_tokens
    return {
        "input_tokens": given,
        "input_tokens_details": {
            "cached_tokens": usage.cache_read_tokens,
            "cache_write_tokens": usage.cache_write_tokens,
        },
        "output_tokens": usage.output_tokens,
        "output_tokens_details": {"reasoning_tokens": usage.thinking_tokens},
        "total_tokens": given + usage.output_tokens,
    }
