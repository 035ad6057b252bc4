"""A piece of others' code, in a task of its own or in line, and how it ended."""

from __future__ import annotations

import asyncio
import contextvars
import types
from collections.abc import Callable, Coroutine, Generator
from typing import Any, Protocol


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
        if self.outcome is None:  # pragma: no branch - only an eager task (Python 3.12) may have ended already
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
        if self.task is not None:  # pragma: no branch - only an eager task (Python 3.12) is not known here yet
            self.task.remove_done_callback(self._never_began)
        self._end(outcome)
        del self, outcome  # what was raised knows this frame, and would keep itself alive

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
        if self.task is not None:  # pragma: no branch - there always is one once the work was made
            self.task.cancel()


class Waiting(Protocol):
    """Told of the waiting of a coroutine that is carried out in line."""

    def asleep(self) -> None:
        """It waits for something: other code may run now."""

    def awake(self) -> None:
        """It goes on."""


def call_directly(function: Callable[..., Any], *arguments: Any) -> Any:
    """A `step` for a coroutine that belongs to the context in which it is carried out."""
    return function(*arguments)


class Left:
    """What is left of a coroutine that was carried out in line and did not end when it was asked to."""

    __slots__ = ("_coroutine", "_step", "_waits_for")

    def __init__(self, coroutine: Coroutine[Any, Any, Any], step: Callable[..., Any], waits_for: Any) -> None:
        self._coroutine = coroutine
        self._step = step
        self._waits_for = waits_for

    async def go_on(self) -> Any:
        """The rest of it, for a task of its own."""
        return await self._steps()

    @types.coroutine
    def _steps(self) -> Generator[Any, Any, Any]:
        return (yield from _carry_on(self._coroutine, self._step, self._waits_for, None, None, None))


@types.coroutine
def in_line(
    coroutine: Coroutine[Any, Any, Any],
    step: Callable[..., Any],
    task: asyncio.Task[Any],
    leaves: Callable[[], bool],
    waiting: Waiting | None = None,
) -> Generator[Any, Any, Any]:
    """Carry a coroutine out in `task`, which awaits this: what `await` does, but that it can be left.

    A task of its own costs more than the rest of a round, and most tools and hooks never wait for anything. `step`
    calls a function in the context that the coroutine belongs to (`Context.run`). Where it was cancelled, waits for
    something all the same, and `leaves()` says so, the value is a `Left`: its rest is for a task of its own. Of a
    cancellation that gets out, `from_outside` says whether the coroutine itself asked for it. `waiting` is told
    each time that it begins and ends to wait.
    """
    try:
        waits_for = step(coroutine.send, None)
    except StopIteration as stop:
        return stop.value
    return (yield from _carry_on(coroutine, step, waits_for, task, leaves, waiting))


def _carry_on(
    coroutine: Coroutine[Any, Any, Any],
    step: Callable[..., Any],
    waits_for: Any,
    task: asyncio.Task[Any] | None,
    leaves: Callable[[], bool] | None,
    waiting: Waiting | None,
) -> Generator[Any, Any, Any]:
    cancels = 0
    try:
        while True:
            if task is not None:
                cancels = task.cancelling()
            if waiting is not None:
                waiting.asleep()
            thrown: BaseException | None = None
            given: Any = None
            try:
                given = yield waits_for
            except GeneratorExit:
                step(coroutine.close)
                raise
            except BaseException as raised:
                thrown = raised
            if waiting is not None:
                waiting.awake()
            if thrown is None:
                waits_for = step(coroutine.send, given)
                continue
            if task is not None and task.cancelling() > cancels and isinstance(thrown, asyncio.CancelledError):
                thrown.__dict__[_OUTSIDE] = True
            try:
                waits_for = step(coroutine.throw, thrown)
            finally:
                thrown = None  # it knows this frame
            if leaves is not None and leaves():
                return Left(coroutine, step, waits_for)
    except StopIteration as stop:
        return stop.value


_OUTSIDE = "hookagent_from_outside"


def from_outside(error: BaseException | None) -> bool:
    """Whether this is a cancellation that came to a coroutine in line while it waited, not by its own doing."""
    return error is not None and _OUTSIDE in error.__dict__


def is_disturbed(task: asyncio.Task[Any], cancels: int) -> bool:
    """Whether what the current `task` carried out left a cancellation behind in it, heeded or still to arrive."""
    return task.cancelling() > cancels or getattr(task, "_must_cancel", False)


async def take_back_cancellation(task: asyncio.Task[Any], cancels: int) -> bool:
    """Undo what cancelled the current `task` in what it carries out, which is over; whether it was still to arrive."""
    while task.cancelling() > cancels:
        task.uncancel()
    if not getattr(task, "_must_cancel", True):
        return False  # waiting here for what has arrived could be taken for waiting in what is carried out
    try:
        await asyncio.sleep(0)
    except asyncio.CancelledError:
        return True
    return False
