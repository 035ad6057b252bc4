"""A turn on the screen: replies as they come, each call with its result, and what was queued when it goes in."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hookagent.cli.console import Console
from hookagent.cli.progress import call_line, innermost
from hookagent.escaping import paragraphs
from hookagent.messages import UserMessage

if TYPE_CHECKING:
    from hookagent.events import Event
    from hookagent.result import RunResult

MARK = "> "
"""Stands before what a person said; the lines below the first are indented by as much."""


class View:
    """A listener that shows turns.

    `live`: both outputs are one terminal, and everything that is said is shown as it comes. Otherwise standard output
    gets each turn's answer when it is known, and nothing else. `calls` says that there is a line for each tool call.
    """

    def __init__(self, console: Console, *, live: bool, calls: bool) -> None:
        self._console, self._live, self._calls = console, live, calls
        self._shown = ""
        self._answered = False

    def begin(self) -> None:
        """Forget the turn before."""
        self._shown = ""
        self._answered = False

    def __call__(self, event: Event) -> None:
        """Follow one event."""
        if event.type == "tool_end" and self._calls:
            self._console.say(call_line(event.call, event.result))
        elif event.type == "nested":
            who, inner = innermost(event)
            if inner.type == "tool_end" and self._calls:
                self._console.say(f"{who}: {call_line(inner.call, inner.result)}")
        elif event.type == "turn_end" and event.status == "completed":
            if not self._live:
                self._write_answer(event.answer)
            self._answered = True
        elif self._live:
            self._follow(event)

    def finish(self, result: RunResult) -> None:
        """Write what is not shown yet. Raises `OSError` when standard output cannot be written."""
        # The loop's own words on why a run ended are said on standard error.
        if not self._live and not self._answered and result.answer.strip() and result.answer != result.reason:
            self._write_answer(result.answer)
        self._console.end_line()
        if self._console.failure is not None:
            raise self._console.failure

    def _follow(self, event: Event) -> None:
        if event.type == "message_delta":
            if event.kind == "text" and event.text:
                self._shown += event.text
                self._console.write(paragraphs(event.text))
        elif event.type == "message_start":
            self._shown = ""
        elif event.type == "message_replaced":
            if self._shown:
                why = "another attempt follows" if event.reason == "retry" else event.reason
                self._console.say(f"(this does not count: {why})")
            self._shown = ""
        elif event.type == "message_end":
            self._end(event.message)

    def _end(self, message: object) -> None:
        if isinstance(message, UserMessage):
            if message.via != "prompt" and message.origin is None:
                self._console.end_line()
                self._console.write(said(message.text))
            return
        text: str = getattr(message, "text", "")
        if text.strip() and text != self._shown:
            self._console.end_line()
            self._console.write(paragraphs(text))
        self._console.end_line()

    def _write_answer(self, answer: str) -> None:
        text = paragraphs(answer) if self._console.out_is_terminal else answer
        self._console.write(text if text.endswith("\n") else f"{text}\n")


def said(text: str) -> str:
    """What a person said, as lines for a terminal."""
    lines = paragraphs(text).split("\n")
    return MARK + ("\n" + " " * len(MARK)).join(lines) + "\n"
