"""All time limits of a run on one timer of one injected clock (design, "One timer per run watches all limits")."""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Callable

from hookagent.clock import Clock, TimerHandle

_SWEPT_FROM = 64


class Deadline:
    """One time limit being watched; it can be paused while others' time passes.

    `when` is the time at which it is over, None while it does not count; `queued` the time at which the watch will
    look at it next, or None. Time only goes on, so that `when` is never before `queued`.
    """

    __slots__ = ("_callback", "_left", "_watch", "queued", "when")

    def __init__(self, watch: Watch, seconds: float, callback: Callable[[], object]) -> None:
        self._watch = watch
        self._callback: Callable[[], object] | None = callback
        self._left = seconds
        self.queued: float | None = None
        self.when: float | None = watch.clock.monotonic() + seconds
        watch.push(self)

    def cancel(self) -> None:
        """Stop watching."""
        if self._callback is not None:
            self._callback = self.when = None
            if self.queued is not None:
                self._watch.forget_one()

    def pause(self) -> None:
        """Do not count the time from now on."""
        if self.when is not None:
            self._left = self.when - self._watch.clock.monotonic()
            self.when = None

    def resume(self) -> None:
        """Count again."""
        if self.when is None and self._callback is not None:
            self.when = self._watch.clock.monotonic() + self._left
            if self.queued is None:
                self._watch.push(self)

    @property
    def cancelled(self) -> bool:
        """Whether nobody waits for it any more."""
        return self._callback is None

    def fire(self) -> None:
        """Called by the watch when the time is over."""
        callback, self._callback, self.when = self._callback, None, None
        if callback is not None:
            callback()


class Watch:
    """All time limits of a run on one timer of one clock."""

    __slots__ = ("_armed_for", "_heap", "_order", "_stale", "_timer", "clock")

    def __init__(self, clock: Clock) -> None:
        self.clock = clock
        self._heap: list[tuple[float, int, Deadline]] = []
        self._order = itertools.count()
        self._timer: TimerHandle | None = None
        self._armed_for: float | None = None
        self._stale = 0

    def limit(self, seconds: float, callback: Callable[[], object]) -> Deadline:
        """Call `callback` once when `seconds` have passed, unless the deadline is cancelled before."""
        return Deadline(self, seconds, callback)

    def push(self, deadline: Deadline) -> None:
        """Queue a deadline that has a time."""
        when = deadline.queued = deadline.when
        assert when is not None
        heapq.heappush(self._heap, (when, next(self._order), deadline))
        if self._armed_for is None or when < self._armed_for:
            self._arm(when)

    def forget_one(self) -> None:
        """A limit that is queued was cancelled, as most are: they are swept out when half are, not to pile up."""
        self._stale += 1
        if self._stale > _SWEPT_FROM and self._stale * 2 > len(self._heap):
            self._heap = [entry for entry in self._heap if not entry[2].cancelled]
            heapq.heapify(self._heap)
            self._stale = 0

    def _arm(self, when: float) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._armed_for = when
        self._timer = self.clock.call_later(max(0.0, when - self.clock.monotonic()), self._tick)

    def _tick(self) -> None:
        self._timer, self._armed_for = None, None
        now = self.clock.monotonic()
        while self._heap:
            when, _, deadline = self._heap[0]
            if deadline.cancelled:
                heapq.heappop(self._heap)
                self._stale = max(0, self._stale - 1)
            elif when > now:
                self._arm(when)
                return
            else:
                heapq.heappop(self._heap)
                deadline.queued = None
                if deadline.when is None:
                    continue  # paused: it is queued again when it counts again
                if deadline.when <= now:
                    deadline.fire()
                else:
                    self.push(deadline)

    def close(self) -> None:
        """Forget every deadline and the timer."""
        self._heap.clear()
        if self._timer is not None:
            self._timer.cancel()
            self._timer, self._armed_for = None, None
