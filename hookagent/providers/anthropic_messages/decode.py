"""From the stream of the Anthropic Messages API to deltas and one AssistantMessage."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from hookagent.errors import ProviderError
from hookagent.frozen import freeze
from hookagent.messages import AssistantMessage, AssistantPart, ProviderPart, StopReason, TextPart, ToolCall
from hookagent.providers.anthropic_messages import WIRE
from hookagent.providers.base import Delta
from hookagent.providers.call_ids import FreshIds
from hookagent.providers.decoding import decided_stop, plain_item, returnable, token_count
from hookagent.tools.arguments import parse_arguments
from hookagent.tools.text import clean_text
from hookagent.usage import Usage

PROVIDER = "anthropic"
_STOPS: Mapping[str, StopReason] = {
    "end_turn": "end",
    "tool_use": "tool_calls",
    "max_tokens": "length",
    "stop_sequence": "stop_sequence",
    "pause_turn": "pause",
    "refusal": "refusal",
    "model_context_window_exceeded": "too_long",
}


_NEVER_WRITTEN = frozenset({"tool_result", "image", "document", "search_result"})
"""Blocks that only the user's side of a conversation has."""
_NEEDED: Mapping[str, tuple[str, ...]] = {"server_tool_use": ("id", "name")}


class _Part:
    """A content block while it grows."""

    __slots__ = ("arguments", "item", "kind", "signature", "text")

    def __init__(self, block: Any) -> None:
        self.item: dict[str, Any] = plain_item(block)
        kind = self.item.get("type")
        self.kind: str = kind if isinstance(kind, str) else ""
        self.text: list[str] = [self.item.get("text") or self.item.get("thinking") or ""]
        self.signature: str = self.item.get("signature") or ""
        self.arguments: list[str] = []


class MessageReader:
    """Reads the events of one streamed reply: `read` gives a delta or None, `message` the whole at the end.

    `output_limit` is the limit that was sent, to know a cut reply from a server that does not say so.
    """

    def __init__(self, fresh: FreshIds, model: str, output_limit: int | None = None) -> None:
        self._fresh = fresh
        self._model = model
        self._output_limit = output_limit
        self._parts: dict[int, _Part] = {}
        self._counts = {"input_tokens": 0, "cache_read_input_tokens": 0, "cache_creation_input_tokens": 0}
        self._counts["output_tokens"] = 0
        self._stop: str | None = None
        self._stop_detail = ""
        self._closed = False

    def read(self, event: Any) -> Delta | None:
        """Take in one event of the SDK's stream; unknown ones are passed over, as the API reference asks."""
        kind = getattr(event, "type", None)
        if kind == "content_block_delta":
            return self._read_delta(self._parts.get(event.index), event.delta)
        if kind == "content_block_start":
            part = self._parts[event.index] = _Part(event.content_block)
            text = part.text[0]
            return Delta("thinking" if part.kind == "thinking" else "text", text) if text else None
        if kind == "message_start":
            self._count(getattr(event.message, "usage", None))
        elif kind == "message_delta":
            self._count(getattr(event, "usage", None))
            stop = getattr(event.delta, "stop_reason", None)
            if stop:
                self._stop = stop
                details = getattr(event.delta, "stop_details", None)
                sequence = getattr(event.delta, "stop_sequence", None)
                self._stop_detail = sequence or getattr(details, "explanation", None) or ""
        elif kind == "message_stop":
            self._closed = True
        return None

    def message(self) -> AssistantMessage:
        """The whole reply.

        Raises `ProviderError` (`incomplete`) when the stream ended without its closing events.
        """
        if not self._closed or self._stop is None:
            raise ProviderError("incomplete", PROVIDER, "the stream ended before the reply was whole")
        parts = [made for _, part in sorted(self._parts.items()) for made in self._finish(part)]
        reason = _STOPS.get(self._stop, "unknown")
        detail = self._stop_detail if reason != "unknown" else self._stop
        counts = self._counts
        usage = Usage(
            input_tokens=counts["input_tokens"],
            cache_read_tokens=counts["cache_read_input_tokens"],
            cache_write_tokens=counts["cache_creation_input_tokens"],
            output_tokens=counts["output_tokens"],
            cost_usd=None,
            requests=1,
        )
        stop = decided_stop(reason, parts, usage.output_tokens, self._output_limit)
        return AssistantMessage(tuple(parts), stop, usage, self._model, PROVIDER, detail)

    def _read_delta(self, part: _Part | None, delta: Any) -> Delta | None:
        kind = getattr(delta, "type", None)
        if part is None:
            raise ProviderError("response", PROVIDER, "the stream goes on with a block that it never began")
        if kind == "text_delta":
            part.text.append(delta.text)
            return Delta("text", delta.text)
        if kind == "input_json_delta":
            part.arguments.append(delta.partial_json)
            return Delta("arguments", delta.partial_json) if part.kind == "tool_use" and delta.partial_json else None
        if kind == "thinking_delta":
            part.text.append(delta.thinking)
            return Delta("thinking", delta.thinking) if delta.thinking else None
        if kind == "signature_delta":
            part.signature += delta.signature
        return None

    def _count(self, usage: Any) -> None:
        # Counts are cumulative, so a later one replaces an earlier one.
        for name in self._counts:
            count = token_count(usage, name)
            if count is not None:
                self._counts[name] = count

    def _finish(self, part: _Part) -> list[AssistantPart]:
        if part.kind == "text":
            text = clean_text("".join(part.text))
            return [TextPart(text)] if text else []
        if part.kind == "thinking":
            text = "".join(part.text)
            data = {"type": "thinking", "thinking": text, "signature": part.signature}
            return [ProviderPart(WIRE, "thinking", freeze(returnable(data, PROVIDER)), clean_text(text))]
        if part.kind == "tool_use":
            raw = "".join(part.arguments)
            if not raw and part.item.get("input"):
                raw = json.dumps(part.item["input"])
            arguments, problem = parse_arguments(raw)
            call_id = self._fresh.give(part.item.get("id"))
            name = clean_text(str(part.item.get("name") or ""))
            return [ToolCall(call_id, name, arguments, raw if problem else None, problem)]
        if part.kind == "redacted_thinking":
            return [ProviderPart(WIRE, "thinking", freeze(returnable(part.item, PROVIDER, "data")))]
        if part.arguments:
            arguments, _ = parse_arguments("".join(part.arguments))
            part.item["input"] = arguments if arguments is not None else {}
        if part.kind in _NEVER_WRITTEN:
            raise ProviderError(
                "response", PROVIDER, f"the reply has a block of type '{part.kind}', which is no reply's"
            )
        needed = _NEEDED.get(part.kind, ("tool_use_id",) if part.kind.endswith("_tool_result") else ())
        return [ProviderPart(WIRE, "item", freeze(returnable(part.item, PROVIDER, *needed)))]
