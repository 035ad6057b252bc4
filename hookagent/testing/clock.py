"""A clock that tests move by hand."""

from __future__ import annotations

import asyncio
import heapq
import itertools
from collections.abc import Callable


class FakeTimer:
    """A timer of a `FakeClock`."""

    def __init__(self, when: float, callback: Callable[[], object]) -> None:
        self.when = when
        self.callback: Callable[[], object] | None = callback

    def cancel(self) -> None:
        """Never call the callback."""
        self.callback = None


class FakeClock:
    """Time for tests: it stands still until `advance` is called, so that no test ever sleeps.

    Give it to an agent as `clock=`. `wall_start` is what `wall()` says at the beginning, in seconds since
    the epoch.
    """

    def __init__(self, wall_start: float = 1_700_000_000.0) -> None:
        self.now = 0.0
        self._wall_start = wall_start
        self._timers: list[tuple[float, int, FakeTimer]] = []
        self._order = itertools.count()

    def monotonic(self) -> float:
        """Seconds since the clock was made."""
        return self.now

    def wall(self) -> float:
        """Seconds since the epoch."""
        return self._wall_start + self.now

    def call_later(self, seconds: float, callback: Callable[[], object]) -> FakeTimer:
        """Call `callback` in the running event loop once the clock was moved that far; at once for 0 seconds."""
        timer = FakeTimer(self.now + seconds, callback)
        heapq.heappush(self._timers, (timer.when, next(self._order), timer))
        if seconds <= 0:
            self._fire()
        return timer

    @property
    def waiting(self) -> int:
        """How many timers are set."""
        return sum(timer.callback is not None for _, _, timer in self._timers)

    def advance(self, seconds: float) -> None:
        """Move the clock; timers that are due fire in the event loop's next cycle. Call it inside the loop."""
        self.now += seconds
        self._fire()

    def _fire(self) -> None:
        loop = asyncio.get_running_loop()
        while self._timers and self._timers[0][0] <= self.now:
            timer = heapq.heappop(self._timers)[2]
            callback, timer.callback = timer.callback, None
            if callback is not None:
                loop.call_soon(callback)
