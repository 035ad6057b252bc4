"""Results on their way into the transcript: one at a time, past `on_error` and `after_each_tool`."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any, NoReturn

from hookagent.errors import PluginError, describe_error
from hookagent.events import ErrorEvent, ToolEnd
from hookagent.frozen import thaw
from hookagent.loop.calls import CallState
from hookagent.loop.run import Run
from hookagent.messages import ToolResult
from hookagent.tools.execute import Execution
from hookagent.tools.text import bounded_text, to_text
from hookagent.work import Contained

ABANDONED = "aborted by user: the tool did not stop in the grace time; it may still be running, and may have run"
LEFT_BEHIND = "the run failed: the tool did not stop in the grace time; it may still be running, and may have run"
MAY_HAVE_RUN = "interrupted: it was started, and may have run"
NOT_STARTED = "not run: aborted by user before it started"


INTERRUPTING = (Exception, KeyboardInterrupt, asyncio.CancelledError)
"""What may come instead of a hook's return: its failure, an interrupt, or the cancellation of the run's own task."""


class ToolFailedError(Exception):
    """What `on_error` sees of a call that failed without an exception of its own: unknown tool, bad arguments."""


async def settle(run: Run, state: CallState, outcome: Contained) -> None:
    """Turn how a call ended into its result, tell `on_error` where it failed, and store it."""
    error = outcome.error
    call_id = state.call.id
    if error is None and isinstance(outcome.value, Execution):
        result, raised = outcome.value
        await store_result(run, state, result, raised)
        return
    if isinstance(error, PluginError):
        told = state.raised
        text = f"the call failed closed: {error}" + (f"; the tool itself raised {describe_error(told)}" if told else "")
        await store_and_raise(run, state, ToolResult(text, True, "error", call_id, "PluginError"), error, told)
    if isinstance(error, KeyboardInterrupt):
        text = "interrupted: the tool was stopped by a keyboard interrupt; it may have run"
        await store_and_raise(run, state, ToolResult(text, True, "interrupted", call_id, "KeyboardInterrupt"), error)
    if isinstance(error, asyncio.CancelledError) or error is None:
        await store_result(run, state, cancelled_result(run, call_id))
        return
    text = describe_error(error)
    await store_result(run, state, ToolResult(text, True, "error", call_id, type(error).__name__), error)


async def store_and_raise(
    run: Run, state: CallState, result: ToolResult, error: BaseException, told: BaseException | None = None
) -> NoReturn:
    """Store a result, then raise why the call ended so, unless what came while it was stored is graver."""
    failure = error
    try:
        await store_result(run, state, result, told)
    except INTERRUPTING as raised:
        failure = graver(error, raised)
    raise failure


def cancelled_result(run: Run, call_id: str) -> ToolResult:
    """The result of a call that was cancelled while it ran."""
    return ToolResult(f"interrupted: {_why(run)} while it ran; it may have run", True, "interrupted", call_id)


def _why(run: Run) -> str:
    if not run.aborted:
        return "it was cancelled, by itself or because the run failed,"
    return f"aborted by user ({run.supervisor.abort.reason})" if run.supervisor.abort.reason else "aborted by user"


def keep_result(run: Run, state: CallState, result: ToolResult) -> None:
    """Store a result that no hook has anything more to say to."""
    state.result = result
    if not run.detached:
        session = run.state
        before = session.transcript
        grown = before.with_result(result)
        if before.held:
            session.grow(grown)
        else:
            session.transcript = grown  # what is new in it is a round, of which there is nothing to note
    run.emit(ToolEnd, state.call, result)


async def store_result(run: Run, state: CallState, result: ToolResult, error: BaseException | None = None) -> None:
    """Pass a result through `on_error` and `after_each_tool`, then store it. It is stored whatever they do.

    Raises, after it is stored, the `PluginError` of one that failed, or what interrupted the run meanwhile.
    """
    call, failed = state.call, run.dispatch.failed
    failure: BaseException | None = None
    if result.status != "ok":
        result = replace(result, content=bounded_text(result.content, run.result_limit))
    if result.status in ("ok", "error") and state.changed:
        result = replace(result, content=f"{result.content}\n\n[{_edited(state)}]")
    if error is None and result.error_type in ("UnknownTool", "BadArguments", "CutReply"):
        error = ToolFailedError(result.content)
    if error is not None:
        run.emit(ErrorEvent, "tool", call.name, result.content)
        for implementation in run.hooks.on_error:
            if implementation.plugin not in failed:
                try:
                    await run.dispatch.one(implementation, error, call)
                except INTERRUPTING as raised:
                    failure = graver(failure, raised)
    values: list[Any] = [call, result]
    for _, answer in run.dispatch.voices(run.hooks.after_each_tool, values, failed=False):
        try:
            returned = await answer
        except INTERRUPTING as raised:
            failure = graver(failure, raised)
            continue
        if returned is not None and returned.value is not None:
            result = values[1] = _changed(run, result, returned.value)
    keep_result(run, state, result)
    if failure is not None:
        raise failure


def clean_result(run: Run, result: ToolResult, call_id: str) -> ToolResult:
    """A result as a plugin made it, bounded and clean, for the call it belongs to; one that failed says so twice."""
    failed = result.is_error or result.status != "ok"
    status = "error" if failed and result.status == "ok" else result.status
    content = to_text(result.content, run.result_limit)
    return replace(result, content=content, call_id=call_id, is_error=failed, status=status)


def _changed(run: Run, before: ToolResult, changed: ToolResult) -> ToolResult:
    """A result as `after_each_tool` changed it: its text, and whether it counts as an error, but not what happened."""
    changed = clean_result(run, changed, before.call_id)
    if before.status not in ("ok", "error"):
        return replace(before, content=changed.content)
    milliseconds = before.milliseconds if changed.milliseconds is None else changed.milliseconds
    return replace(changed, status="error" if changed.is_error else "ok", milliseconds=milliseconds)


async def stored(run: Run, state: CallState, result: ToolResult, failure: BaseException | None) -> BaseException | None:
    """Store a result; the failure so far, or what came while it was stored, if that is graver."""
    try:
        await store_result(run, state, result)
    except INTERRUPTING as raised:
        return graver(failure, raised)
    return failure


def graver(first: BaseException | None, second: BaseException) -> BaseException:
    """Which of two failures is to be raised: what interrupts the run before what a plugin did, else the first."""
    if first is None or (isinstance(first, PluginError) and not isinstance(second, PluginError)):
        return second
    return first


def _edited(state: CallState) -> str:
    arguments = to_text(thaw(state.call.arguments), 2000)
    who = state.edited_by or (state.amended_by[0] if state.amended_by is not None else "a plugin")
    return f"the arguments were changed by '{who}' before it ran: {arguments}"
