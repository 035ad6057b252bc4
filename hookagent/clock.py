"""The one clock of a run, injected so that tests never sleep."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Protocol


class TimerHandle(Protocol):
    """What `Clock.call_later` returns."""

    def cancel(self) -> None:
        """Never call the callback."""


class Clock(Protocol):
    """Time as a run sees it (design, "one injected clock")."""

    def monotonic(self) -> float:
        """Seconds that never go back; only differences mean something."""

    def wall(self) -> float:
        """Seconds since the epoch."""

    def call_later(self, seconds: float, callback: Callable[[], object]) -> TimerHandle:
        """Call `callback` once, in the running event loop, after `seconds`."""


class SystemClock:
    """The real clock: `time`, and the running event loop's timers."""

    monotonic = staticmethod(time.monotonic)
    wall = staticmethod(time.time)

    def call_later(self, seconds: float, callback: Callable[[], object]) -> TimerHandle:
        """See `Clock.call_later`."""
        return asyncio.get_running_loop().call_later(seconds, callback)


SYSTEM_CLOCK = SystemClock()


async def sleep(clock: Clock, seconds: float) -> None:
    """Wait on `clock`, cancellable like `asyncio.sleep`."""
    future: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def wake() -> None:
        if not future.done():
            future.set_result(None)

    handle = clock.call_later(seconds, wake)
    try:
        await future
    finally:
        handle.cancel()
