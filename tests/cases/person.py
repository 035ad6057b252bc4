"""A person at the terminal of `human-approval`, who answers from a list."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from hookagent_human_approval import HumanApproval


class Person:
    """Answers from `answers`, in order (None: never), and edits to `edits`. What was shown is kept in `shown`."""

    def __init__(self, *answers: str | None, edits: Sequence[str] = (), width: int = 100) -> None:
        self.answers = list(answers)
        self.edits = list(edits)
        self.width = width
        self.shown: list[str] = []

    @property
    def text(self) -> str:
        """All that was shown."""
        return "".join(self.shown)

    async def ask(self, text: str) -> str | None:
        """Show a text and give the next answer."""
        self.shown.append(text)
        answer = self.answers.pop(0)
        if answer is None:
            await asyncio.get_running_loop().create_future()
        return answer

    async def edit(self, text: str) -> str | None:
        """Edit a text."""
        self.shown.append(text)
        return self.edits.pop(0)


def approval(person: Person | None, **options: Any) -> HumanApproval:
    """The plugin, asking this person, or nobody."""
    return HumanApproval(HumanApproval.Options(**options), open_terminal=lambda: person)
