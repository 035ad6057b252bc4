"""Pairs calls with results while a checker walks through a request, and names what is wrong with the pairing.

The ordering rule of the design: after calls come the results of exactly those calls, before anything else. The walk is
over the whole request, so that a result that is merely in the wrong place is told from one that is missing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from hookagent.testing.wire.rules import refuse


@dataclass(slots=True)
class Pairing:
    """The state of one walk.

    `calls` and `results` are all (id, index) pairs of the request, in order; the walk then reports each of them again
    through `call` and `result`, and everything between them through `reply` or `other`.
    """

    calls: Sequence[tuple[str, int]]
    results: Sequence[tuple[str, int]]
    _seen: set[str] = field(default_factory=set)
    _answered: set[str] = field(default_factory=set)
    _open: dict[str, int] = field(default_factory=dict)
    _answering: bool = False

    def call(self, id: str, index: int) -> None:
        """Take note of a call; refused when its id was used before, or when results of earlier calls are missing."""
        if id in self._seen:
            refuse("call-id-duplicate", index, f"call id {id!r} was used before")
        self.reply(index)
        self._seen.add(id)
        self._open[id] = index

    def result(self, id: str, index: int) -> None:
        """Take note of a result; refused when it is a second one, has no call, or stands ahead of its call."""
        if id in self._answered:
            refuse("result-duplicate", index, f"call {id!r} has a result already")
        if id not in self._seen:
            if any(id == known for known, _ in self.calls):
                refuse("result-misplaced", index, f"the result of call {id!r} stands ahead of the call")
            refuse("result-orphaned", index, f"there is no call {id!r} for this result")
        self._answered.add(id)
        del self._open[id]
        self._answering = bool(self._open)

    def reply(self, index: int) -> None:
        """Take note of more of the same reply; refused once the results of the reply have begun and are incomplete."""
        if self._answering:
            self._refuse_missing(index)

    def other(self, index: int) -> None:
        """Take note of anything else; refused while a call has no result."""
        if self._open:
            self._refuse_missing(index)

    def end(self) -> None:
        """Take note of the request's end; refused while a call has no result."""
        if self._open:
            self._refuse_missing(None)

    def _refuse_missing(self, index: int | None) -> None:
        id, call_index = next(iter(self._open.items()))
        for known, result_index in self.results:
            if known == id and result_index >= call_index:
                if result_index == index:
                    refuse("result-misplaced", index, f"the result of call {id!r} stands behind other content")
                refuse("result-late", result_index, f"the result of call {id!r} does not directly follow the call")
        refuse("call-unanswered", call_index, f"call {id!r} has no result directly behind it")
