"""Waiting that an abort or a time limit can always end: the only place where a run waits for others' code.

A coroutine that may hang (a hook, a tool) runs in a task of its own; the run waits on a future that the
task's end, the time limit or the abort completes, whichever comes first. So nothing that ignores its
cancellation can hold the run: after the grace time it is left behind. One timer watches all limits.
"""

from __future__ import annotations

import asyncio
import contextvars
import threading
from collections.abc import Coroutine
from typing import Any, Literal

from hookagent.abort import AbortSignal
from hookagent.clock import Clock
from hookagent.watch import Watch
from hookagent.work import Contained, Work

Ended = Literal["done", "overran", "aborted"]


class Supervisor:
    """Waits for others' code on behalf of one run. Belongs to the run's event loop, but for `interrupt_soon`."""

    __slots__ = (
        "_abort_time",
        "_waiting",
        "abort",
        "cancelled_at_abort",
        "cancelled_after_grace",
        "clock",
        "context",
        "grace_over",
        "grace_seconds",
        "inner_grace_over",
        "loop",
        "own_task",
        "thread",
        "watch",
    )

    def __init__(
        self, clock: Clock, abort: AbortSignal, grace_seconds: float, context: contextvars.Context | None = None
    ) -> None:
        self.clock = clock
        self.abort = abort
        self.watch = Watch(clock)
        self.loop = asyncio.get_running_loop()
        self.thread = threading.get_ident()
        self.context = context
        # Tasks that carry others' code out in line (`in_line`), for as long as they do. What is asked to stop by an
        # abort, and what has the grace time to end by itself; in the order they came, and they end in that order too.
        # Those in both carry out a hook and what it is around.
        self.cancelled_at_abort: dict[asyncio.Task[Any], None] = {}
        self.cancelled_after_grace: dict[asyncio.Task[Any], None] = {}
        self.grace_seconds = grace_seconds
        self.grace_over = False
        """Whether what is carried out in line is to be left now, since the grace time after an abort is over."""
        self.inner_grace_over = False
        """The same for what hooks are around, which has half of that time."""
        self.own_task: asyncio.Task[Any] | None = None
        """`task`, once somebody has asked for it; for those who ask in each round."""
        self._abort_time: float | None = None
        self._waiting: dict[asyncio.Future[None], None] = {}  # an abort wakes them in the order they came

    @property
    def task(self) -> asyncio.Task[Any]:
        """The run's own task: the one that first asks for it, which only the loop and its dispatcher do."""
        task = self.own_task
        if task is None:
            # Kept, since Python 3.11 looks it up slowly and it is wanted for each hook.
            task = self.own_task = asyncio.current_task()
            assert task is not None
        return task

    def interrupt_soon(self) -> None:
        """Tell the run, from any thread, that the abort signal was given."""
        try:
            self.loop.call_soon_threadsafe(self._interrupt)
        except RuntimeError:  # the loop is closed: there is no run left to interrupt
            return

    def _interrupt(self) -> None:
        if self._abort_time is None:
            self._abort_time = self.clock.monotonic()
        for future in tuple(self._waiting):
            if not future.done():
                future.set_result(None)
        for task in tuple(self.cancelled_at_abort):
            task.cancel()
        if self.cancelled_at_abort or self.cancelled_after_grace:
            self.watch.limit(self.grace_left, self._end_grace)
            if any(task in self.cancelled_after_grace for task in self.cancelled_at_abort):
                self.watch.limit(self.grace_left / 2.0, self._end_inner_grace)

    def _end_inner_grace(self) -> None:
        self.inner_grace_over = True
        for task in tuple(self.cancelled_at_abort):
            if task in self.cancelled_after_grace:
                task.cancel()

    def _end_grace(self) -> None:
        self.grace_over = self.inner_grace_over = True
        for task in tuple(self.cancelled_at_abort | self.cancelled_after_grace):
            task.cancel()

    def is_grace_over(self) -> bool:
        """`grace_over`, for those who ask by a call."""
        return self.grace_over

    @property
    def grace_left(self) -> float:
        """Seconds that everything may still take together after an abort."""
        if self._abort_time is None:
            self._abort_time = self.clock.monotonic()
        return max(0.0, self._abort_time + self.grace_seconds - self.clock.monotonic())

    async def asleep(self, future: asyncio.Future[None], limit: float | None = None, heed_abort: bool = True) -> bool:
        """Wait until `future` is completed by its owner, `limit` seconds have passed, or the abort comes.

        Whether the limit was what ended it.
        """
        if limit is None:
            if heed_abort:
                self._waiting[future] = None
            try:
                await future
            finally:
                self._waiting.pop(future, None)
            return False
        overran = False

        def wake() -> None:
            nonlocal overran
            if not future.done():
                overran = True
                future.set_result(None)

        deadline = self.watch.limit(limit, wake)
        if heed_abort:
            self._waiting[future] = None
        try:
            await future
        finally:
            self._waiting.pop(future, None)
            deadline.cancel()
        return overran

    async def until(self, *tasks: asyncio.Future[Any], limit: float | None = None, heed_abort: bool = True) -> Ended:
        """Wait until one of `tasks` (or futures) is done, `limit` seconds have passed, or the abort comes."""
        if any(task.done() for task in tasks):
            return "done"
        if heed_abort and self.abort.aborted:
            return "aborted"
        future: asyncio.Future[None] = self.loop.create_future()

        def wake(_: object = None) -> None:
            if not future.done():
                future.set_result(None)

        for task in tasks:
            task.add_done_callback(wake)
        try:
            overran = await self.asleep(future, limit, heed_abort)
        finally:
            for task in tasks:
                task.remove_done_callback(wake)
        if any(task.done() for task in tasks):
            return "done"
        return "overran" if overran else "aborted"

    async def ended(self, work: Work, limit: float | None = None, heed_abort: bool = True) -> Ended:
        """Wait until `work` has ended, `limit` seconds have passed, or the abort comes."""
        if work.outcome is not None:
            return "done"
        if heed_abort and self.abort.aborted:
            return "aborted"
        future: asyncio.Future[None] = self.loop.create_future()

        def wake(_: Work) -> None:
            if not future.done():
                future.set_result(None)

        work.on_end = wake
        overran = await self.asleep(future, limit, heed_abort)
        if work.outcome is not None:
            return "done"
        return "overran" if overran else "aborted"

    async def run(self, coroutine: Coroutine[Any, Any, Any], limit: float | None) -> tuple[Ended, Contained | None]:
        """Run `coroutine` in a task of its own, at most `limit` seconds, and give how it ended.

        After an abort everything together has the grace time; what has not ended then ended as "aborted". A
        task that ignores its cancellation is left behind.
        """
        work = Work(self.loop, coroutine, context=self.context)
        try:
            if self.abort.aborted:
                left = self.grace_left
                own_limit = limit is not None and limit < left
                ended = await self.ended(work, limit if own_limit else left, heed_abort=False)
                ended = "aborted" if ended == "overran" and not own_limit else ended
            else:
                ended = await self.ended(work, limit)
        except BaseException:  # the run itself is cancelled: nobody waits for this any more
            work.cancel()
            raise
        if ended == "done":
            return "done", work.outcome
        await self.cancel(work)
        return ended, None

    async def cancel(self, *works: Work) -> bool:
        """Cancel `works` and wait for them, at most the grace time; whether all ended."""
        running = [work.task for work in works if work.task is not None and not work.task.done()]
        for task in running:
            task.cancel()
        left = self.grace_left if self.abort.aborted else self.grace_seconds
        end = self.clock.monotonic() + left
        while running:
            ended = await self.until(*running, limit=max(0.0, end - self.clock.monotonic()), heed_abort=False)
            running = [task for task in running if not task.done()]
            if ended == "overran":
                break
        return not running

    def close(self) -> None:
        """End the watch; called when the run is over."""
        self.watch.close()
