"""A terminal that somebody else reads all the time, as the editor of a chat does: its owner is asked to ask."""

from __future__ import annotations

import os
from collections.abc import Callable

from hookagent import TerminalOwner
from hookagent_human_approval.terminal import Terminal

_ONE_LINE = "  new arguments, as one line of JSON ($EDITOR is not set): "


class OwnedTerminal:
    """The terminal of `owner`; `open_directly` opens it past the owner, for an editor while the owner stands aside."""

    def __init__(self, owner: TerminalOwner, open_directly: Callable[[], Terminal | None]) -> None:
        self._owner = owner
        self._open_directly = open_directly

    @property
    def width(self) -> int:
        """How many columns a line has."""
        return self._owner.width

    async def ask(self, text: str) -> str | None:
        """See `Terminal.ask`."""
        return await self._owner.ask(text)

    async def edit(self, text: str) -> str | None:
        """Open `text` in $EDITOR, or without one ask for a line. See `Terminal.edit`."""
        if not os.environ.get("EDITOR", "").strip():
            return await self.ask(_ONE_LINE)
        async with self._owner.stand_aside():
            terminal = self._open_directly()
            if terminal is None:
                raise OSError("the terminal cannot be opened for $EDITOR; unset it to edit in one line")
            return await terminal.edit(text)
