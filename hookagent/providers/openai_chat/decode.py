"""From a Chat Completions stream to deltas and one AssistantMessage; compatible servers take many liberties."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from hookagent.errors import ProviderError
from hookagent.frozen import freeze
from hookagent.messages import AssistantMessage, AssistantPart, ProviderPart, StopReason, TextPart, ToolCall
from hookagent.providers.base import Delta
from hookagent.providers.call_ids import FreshIds
from hookagent.providers.decoding import decided_stop, plain_item, token_count
from hookagent.providers.failures import masked, reported_error
from hookagent.providers.openai_chat import WIRE
from hookagent.tools.arguments import parse_arguments
from hookagent.tools.text import clean_text
from hookagent.usage import Usage

PROVIDER = "openai-chat"
_STOPS: Mapping[str, StopReason] = {
    "stop": "end",
    "eos": "end",
    "eos_token": "end",
    "end_turn": "end",
    "tool_calls": "tool_calls",
    "function_call": "tool_calls",
    "length": "length",
    "model_length": "length",
    "max_tokens": "length",
    "stop_sequence": "stop_sequence",
    "content_filter": "filtered",
    "refusal": "refusal",
}


class _Call:
    """A tool call while it grows."""

    __slots__ = ("arguments", "id", "name")

    def __init__(self) -> None:
        self.id = ""
        self.name = ""
        self.arguments: list[str] = []


class ChatReader:
    """Reads the chunks of one streamed reply: `read` gives deltas, `message` the whole at the end.

    `output_limit` is the limit that was sent, to know a cut reply from a server that does not say so.
    """

    def __init__(self, fresh: FreshIds, model: str, output_limit: int | None = None) -> None:
        self._fresh = fresh
        self._model = model
        self._output_limit = output_limit
        self._text: list[str] = []
        self._thinking: list[str] = []
        self._calls: list[_Call] = []
        self._by_index: dict[int, _Call] = {}
        self._finish: str | None = None
        self._refused = False
        self._usage: Any = None
        self._had_choice = False
        self._strange: list[dict[str, Any]] = []

    def read(self, chunk: Any) -> list[Delta]:
        """Take in one chunk of the SDK's stream.

        Raises `ProviderError` for an error object where a chunk should be.
        """
        error = getattr(chunk, "error", None)
        if error:
            raise reported_error({"error": error}, PROVIDER, self._model)
        usage = getattr(chunk, "usage", None)
        if usage is not None:
            self._usage = usage
        choices = getattr(chunk, "choices", None)
        if not choices:
            if usage is None and len(self._strange) < 3:
                self._strange.append(plain_item(chunk))
            return []
        self._had_choice = True
        choice = choices[0]
        finish = getattr(choice, "finish_reason", None)
        if finish:
            self._finish = finish
        # A server that does not stream sends a `message` where the others send a `delta`.
        delta = getattr(choice, "delta", None) or getattr(choice, "message", None)
        return self._read_delta(delta) if delta is not None else []

    def message(self) -> AssistantMessage:
        """The whole reply.

        Raises `ProviderError`: `incomplete` when no finish reason came, `filtered` or `response` when there was no
        choice at all, with what was received.
        """
        if not self._had_choice:
            raise self._no_choice()
        if self._finish is None:
            raise ProviderError("incomplete", PROVIDER, "the stream ended before the reply was whole")
        parts: list[AssistantPart] = []
        thinking, text = clean_text("".join(self._thinking)), clean_text("".join(self._text))
        if thinking:
            parts.append(ProviderPart(WIRE, "thinking", freeze({"reasoning_content": thinking}), thinking))
        if text:
            parts.append(TextPart(text))
        parts += [self._finished(call) for call in self._calls]
        usage = _usage_of(self._usage)
        reason = _STOPS.get(self._finish, "unknown")
        if self._refused and reason == "end":
            reason = "refusal"
        detail = self._finish if reason == "unknown" else ""
        stop = decided_stop(reason, parts, usage.output_tokens, self._output_limit)
        return AssistantMessage(tuple(parts), stop, usage, self._model, PROVIDER, detail)

    def _read_delta(self, delta: Any) -> list[Delta]:
        deltas: list[Delta] = []
        thinking = getattr(delta, "reasoning_content", None) or getattr(delta, "reasoning", None)
        if isinstance(thinking, str) and thinking:
            self._thinking.append(thinking)
            deltas.append(Delta("thinking", thinking))
        refusal = getattr(delta, "refusal", None)
        text = getattr(delta, "content", None) or refusal
        if isinstance(text, str) and text:
            self._refused = self._refused or bool(refusal)
            self._text.append(text)
            deltas.append(Delta("text", text))
        for piece in getattr(delta, "tool_calls", None) or ():
            raw = self._read_call(piece)
            if raw:
                deltas.append(Delta("arguments", raw))
        return deltas

    def _read_call(self, piece: Any) -> str:
        function = getattr(piece, "function", None)
        index, call_id, name = (
            getattr(piece, "index", None),
            getattr(piece, "id", None),
            getattr(function, "name", None),
        )
        call = self._by_index.get(index) if index is not None else (self._calls[-1] if self._calls else None)
        # Some servers leave the index out, or send each whole call under index 0: a new id with a name is a new call.
        if call is None or (name and call.name and ((call_id and call_id != call.id) or index is None)):
            call = _Call()
            self._calls.append(call)
            if index is not None:
                self._by_index[index] = call
        call.id = call.id or call_id or ""
        call.name = call.name or name or ""
        raw = getattr(function, "arguments", None)
        if raw is not None and not isinstance(raw, str):
            raw = json.dumps(raw)
        if raw:
            call.arguments.append(raw)
        return raw or ""

    def _finished(self, call: _Call) -> ToolCall:
        raw = "".join(call.arguments)
        arguments, problem = parse_arguments(raw)
        return ToolCall(self._fresh.give(call.id), clean_text(call.name), arguments, raw if problem else None, problem)

    def _no_choice(self) -> ProviderError:
        received = masked(json.dumps(self._strange, ensure_ascii=False, default=str))
        if any("filter" in key and value for chunk in self._strange for key, value in chunk.items()):
            return ProviderError("filtered", PROVIDER, f"the prompt was filtered, there is no reply: {received}")
        if not self._strange and self._usage is None:
            return ProviderError("incomplete", PROVIDER, "the stream ended before the reply began")
        return ProviderError("response", PROVIDER, f"the reply has no choices; received: {received}")


def _usage_of(usage: Any) -> Usage:
    """Four counts that do not overlap: cached tokens are counted within the prompt on this wire form."""
    total = token_count(usage, "prompt_tokens") or 0
    details = getattr(usage, "prompt_tokens_details", None)
    read = token_count(details, "cached_tokens") or 0
    written = token_count(details, "cache_write_tokens") or 0
    output = token_count(usage, "completion_tokens") or 0
    return Usage(max(total - read - written, 0), read, written, output, None, 1)
