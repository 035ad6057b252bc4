"""The answer on standard output.

On a terminal a reply is shown as it comes. It may turn out not to be the answer (calls follow, the run goes on, a
plugin replaced it): then its line is ended and a note on standard error says so. Elsewhere, and with `-q`, where
such a note could not be given, the answer is written at once when it is known, and nothing else ever is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hookagent.cli.console import Console
from hookagent.escaping import paragraphs

if TYPE_CHECKING:
    from hookagent.events import Event
    from hookagent.result import RunResult


class Answer:
    """A listener that shows the reply while it comes, where `live`; `finish` writes what is not shown yet."""

    def __init__(self, console: Console, live: bool) -> None:
        self._console = console
        self._live = live
        self._shown = ""
        self._calls = False

    def __call__(self, event: Event) -> None:
        """Follow one event."""
        if not self._live:
            return
        if event.type == "message_delta":
            self._delta(event.kind, event.text)
        elif event.type == "message_start" and event.role == "assistant":
            self._set_aside("the run went on")
            self._calls = False
        elif event.type == "message_replaced":
            self._set_aside("another attempt follows" if event.reason == "retry" else event.reason)
        elif event.type == "message_end":
            if getattr(event.message, "tool_calls", ()):
                self._set_aside("the model calls tools")
        elif event.type == "turn_end" and event.status != "completed" and event.answer != self._shown:
            self._set_aside("the turn ended without one")

    def finish(self, result: RunResult) -> None:
        """Write the answer of a run, unless it stands there already."""
        answer = result.answer
        if self._shown and self._shown != answer:
            self._set_aside("the run went on")
        if not self._shown and _is_answer(result):
            text = paragraphs(answer) if self._console.out_is_terminal else answer
            self._console.write(text if text.endswith("\n") else f"{text}\n")
        self._console.end_line()

    def _delta(self, kind: str, text: str) -> None:
        if kind == "arguments":
            self._calls = True
            self._set_aside("the model calls tools")
        elif kind == "text" and not self._calls and text:
            self._shown += text
            self._console.write(paragraphs(text))

    def _set_aside(self, why: str) -> None:
        if self._shown:
            self._shown = ""
            self._console.say(f"(this was not the answer: {why})")


def _is_answer(result: RunResult) -> bool:
    """Whether there is an answer of a model's; the loop's own words on why a run ended go to standard error."""
    return bool(result.answer.strip()) and result.answer != result.reason
