"""What the three renderers have in common: the rendered answer, stream events, and estimated usage."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hookagent.testing.server.replies import Call, NoId, Reply, ServerCall, Thinking, Usage

_CHARACTERS_PER_TOKEN = 4
_PIECE = 12
_READ_FIELDS = ("messages", "input", "system", "instructions", "tools")


@dataclass(frozen=True, slots=True)
class StreamEvent:
    """One server-sent event: its name (None: unnamed, as Chat Completions sends them) and its data."""

    name: str | None
    data: Any

    def encoded(self) -> bytes:
        """Give the event as it stands on the wire."""
        text = self.data if isinstance(self.data, str) else json.dumps(self.data)
        head = f"event: {self.name}\n" if self.name else ""
        return f"{head}data: {text}\n\n".encode()


@dataclass(frozen=True, slots=True)
class Rendered:
    """One answer on one wire form: the body without a stream, the events with one.

    The last `closing` events tell the client that the stream is complete.
    """

    body: Any
    events: Sequence[StreamEvent]
    closing: int


def pieces(text: str) -> Iterator[str]:
    """Cut a text into the pieces that a stream carries it in; an empty text has none."""
    for start in range(0, len(text), _PIECE):
        yield text[start : start + _PIECE]


def call_id_field(call: Call, field: str, prefix: str) -> dict[str, Any]:
    """Give the id field of a call: what the script says, or a fresh id with the vendor's prefix."""
    if call.id is NoId.MISSING:
        return {}
    if call.id is NoId.NULL:
        return {field: None}
    return {field: fresh_id(prefix) if call.id is None else call.id}


def fresh_id(prefix: str) -> str:
    """Make an id that is unique among all servers."""
    return f"{prefix}_{uuid.uuid4().hex[:24]}"


def usage_of(reply: Reply, request: Mapping[str, Any]) -> Usage:
    """Give the reply's usage, or an estimate by characters, never zero."""
    if reply.usage is not None:
        return reply.usage
    thinking = output = 0
    for part in reply.all_parts():
        if isinstance(part, Thinking):
            thinking += _tokens(part.text)
        elif isinstance(part, Call):
            output += _tokens(part.name + part.arguments_text())
        elif isinstance(part, ServerCall):
            output += _tokens(part.name + json.dumps(part.arguments))
        else:
            output += _tokens(part)
    given = _tokens(json.dumps([request.get(field) for field in _READ_FIELDS]))
    return Usage(given, max(1, output + thinking), thinking_tokens=thinking)


def _tokens(text: str) -> int:
    return -(-len(text) // _CHARACTERS_PER_TOKEN)
