"""Where a person is asked: the terminal itself, whatever standard input is."""

from __future__ import annotations

import sys
from typing import Protocol

from hookagent import terminal_owner


class Terminal(Protocol):
    """Somebody who can be asked. A program can bring its own: `HumanApproval(options, open_terminal=...)`."""

    @property
    def width(self) -> int:
        """How many columns a line has."""

    async def ask(self, text: str) -> str | None:
        """Show `text` and return the line that is typed then, never one typed before; None: end of file, or Ctrl-C.

        When it is cancelled, it ends at once and reads nothing more.
        """

    async def edit(self, text: str) -> str | None:
        """Let the person edit `text` and return what it became; None: they gave up. Raises OSError when it cannot."""


def open_terminal() -> Terminal | None:
    """Return the terminal that this process is controlled from, or None: there is none, or it is somebody else's turn.

    Where something reads it all the time, as the editor of a chat does, that is asked to ask.
    A process in the background counts as without one: to read there would stop it until somebody notices.
    """
    owner = terminal_owner()
    if owner is not None:
        from hookagent_human_approval.owned_terminal import OwnedTerminal

        return OwnedTerminal(owner, open_directly)
    return open_directly()


def open_directly() -> Terminal | None:
    """Return the terminal itself, whoever owns it, or None as `open_terminal` does."""
    if sys.platform == "win32":
        from hookagent_human_approval.windows_console import open_console

        return open_console()
    from hookagent_human_approval.posix_terminal import open_controlling_terminal

    return open_controlling_terminal()
