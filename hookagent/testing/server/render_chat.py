"""Renders replies and errors as the OpenAI Chat Completions API sends them, streaming and not."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any, Final

from hookagent.testing.server.rendering import Rendered, StreamEvent, call_id_field, fresh_id, pieces, usage_of
from hookagent.testing.server.replies import Call, Reply, ScriptError, ServerCall, Thinking, Usage
from hookagent.testing.server.signing import TranscriptSigner

_FINISH_REASONS: Final[Mapping[str, str]] = {
    "end": "stop",
    "tool_use": "tool_calls",
    "length": "length",
    "stop_sequence": "stop",
    "content_filter": "content_filter",
    "refusal": "stop",
}


def render_chat(reply: Reply, request: Mapping[str, Any], signer: TranscriptSigner) -> Rendered:
    """Render a reply to one request, as a completion and as its chunks.

    Thinking travels as reasoning_content, as compatible servers send it. Raises `ScriptError` for a server tool call or
    a paused turn, which this wire form does not have.
    """
    stop = reply.neutral_stop()
    if stop == "pause" or any(isinstance(part, ServerCall) for part in reply.all_parts()):
        raise ScriptError("Chat Completions has no server tool calls and no paused turns")
    finish = _FINISH_REASONS.get(stop, stop)
    message = _message(reply, refused=stop == "refusal")
    usage = _usage(usage_of(reply, request))
    head = {"id": fresh_id("chatcmpl"), "created": int(time.time()), "model": request["model"]}
    choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": finish}
    body = {**head, "object": "chat.completion", "choices": [choice], "usage": usage}
    with_usage = bool((request.get("stream_options") or {}).get("include_usage"))
    chunk = {**head, "object": "chat.completion.chunk"}
    if with_usage:
        chunk["usage"] = None

    def event(delta: dict[str, Any], reason: str | None = None) -> StreamEvent:
        part = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": reason}
        return StreamEvent(None, {**chunk, "choices": [part]})

    events = [event({"role": "assistant", "content": "", "refusal": None})]
    events += [event(delta) for delta in _deltas(message)]
    closing = [event({}, finish)]
    if with_usage:
        closing.append(StreamEvent(None, {**chunk, "choices": [], "usage": usage}))
    closing.append(StreamEvent(None, "[DONE]"))
    return Rendered(body, events + closing, closing=len(closing))


def openai_error(
    status: int, message: str, code: str | None = None, index: int | None = None, field: str = "messages"
) -> dict[str, Any]:
    """Give the body of an HTTP error; `code` carries the rule's id, `param` the place."""
    kind = {429: "requests", 401: "invalid_request_error"}.get(status, "invalid_request_error")
    if status >= 500:
        kind = "server_error"
    codes = {401: "invalid_api_key", 404: "model_not_found", 429: "rate_limit_exceeded"}
    param = None if index is None else f"{field}[{index}]"
    return {"error": {"message": message, "type": kind, "param": param, "code": code or codes.get(status)}}


def chat_error_event(status: int, message: str, code: str | None = None) -> StreamEvent:
    """Give the error that a stream carries when it began well."""
    return StreamEvent(None, openai_error(status, message, code))


def _message(reply: Reply, refused: bool) -> dict[str, Any]:
    parts = reply.all_parts()
    text = "".join(part for part in parts if isinstance(part, str))
    thinking = "".join(part.text for part in parts if isinstance(part, Thinking) and not part.redacted)
    calls = [part for part in parts if isinstance(part, Call)]
    message: dict[str, Any] = {
        "role": "assistant",
        "content": None if refused or (calls and not text) else text,
        "refusal": text if refused else None,
        "annotations": [],
    }
    if thinking:
        message["reasoning_content"] = thinking
    if calls:
        message["tool_calls"] = [_call(call) for call in calls]
    return message


def _call(call: Call) -> dict[str, Any]:
    function = {"name": call.name, "arguments": call.arguments_text()}
    return {**call_id_field(call, "id", "call"), "type": "function", "function": function}


def _deltas(message: dict[str, Any]) -> list[dict[str, Any]]:
    deltas: list[dict[str, Any]] = []
    for field in ("reasoning_content", "content", "refusal"):
        deltas += [{field: piece} for piece in pieces(message.get(field) or "")]
    for index, call in enumerate(message.get("tool_calls", ())):
        function = call["function"]
        first = {**call, "index": index, "function": {"name": function["name"], "arguments": ""}}
        deltas.append({"tool_calls": [first]})
        for piece in pieces(function["arguments"]):
            deltas.append({"tool_calls": [{"index": index, "function": {"arguments": piece}}]})
    return deltas


def _usage(usage: Usage) -> dict[str, Any]:
    prompt = usage.input_tokens + usage.cache_read_tokens + usage.cache_write_tokens
    return {
        "prompt_tokens": prompt,
        "completion_tokens": usage.output_tokens,
        "total_tokens": prompt + usage.output_tokens,
        "prompt_tokens_details": {
            "cached_tokens": usage.cache_read_tokens,
            "cache_write_tokens": usage.cache_write_tokens,
            "audio_tokens": 0,
        },
        "completion_tokens_details": {
            "reasoning_tokens": usage.thinking_tokens,
            "audio_tokens": 0,
            "accepted_prediction_tokens": 0,
            "rejected_prediction_tokens": 0,
        },
    }
