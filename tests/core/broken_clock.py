"""A clock that fails once when it is told to: what fails of the program itself, and has no words for it."""

from __future__ import annotations

from hookagent.testing import FakeClock


class WordlessError(Exception):
    """Says nothing."""


class BrokenClock(FakeClock):
    """Fails once, after `break_once`."""

    _broken = False

    def break_once(self) -> None:
        """Fail the next time that somebody asks."""
        self._broken = True

    def monotonic(self) -> float:
        """Seconds since the clock was made, as ever; raises WordlessError once it is broken."""
        if self._broken:
            self._broken = False
            raise WordlessError
        return super().monotonic()
