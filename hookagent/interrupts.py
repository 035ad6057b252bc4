"""Ctrl-C while a question is open: it answers the question, and does not end the run around it.

Whoever asks a person says here that a question is open; whoever handles the signal asks here first. The command does
so, and `run_sync`. An event loop in the main thread has nobody between it and the signal, so there a handler stands in
for as long as the question is open.
"""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any

# No lock: a signal handler may come in the middle of whatever the main thread does, and would wait for itself.
_takers: list[Callable[[], object]] = []
_scopes_in_main_thread = 0
_handler_before: Any = None


@contextlib.contextmanager
def take_interrupts(take: Callable[[], object]) -> Iterator[None]:
    """For as long as the `with` block lasts, let each Ctrl-C call `take` instead of ending the run.

    For plugins that ask a person at a terminal, where Ctrl-C means "no" to what is asked. `take` is called from a
    signal handler or from the main thread, so it should do no more than `loop.call_soon_threadsafe(...)`. With
    several questions open, the newest has it. SIGTERM is not touched.
    """
    mine = threading.current_thread() is threading.main_thread()
    _takers.append(take)
    try:
        if mine:
            _enter_main_thread()
        yield
    finally:
        # By identity, since two takers may compare equal; a question need not end before an older one.
        place = next(place for place in reversed(range(len(_takers))) if _takers[place] is take)
        del _takers[place]
        if mine:
            _leave_main_thread()


def pass_interrupt() -> bool:
    """Give a Ctrl-C to the newest open question; whether there is one.

    For programs that handle SIGINT themselves while an agent runs in another thread: where it gives False, the
    interrupt is theirs. It may be called in a signal handler.
    """
    newest = _takers[-1:]
    for take in newest:
        take()
    return bool(newest)


def _enter_main_thread() -> None:
    global _scopes_in_main_thread, _handler_before
    _scopes_in_main_thread += 1
    if _scopes_in_main_thread == 1:
        before = signal.getsignal(signal.SIGINT)
        # Where the signal is ignored or left to the system, that is what the program wants.
        _handler_before = before if callable(before) else None
        if _handler_before is not None:
            signal.signal(signal.SIGINT, _handle)


def _leave_main_thread() -> None:
    global _scopes_in_main_thread, _handler_before
    _scopes_in_main_thread -= 1
    if _scopes_in_main_thread == 0 and _handler_before is not None:
        if signal.getsignal(signal.SIGINT) is _handle:
            signal.signal(signal.SIGINT, _handler_before)
        _handler_before = None


def _handle(number: int, frame: FrameType | None) -> None:
    if not pass_interrupt() and _handler_before is not None:
        _handler_before(number, frame)
