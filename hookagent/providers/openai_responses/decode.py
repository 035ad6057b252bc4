"""From the stream of the OpenAI Responses API to deltas and one AssistantMessage."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hookagent.errors import ProviderError
from hookagent.frozen import freeze
from hookagent.messages import AssistantMessage, AssistantPart, ProviderPart, StopReason, TextPart, ToolCall
from hookagent.providers.base import Delta
from hookagent.providers.call_ids import FreshIds
from hookagent.providers.decoding import decided_stop, plain_item, returnable, token_count
from hookagent.providers.failures import reported_error
from hookagent.providers.openai_responses import WIRE
from hookagent.tools.arguments import parse_arguments
from hookagent.tools.text import clean_text
from hookagent.usage import Usage

PROVIDER = "openai"
_DELTAS = {
    "response.output_text.delta": "text",
    "response.refusal.delta": "text",
    "response.reasoning_summary_text.delta": "thinking",
    "response.reasoning_text.delta": "thinking",
    "response.function_call_arguments.delta": "arguments",
}
_CLOSING = frozenset({"response.completed", "response.incomplete", "response.failed", "response.cancelled"})
_INCOMPLETE: Mapping[str, StopReason] = {"max_output_tokens": "length", "content_filter": "filtered"}
_MESSAGE_HEAD = ("type", "id", "status", "phase")


class ResponseReader:
    """Reads the events of one streamed response: `read` gives a delta or None, `message` the whole at the end.

    `output_limit` is the limit that was sent, to know a cut reply from a server that does not say so.
    """

    def __init__(self, fresh: FreshIds, model: str, output_limit: int | None = None) -> None:
        self._fresh = fresh
        self._model = model
        self._output_limit = output_limit
        self._items: dict[int, dict[str, Any]] = {}
        self._response: Any = None

    def read(self, event: Any) -> Delta | None:
        """Take in one event of the SDK's stream; unknown ones are passed over.

        Raises `ProviderError` for an error event and a failed response, typed by its code.
        """
        kind = getattr(event, "type", None)
        word = _DELTAS.get(kind or "")
        if word is not None:
            text = getattr(event, "delta", None)
            return Delta(word, text) if text else None
        if kind == "response.output_item.done":
            self._items[getattr(event, "output_index", None) or 0] = plain_item(event.item)
        elif kind in _CLOSING:
            self._response = event.response
            if kind == "response.failed":
                error = getattr(event.response, "error", None)
                raise reported_error(plain_item(error) if error else {}, PROVIDER, self._model)
        elif kind == "error":
            raise reported_error(plain_item(event), PROVIDER, self._model)
        return None

    def message(self) -> AssistantMessage:
        """The whole reply.

        Raises `ProviderError`: `incomplete` when the stream ended without its closing event.
        """
        response = self._response
        if response is None:
            raise ProviderError("incomplete", PROVIDER, "the stream ended before the reply was whole")
        return read_response(response, self._items, self._fresh, self._model, self._output_limit)


def read_response(
    response: Any,
    items: Mapping[int, dict[str, Any]],
    fresh: FreshIds,
    model: str,
    output_limit: int | None = None,
) -> AssistantMessage:
    """A closed response as a message; `items` are those that came one by one, which win over an empty list."""
    status = getattr(response, "status", None)
    if status in ("failed", "cancelled"):
        error = getattr(response, "error", None)
        raise reported_error(plain_item(error) if error else {"message": f"the response was {status}"}, PROVIDER, model)
    listed = [plain_item(item) for item in getattr(response, "output", None) or ()]
    output = listed or [item for _, item in sorted(items.items())]
    if not output and getattr(response, "output", None) is None and not items:
        raise ProviderError("response", PROVIDER, f"the reply has no output: {plain_item(response)!r:.300}")
    parts, refused = _read_items(output, fresh)
    reason, detail = _stop_of(response, status, refused)
    usage = _usage_of(getattr(response, "usage", None))
    stop = decided_stop(reason, parts, usage.output_tokens, output_limit)
    return AssistantMessage(tuple(parts), stop, usage, model, PROVIDER, detail)


def _read_items(output: list[dict[str, Any]], fresh: FreshIds) -> tuple[list[AssistantPart], bool]:
    parts: list[AssistantPart] = []
    refused = False
    reasons = any(item.get("type") == "reasoning" for item in output)
    for item in output:
        kind = item.get("type")
        if kind == "message":
            if reasons or item.get("phase"):
                head = {name: item[name] for name in _MESSAGE_HEAD if item.get(name)}
                parts.append(ProviderPart(WIRE, "item", freeze(returnable(head, PROVIDER))))
            texts = []
            for content in item.get("content") or ():
                refused = refused or content.get("type") == "refusal"
                texts.append(content.get("text") or content.get("refusal") or "")
            text = clean_text("".join(texts))
            if text:
                parts.append(TextPart(text))
        elif kind == "function_call":
            arguments, problem = parse_arguments(item.get("arguments"))
            call_id = fresh.give(item.get("call_id") or item.get("id"))
            raw = str(item.get("arguments") or "")
            name = clean_text(str(item.get("name") or ""))
            parts.append(ToolCall(call_id, name, arguments, raw if problem else None, problem))
        elif kind == "reasoning":
            # Whole, but for what is only said about a stored item and refused when it comes back.
            kept = {name: value for name, value in item.items() if value is not None and name != "status"}
            summary = "\n".join(
                s.get("text") or "" for s in [*(item.get("summary") or ()), *(item.get("content") or ())]
            )
            parts.append(ProviderPart(WIRE, "reasoning", freeze(returnable(kept, PROVIDER)), clean_text(summary)))
        else:
            parts.append(ProviderPart(WIRE, "item", freeze(returnable(item, PROVIDER))))
    return parts, refused


def _stop_of(response: Any, status: str | None, refused: bool) -> tuple[StopReason, str]:
    if status == "incomplete":
        reason = getattr(getattr(response, "incomplete_details", None), "reason", None) or ""
        known = _INCOMPLETE.get(reason)
        return (known, "") if known else ("unknown", reason or "incomplete")
    if refused:
        return "refusal", ""
    return ("end", "") if status in ("completed", None) else ("unknown", str(status))


def _usage_of(usage: Any) -> Usage:
    """Four counts that do not overlap: the API counts cached tokens within the input."""
    total = token_count(usage, "input_tokens") or 0
    details = getattr(usage, "input_tokens_details", None)
    read = token_count(details, "cached_tokens") or 0
    written = token_count(details, "cache_write_tokens") or 0
    output = token_count(usage, "output_tokens") or 0
    return Usage(max(total - read - written, 0), read, written, output, None, 1)
