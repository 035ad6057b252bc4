"""Around hooks: implementations nested around a model call or the execution of a tool.

The innermost call is a task of its own, so that an abort can cancel it without cancelling the hooks
around it; they get an `Aborted` value and the grace time (design, "Around hooks").
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from hookagent.abort import Aborted
from hookagent.contract import WrongReturnError
from hookagent.dispatch import SLOW_SECONDS, Dispatcher, Implementation, OverranError
from hookagent.errors import MisuseError
from hookagent.requests import Request
from hookagent.supervise import Supervisor, contained
from hookagent.watch import Deadline


async def around_model(
    dispatcher: Dispatcher,
    implementations: tuple[Implementation, ...],
    request: Any,
    innermost: Callable[[Any], Awaitable[Any]],
) -> Any:
    """Call `wrap_model_call` implementations around `innermost(request)`; the first is the outermost."""
    chain = _Chain(dispatcher, dispatcher.supervisor)

    async def layer(index: int, current: Any) -> Any:
        if index == len(implementations):
            return await chain.inner(lambda: innermost(current))

        async def call_next(request: Any) -> Any:
            if not isinstance(request, Request):
                raise TypeError(f"call_next() takes a Request, not a {type(request).__name__}")
            return await layer(index + 1, request)

        return await chain.layer(implementations[index], call_next, current)

    return await chain.finish(layer(0, request))


async def around_tool(
    dispatcher: Dispatcher,
    implementations: tuple[Implementation, ...],
    tool_call: Any,
    innermost: Callable[[], Awaitable[Any]],
) -> Any:
    """Call `wrap_tool_call` implementations around `innermost()`; the first is the outermost."""
    chain = _Chain(dispatcher, dispatcher.supervisor)

    async def layer(index: int) -> Any:
        if index == len(implementations):
            return await chain.inner(innermost)
        return await chain.layer(implementations[index], lambda: layer(index + 1), tool_call)

    return await chain.finish(layer(0))


class _Chain:
    """One nesting of around hooks: the first failure is kept, whatever the layers outside of it do with it."""

    __slots__ = ("_dispatcher", "_failure", "_inner", "_supervisor")

    def __init__(self, dispatcher: Dispatcher, supervisor: Supervisor) -> None:
        self._dispatcher = dispatcher
        self._supervisor = supervisor
        self._inner: set[asyncio.Task[Any]] = set()
        self._failure: BaseException | None = None

    async def inner(self, innermost: Callable[[], Awaitable[Any]]) -> Any:
        supervisor = self._supervisor
        if supervisor.abort.aborted:
            return Aborted(supervisor.abort.reason)

        async def call() -> Any:
            return await innermost()

        task = supervisor.loop.create_task(contained(call()))
        self._inner.add(task)
        ended = await supervisor.until(task)
        if ended == "aborted":
            task.cancel()
            return Aborted(supervisor.abort.reason)
        self._inner.discard(task)
        outcome = task.result()
        if outcome.error is not None:
            raise outcome.error
        return outcome.value

    async def layer(self, implementation: Implementation, call_next: Callable[..., Awaitable[Any]], value: Any) -> Any:
        dispatcher, supervisor = self._dispatcher, self._supervisor
        start = dispatcher.monotonic()
        task = asyncio.current_task()
        assert task is not None
        overran = busy = False
        from_below: BaseException | None = None
        below = 0.0

        def overrun() -> None:
            nonlocal overran
            overran = True
            task.cancel()

        limit = implementation.time_limit
        deadline: Deadline | None = supervisor.watch.limit(limit, overrun) if limit is not None else None

        async def guarded_next(*arguments: Any, **named: Any) -> Any:
            nonlocal busy, below, from_below
            if busy:
                raise MisuseError(f"plugin '{implementation.plugin}': call_next() is still running; one call at a time")
            busy = True
            entered = dispatcher.monotonic()
            if deadline is not None:
                deadline.pause()
            try:
                return await call_next(*arguments, **named)
            except Exception as error:
                from_below = error
                raise
            finally:
                busy = False
                below += dispatcher.monotonic() - entered
                if deadline is not None:
                    deadline.resume()

        try:
            value = await implementation.call(value, guarded_next, dispatcher.agent, dispatcher.session)
            if not isinstance(value, (implementation.contract.value or object, Aborted)):
                raise WrongReturnError(
                    f"returned a {type(value).__name__}; it must return what call_next() gave, "
                    f"or another {getattr(implementation.contract.value, '__name__', 'value')}"
                )
        except BaseException as error:
            seconds = dispatcher.charge(implementation, start, below)
            if error is from_below or isinstance(error, KeyboardInterrupt):
                raise
            if overran:
                task.uncancel()
                error = OverranError(limit)
            elif supervisor.abort.aborted and isinstance(error, asyncio.CancelledError):
                raise
            failure = dispatcher.failure(implementation, error)
            dispatcher.report(implementation, "overran" if overran else "failed", failure.what, seconds)
            dispatcher.failed.add(implementation.plugin)
            self._failure = self._failure or failure
            raise failure from error
        finally:
            if deadline is not None:
                deadline.cancel()
        own_seconds = dispatcher.charge(implementation, start, below)
        if own_seconds > SLOW_SECONDS:
            dispatcher.report(implementation, "slow", dispatcher.slowness(implementation, own_seconds), own_seconds)
        return value

    async def finish(self, outermost: Awaitable[Any]) -> Any:
        try:
            value = await outermost
        finally:
            left_over = [task for task in self._inner if not task.done()]
            if left_over:
                await self._supervisor.cancel(*left_over)
        if self._failure is not None:
            raise self._failure
        return value
