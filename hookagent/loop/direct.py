"""A call without the model: past all gates and hooks of a call, and out of the transcript."""

from __future__ import annotations

import asyncio

from hookagent.errors import PluginError
from hookagent.frozen import freeze
from hookagent.loop.answers import resolve, still_suspended
from hookagent.loop.calls import CallState
from hookagent.loop.execution import execute_calls
from hookagent.loop.gates import before_each_tool, before_tools, look_again
from hookagent.loop.results import INTERRUPTING, store_result, stored
from hookagent.loop.run import Run
from hookagent.messages import ToolCall, ToolResult


async def run_call(run: Run, call: ToolCall) -> ToolResult:
    """Take one call its whole way, as in a round of its own; the result, whatever the outcome.

    The run is `detached`: nothing enters the transcript. Raises `PluginError` when a hook failed.
    """
    state = CallState(ToolCall(call.id, call.name, freeze(call.arguments or {})))
    state.prepare(run.tools)
    states = [state]
    failure: BaseException | None = None
    try:
        end = (
            await before_tools(run, states)
            or await before_each_tool(run, states)
            or await look_again(run, states)
            or await resolve(run, states)
        )
        refusal = state.refusal()
        if refusal is None and end is not None:
            refusal = ToolResult(f"not run: {end.reason}", True, "not_run", call.id)
        if refusal is None and still_suspended(states):
            refusal = ToolResult("not run: nobody answered for it", True, "denied", call.id)
        if refusal is not None:
            await store_result(run, state, refusal)
        else:
            await execute_calls(run, states)
        run.check_failure()
    except INTERRUPTING as raised:
        failure = raised
        if isinstance(raised, PluginError):
            run.fail_outer(raised)
    if state.result is None:
        result = ToolResult(f"not run: {_why(run, failure)}", True, "not_run", call.id)
        failure = await stored(run, state, result, failure)
    if failure is not None:
        raise failure
    assert state.result is not None
    return state.result


def _why(run: Run, failure: BaseException | None) -> str:
    """What kept a call from running: an abort, or else the failure that there is."""
    if run.aborted:
        return "aborted by user"
    if isinstance(failure, KeyboardInterrupt):
        return "interrupted"
    if isinstance(failure, asyncio.CancelledError):
        return "cancelled"
    return str(failure) or type(failure).__name__
