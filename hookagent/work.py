"""A piece of others' code in a task of its own, and how it ended."""

from __future__ import annotations

import asyncio
import contextvars
from collections.abc import Callable, Coroutine
from typing import Any


class Contained:
    """How a contained coroutine ended: a value, or the exception it raised, whatever it was."""

    __slots__ = ("error", "value")

    def __init__(self, value: Any, error: BaseException | None) -> None:
        self.value = value
        self.error = error


async def contained(coroutine: Coroutine[Any, Any, Any]) -> Contained:
    """Await `coroutine` and catch everything, so that no `SystemExit` or interrupt reaches the event loop."""
    try:
        return Contained(await coroutine, None)
    except BaseException as error:
        return Contained(None, error)


class Work:
    """A coroutine in a task of its own, which says itself how it ended: `outcome`, None as long as it runs.

    `on_end` is called with the work at its end. A done callback of the task would come a turn of the event loop
    later, which every call and every hook around a call would have to wait for.
    """

    __slots__ = ("_coroutine", "on_end", "outcome", "task")

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        coroutine: Coroutine[Any, Any, Any],
        on_end: Callable[[Work], object] | None = None,
        context: contextvars.Context | None = None,
    ) -> None:
        self._coroutine = coroutine
        self.on_end = on_end
        self.outcome: Contained | None = None
        self.task: asyncio.Task[None] | None = None
        self.task = loop.create_task(self._carried_out(coroutine), context=context)
        if self.outcome is None:  # an eager task may have come to its end already
            self.task.add_done_callback(self._never_began)

    async def _carried_out(self, coroutine: Coroutine[Any, Any, Any]) -> None:
        try:
            value = await coroutine
            if self.task is not None and self.task.cancelling():
                # Cancelled, and returned all the same: if it cancelled itself just now, that is still to arrive.
                await asyncio.sleep(0)
            outcome = Contained(value, None)
        except BaseException as error:
            outcome = Contained(None, error)
        if self.task is not None:
            self.task.remove_done_callback(self._never_began)
        self._end(outcome)

    def _never_began(self, task: asyncio.Task[None]) -> None:
        """It was cancelled before its first step, so that it could say nothing."""
        self._coroutine.close()
        self._end(Contained(None, asyncio.CancelledError()))

    def _end(self, outcome: Contained) -> None:
        self.outcome = outcome
        if self.on_end is not None:
            self.on_end(self)

    def cancel(self) -> None:
        """Ask it to end."""
        if self.task is not None:
            self.task.cancel()
