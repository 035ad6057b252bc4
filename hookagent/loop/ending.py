"""How a turn ends when something went wrong, and what every end has in common."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from contextlib import suppress
from typing import Any

from hookagent.contract import Returned
from hookagent.errors import PluginError
from hookagent.events import ErrorEvent
from hookagent.loop.messages_in import store_added
from hookagent.loop.run import End, Run
from hookagent.loop.tool_round import close_open_calls
from hookagent.result import Outcome


def refused(run: Run, end: End) -> End:
    """A call that nobody could be asked for makes the run `refused`, whatever the model answered then."""
    if run.unanswered is not None and end.status in ("completed", "stopped"):
        return end._replace(status="refused", reason=f"a call was refused: {run.unanswered}")
    return end


async def after_failure(run: Run, failure: BaseException) -> End:
    """A plugin (or we) failed: close the round, tell `on_error`, and end as failed. Never raises."""
    reason = str(failure) or type(failure).__name__
    end = End("failed", reason)
    source = failure.plugin if isinstance(failure, PluginError) else "hookagent"
    run.emit(ErrorEvent, "plugin", source, reason)
    await _close(run, f"not run: {reason}")
    if not (isinstance(failure, PluginError) and failure.hook in ("on_error", "on_event")):
        for implementation in run.hooks.on_error:
            if implementation.plugin not in run.dispatch.failed:
                await _listed(run, run.dispatch.one(implementation, failure, None))
    return end


async def after_interrupt(run: Run, stop: BaseException) -> tuple[End, BaseException | None]:
    """The run's own task was cancelled, or a keyboard interrupt came: close the round and end as aborted."""
    _take_back_cancellation()
    what = "interrupted" if isinstance(stop, KeyboardInterrupt) else "cancelled"
    run.supervisor.abort.set(what)
    await _close(run, f"not run: {what}")
    return run.abort_end(), stop


def is_stray(stop: BaseException) -> bool:
    """Whether this is a cancellation that was taken back before it arrived: a plugin cancelled the run's task."""
    task = asyncio.current_task()
    return isinstance(stop, asyncio.CancelledError) and task is not None and not task.cancelling()


async def await_stray(run: Run) -> None:
    """Let a cancellation arrive that was taken back, if there is one, so that it ends nothing later."""
    if run.dispatch.stray:
        run.dispatch.stray = False
        with suppress(asyncio.CancelledError):
            await asyncio.sleep(0)


def _take_back_cancellation() -> None:
    task = asyncio.current_task()
    assert task is not None
    while task.cancelling():
        task.uncancel()


async def _close(run: Run, reason: str) -> None:
    await _listed(run, close_open_calls(run, reason))
    run.state.pending = []


async def complete(run: Run, end: End) -> None:
    """Fire `on_complete`, always; what it adds is kept for the next turn, unless this one was aborted."""
    outcome = Outcome(end.status, end.answer, end.reason, end.limit, run.state.turn_usage, run.state.turn)
    for implementation in run.hooks.on_complete:
        returned = await _listed(run, run.dispatch.one(implementation, outcome))
        if returned is not None:
            store_added(run, returned.messages)


async def _listed(run: Run, step: Coroutine[Any, Any, Returned | None] | Coroutine[Any, Any, None]) -> Returned | None:
    """Await a step whose failure changes nothing any more: it is listed with the run's errors.

    What interrupts it is kept and raised when the run has come to its end.
    """
    try:
        return await step
    except (KeyboardInterrupt, asyncio.CancelledError) as stop:
        _take_back_cancellation()
        run.interrupt = run.interrupt or stop
    except Exception as failure:
        run.errors.append(str(failure) or type(failure).__name__)
    return None
