"""A tool round: from a reply with calls to its last result, on every path.

Parallel: all gates in call order, then `resolve_suspended` once for all that are suspended, then all
execution. Sequential: `before_tools` (and what it suspends is resolved), then per call gates, resolving,
execution. Every exit closes the round but `Suspend` (design, "One call's way").
"""

from __future__ import annotations

import collections
import json
from collections.abc import Collection, Sequence

from hookagent.loop.alone import execute_alone
from hookagent.loop.answers import resolve, still_suspended
from hookagent.loop.calls import CallState, call_states
from hookagent.loop.execution import execute_calls
from hookagent.loop.gates import before_each_tool, before_tools, look_again
from hookagent.loop.messages_in import store_added, store_user
from hookagent.loop.results import MAY_HAVE_RUN, NOT_STARTED, store_result, stored
from hookagent.loop.run import End, Run
from hookagent.messages import StopReason, ToolCall, ToolResult, UserMessage
from hookagent.transcript import ToolRound
from hookagent.verdicts import Suspend


async def tool_round(run: Run, calls: Sequence[ToolCall], stop_reason: StopReason) -> End | None:
    """Take the newest reply's calls through the round; an end, or None when the model is to be asked again."""
    states = call_states(calls, stop_reason, run.tools)
    run.state.pending = states
    hooks = run.hooks
    if len(states) == 1 and states[0].problem is None and not hooks.before_tools and not hooks.before_each_tool:
        # By far the commonest round: nobody has anything to say to its one call.
        await execute_alone(run, states[0])
        if run.abort.aborted or hooks.after_tools or run.state.limits.max_equal_calls is not None:
            return await _close(run, states, run.abort_end() if run.abort.aborted else run.halted)
        run.state.pending = []
        return None  # what else ends the turn, a failure too, does so at its next step
    end = await (_sequential(run, states) if _one_by_one(run) else _parallel(run, states))
    return await _close(run, states, end)


async def resume_round(run: Run) -> End | None:
    """Put the open calls of a waiting session to their answerers again, and go on from there.

    Each keeps the verdict stored with it; `before_each_tool` is asked again and can only make it stricter.
    """
    states = run.state.pending
    open_states = [state for state in states if state.result is None]
    for state in open_states:
        state.asked = ()
        # The tools in force now decide: one that went, or wants other arguments, is said to the model.
        state.prepare(run.tools)
    waiting = [state for state in open_states if isinstance(state.verdict, Suspend)]
    end = await before_each_tool(run, waiting)
    end = end or await look_again(run, waiting) or await resolve(run, waiting)
    if end is None and _one_by_one(run):
        end = await _run_one_by_one(run, open_states, gated=waiting)
    elif end is None:
        end = await _run_at_once(run, open_states)
    return await _close(run, states, end)


def _one_by_one(run: Run) -> bool:
    return run.tool_execution == "sequential"


async def _parallel(run: Run, states: Sequence[CallState]) -> End | None:
    hooks = run.hooks
    if hooks.before_tools or hooks.before_each_tool:
        end = await before_tools(run, states) or await before_each_tool(run, states)
        if end is not None:
            return end
        end = await look_again(run, states) or await resolve(run, states)
        if end is not None:
            return end
    return await _run_at_once(run, states)


async def _run_at_once(run: Run, states: Sequence[CallState]) -> End | None:
    ready = [state for state in states if state.may_run and state.result is None]
    if len(ready) != len(states):
        await _refuse(run, states)
    await execute_calls(run, ready)
    return run.abort_end() if run.abort.aborted else run.halted


async def _sequential(run: Run, states: Sequence[CallState]) -> End | None:
    end = await before_tools(run, states)
    if end is None and still_suspended(states):
        end = await look_again(run, states) or await resolve(run, states)
    return end or await _run_one_by_one(run, states)


async def _run_one_by_one(run: Run, states: Sequence[CallState], gated: Collection[CallState] = ()) -> End | None:
    """Gate, resolve and run each call; what still waits for an answer stops the round there.

    `gated` are calls that the gates were asked for, and the answerers too, in this run already.
    """
    for state in states:
        if state not in gated:
            end = await before_each_tool(run, [state]) or await look_again(run, [state])
            if end is None and state.suspended:
                end = await resolve(run, [state])
            if end is not None:
                return end
        if state.suspended:
            return None
        await _refuse(run, [state])
        if state.may_run:
            await execute_calls(run, [state])
        if run.abort.aborted:
            return run.abort_end()
        if run.failure is not None:
            run.check_failure()
        if run.halted is not None:
            return run.halted
    return None


async def _refuse(run: Run, states: Sequence[CallState]) -> None:
    """Give the calls that will not run their results, in call order."""
    for state in states:
        refusal = state.refusal()
        if refusal is not None:
            await store_result(run, state, refusal)


async def _close(run: Run, states: Sequence[CallState], end: End | None) -> End | None:
    """Close the round unless it waits, fire `after_tools`, and say how the turn goes on."""
    waiting = still_suspended(states)
    if end is None and waiting:
        names = ", ".join(f"{state.call.name} ({state.call.id})" for state in waiting)
        for state in waiting:
            run.leave_open(
                state.by, f"nobody answered for {state.call.name} ({state.call.id}), a call of a nested agent"
            )
        return End("waiting", f"waiting for an answer to: {names}")
    if end is not None:
        await close_open_calls(run, _reason(end))
    else:
        _note_round(run, states)
    run.state.pending = []
    if not run.hooks.after_tools:
        return end
    closed = _newest_round(run)
    for implementation, answer in run.dispatch.voices(run.hooks.after_tools, [closed]):
        returned = await answer
        if returned is None:
            continue
        store_added(run, returned.messages)
        if returned.verdict is not None and end is None:
            end = End("stopped", f"'{implementation.plugin}' stopped the run: {returned.verdict.reason}")
    return end


def _note_round(run: Run, states: Sequence[CallState]) -> None:
    """Warn the model when it goes on making the same calls with the same results, whatever their order."""
    if run.state.limits.max_equal_calls is None:
        return
    seen = collections.Counter(
        (state.call.name, json.dumps(state.call.arguments, sort_keys=True), state.result.content)
        for state in states
        if state.result is not None and state.result.status != "denied"
    )
    if not seen:
        return  # what was refused is no repetition
    warning = run.budget.end_round(frozenset(seen.items()))
    if warning is not None:
        store_user(run, UserMessage(warning, origin="hookagent", via="plugin"))


def _newest_round(run: Run) -> ToolRound:
    """The round that was just closed; behind it stand the messages that were held while it was open."""
    transcript = run.state.transcript
    place = len(transcript) - 1
    while not isinstance(block := transcript[place], ToolRound):
        place -= 1
    return block


def _reason(end: End) -> str:
    return NOT_STARTED if end.status == "aborted" else f"not run: {end.reason}"


async def close_open_calls(run: Run, reason: str) -> None:
    """Give every call of the open round that has no result one that says why; whatever hooks do, the round closes.

    A plugin that fails here is not called again; the first failure is raised when the round is closed.
    """
    open_round = run.state.transcript.open_round
    if open_round is None:
        return
    by_id = {state.call.id: state for state in run.state.pending}
    failure: BaseException | None = None
    for call in open_round.open_calls:
        state = by_id.get(call.id) or CallState(call)
        if state.started:
            refusal = ToolResult(f"{MAY_HAVE_RUN}: {reason}", True, "interrupted", call.id)
        else:
            refusal = state.refusal() or ToolResult(reason, True, "not_run", call.id)
        failure = await stored(run, state, refusal, failure)
    if failure is not None:
        raise failure
