"""Answers: who says yes or no to the calls that a gate suspended (design, "Hooks")."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hookagent.events import ResolveEnd, ResolveStart
from hookagent.implementations import Implementation
from hookagent.loop.calls import CallState
from hookagent.loop.gates import amend, ask_again, wrong
from hookagent.loop.run import End, Run
from hookagent.verdicts import Approve, Deny, Stop


async def resolve(run: Run, states: Sequence[CallState]) -> End | None:
    """Ask `resolve_suspended`, plugin after plugin, for what is still suspended; nobody twice for one call."""
    suspended = tuple(state.call for state in states if state.suspended)
    if not suspended or not run.hooks.resolve_suspended:
        return None
    run.emit(ResolveStart, suspended)
    run.budget.begin_asking()
    try:
        return await _ask(run, states)
    finally:
        run.budget.end_asking()
        run.emit(ResolveEnd, tuple(state.call.id for state in still_suspended(states)))


async def _ask(run: Run, states: Sequence[CallState]) -> End | None:
    for implementation in run.hooks.resolve_suspended:
        plugin = implementation.plugin
        open_states = [state for state in states if state.suspended and plugin not in state.asked]
        if not open_states:
            continue
        for state in open_states:
            state.asked = (*state.asked, plugin)
        returned = await run.dispatch.one(implementation, tuple(state.pending() for state in open_states))
        if run.aborted:
            return run.abort_end()
        if returned is None:
            continue
        by_id = {state.call.id: state for state in open_states}
        for call_id in returned.per_call:
            if call_id not in by_id:
                raise wrong(run, implementation, f"answered for call '{call_id}', which it was not asked for")
        edited = [
            by_id[call_id]
            for call_id, answer in returned.per_call.items()
            if not isinstance(answer, Stop) and _answer(run, implementation, by_id[call_id], answer)
        ]
        for answer in returned.per_call.values():
            if isinstance(answer, Stop):
                return run.obey(implementation, End("refused", f"'{plugin}' stopped the run: {answer.reason}"))
        if edited:
            end = await ask_again(run, edited)
            if end is not None:
                return end
    return None


def _answer(run: Run, implementation: Implementation, state: CallState, answer: Any) -> bool:
    """Take one answer; whether it changed the arguments, so that the gates must see them."""
    state.verdict, state.by = None, implementation.plugin
    if isinstance(answer, Deny):
        state.judge(answer, implementation.plugin)
        if answer.unanswered:
            run.refuse(implementation, answer.reason)
        return False
    state.answered = True
    if isinstance(answer, Approve) or not amend(run, implementation, state, answer):
        return False
    state.edited_by = implementation.plugin
    return True


def still_suspended(states: Sequence[CallState]) -> list[CallState]:
    """The calls that wait for an answer."""
    return [state for state in states if state.result is None and state.suspended]
