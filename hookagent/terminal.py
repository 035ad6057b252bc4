"""Who owns the terminal: the program that reads lines from it all the time, and is asked by whoever has a question.

Two readers of one terminal take each other's keys. A program with an editor says so here, and a plugin that wants to
ask a person asks the owner instead of opening the terminal itself.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from contextlib import AbstractAsyncContextManager
from typing import Protocol

_lock = threading.Lock()
_owners: list[TerminalOwner] = []


class TerminalOwner(Protocol):
    """Somebody who reads the terminal, and asks there for others. All of it may be used from any thread and loop."""

    @property
    def width(self) -> int:
        """How many columns a line has."""

    async def ask(self, prompt_text: str) -> str | None:
        """Show `prompt_text` and return the line that is typed then, never one typed before.

        None: end of file, Ctrl-C, or an owner that is leaving. Questions are asked one after the other; one that is
        cancelled ends at once.
        """

    def write(self, text: str) -> None:
        """Show `text`, whole lines of it as they are, without getting in the way of what is being typed.

        What steers a terminal in it is shown, not obeyed.
        """

    def stand_aside(self) -> AbstractAsyncContextManager[None]:
        """Read and write nothing for as long as the `async with` block lasts: another program has the terminal."""


def terminal_owner() -> TerminalOwner | None:
    """Return who owns this process's terminal now; None: nobody, whoever has a question may open it."""
    with _lock:
        return _owners[-1] if _owners else None


@contextlib.contextmanager
def own_terminal(owner: TerminalOwner) -> Iterator[None]:
    """Make `owner` the one who is asked, for as long as the `with` block lasts; the one before it comes back then."""
    with _lock:
        _owners.append(owner)
    try:
        yield
    finally:
        with _lock:
            # By identity: an owner may compare equal to another one.
            _owners[:] = [one for one in _owners if one is not owner]
