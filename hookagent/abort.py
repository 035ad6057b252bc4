"""The one abort signal of a run, as tools and plugins see it."""

from __future__ import annotations

import threading
from collections.abc import Callable


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

    def raise_if_aborted(self) -> None:
        """Raise `AbortedError` if the run was aborted."""
        if self._event.is_set():
            raise AbortedError(self.reason)

    def on_abort(self, callback: Callable[[], object]) -> None:
        """Call `callback` (quick, any thread) when the abort comes; at once if it came already."""
        self._callbacks.append(callback)
        if self._event.is_set():
            callback()

    def set(self, reason: str) -> bool:
        """Give the signal; whether this call was the first. Called by the agent."""
        if self._event.is_set():
            return False
        self.reason = reason
        self.aborted = True
        self._event.set()
        for callback in tuple(self._callbacks):
            callback()
        return True
