"""What starting a call takes, alone or beside others: its context, and the coroutine that carries it out."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from contextlib import suppress
from typing import Any

from hookagent.abort import Aborted
from hookagent.around import around_tool
from hookagent.events import ToolProgress, ToolStart
from hookagent.implementations import Implementation
from hookagent.loop.calls import CallState
from hookagent.loop.results import ABANDONED, INTERRUPTING, cancelled_result, clean_result, store_result
from hookagent.loop.run import Run
from hookagent.messages import ToolCall, ToolResult
from hookagent.tools.context import CURRENT_CALL, ToolContext
from hookagent.tools.execute import Execution, execute
from hookagent.work import Work, from_outside, take_back_cancellation


class CallContext(ToolContext):
    """The context of a call of a run: what a tool may ask is looked up when it asks, which few do."""

    __slots__ = ("_call", "_count", "_names")

    def __init__(self, run: Run, call: ToolCall) -> None:
        state = run.state
        self._run = run
        self._call = call
        names = self._names = state.tools_called
        self._count = len(names)
        names.append(call.name)
        self.task = state.user_prompt
        self.iteration = state.iteration
        self.call_id = call.id
        self._finished = False

    agent = property(lambda self: self._run.agent)
    session = property(lambda self: self._run.session)
    tool_name = property(lambda self: self._call.name)
    abort = property(lambda self: self._run.abort)
    _loop = property(lambda self: self._run.supervisor.loop)
    _thread = property(lambda self: self._run.supervisor.thread)

    @property
    def previous_tools(self) -> tuple[str, ...]:
        """See `ToolContext.previous_tools`."""
        return tuple(self._names[: self._count])

    def _hear(self, value: Any) -> None:
        if self._run.emitter.heard:
            self._run.emit(ToolProgress, self._call, value)


def begin(run: Run, state: CallState) -> ToolContext:
    """Count a call as started, say so, and give what it may know of itself."""
    context = CallContext(run, state.call)
    run.tool_calls += 1
    state.started = True
    run.emit(ToolStart, state.call)
    return context


async def not_run(run: Run, state: CallState, reason: str) -> BaseException | None:
    """Give a call that a limit forbids its result; what a hook did with it, if it failed."""
    try:
        await store_result(run, state, ToolResult(reason, True, "not_run", state.call.id, "Limit"))
    except INTERRUPTING as raised:
        return raised
    return None


def carried_out(run: Run, state: CallState, context: ToolContext) -> Coroutine[Any, Any, Any]:
    """Execute one call, through the `wrap_tool_call` hooks where there are any.

    Gives an `Execution`, the `ToolResult` that a hook made, or `Aborted`.
    """
    wraps = run.hooks.wrap_tool_call
    return _wrapped(run, wraps, state, context) if wraps else execution_of(run, state, context)


async def _wrapped(
    run: Run, wraps: tuple[Implementation, ...], state: CallState, context: ToolContext
) -> Execution | ToolResult | Aborted:
    token = CURRENT_CALL.set(context)
    try:
        executions: list[Execution] = []

        async def innermost() -> ToolResult | Aborted:
            task = asyncio.current_task()
            assert task is not None
            cancels = task.cancelling()
            try:
                execution = await execution_of(run, state, context)
            except asyncio.CancelledError as cancelled:
                if run.aborted or from_outside(cancelled):
                    raise
                await take_back_cancellation(task, cancels)
                execution = Execution(cancelled_result(run, state.call.id))
            executions.append(execution)
            state.raised = execution.exception
            return execution.result

        result: ToolResult | Aborted = await around_tool(run.dispatch, wraps, state.call, innermost)
        if isinstance(result, Aborted):
            return result
        for execution in executions:
            if execution.result is result:
                return execution
        result = clean_result(run, result, state.call.id)
        raised = next((one.exception for one in reversed(executions) if one.exception is not None), None)
        return Execution(result, raised if result.is_error else None)
    finally:
        # What nobody finishes is closed by whoever collects it, in another context: there is nothing to take back then.
        with suppress(ValueError):
            CURRENT_CALL.reset(token)


def execution_of(run: Run, state: CallState, context: ToolContext) -> Coroutine[Any, Any, Execution]:
    """Execute one call, past all hooks around it."""
    tool = state.tool
    assert tool is not None
    keywords = state.keywords
    if keywords is None:
        keywords = tool.validate(state.call.arguments or {})
    state.keywords = None  # another call of `call_next` makes fresh objects
    limit = tool.time_limit
    execution = execute(tool, keywords, context, run.result_limit, monotonic=run.emitter.monotonic)
    return execution if limit is None else _limited(run, state, execution, limit)


async def _limited(run: Run, state: CallState, execution: Coroutine[Any, Any, Execution], limit: float) -> Execution:
    supervisor = run.supervisor
    work = Work(supervisor.loop, execution)
    try:
        ended = await supervisor.ended(work, limit)
    except BaseException:  # cancelled from outside: what runs in the other task must hear of it
        await supervisor.cancel(work)
        raise
    outcome = work.outcome
    if outcome is not None:
        if outcome.error is not None:
            try:
                raise outcome.error
            finally:
                del outcome, work  # what was raised knows this frame
        executed: Execution = outcome.value
        return executed
    work.cancel()
    if ended == "aborted":
        if await supervisor.cancel(work):
            return Execution(cancelled_result(run, state.call.id))
        return Execution(ToolResult(ABANDONED, True, "interrupted", state.call.id))
    text = f"overran its time limit of {limit:g} s: the outcome is unknown, it may have run"
    return Execution(ToolResult(text, True, "interrupted", state.call.id, "TimeLimit"), TimeoutError(text))
