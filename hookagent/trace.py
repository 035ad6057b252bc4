"""The trace: every event of a session in order, kept small and made into what they are when somebody reads."""

from __future__ import annotations

from typing import Any, NamedTuple

from hookagent.events import Event, IterationStart, MessageStart, RequestSent


class Asked(NamedTuple):
    """Three events that nothing came between: an iteration began, its request left, and its reply begins.

    They are one entry of the trace until somebody reads it: each round has them, and hardly any trace is read.
    `number` is the first one's, and the others follow it.
    """

    number: int
    seconds: float
    turn: int
    iteration: int
    maximum: int | None
    blocks: int
    tools: int
    shaped_by: str | None

    def events(self) -> tuple[Event, ...]:
        """The events that it stands for."""
        number, seconds, turn, iteration = self[:4]
        return (
            IterationStart(number, seconds, turn, iteration, self.maximum),
            RequestSent(number + 1, seconds, turn, iteration, self.blocks, self.tools, self.shaped_by),
            MessageStart(number + 2, seconds, turn, iteration, "assistant"),
        )


class Trace:
    """Events in the order in which they happened."""

    __slots__ = ("_entries", "_read", "append")

    def __init__(self) -> None:
        self._entries: list[Any] = []
        self._read = 0
        self.append = self._entries.append
        """Add an event, or an `Asked`."""

    def events(self) -> list[Event]:
        """All of them so far; the list grows with the trace, and is not to be changed."""
        entries, read = self._entries, self._read
        if read < len(entries):
            newer: list[Event] = []
            for entry in entries[read:]:
                if type(entry) is Asked:
                    newer += entry.events()
                else:
                    newer.append(entry)
            entries[read:] = newer
            self._read = len(entries)
        return entries
