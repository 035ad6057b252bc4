"""Ctrl-C and SIGTERM while a run is active: the first aborts it, so that it ends in order, the second leaves."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable
from types import FrameType, TracebackType
from typing import Any

from hookagent.cli.console import Console

_REASONS = {signal.SIGINT: "interrupted", signal.SIGTERM: "terminated"}
_ADVICE = {signal.SIGINT: "interrupted; ending the run (Ctrl-C again leaves at once)", signal.SIGTERM: "terminated"}


def leave_now(code: int) -> None:
    """End the process without waiting for anything."""
    for stream in (sys.stdout, sys.stderr):
        try:
            if stream is not None:
                stream.flush()
        except (OSError, ValueError):
            continue
    os._exit(code)


class Interrupts:
    """While it is entered, signals call `abort(reason)` instead of ending the process.

    `received` is the first signal, or None. `leave` is called with the exit code for the second one. Outside of the
    main thread, where signals cannot be handled, and for a signal that the caller ignores, it changes nothing.
    """

    def __init__(
        self, abort: Callable[[str], object], console: Console, leave: Callable[[int], object] = leave_now
    ) -> None:
        self.received: int | None = None
        self._abort, self._console, self._leave = abort, console, leave
        self._before: dict[int, Any] = {}

    @property
    def code(self) -> int | None:
        """The exit code that the received signal stands for, or None."""
        return None if self.received is None else 128 + self.received

    def abort_again(self) -> None:
        """Abort if a signal has come: for the moment when a run begins, which may be just after the signal."""
        if self.received is not None:
            self._abort(_REASONS[signal.Signals(self.received)])

    def __enter__(self) -> Interrupts:
        if threading.current_thread() is threading.main_thread():
            for number in _REASONS:
                if signal.getsignal(number) not in (signal.SIG_IGN, None):
                    self._before[number] = signal.signal(number, self._handle)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)
        self._before.clear()

    def _handle(self, number: int, frame: FrameType | None) -> None:
        if self.received is not None:
            self._leave(128 + number)
            return
        self.received = number
        self._console.break_line()
        self._console.say(f"hookagent: {_ADVICE[signal.Signals(number)]}")
        self.abort_again()
