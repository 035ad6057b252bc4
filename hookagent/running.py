"""One `run` in a task of its own: started, waited for, and brought to its end also when the caller is cancelled."""

from __future__ import annotations

import asyncio
import contextvars
import secrets
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from hookagent.errors import MisuseError
from hookagent.frozen import freeze
from hookagent.loop.direct import run_call
from hookagent.loop.run import Run
from hookagent.loop.turn import Finished, run_turns
from hookagent.messages import ToolCall, ToolResult, UserMessage
from hookagent.result import RunResult
from hookagent.session import SessionState
from hookagent.supervise import Supervisor
from hookagent.tools.context import ToolContext, calling_context, calling_run

_DEEPEST = 32
"""How deep a `call_tool` may stand in the hooks and tools of another one."""
_depth: contextvars.ContextVar[int] = contextvars.ContextVar("hookagent_direct_calls", default=0)


async def carry_out(
    run: Run, prompts: Sequence[UserMessage], context: contextvars.Context
) -> tuple[Finished, asyncio.CancelledError | None]:
    """Run all turns; gives how they ended and, if the caller was cancelled meanwhile, its cancellation.

    A cancelled caller aborts the run and waits until the transcript is closed, at most the grace time. A
    run inside of a tool is aborted with the run that the tool belongs to.
    """
    supervisor = run.supervisor
    abort = supervisor.abort
    forget = _heed_aborts(supervisor)
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
        forget()
        supervisor.close()
    return task.result(), cancellation


def check_place(what: str, run: Run | None, state: SessionState | None = None) -> None:
    """Refuse what belongs to the event loop of an active run elsewhere, and what a closed session cannot do.

    Raises `MisuseError`.
    """
    if run is not None and run.supervisor.loop is not asyncio.get_running_loop():
        raise MisuseError(
            f"{what}: the agent runs in another event loop and belongs to it; call it there, with "
            "asyncio.run_coroutine_threadsafe(...) or from an async tool"
        )
    if state is not None and state.ended:
        raise MisuseError(f"{what}: the session was closed; call reset() to begin a new one")


def check_waiting(run: Run) -> None:
    """Refuse to wait for the end of a run in another event loop, or inside of that run. Raises `MisuseError`."""
    check_place("wait_idle()", run)
    inside: Run | None = calling_run()
    while inside is not None:
        if inside is run:
            raise MisuseError("wait_idle(): called inside of a tool of the run that it would wait for")
        inside = inside.parent


async def call_directly(run: Run, name: str, arguments: Mapping[str, Any]) -> ToolResult:
    """Run one tool call for a run that is no turn; an abort of the run it is called in ends it too."""
    if not isinstance(name, str) or not isinstance(arguments, Mapping):
        got = f"a {type(name).__name__} and a {type(arguments).__name__}"
        raise MisuseError(f"call_tool(): takes the name of a tool and a mapping of arguments, not {got}")
    depth = _depth.get() + 1
    if depth > _DEEPEST:
        raise MisuseError(
            f"call_tool(): called inside of its own hooks or tools, {_DEEPEST} deep; "
            "a hook that calls a tool must leave its own calls alone"
        )
    run.detached = True
    supervisor = run.supervisor
    assert supervisor.context is not None  # a call without a turn is always given one, in which its hooks run
    supervisor.context.run(_depth.set, depth)
    _depth.set(depth)
    forget = _heed_aborts(supervisor)
    caller = calling_context()
    told_before = caller is not None and caller.abort.aborted
    try:
        result = await run_call(run, ToolCall(f"call_{secrets.token_hex(12)}", name, freeze(arguments)))
    finally:
        _depth.set(depth - 1)
        forget()
        supervisor.close()
    if caller is not None and caller.abort.aborted and not told_before and _is_cancelled_at_abort(run, caller):
        # One abort, two cancellations of one task: the other one is for the tool that called this.
        task = asyncio.current_task()
        assert task is not None
        task.cancel()
        await asyncio.sleep(0)
    return result


def _is_cancelled_at_abort(run: Run, caller: ToolContext) -> bool:
    """Whether the tool that makes a call is one that an abort cancels, and not one that asks for it."""
    tool = run.parent.tools.get(caller.tool_name) if run.parent is not None else None
    return tool is not None and tool.is_async


def _heed_aborts(supervisor: Supervisor) -> Callable[[], None]:
    """Let an abort reach a run, also that of the run whose tool this is called in, if any; returns what ends that.

    A signal outlives the run, and would keep alive what hears it.
    """
    abort = supervisor.abort
    forget = abort.on_abort(supervisor.interrupt_soon)
    parent = calling_context()
    if parent is None:
        return forget
    parent_abort = parent.abort
    forget_parent = parent_abort.on_abort(lambda: abort.set(parent_abort.reason))

    def forget_both() -> None:
        forget()
        forget_parent()

    return forget_both


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
