"""The keys of the editor: which does what, and who is told of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from prompt_toolkit.enums import DEFAULT_BUFFER
from prompt_toolkit.filters import has_focus
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent


class Person(Protocol):
    """Who is told what a person did at the editor. Called in the editor's event loop."""

    def submit(self, text: str, *, follow_up: bool) -> None:
        """A line was entered; `follow_up`: with the key for what can wait."""

    def interrupt(self) -> None:
        """Ctrl-C was pressed, and there was no line to clear."""

    def end(self) -> None:
        """Ctrl-D was pressed in an empty line, or the terminal has gone."""

    def busy(self) -> bool:
        """Whether there is something that Ctrl-C stops, whatever stands in the line."""

    def queued(self) -> Sequence[str]:
        """What waits to go in, to be shown above the line."""


class Line(Protocol):
    """What the keys act on."""

    def enter(self, *, follow_up: bool) -> None:
        """The line is whole."""

    def interrupt(self) -> None:
        """Ctrl-C."""

    def delete_or_end(self) -> None:
        """Ctrl-D."""


def bindings(line: Line) -> KeyBindings:
    """The keys that do something else here than in every line editor."""
    keys = KeyBindings()
    in_line = has_focus(DEFAULT_BUFFER)

    @keys.add("enter", filter=in_line)
    def _(event: KeyPressEvent) -> None:
        line.enter(follow_up=False)

    @keys.add("escape", "enter", filter=in_line)
    def _(event: KeyPressEvent) -> None:
        line.enter(follow_up=True)

    @keys.add("c-c", filter=in_line)
    @keys.add("<sigint>")
    def _(event: KeyPressEvent) -> None:
        line.interrupt()

    @keys.add("c-d", filter=in_line)
    def _(event: KeyPressEvent) -> None:
        line.delete_or_end()

    return keys
