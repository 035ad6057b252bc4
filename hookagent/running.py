"""One `run` in a task of its own: started, waited for, and brought to its end also when the caller is cancelled."""

from __future__ import annotations

import asyncio
import contextvars
import secrets
from collections.abc import Mapping, Sequence
from typing import Any

from hookagent.abort import AbortSignal
from hookagent.frozen import freeze
from hookagent.loop.direct import run_call
from hookagent.loop.run import Run
from hookagent.loop.turn import Finished, run_turns
from hookagent.messages import ToolCall, ToolResult, UserMessage
from hookagent.result import RunResult
from hookagent.tools.context import calling_context


async def carry_out(
    run: Run, prompts: Sequence[UserMessage], context: contextvars.Context
) -> tuple[Finished, asyncio.CancelledError | None]:
    """Run all turns; gives how they ended and, if the caller was cancelled meanwhile, its cancellation.

    A cancelled caller aborts the run and waits until the transcript is closed, at most the grace time. A
    run inside of a tool is aborted with the run that the tool belongs to.
    """
    supervisor = run.supervisor
    abort = supervisor.abort
    abort.on_abort(supervisor.interrupt_soon)
    _follow_parent(abort)
    task = asyncio.get_running_loop().create_task(run_turns(run, prompts), context=context)
    cancellation: asyncio.CancelledError | None = None
    try:
        while not task.done():
            try:
                await asyncio.wait({task})
            except asyncio.CancelledError as cancelled:
                cancellation = cancelled
                abort.set("cancelled by the caller")
    finally:
        supervisor.close()
    return task.result(), cancellation


async def call_directly(run: Run, name: str, arguments: Mapping[str, Any]) -> ToolResult:
    """Run one tool call for a run that is no turn; an abort of the run it is called in ends it too."""
    run.detached = True
    supervisor = run.supervisor
    supervisor.abort.on_abort(supervisor.interrupt_soon)
    _follow_parent(supervisor.abort)
    try:
        return await run_call(run, ToolCall(f"call_{secrets.token_hex(12)}", name, freeze(arguments)))
    finally:
        supervisor.close()


def _follow_parent(abort: AbortSignal) -> None:
    """Abort with the run whose tool this is called in, if it is called in one."""
    parent = calling_context()
    if parent is not None:
        parent_abort = parent.abort
        parent_abort.on_abort(lambda: abort.set(parent_abort.reason))


def result_of(run: Run, finished: Finished, seconds: float) -> RunResult:
    """The result of a run that ended."""
    end = finished.end
    return RunResult(
        answer=end.answer,
        status=end.status,
        usage=run.usage,
        session=run.session,
        reason=end.reason,
        limit=end.limit,
        error_kind=end.error_kind,
        iterations=run.iterations,
        tool_calls=run.tool_calls,
        seconds=seconds,
        not_stored=tuple(run.not_stored),
        errors=tuple(run.errors),
        warnings=tuple(run.warnings),
    )
