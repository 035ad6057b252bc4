"""One conversation at a time, in the order of asking: two agents at one terminal must not take each other's answers."""

from __future__ import annotations

import asyncio
import collections
import threading
from types import TracebackType


class Turns:
    """A fair lock for coroutines of any event loop in any thread: `async with turns:`. It never blocks a loop."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._taken = False
        self._waiting: collections.deque[tuple[asyncio.AbstractEventLoop, asyncio.Future[None]]] = collections.deque()

    async def __aenter__(self) -> None:
        loop = asyncio.get_running_loop()
        with self._lock:
            if not self._taken:
                self._taken = True
                return
            place = loop, loop.create_future()
            self._waiting.append(place)
        try:
            await place[1]
        except asyncio.CancelledError:
            with self._lock:
                handed = place not in self._waiting
                if not handed:
                    self._waiting.remove(place)
            if handed:
                self._next()
            raise

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._next()

    def _next(self) -> None:
        with self._lock:
            while self._waiting:
                loop, future = self._waiting.popleft()
                try:
                    loop.call_soon_threadsafe(_hand, future)
                except RuntimeError:  # that loop is closed; nobody waits there any more
                    continue
                return
            self._taken = False


def _hand(future: asyncio.Future[None]) -> None:
    # A waiter that was cancelled in between hands the turn on itself.
    if not future.done():
        future.set_result(None)
