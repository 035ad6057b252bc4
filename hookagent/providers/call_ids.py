"""Ids of tool calls: every one unique in its conversation, given once, when a reply is read.

Models and servers send missing, empty and repeated ids. Which ids a transcript holds is known without
walking it again: the first block, which all snapshots of a conversation share, keeps the count.
"""

from __future__ import annotations

import secrets

from hookagent.tools.text import clean_text
from hookagent.transcript import Block, ToolRound, Transcript

_KEY = "call_ids"


class KnownCallIds:
    """The call ids of a conversation so far, and the calls that share one."""

    __slots__ = ("_covered", "_last", "index_of", "repeated")

    def __init__(self) -> None:
        self.index_of: dict[str, int] = {}
        self.repeated: list[tuple[str, int, int]] = []
        self._covered = 0
        self._last: Block | None = None

    def fits(self, transcript: Transcript) -> bool:
        """Whether what was counted so far is the beginning of `transcript`."""
        return self._covered <= len(transcript) and (self._covered == 0 or transcript[self._covered - 1] is self._last)

    def extend(self, transcript: Transcript) -> None:
        """Count the blocks that came since."""
        index_of = self.index_of
        for index in range(self._covered, len(transcript)):
            block = transcript[index]
            if type(block) is ToolRound:
                for call in block.calls:
                    earlier = index_of.setdefault(call.id, index)
                    if earlier != index:
                        self.repeated.append((call.id, earlier, index))
        self._covered = len(transcript)
        self._last = transcript[-1] if self._covered else None


def known_call_ids(transcript: Transcript) -> KnownCallIds:
    """The ids of all calls in `transcript`; costs only what was added since it was last asked."""
    if not len(transcript):
        return KnownCallIds()
    cache = transcript[0].wire_cache
    known: KnownCallIds | None = cache.get(_KEY)
    if known is None or not known.fits(transcript):
        # A fork, or an older snapshot: counted anew, which is rare and still right.
        known = cache[_KEY] = KnownCallIds()
    known.extend(transcript)
    return known


class FreshIds:
    """Gives each call of one reply an id that no call of the conversation has."""

    __slots__ = ("_given", "_known")

    def __init__(self, transcript: Transcript) -> None:
        self._known = known_call_ids(transcript).index_of
        self._given: set[str] = set()

    def give(self, wanted: str | None) -> str:
        """`wanted` if it is usable (no blank, and UTF-8) and free, else a new one ("call_" and 24 hex digits)."""
        wanted = wanted or ""
        usable = wanted.strip() and clean_text(wanted) == wanted
        if not usable or wanted in self._known or wanted in self._given:
            wanted = "call_" + secrets.token_hex(12)
        self._given.add(wanted)
        return wanted
