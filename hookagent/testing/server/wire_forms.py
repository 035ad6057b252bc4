"""The wire forms that the strict server speaks: for each its path, its checker, its renderer and its errors."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from hookagent.testing.server.render_chat import chat_error_event, openai_error, render_chat
from hookagent.testing.server.render_messages import messages_error, messages_error_event, render_messages
from hookagent.testing.server.render_responses import render_responses, responses_error_event
from hookagent.testing.server.rendering import Rendered, StreamEvent
from hookagent.testing.server.replies import Reply
from hookagent.testing.server.signing import TranscriptSigner
from hookagent.testing.wire import CHAT, MESSAGES, RESPONSES, Wire


@dataclass(frozen=True, slots=True)
class WireForm:
    """One wire form.

    `error(status, message, code, index)` gives an error body in the vendor's shape, `error_event(status, message,
    code)` the event that a stream carries instead. `request_id_header` names the header that every answer has.
    """

    wire: Wire
    path: str
    render: Callable[[Reply, Mapping[str, Any], TranscriptSigner], Rendered]
    error: Callable[[int, str, str | None, int | None], dict[str, Any]]
    error_event: Callable[[int, str, str | None], StreamEvent]
    request_id_header: str
    ends_with_done: bool = False

    def literal_events(self, data: Mapping[str, Any] | list[Mapping[str, Any]]) -> list[StreamEvent]:
        """Give the stream events of a literal reply, named as this wire form names them."""
        entries = data if isinstance(data, list) else [data]
        events = [StreamEvent(None if self.ends_with_done else entry.get("type"), entry) for entry in entries]
        return [*events, StreamEvent(None, "[DONE]")] if self.ends_with_done else events


def _responses_error(status: int, message: str, code: str | None, index: int | None) -> dict[str, Any]:
    return openai_error(status, message, code, index, field="input")


WIRE_FORMS: Final = (
    WireForm(MESSAGES, "/v1/messages", render_messages, messages_error, messages_error_event, "request-id"),
    WireForm(RESPONSES, "/v1/responses", render_responses, _responses_error, responses_error_event, "x-request-id"),
    WireForm(CHAT, "/v1/chat/completions", render_chat, openai_error, chat_error_event, "x-request-id", True),
)
"""All wire forms, one path each."""
