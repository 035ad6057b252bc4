"""Daemon threads for plain tools: as many as are needed at once, reused, and never in the way of the process's end.

Not a `ThreadPoolExecutor`: its threads are joined at exit, so that one tool that ignores an abort would hold the
process for ever (design, "Tools run in daemon threads of our own").
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import os
import threading
import weakref
from collections import deque
from collections.abc import Callable
from contextvars import Context, copy_context
from queue import Empty, SimpleQueue
from typing import Any, NamedTuple, TypeVar

_T = TypeVar("_T")
_IDLE_SECONDS = 30.0
_pools: weakref.WeakSet[ThreadPool] = weakref.WeakSet()


class _Job(NamedTuple):
    function: Callable[..., Any]
    arguments: tuple[Any, ...]
    context: Context
    loop: asyncio.AbstractEventLoop
    future: asyncio.Future[Any]


class ThreadPool:
    """Runs functions in daemon threads.

    `max_threads` bounds how many run at once (None: no bound; what comes then waits its turn, first come first
    served); `idle_seconds` is how long a thread without work is kept.
    """

    def __init__(self, *, max_threads: int | None = None, idle_seconds: float = _IDLE_SECONDS) -> None:
        if max_threads is not None and max_threads < 1:
            raise ValueError(f"max_threads is {max_threads}, and must be at least 1 (or None for no bound)")
        self._max_threads = max_threads
        self._idle_seconds = idle_seconds
        self._numbers = itertools.count(1)
        self._forget_threads()
        _pools.add(self)

    def _forget_threads(self) -> None:
        self._lock = threading.Lock()
        self._idle: list[SimpleQueue[_Job]] = []
        self._waiting: deque[_Job] = deque()
        self._count = 0

    @property
    def thread_count(self) -> int:
        """How many threads there are, idle ones included."""
        return self._count

    def run(self, function: Callable[..., _T], *arguments: Any, context: Context | None = None) -> asyncio.Future[_T]:
        """Call `function(*arguments)` in a thread, inside `context` (default: a copy of the caller's).

        Returns a future of the running event loop. Cancelling it gives the call up: one that has not begun never
        begins, one that runs is left to itself and its result is dropped.
        """
        loop = asyncio.get_running_loop()
        future: asyncio.Future[_T] = loop.create_future()
        job = _Job(function, arguments, copy_context() if context is None else context, loop, future)
        with self._lock:
            if self._idle:
                # The one that was busy last: its stack is warm, and the others get old enough to end.
                self._idle.pop().put(job)
                return future
            if self._max_threads is not None and self._count >= self._max_threads:
                self._waiting.append(job)
                return future
            self._count += 1
        queue: SimpleQueue[_Job] = SimpleQueue()
        # By the queue, since a thread keeps its arguments for as long as it lives.
        queue.put(job)
        thread = threading.Thread(
            target=self._work, args=(queue,), name=f"hookagent-tool-{next(self._numbers)}", daemon=True
        )
        try:
            thread.start()
        except BaseException:
            with self._lock:
                self._count -= 1
            raise
        return future

    def _work(self, queue: SimpleQueue[_Job]) -> None:
        job: _Job | None = queue.get()
        while job is not None:
            loop, future = job.loop, job.future
            outcome = None if future.cancelled() else _carried_out(job.function, job.arguments, job.context)
            # What the job holds must not live on while the thread waits, nor a moment longer than its caller waits.
            job = None
            if outcome is not None:
                _hand_over(loop, future, *outcome)
            del loop, future, outcome
            job = self._next_job(queue)

    def _next_job(self, queue: SimpleQueue[_Job]) -> _Job | None:
        with self._lock:
            if self._waiting:
                return self._waiting.popleft()
            self._idle.append(queue)
        try:
            return queue.get(timeout=self._idle_seconds)
        except Empty:
            with self._lock:
                if queue in self._idle:
                    self._idle.remove(queue)
                    self._count -= 1
                    return None
        # Between the time-out and the lock somebody took this thread: its job is in the queue.
        return queue.get()


def _carried_out(
    function: Callable[..., Any], arguments: tuple[Any, ...], context: Context
) -> tuple[Any, BaseException | None]:
    try:
        return context.run(function, *arguments), None
    except BaseException as raised:
        return None, raised


def _hand_over(
    loop: asyncio.AbstractEventLoop, future: asyncio.Future[Any], value: Any, error: BaseException | None
) -> None:
    # Where the loop is closed, nobody waits any more.
    with contextlib.suppress(RuntimeError):
        loop.call_soon_threadsafe(_deliver, future, value, error)


def _deliver(future: asyncio.Future[Any], value: Any, error: BaseException | None) -> None:
    if future.done():
        return
    if error is None:
        future.set_result(value)
    elif isinstance(error, StopIteration | asyncio.CancelledError):
        # A future cannot carry the first, and the second would look like a cancellation from outside.
        wrapped = RuntimeError(f"the function raised {type(error).__name__}")
        wrapped.__cause__ = error
        future.set_exception(wrapped)
    else:
        future.set_exception(error)


def _after_fork() -> None:
    # Threads do not survive a fork; locks may be held by ones that are gone.
    for pool in tuple(_pools):
        pool._forget_threads()


if hasattr(os, "register_at_fork"):  # pragma: no branch - Windows cannot fork
    os.register_at_fork(after_in_child=_after_fork)

TOOL_THREADS = ThreadPool()
"""The threads that plain tools run in."""
