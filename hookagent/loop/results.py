"""Results on their way into the transcript: one at a time, past `on_error` and `after_each_tool`."""

from __future__ import annotations

import asyncio
from dataclasses import replace

from hookagent.errors import PluginError
from hookagent.events import ErrorEvent, ToolEnd
from hookagent.frozen import thaw
from hookagent.loop.calls import CallState
from hookagent.loop.run import Run
from hookagent.messages import ToolResult
from hookagent.supervise import Contained
from hookagent.tools.execute import Execution
from hookagent.tools.text import to_text

ABANDONED = "aborted by user: the tool did not stop in the grace time; it may still be running, and may have run"
NOT_STARTED = "not run: aborted by user before it started"


class ToolFailedError(Exception):
    """What `on_error` sees of a call that failed without an exception of its own: unknown tool, bad arguments."""


async def settle(run: Run, state: CallState, outcome: Contained) -> None:
    """Turn how a call ended into its result, tell `on_error` where it failed, and store it."""
    error = outcome.error
    call_id = state.call.id
    if error is None and isinstance(outcome.value, Execution):
        await store_result(run, state, replace(outcome.value.result, call_id=call_id), outcome.value.exception)
        return
    if isinstance(error, PluginError):
        text = f"the call failed closed: {error}"
        await store_result(run, state, ToolResult(text, True, "error", call_id, "PluginError"))
        raise error
    if isinstance(error, KeyboardInterrupt):
        text = "interrupted: the tool was stopped by a keyboard interrupt; it may have run"
        await store_result(run, state, ToolResult(text, True, "interrupted", call_id, "KeyboardInterrupt"))
        raise error
    if isinstance(error, asyncio.CancelledError) or error is None:
        reason = run.supervisor.abort.reason or "the run was stopped"
        text = f"interrupted: aborted by user while it ran ({reason}); it may have run"
        await store_result(run, state, ToolResult(text, True, "interrupted", call_id))
        return
    text = to_text(f"{type(error).__name__}: {error}", run.result_limit)
    await store_result(run, state, ToolResult(text, True, "error", call_id, type(error).__name__), error)


async def store_result(run: Run, state: CallState, result: ToolResult, error: BaseException | None = None) -> None:
    """Pass a result through `on_error` and `after_each_tool`, then store it. It is stored whatever they do.

    Raises `PluginError` after it is stored, when one of them failed.
    """
    call = state.call
    failure: PluginError | None = None
    if call is not state.original and result.status in ("ok", "error"):
        result = replace(result, content=f"{result.content}\n\n[{_edited(run, state)}]")
    if error is None and result.error_type in ("UnknownTool", "BadArguments", "CutReply"):
        error = ToolFailedError(result.content)
    if error is not None:
        run.emit(ErrorEvent, "tool", call.name, result.content)
        for implementation in run.hooks.on_error:
            if implementation.plugin not in run.dispatch.failed:
                try:
                    await run.dispatch.one(implementation, error, call)
                except PluginError as raised:
                    failure = failure or raised
    for implementation in run.hooks.after_each_tool:
        if implementation.plugin in run.dispatch.failed:
            continue
        try:
            returned = await run.dispatch.one(implementation, call, result)
        except PluginError as raised:
            failure = failure or raised
            continue
        if returned is not None and returned.value is not None:
            result = _cleaned(run, returned.value, call.id)
    state.result = result
    run.state.grow(run.state.transcript.with_result(result))
    run.emit(ToolEnd, call, result)
    if failure is not None:
        raise failure


def _cleaned(run: Run, result: ToolResult, call_id: str) -> ToolResult:
    """A result as a plugin returned it, bounded and clean, for the call it belongs to."""
    return replace(result, content=to_text(result.content, run.result_limit), call_id=call_id)


def _edited(run: Run, state: CallState) -> str:
    arguments = to_text(thaw(state.call.arguments), 2000)
    who = state.edited_by or state.amended_by or "a plugin"
    return f"the arguments were changed by '{who}' before it ran: {arguments}"
