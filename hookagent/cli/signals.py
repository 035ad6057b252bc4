"""Ctrl-C and SIGTERM while a run is active: the first aborts it, so that it ends in order, the second leaves."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable
from contextlib import ExitStack
from types import FrameType, TracebackType
from typing import Any, Self

from hookagent.agent import DEFAULT_GRACE_SECONDS
from hookagent.cli.aside import Aside
from hookagent.cli.console import Console
from hookagent.cli.failure import INTERRUPTED, TERMINATED
from hookagent.cli.held_up import Overdue
from hookagent.interrupts import pass_interrupt

INTERRUPTING: tuple[int, ...] = (signal.SIGINT,)
"""What a person sends with keys."""
if sys.platform == "win32":  # pragma: no cover - Windows alone
    INTERRUPTING += (signal.SIGBREAK,)

REASONS: dict[int, str] = {**dict.fromkeys(INTERRUPTING, "interrupted"), signal.SIGTERM: "terminated"}
"""What is given as the reason of an abort."""
CODES: dict[int, int] = {**dict.fromkeys(INTERRUPTING, INTERRUPTED), signal.SIGTERM: TERMINATED}
"""The exit code that a signal stands for."""
_ADVICE = {
    **dict.fromkeys(INTERRUPTING, "interrupted; ending the run (Ctrl-C again leaves at once)"),
    signal.SIGTERM: "terminated",
}


def leave_now(code: int) -> None:
    """End the process without waiting for anything, be it a stream that nobody reads."""
    os._exit(code)


class SignalScope:
    """Hands the signals of `REASONS` to `_handle` while it is entered.

    `received` is the signal that decides, or None. Outside of the main thread, where signals cannot be handled, and for
    a signal that the caller ignores, it changes nothing. A handler says things with `_say`, which writes to the
    console from another thread.
    """

    def __init__(self, console: Console) -> None:
        self.received: int | None = None
        self._before: dict[int, Any] = {}
        self._stack = ExitStack()
        self._console = console
        self._aside = Aside(self._write)

    @property
    def code(self) -> int | None:
        """The exit code that the received signal stands for, or None."""
        return None if self.received is None else CODES[self.received]

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            self._stack.enter_context(self._aside)
            for number in REASONS:
                if signal.getsignal(number) not in (signal.SIG_IGN, None):
                    self._before[number] = signal.signal(number, self._handle)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)
        self._before.clear()
        self._stack.close()

    def _handle(self, number: int, frame: FrameType | None) -> None:
        raise NotImplementedError

    def _say(self, line: str) -> None:
        self._aside.say(line)

    def _write(self, line: str) -> None:
        self._console.break_line()
        self._console.say(line)


class Interrupts(SignalScope):
    """While it is entered, a signal calls `abort(reason)`, and a second one ends the process at once.

    While a question is open, Ctrl-C is the answer to it, and neither counts nor aborts (see `take_interrupts`).
    `received` is the first signal, or None; its exit code is also that of the second one, which `leave` is called
    with. What still holds the run up `grace_seconds` after the first one is named.
    """

    def __init__(
        self,
        abort: Callable[[str], object],
        console: Console,
        leave: Callable[[int], object] = leave_now,
        grace_seconds: float = DEFAULT_GRACE_SECONDS,
    ) -> None:
        super().__init__(console)
        self._overdue = Overdue(console.say, grace_seconds)
        self._abort, self._leave = abort, leave

    def abort_again(self) -> None:
        """Abort if a signal has come: for the moment when a run begins, which may be just after the signal."""
        if self.received is not None:
            self._abort(REASONS[self.received])

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            self._stack.enter_context(self._overdue)
        return super().__enter__()

    def _handle(self, number: int, frame: FrameType | None) -> None:
        if number in INTERRUPTING and self.received is None and pass_interrupt():
            return
        if self.received is not None:
            self._leave(CODES[self.received])
            return
        self.received = number
        self._say(f"hookagent: {_ADVICE[number]}")
        self.abort_again()
        self._overdue.begin()
