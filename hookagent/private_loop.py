"""One event loop per process, in a thread of its own, for callers that have none (`run_sync`)."""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import os
import sys
import threading
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from hookagent.errors import MisuseError
from hookagent.interrupts import pass_interrupt
from hookagent.work import Contained, contained

ValueT = TypeVar("ValueT")

_lock = threading.RLock()  # a garbage collection may come while it is held, and end an agent
_loop: asyncio.AbstractEventLoop | None = None
_AGAIN_SECONDS = 0.1
# Waiting for a lock has to end by itself now and then: on Windows no signal interrupts it, and elsewhere one that comes
# in the moment before it begins does not.
_PATIENCE_SECONDS = 0.1 if sys.platform == "win32" else 1.0

LOOP_THREAD = "hookagent-loop"
"""The name of the loop's thread."""


def _private_loop() -> asyncio.AbstractEventLoop:
    global _loop
    with _lock:
        if _loop is None or _loop.is_closed():
            loop = asyncio.new_event_loop()
            try:
                threading.Thread(target=_serve, args=(loop,), name=LOOP_THREAD, daemon=True).start()
            except RuntimeError:
                loop.close()  # a loop that nobody runs would let every later caller wait for ever
                raise
            _loop = loop
        return _loop


def _serve(loop: asyncio.AbstractEventLoop) -> None:
    asyncio.set_event_loop(loop)
    while not loop.is_closed():
        # A task that raises KeyboardInterrupt or SystemExit has ended, and would take the loop of all others with it.
        with contextlib.suppress(KeyboardInterrupt, SystemExit):
            loop.run_forever()
            return


def _forget_after_fork() -> None:
    """A child process has the parent's loop object but not its thread, so it makes a loop of its own."""
    global _loop, _lock
    _loop = None
    _lock = threading.RLock()


if hasattr(os, "register_at_fork"):  # pragma: no branch - Windows cannot fork
    os.register_at_fork(after_in_child=_forget_after_fork)


def start_in_private_loop(make: Callable[[], Coroutine[Any, Any, Any]]) -> None:
    """Begin the coroutine that `make` gives in the private loop, and wait for nothing; from any thread.

    Raises RuntimeError at the end of the process, when no thread can be started any more.
    """
    asyncio.run_coroutine_threadsafe(contained(make()), _private_loop())


class _Started:
    """A coroutine on its way into a loop; its `future` is there before it begins, whenever an interrupt comes.

    It is made in the loop, so that an interrupt can leave none behind that nobody awaits.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop, make: Callable[[], Coroutine[Any, Any, Any]]) -> None:
        self.future: concurrent.futures.Future[Contained] = concurrent.futures.Future()
        self._loop = loop
        self._make = make
        self._task: asyncio.Task[None] | None = None

    def begin(self) -> None:
        """Let the loop begin it; a second time nothing happens."""
        if not self.future.running() and not self.future.done():
            self._loop.call_soon_threadsafe(self._make_task)

    def _make_task(self) -> None:
        if self.future.set_running_or_notify_cancel():
            self._task = self._loop.create_task(self._carry_out())

    async def _carry_out(self) -> None:
        # Contained, because a KeyboardInterrupt that a task raises would end the loop for everybody.
        self.future.set_result(await contained(self._made()))

    async def _made(self) -> Any:
        return await self._make()


def _wait_for(future: concurrent.futures.Future[Contained]) -> concurrent.futures.Future[Contained]:
    """Wait until it is done, and let signal handlers run meanwhile."""
    while not concurrent.futures.wait([future], _PATIENCE_SECONDS).done:
        pass
    return future


def run_in_private_loop(
    make: Callable[[], Coroutine[Any, Any, ValueT]], instead: str, interrupted: Callable[[], object] | None = None
) -> ValueT:
    """Run the coroutine that `make` gives to its end in the private loop, with the caller's context variables.

    `instead` is the advice for a caller that is in a running event loop (`MisuseError`); `interrupted` is
    called when a `KeyboardInterrupt` reaches the waiting caller, and again until the end, which is waited for. One that
    comes while a question is open is the answer to that (see `take_interrupts`), and the caller waits on.
    """
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        pass
    else:
        raise MisuseError(f"called inside a running event loop, which it would block; {instead}")
    started = _Started(_private_loop(), make)
    future = started.future
    while True:
        try:
            started.begin()
            outcome = _wait_for(future).result()
            break
        except KeyboardInterrupt:
            if future.cancel() or future.done():  # it has not begun, and never will; or it has ended
                raise
            if pass_interrupt():
                continue
            if interrupted is None:
                raise
            interrupted()
            # Again now and then: it may have been on its way to what can be interrupted (a model's SDK is imported).
            while not concurrent.futures.wait([future], _AGAIN_SECONDS).done:
                interrupted()
            raise
    if outcome.error is not None:
        raise outcome.error
    value: ValueT = outcome.value
    return value
