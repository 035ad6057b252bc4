"""One call with nothing beside it, carried out in the run's own task: a task for each would cost more than the round.

What runs can be left behind all the same. After an abort an async tool is cancelled, and has the grace time to end,
where it is: what it entered (time-outs, task groups) belongs to the task. A plain one just has the grace time. What
goes on all the same, goes on in a task of its own (`hookagent.work.in_line`).
"""

from __future__ import annotations

import asyncio
from contextvars import copy_context
from typing import Any

from hookagent.loop.calls import CallState
from hookagent.loop.results import ABANDONED, cancelled_result, keep_result, settle, store_and_raise, store_result
from hookagent.loop.run import Run
from hookagent.loop.starting import begin, carried_out, execution_of, not_run
from hookagent.messages import ToolResult
from hookagent.tools.execute import Execution
from hookagent.work import Contained, Left, Work, from_outside, in_line, is_disturbed, take_back_cancellation


async def execute_alone(run: Run, state: CallState) -> None:
    """Run one call and store its result. Raises what `execute_calls` raises, when the result is stored."""
    supervisor, abort, hooks, tool = run.supervisor, run.abort, run.hooks, state.tool
    assert tool is not None
    if abort.aborted:
        return
    over = run.budget.take_call()
    if over is not None:
        raised = await not_run(run, state, over)
        if raised is not None:
            raise raised
        return
    context = begin(run, state)
    if run.emitter.listened:
        await asyncio.sleep(0)  # a reader of a stream may want to stop it here
    patient = not tool.is_async
    task = supervisor.own_task or supervisor.task
    cancels = task.cancelling()
    value: Any = None
    error: BaseException | None = None
    try:
        if hooks.wrap_tool_call or tool.time_limit is not None:
            value = await carried_out(run, state, context)  # these come to an end by themselves
        elif not abort.aborted:  # else somebody who heard of its start wanted none
            stopped = supervisor.cancelled_after_grace if patient else supervisor.cancelled_at_abort
            stopped[task] = None
            try:
                value = await in_line(
                    execution_of(run, state, context), copy_context().run, task, supervisor.is_grace_over
                )
            finally:
                del stopped[task]
    except BaseException as raised:
        error = raised
    if error is None and type(value) is Execution and not is_disturbed(task, cancels):
        result, exception = value
        if exception is None and result.status == "ok" and state.call is state.original and not hooks.after_each_tool:
            keep_result(run, state, result)
        else:
            await store_result(run, state, result, exception)
        return
    context.finish()
    try:
        await _stopped(run, state, value, error, cancels)
    finally:
        del error  # what was raised knows this frame: it would keep itself alive, and with it the agent


async def _stopped(run: Run, state: CallState, value: Any, error: BaseException | None, cancels: int) -> None:
    """Store the result of a call that was left, cancelled or brought to an end by a hook."""
    supervisor = run.supervisor
    task = supervisor.task
    cancelled_itself = False
    if is_disturbed(task, cancels):
        if error is not None and from_outside(error) and not run.aborted:
            # The run's own task was cancelled: this ends as an abort does, and is raised when the call has its result.
            supervisor.abort.set("cancelled")
            await store_and_raise(run, state, cancelled_result(run, state.call.id), error)
        cancelled_itself = await take_back_cancellation(task, cancels)
    if type(value) is Left:
        Work(supervisor.loop, value.go_on())
        await store_result(run, state, ToolResult(ABANDONED, True, "interrupted", state.call.id))
        return
    if cancelled_itself and error is None:
        error = asyncio.CancelledError()
    elif run.aborted and isinstance(error, asyncio.CancelledError) and not supervisor.grace_left:
        await store_result(run, state, ToolResult(ABANDONED, True, "interrupted", state.call.id))
        return
    await settle(run, state, Contained(value, error))
