"""Around hooks: implementations nested around a model call or the execution of a tool.

An abort cancels the innermost call and not the hooks around it: they get an `Aborted` value and the grace time
(design, "Around hooks"). All of it is carried out in line (`hookagent.work.in_line`), so that hooks which pass a
call on cost no tasks; what does not heed its cancellation goes on in a task of its own, and is left behind.
"""

from __future__ import annotations

import abc
import asyncio
import contextvars
from collections.abc import Callable, Coroutine
from contextvars import copy_context
from dataclasses import replace
from typing import Any

from hookagent.abort import Aborted
from hookagent.around_layer import EAGER_TASKS, Layer, MiscalledError
from hookagent.dispatch import Dispatcher
from hookagent.errors import PluginError, RequestRefusedError
from hookagent.implementations import Implementation
from hookagent.requests import BlockView, Note, Request
from hookagent.watch import Deadline
from hookagent.work import Left, Work, call_directly, from_outside, in_line, is_disturbed, take_back_cancellation


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
    return await _ModelChain(dispatcher, implementations, innermost).finish(request, dispatcher.supervisor.context)


async def around_tool(
    dispatcher: Dispatcher,
    implementations: tuple[Implementation, ...],
    tool_call: Any,
    innermost: Callable[[], Coroutine[Any, Any, Any]],
) -> Any:
    """Call `wrap_tool_call` implementations around `innermost()`; the first is the outermost."""
    return await _ToolChain(dispatcher, implementations, innermost).finish(tool_call, None)


class Chain(abc.ABC):
    """One nesting of around hooks: the first failure is kept, whatever the layers outside of it do with it.

    All of it is carried out in the task that asks for it, as long as nothing has to be left behind. `waits` says that
    this task waits for something: what begins then was begun by a task that a hook made, and is watched on its own.
    """

    def __init__(
        self,
        dispatcher: Dispatcher,
        implementations: tuple[Implementation, ...],
        innermost: Callable[..., Coroutine[Any, Any, Any]],
    ) -> None:
        self.dispatcher = dispatcher
        self.supervisor = dispatcher.supervisor
        self.implementations = implementations
        self.ready = dispatcher.ready_for(implementations)
        self.innermost = innermost
        self.now = dispatcher.monotonic()
        """When the last layer began or ended: what the one takes ends where the next one's begins."""

    # Most of it is never needed: what is not said stands here once for all of them.
    task: asyncio.Task[Any]
    active: Layer | None = None
    waits = False
    over = False
    closed = False
    given_up = False
    failure: PluginError | None = None
    interrupt: KeyboardInterrupt | None = None
    unreported: tuple[Implementation, PluginError, float] | None = None
    watched: Deadline | None = None
    _outer: Work | None = None
    _beside: tuple[Work, ...] = ()
    _inner_runs = False
    _inner_thrown = False

    @abc.abstractmethod
    def down(self, layer: Layer, *given: Any) -> Coroutine[Any, Any, Any]:
        """What `call_next` of a layer calls. Raises `MiscalledError` for what it cannot be given."""

    # ---- what all of it is around ----

    async def inner(self, coroutine: Coroutine[Any, Any, Any]) -> Any:
        """Carry out what all layers are around; `Aborted` where an abort ended it. One call at a time."""
        supervisor, abort = self.supervisor, self.supervisor.abort
        if abort.aborted or self._inner_runs or any(work.outcome is None for work in self._beside):
            coroutine.close()
            if abort.aborted:
                return Aborted(abort.reason)
            raise MiscalledError("call_next(): what it called before is still running; one call at a time")
        if self.waits or (EAGER_TASKS and self.is_elsewhere()):
            return await self._inner_beside(coroutine)
        task = self.task
        cancels = task.cancelling()
        supervisor.cancelled_at_abort[task] = None
        self._inner_runs, self._inner_thrown = True, False
        value: Any = None
        error: BaseException | None = None
        try:
            value = await in_line(coroutine, copy_context().run, task, self._leaves_inner)
        except BaseException as raised:
            error = raised
        supervisor.cancelled_at_abort.pop(task, None)
        self._inner_runs = False
        self.now = self.dispatcher.monotonic()
        by_others = self._inner_thrown or from_outside(error)
        if task.cancelling() > cancels and (abort.aborted or not by_others):
            await take_back_cancellation(task, cancels)  # the abort's, or what it did to itself
        if type(value) is Left:
            self._beside = (*self._beside, Work(supervisor.loop, value.go_on()))
            return Aborted(abort.reason)
        if error is None:
            return value
        try:
            if isinstance(error, asyncio.CancelledError) and abort.aborted:
                return Aborted(abort.reason)
            if isinstance(error, KeyboardInterrupt):
                self.interrupt = error
            raise error
        finally:
            del error  # it knows this frame, and would keep itself alive

    def _leaves_inner(self) -> bool:
        self._inner_thrown = True
        return self.supervisor.inner_grace_over

    async def _inner_beside(self, coroutine: Coroutine[Any, Any, Any]) -> Any:
        """Carry it out in a task of its own: a hook asks for it in a task that may be cancelled at any time."""
        supervisor = self.supervisor
        work = Work(supervisor.loop, coroutine)
        self._beside = (*self._beside, work)
        try:
            ended = await supervisor.ended(work)
            if ended == "aborted":
                work.cancel()
                await supervisor.ended(work, supervisor.grace_left / 2.0, heed_abort=False)
        except BaseException:  # the hook gave up waiting (its own time-out): what it waited for must not run on
            await supervisor.cancel(work)
            raise
        outcome = work.outcome
        if ended == "aborted" or outcome is None:
            return Aborted(supervisor.abort.reason)
        self._beside = tuple(one for one in self._beside if one is not work)
        if outcome.error is not None:
            if isinstance(outcome.error, KeyboardInterrupt):
                self.interrupt = outcome.error
            raise outcome.error
        return outcome.value

    def is_elsewhere(self) -> bool:
        """Whether this is called in a task that a hook made: an eager one begins while the hook does not wait."""
        return asyncio.current_task() is not self.task

    # ---- the time that hooks take while others wait for them ----

    def asleep(self) -> None:
        """See `hookagent.work.Waiting`: only a hook that waits can be overtaken by its time limit."""
        self.waits = True
        if self.active is not None:
            self.active.watch()

    def awake(self) -> None:
        """See `hookagent.work.Waiting`."""
        self.waits = False
        if self.active is not None:
            self.active.unwatch()

    def give_up(self) -> None:
        """A hook that overran does not heed its cancellation either: wait for it no longer."""
        self.given_up = True
        self.task.cancel()

    def _leaves(self) -> bool:
        return self.given_up or self.supervisor.grace_over

    # ---- all of it ----

    async def finish(self, value: Any, context: contextvars.Context | None) -> Any:
        """Run the outermost layer to its end, and give its value or raise the first failure.

        After an abort it has the grace time; one that overran and does not heed its cancellation, too.
        """
        supervisor = self.supervisor
        # The model is asked in the run's own task, which is known; looking it up is slow.
        current = supervisor.own_task if context is not None else asyncio.current_task()
        task = self.task = current or supervisor.task
        cancels = task.cancelling()
        got: Any = None
        error: BaseException | None = None
        # The run's own context is in force here already; other calls get a copy, as tasks do.
        step = call_directly if context is not None else copy_context().run
        supervisor.cancelled_after_grace[task] = None
        try:
            got = await in_line(Layer(self, 0, value).run(), step, task, self._leaves, self)
        except BaseException as raised:
            error = raised
        supervisor.cancelled_after_grace.pop(task, None)
        if is_disturbed(task, cancels) and (supervisor.abort.aborted or not from_outside(error)):
            await take_back_cancellation(task, cancels)
        self.over = True
        if self.watched is not None:
            self.watched.cancel()
        if type(got) is Left:
            self._outer = Work(supervisor.loop, got.go_on(), context=context)
        if self._beside or self._outer is not None:
            await asyncio.sleep(0)  # what was left goes on in its own task, before it is told once more to end
            left_over = (*self._beside, *((self._outer,) if self._outer is not None else ()))
            await supervisor.cancel(*[one for one in left_over if one.outcome is None])
        if error is None and self.failure is None and self.interrupt is None and self._outer is None:
            return got
        try:
            return self._ending(got, error)
        finally:
            # What was raised knows these frames, and would keep itself alive.
            self.interrupt = self.failure = self.unreported = None
            self.closed = True  # a hook that was left behind is heard of no more
            del error

    def _ending(self, got: Any, error: BaseException | None) -> Any:
        """What there is to give or to raise, where it did not simply end."""
        supervisor = self.supervisor
        if self.interrupt is not None:
            raise self.interrupt
        if self.failure is not None:
            self._report_overrun()
            raise self.failure
        if self._outer is not None:
            outcome = self._outer.outcome
            if outcome is None:
                return Aborted(supervisor.abort.reason)
            got, error = outcome.value, outcome.error
        if error is None:
            return got
        cancelled = isinstance(error, asyncio.CancelledError)
        if cancelled and supervisor.abort.aborted:
            return Aborted(supervisor.abort.reason)
        if not cancelled or from_outside(error):
            try:
                raise error
            finally:
                del error
        # Nobody else knows of it: a hook raised it, or cancelled the task that it runs in.
        outermost = self.implementations[0]
        failure = self.dispatcher.failure(outermost, error)
        self.dispatcher.failed.add(failure.plugin)
        self.dispatcher.report(outermost, "failed", failure.what, 0.0)
        raise failure from error

    def _report_overrun(self) -> None:
        """Report a hook that overran and did not even end when it was cancelled."""
        if self.unreported is not None:
            implementation, failure, seconds = self.unreported
            self.dispatcher.failed.add(implementation.plugin)
            self.dispatcher.report(implementation, "overran", failure.what, seconds)


class _ModelChain(Chain):
    def down(self, layer: Layer, *given: Any) -> Coroutine[Any, Any, Any]:
        request = given[0] if len(given) == 1 else None
        if not isinstance(request, Request):
            got = " and ".join(f"a {type(one).__name__}" for one in given) or "nothing"
            raise MiscalledError(f"call_next() takes a Request, not {got}")
        if request is not layer.value:
            request = owned_request(request, layer.value, layer.implementation.plugin)
        index = layer.index + 1
        if index < len(self.implementations):
            return Layer(self, index, request).run()
        return self.inner(self.innermost(request))


class _ToolChain(Chain):
    def down(self, layer: Layer, *given: Any) -> Coroutine[Any, Any, Any]:
        if given:
            got = " and ".join(f"a {type(one).__name__}" for one in given)
            raise MiscalledError(
                f"call_next() takes nothing here, not {got}: exactly the call that the gates let pass is run; "
                "return Amend(arguments) from 'before_each_tool' to change it"
            )
        index = layer.index + 1
        if index < len(self.implementations):
            return Layer(self, index, layer.value).run()
        return self.inner(self.innermost())
