"""Around hooks: implementations nested around a model call or the execution of a tool.

The innermost call is a task of its own, so that an abort can cancel it without cancelling the hooks
around it; they get an `Aborted` value and the grace time (design, "Around hooks"). The hooks themselves
run in one task, which is left behind when it does not heed its cancellation.
"""

from __future__ import annotations

import asyncio
import contextvars
from collections.abc import Callable, Coroutine
from dataclasses import replace
from typing import Any

from hookagent.abort import Aborted
from hookagent.contract import WrongReturnError, read_return
from hookagent.dispatch import SLOW_SECONDS, Dispatcher, Implementation, OverranError
from hookagent.errors import MisuseError, PluginError, RequestRefusedError
from hookagent.requests import BlockView, Note, Request
from hookagent.watch import Deadline
from hookagent.work import Work


def owned_request(request: Request, before: Request, plugin: str) -> Request:
    """The request as `plugin` made it of `before`: named as its last shaper and as the origin of the notes it added.

    What only the host knows (the session, which blocks are protected) stays as it was. Raises
    `RequestRefusedError` for what no hook may change: the system text, and which transcript it is.
    """
    if not isinstance(request.system, str) or before.system not in request.system:
        raise RequestRefusedError("protected", "the system text was dropped, which cannot be", plugin)
    if isinstance(request.blocks, BlockView) and request.blocks.transcript is not before.blocks.transcript:
        raise RequestRefusedError("blocks", "its blocks are those of another transcript; choose among its own", plugin)
    known = {id(note) for note in before.notes}
    notes = request.notes
    if isinstance(notes, tuple) and all(isinstance(note, Note) for note in notes):
        notes = tuple(note if id(note) in known else Note(note.text, plugin) for note in notes)
    return replace(request, notes=notes, shaped_by=plugin, protected=before.protected, session_id=before.session_id)


async def around_model(
    dispatcher: Dispatcher,
    implementations: tuple[Implementation, ...],
    request: Request,
    innermost: Callable[[Request], Coroutine[Any, Any, Any]],
) -> Any:
    """Call `wrap_model_call` implementations around `innermost(request)`; the first is the outermost."""
    chain = _Chain(dispatcher, implementations[0])

    def layer(index: int, current: Request) -> Coroutine[Any, Any, Any]:
        if index == len(implementations):
            return chain.inner(lambda: innermost(current))
        implementation = implementations[index]

        def call_next(given: Any) -> Coroutine[Any, Any, Any]:
            if not isinstance(given, Request):
                raise TypeError(f"call_next() takes a Request, not a {type(given).__name__}")
            owned = given if given is current else owned_request(given, current, implementation.plugin)
            return layer(index + 1, owned)

        return chain.layer(implementation, call_next, current)

    return await chain.finish(layer(0, request), dispatcher.supervisor.context)


async def around_tool(
    dispatcher: Dispatcher,
    implementations: tuple[Implementation, ...],
    tool_call: Any,
    innermost: Callable[[], Coroutine[Any, Any, Any]],
) -> Any:
    """Call `wrap_tool_call` implementations around `innermost()`; the first is the outermost."""
    chain = _Chain(dispatcher, implementations[0])

    def layer(index: int) -> Coroutine[Any, Any, Any]:
        if index == len(implementations):
            return chain.inner(innermost)
        return chain.layer(implementations[index], lambda: layer(index + 1), tool_call)

    return await chain.finish(layer(0), None)


class _Chain:
    """One nesting of around hooks: the first failure is kept, whatever the layers outside of it do with it."""

    __slots__ = (
        "_dispatcher",
        "_failure",
        "_given_up",
        "_inner",
        "_interrupt",
        "_outer",
        "_outermost",
        "_over",
        "_supervisor",
        "_unreported",
        "_watched",
    )

    def __init__(self, dispatcher: Dispatcher, outermost: Implementation) -> None:
        self._outermost = outermost
        self._dispatcher = dispatcher
        self._supervisor = dispatcher.supervisor
        self._inner: set[Work] = set()
        self._watched: Deadline | None = None
        self._failure: PluginError | None = None
        self._interrupt: KeyboardInterrupt | None = None
        self._over = False
        self._unreported: tuple[Implementation, PluginError, float] | None = None
        self._given_up = False
        self._outer: Work | None = None

    async def inner(self, innermost: Callable[[], Coroutine[Any, Any, Any]]) -> Any:
        supervisor = self._supervisor
        if supervisor.abort.aborted:
            return Aborted(supervisor.abort.reason)
        if any(work.outcome is None for work in self._inner):
            raise MisuseError("call_next(): what it called before is still running; one call at a time")
        work = Work(supervisor.loop, innermost())
        self._inner.add(work)
        try:
            ended = await supervisor.ended(work)
        except BaseException:  # the hook gave up waiting (its own time-out): what it waited for must not run on
            await supervisor.cancel(work)
            raise
        outcome = work.outcome
        if ended == "aborted" or outcome is None:
            work.cancel()
            return Aborted(supervisor.abort.reason)
        self._inner.discard(work)
        if outcome.error is not None:
            if isinstance(outcome.error, KeyboardInterrupt):
                self._interrupt = outcome.error
            raise outcome.error
        return outcome.value

    async def layer(
        self, implementation: Implementation, call_next: Callable[..., Coroutine[Any, Any, Any]], value: Any
    ) -> Any:
        """One hook, with its own time watched; what it gives is checked, what it does wrong is kept."""
        dispatcher, supervisor = self._dispatcher, self._supervisor
        task = asyncio.current_task()
        assert task is not None
        start = dispatcher.monotonic()
        cancels = task.cancelling()
        overran = busy = saw_abort = False
        from_below: list[BaseException] = []
        given: list[Any] = []
        below = 0.0

        def overrun() -> None:
            nonlocal overran
            overran = True
            failure = dispatcher.failure(implementation, OverranError(limit))
            self._failure = self._failure or failure
            self._unreported = implementation, failure, dispatcher.monotonic() - start - below
            self._watched = supervisor.watch.limit(supervisor.grace_seconds, self._give_up)
            task.cancel()

        limit = implementation.time_limit
        deadline = supervisor.watch.limit(limit, overrun) if limit is not None else None

        async def guarded_next(*arguments: Any, **named: Any) -> Any:
            nonlocal busy, below, saw_abort
            if busy or self._over:
                what = "the hook has returned" if self._over else "call_next() is still running; one call at a time"
                raise MisuseError(f"plugin '{implementation.plugin}': {what}")
            busy = True
            entered = dispatcher.monotonic()
            if deadline is not None:
                deadline.pause()
            try:
                result = await call_next(*arguments, **named)
            except BaseException as error:
                from_below.append(error)
                raise
            finally:
                busy = False
                below += dispatcher.monotonic() - entered
                if deadline is not None:
                    deadline.resume()
            saw_abort = saw_abort or isinstance(result, Aborted)
            given.append(result)
            return result

        error: BaseException | None = None
        result: Any = None
        try:
            result = await implementation.call(value, guarded_next, dispatcher.agent, dispatcher.session)
            if not saw_abort and not any(result is one for one in given):
                _check(implementation, result)
        except BaseException as raised:
            error = raised
        if deadline is not None:
            deadline.cancel()
        seconds = dispatcher.charge(implementation, start, below)
        if overran:
            task.uncancel()
            error = OverranError(limit)
        elif saw_abort:
            return Aborted(supervisor.abort.reason)
        if error is None:
            if seconds > SLOW_SECONDS:
                dispatcher.report(implementation, "slow", dispatcher.slowness(implementation, seconds), seconds)
            return result
        if any(error is one for one in from_below):
            raise error
        if isinstance(error, KeyboardInterrupt):
            self._interrupt = error
            raise error
        if isinstance(error, asyncio.CancelledError) and (task.cancelling() > cancels or supervisor.abort.aborted):
            raise error  # somebody outside of this hook ended it
        failure = dispatcher.failure(implementation, error)
        dispatcher.failed.add(implementation.plugin)
        dispatcher.report(implementation, "overran" if overran else "failed", failure.what, seconds)
        self._unreported = None
        self._failure = self._failure or failure
        raise failure from error

    def _give_up(self) -> None:
        self._given_up = True
        if self._outer is not None and self._outer.on_end is not None:
            self._outer.on_end(self._outer)  # whoever waits for it waits no longer

    async def finish(self, outermost: Coroutine[Any, Any, Any], context: contextvars.Context | None) -> Any:
        """Run the outermost layer to its end, and give its value or raise the first failure.

        After an abort it has the grace time; one that overran and does not heed its cancellation, too.
        """
        supervisor = self._supervisor
        work = self._outer = Work(supervisor.loop, outermost, context=context)
        try:
            await supervisor.ended(work)
            if supervisor.abort.aborted and not self._given_up:
                await supervisor.ended(work, supervisor.grace_left, heed_abort=False)
        finally:
            self._over = True
            if self._watched is not None:
                self._watched.cancel()
            left_over = [one for one in (*self._inner, work) if one.outcome is None]
            if left_over:
                await supervisor.cancel(*left_over)
        if self._interrupt is not None:
            raise self._interrupt
        if self._failure is not None:
            if self._unreported is not None:  # it did not even end when it was cancelled
                implementation, failure, seconds = self._unreported
                self._dispatcher.failed.add(implementation.plugin)
                self._dispatcher.report(implementation, "overran", failure.what, seconds)
            raise self._failure
        outcome = work.outcome
        if outcome is None:
            return Aborted(supervisor.abort.reason)
        if outcome.error is None:
            return outcome.value
        if not isinstance(outcome.error, asyncio.CancelledError):
            raise outcome.error
        if supervisor.abort.aborted:
            return Aborted(supervisor.abort.reason)
        # Nobody else knows of this task: a hook cancelled it, and the outermost let it out.
        failure = self._dispatcher.failure(self._outermost, outcome.error)
        self._dispatcher.failed.add(failure.plugin)
        self._dispatcher.report(self._outermost, "failed", failure.what, 0.0)
        raise failure from outcome.error


def _check(implementation: Implementation, value: Any) -> None:
    """Check what a hook returned instead of what `call_next` gave it."""
    if isinstance(value, Aborted):
        return
    if value is None:
        raise WrongReturnError("returned None; it must return what call_next() gave (forgotten the return?)")
    read_return(implementation.hook, implementation.plugin, value)
