"""A session as people read it: what is known of it, and its transcript, everything foreign escaped."""

from __future__ import annotations

import json
import textwrap
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING

from hookagent.cli.closing import amount, cost_text
from hookagent.counting import counted
from hookagent.escaping import one_line, paragraphs
from hookagent.frozen import thaw
from hookagent.messages import AssistantMessage, Message, ToolCall, ToolResult, UserMessage

if TYPE_CHECKING:
    from hookagent.sessions.lineage import Row
    from hookagent.sessions.restore import Restored

_LONGEST_RESULT = 2_000
_LONGEST_ARGUMENTS = 500


def session_text(row: Row, restored: Restored) -> str:
    """The text of `hookagent sessions show`; long results are cut, and say so."""
    return "\n".join(_lines(row, restored)) + "\n"


def moment(seconds: float) -> str:
    """A time (seconds since the epoch) in the local time zone, to the minute; "-" for one that cannot be."""
    try:
        return time.strftime("%Y-%m-%d %H:%M", time.localtime(seconds))
    except (OverflowError, OSError, ValueError):
        return "-"


def _lines(row: Row, restored: Restored) -> Iterator[str]:
    state = restored.state
    names = {call.id: call.name for one in state.transcript.messages() for call in _calls(one)}
    yield f"session {one_line(row.id)}"
    yield f"agent {one_line(restored.agent or row.agent)}, model {one_line(restored.model or row.model)}"
    yield f"begun {moment(row.created)} in {one_line(row.cwd)}"
    if row.parent_id is not None:
        yield f"by a tool of session {one_line(row.parent_id)}"
    if row.forked_from is not None:
        yield f"forked from session {one_line(row.forked_from)} at record {row.forked_at}"
    usage = state.usage
    yield (
        f"{counted(state.turn, 'turn')}, {amount(usage.prompt_tokens)} in / {amount(usage.output_tokens)} out, "
        f"{cost_text(usage)}"
    )
    for message in state.transcript.messages():
        yield ""
        yield from _message(message, names)
    waiting = [one.call for one in restored.pending if one.result is None]
    if waiting:
        yield ""
        yield "waiting for an answer:"
        yield from (_call(call) for call in waiting)
    for queued in restored.queued:
        yield ""
        yield f"queued ({queued.message.via.replace('_', ' ')}):"
        yield _indented(queued.message.text)
    if restored.problems:
        yield ""
        yield "problems:"
        yield from (f"  {one_line(problem)}" for problem in restored.problems)


def _calls(message: Message) -> tuple[ToolCall, ...]:
    return message.tool_calls if isinstance(message, AssistantMessage) else ()


def _message(message: Message, names: dict[str, str]) -> Iterator[str]:
    if isinstance(message, UserMessage):
        yield f"user ({one_line(message.origin)}):" if message.origin is not None else "user:"
        yield _indented(message.text)
        if message.images:
            yield f"  ({counted(len(message.images), 'image')})"
    elif isinstance(message, ToolResult):
        took = f", {message.milliseconds:.0f} ms" if message.milliseconds is not None else ""
        name = one_line(names.get(message.call_id, ""), 100)
        yield f"result of {name} ({one_line(message.call_id, 100)}): {message.status.replace('_', ' ')}{took}"
        yield _indented(message.content, _LONGEST_RESULT)
    else:
        yield "assistant:"
        if message.text.strip():
            yield _indented(message.text)
        yield from map(_call, message.tool_calls)


def _call(call: ToolCall) -> str:
    known = call.arguments is not None
    shown = json.dumps(thaw(call.arguments), ensure_ascii=False) if known else call.raw or ""
    arguments = one_line(shown, _LONGEST_ARGUMENTS)
    return f"  call {one_line(call.name, 100)} ({one_line(call.id, 100)}) {arguments}".rstrip()


def _indented(text: str, limit: int | None = None) -> str:
    """A text of its own lines, two blanks in."""
    cut = limit is not None and len(text) > limit
    shown = textwrap.indent(paragraphs(text[:limit].rstrip("\n")), "  ")
    return f"{shown}\n  … ({len(text)} characters; 'hookagent sessions export' has all)" if cut else shown
