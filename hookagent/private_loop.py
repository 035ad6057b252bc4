"""One event loop per process, in a thread of its own, for callers that have none (`run_sync`)."""

from __future__ import annotations

import asyncio
import concurrent.futures
import os
import threading
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from hookagent.errors import MisuseError
from hookagent.work import contained

ValueT = TypeVar("ValueT")

_lock = threading.RLock()  # a garbage collection may come while it is held, and end an agent
_loop: asyncio.AbstractEventLoop | None = None


def _private_loop() -> asyncio.AbstractEventLoop:
    global _loop
    with _lock:
        if _loop is None or _loop.is_closed():
            loop = asyncio.new_event_loop()
            try:
                threading.Thread(target=_serve, args=(loop,), name="hookagent-loop", daemon=True).start()
            except RuntimeError:
                loop.close()  # a loop that nobody runs would let every later caller wait for ever
                raise
            _loop = loop
        return _loop


def _serve(loop: asyncio.AbstractEventLoop) -> None:
    asyncio.set_event_loop(loop)
    loop.run_forever()


def _forget_after_fork() -> None:
    """A child process has the parent's loop object but not its thread, so it makes a loop of its own."""
    global _loop, _lock
    _loop = None
    _lock = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_after_fork)


def start_in_private_loop(make: Callable[[], Coroutine[Any, Any, Any]]) -> None:
    """Begin the coroutine that `make` gives in the private loop, and wait for nothing; from any thread.

    Raises RuntimeError at the end of the process, when no thread can be started any more.
    """
    asyncio.run_coroutine_threadsafe(contained(make()), _private_loop())


def run_in_private_loop(
    make: Callable[[], Coroutine[Any, Any, ValueT]], instead: str, interrupted: Callable[[], object] | None = None
) -> ValueT:
    """Run the coroutine that `make` gives to its end in the private loop, with the caller's context variables.

    `instead` is the advice for a caller that is in a running event loop (`MisuseError`); `interrupted` is
    called once when a `KeyboardInterrupt` reaches the waiting caller, whose end is then waited for.
    """
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        pass
    else:
        raise MisuseError(f"called inside a running event loop, which it would block; {instead}")
    # Contained, because a KeyboardInterrupt that a task raises would end the loop for everybody.
    loop = _private_loop()
    future = asyncio.run_coroutine_threadsafe(contained(make()), loop)
    try:
        outcome = future.result()
    except KeyboardInterrupt:
        if future.done() or interrupted is None:
            raise
        interrupted()
        concurrent.futures.wait([future])
        raise
    if outcome.error is not None:
        raise outcome.error
    value: ValueT = outcome.value
    return value
