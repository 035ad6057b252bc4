"""Plain lines about a run on standard error, for a person at a terminal."""

from __future__ import annotations

import sys
from typing import TextIO

from hookagent.counting import counted
from hookagent.escaping import visible_text
from hookagent.events import AgentStart, Event, IterationStart, Nested, ToolEnd, ToolStart, TurnEnd


class Console:
    """A listener that says in plain lines what a run does; what `quiet` switches off."""

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = sys.stderr if stream is None else stream

    def __call__(self, event: Event) -> None:
        """Say what an event tells of, in one line or not at all."""
        line = _line(event)
        if line is not None:
            print(visible_text(line), file=self._stream)


def _line(event: Event) -> str | None:
    if isinstance(event, Nested):
        line = _line(event.event)
        return None if line is None else f"  {event.agent}: {line.strip()}"
    if isinstance(event, AgentStart):
        return f"{event.agent}: model {event.model}"
    if isinstance(event, IterationStart):
        most = "" if event.maximum is None else f" of {event.maximum}"
        return f"iteration {event.iteration}{most}"
    if isinstance(event, ToolStart):
        return f"  {event.call.name} ..."
    if isinstance(event, ToolEnd):
        took = "" if event.result.milliseconds is None else f", {event.result.milliseconds:.0f} ms"
        return f"  {event.call.name}: {event.result.status}{took}"
    if isinstance(event, TurnEnd):
        return f"{event.status}: {counted(event.usage.prompt_tokens, 'token')} in, {event.usage.output_tokens} out"
    return None
