"""The one abort signal of a run, as tools and plugins see it."""

from __future__ import annotations

import contextlib
import logging
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

from hookagent.errors import describe_error

if TYPE_CHECKING:
    import asyncio


class Aborted:
    """What `call_next` returns when the run was aborted meanwhile; `reason` says by whom or why."""

    __slots__ = ("reason",)

    def __init__(self, reason: str) -> None:
        self.reason = reason

    def __repr__(self) -> str:
        return f"Aborted({self.reason!r})"


class AbortedError(Exception):
    """Raised by `AbortSignal.raise_if_aborted` inside a tool that asks."""


class AbortSignal:
    """Says whether the run was aborted; safe from any thread and from signal handlers."""

    __slots__ = ("_callbacks", "_event", "aborted", "reason")

    def __init__(self) -> None:
        self._event = threading.Event()
        self._callbacks: list[Callable[[], object]] = []
        self.reason = ""
        self.aborted = False
        """Whether the run was aborted. Asked many times in a round, so it is no property; only `set` changes it."""

    def wait(self, seconds: float | None = None) -> bool:
        """Block the calling thread until the abort, at most `seconds`; whether it came. For plain tools only."""
        return self._event.wait(seconds)

    async def until_aborted(self) -> str:
        """Wait for the abort without blocking the event loop, and give its reason. For async hooks and tools."""
        from asyncio import get_running_loop

        loop = get_running_loop()
        future: asyncio.Future[None] = loop.create_future()

        def wake() -> None:
            if not future.done():
                future.set_result(None)

        def wake_soon() -> None:
            with contextlib.suppress(RuntimeError):  # the loop is closed: nobody waits in it any more
                loop.call_soon_threadsafe(wake)

        forget = self.on_abort(wake_soon)
        try:
            await future
        finally:
            forget()
        return self.reason

    def raise_if_aborted(self) -> None:
        """Raise `AbortedError` if the run was aborted."""
        if self.aborted:
            raise AbortedError(self.reason)

    def on_abort(self, callback: Callable[[], object]) -> Callable[[], None]:
        """Call `callback` (quick, any thread) when the abort comes; at once if it came already.

        Returns what ends that.
        """
        self._callbacks.append(callback)
        if self.aborted:
            callback()

        def forget() -> None:
            with contextlib.suppress(ValueError):
                self._callbacks.remove(callback)

        return forget

    def set(self, reason: str) -> bool:
        """Give the signal; whether this call was the first. Called by the agent."""
        if self.aborted:
            return False
        self.reason = reason
        # Before the event, whose lock a signal handler that calls this in the midst of it must not find taken.
        self.aborted = True
        self._event.set()
        for callback in tuple(self._callbacks):
            try:
                callback()
            except Exception as error:  # a tool's or a plugin's: the others must hear of the abort all the same
                logging.getLogger("hookagent").warning("abort: what waited for it raised %s", describe_error(error))
        return True
