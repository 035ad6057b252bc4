"""What stands above the line that is being typed: whole lines, the line that is still growing, and the status."""

from __future__ import annotations

import io
import threading
from collections.abc import Callable

from hookagent.escaping import paragraphs


class Screen:
    """Collects what is written, from any thread, until the editor shows it; calls `changed` after each change.

    What steers a terminal is written out, whoever wrote it: `print` in a tool comes here too.
    """

    def __init__(self, changed: Callable[[], None]) -> None:
        self._changed = changed
        self._lock = threading.Lock()
        self._lines = ""
        self._tail = ""
        self._status = ""

    def write(self, text: str) -> None:
        """Add text; a line is shown in its final place once it is whole."""
        with self._lock:
            lines, end, tail = (self._tail + paragraphs(text)).rpartition("\n")
            self._lines += lines + end
            self._tail = tail
        self._changed()

    def status(self, text: str) -> None:
        """Replace the status line."""
        with self._lock:
            self._status = text
        self._changed()

    def take_lines(self) -> str:
        """The whole lines since the last time."""
        with self._lock:
            lines, self._lines = self._lines, ""
        return lines

    def take_all(self) -> str:
        """The same, and the line that is still growing, ended."""
        with self._lock:
            rest = self._lines + (f"{self._tail}\n" if self._tail else "")
            self._lines = self._tail = ""
        return rest

    @property
    def status_line(self) -> str:
        """The status line; empty for none."""
        return self._status

    @property
    def tail(self) -> str:
        """The line that is still growing."""
        return self._tail


class ScreenStream(io.TextIOBase):
    """A text stream that leads to a screen, for what prints to `sys.stdout` or `sys.stderr`."""

    encoding = "utf-8"
    errors = "backslashreplace"

    def __init__(self, screen: Screen) -> None:
        super().__init__()
        self._screen = screen

    def write(self, text: str) -> int:
        """Show text."""
        self._screen.write(text)
        return len(text)

    def writable(self) -> bool:
        """It is."""
        return True

    def isatty(self) -> bool:
        """What is written here is to be seen by a person."""
        return True


def rows(text: str, width: int, columns: Callable[[str], int]) -> list[str]:
    """Cut one line into rows of at most `width` columns (at least 2); `columns` is how many a character takes."""
    cut, used = [""], 0
    for character in text:
        wide = columns(character)
        if used + wide > max(width, 2):
            cut.append("")
            used = 0
        cut[-1] += character
        used += wide
    return cut
