"""What is made from a request's tools, kept per tuple of tools: an agent sends the same tuple with each request."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from hookagent.tools.tool import Tool

Made = TypeVar("Made")

KEPT_TUPLES = 128
"""How many tuples are remembered; the oldest goes first. Each entry holds its tools alive, so it is bounded."""


class PerTools(Generic[Made]):
    """Calls `make(tools)` once for each tuple of tools, by identity, and gives the same value again."""

    __slots__ = ("_entries", "_make")

    def __init__(self, make: Callable[[tuple[Tool, ...]], Made]) -> None:
        self._make = make
        self._entries: dict[int, tuple[tuple[Tool, ...], Made]] = {}

    def __call__(self, tools: tuple[Tool, ...]) -> Made:
        """The value for `tools`; what `make` raises is raised, and nothing is kept then."""
        entry = self._entries.get(id(tools))
        if entry is not None and entry[0] is tools:
            return entry[1]
        made = self._make(tools)
        if len(self._entries) >= KEPT_TUPLES:
            # Another thread may have taken the same one out already.
            self._entries.pop(next(iter(self._entries), 0), None)
        self._entries[id(tools)] = (tools, made)
        return made
