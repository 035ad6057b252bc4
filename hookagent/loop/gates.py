"""Gates: what plugins say about calls before they run, and who answers for what they suspended.

No gate can allow; the strictest verdict wins, so order opens no hole. After an amendment every other gate
is asked once more with the final arguments (design, "Hooks").
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hookagent.contract import Returned
from hookagent.dispatch import Implementation
from hookagent.errors import PluginError
from hookagent.loop.calls import CallState
from hookagent.loop.messages_in import store_added
from hookagent.loop.run import End, Run
from hookagent.messages import UserMessage
from hookagent.tools.arguments import ArgumentsError
from hookagent.verdicts import Amend, Approve, Deny, Stop, Suspend


async def before_tools(run: Run, states: Sequence[CallState]) -> End | None:
    """Ask the gates that see the round as a whole."""
    for implementation in run.hooks.before_tools:
        returned = await run.dispatch.one(implementation, tuple(state.call for state in states))
        if returned is not None:
            _take_round(run, implementation, returned, states, first=True)
        if run.aborted:
            return run.abort_end()
    return _stopped(states)


async def before_each_tool(run: Run, states: Sequence[CallState]) -> End | None:
    """Ask the gates for each call in call order, until a Stop or an abort."""
    for state in states:
        for implementation in run.hooks.before_each_tool:
            returned = await run.dispatch.one(implementation, state.call)
            if returned is not None and returned.verdict is not None:
                _take(run, implementation, state, returned.verdict)
            if run.aborted:
                return run.abort_end()
            if isinstance(state.verdict, Stop):
                return _stopped(states)
    return None


async def ask_again(run: Run, states: Sequence[CallState], amended: Sequence[CallState]) -> End | None:
    """Put amended calls, with their final arguments, to every gate but the one that amended them last."""
    for implementation in run.hooks.before_tools:
        if all(state.amended_by == implementation.plugin and state.edited_by is None for state in amended):
            continue
        returned = await run.dispatch.one(implementation, tuple(state.call for state in states))
        if returned is not None:
            _take_round(run, implementation, returned, states, first=False)
        if run.aborted:
            return run.abort_end()
    for state in amended:
        state.looked_at = state.call
        for implementation in run.hooks.before_each_tool:
            if state.amended_by == implementation.plugin and state.edited_by is None:
                continue
            returned = await run.dispatch.one(implementation, state.call)
            if returned is not None and returned.verdict is not None:
                _take(run, implementation, state, returned.verdict, final=True)
            if run.aborted:
                return run.abort_end()
    return _stopped(states)


async def resolve(run: Run, states: Sequence[CallState]) -> End | None:
    """Ask `resolve_suspended`, plugin after plugin, for the calls that are still suspended."""
    asked: set[str] = set()
    for implementation in run.hooks.resolve_suspended:
        open_states = [state for state in states if state.suspended and state.call.id not in asked]
        if not open_states:
            break
        returned = await run.dispatch.one(implementation, tuple(state.pending() for state in open_states))
        if run.aborted:
            return run.abort_end()
        if returned is None:
            continue
        by_id = {state.call.id: state for state in open_states}
        edited: list[CallState] = []
        for call_id, answer in returned.per_call.items():
            state = by_id.get(call_id)
            if state is None:
                raise _wrong(run, implementation, f"answered for call '{call_id}', which it was not asked for")
            asked.add(call_id)
            if isinstance(answer, Stop):
                run.unanswered = run.unanswered or answer.reason
                return End("refused", f"'{implementation.plugin}' stopped the run: {answer.reason}")
            if _answer(run, implementation, state, answer):
                edited.append(state)
        if edited:
            end = await ask_again(run, states, edited)
            if end is not None:
                return end
    return None


def _answer(run: Run, implementation: Implementation, state: CallState, answer: Any) -> bool:
    """Take one answer; whether it changed the arguments, so that the gates must see them."""
    state.verdict, state.by = None, implementation.plugin
    if isinstance(answer, Approve):
        return False
    if isinstance(answer, Deny):
        state.judge(answer, implementation.plugin)
        if answer.unanswered:
            run.unanswered = run.unanswered or answer.reason
        return False
    changed = _amend(run, implementation, state, answer)
    if changed:
        state.edited_by = implementation.plugin
    return changed


def _take_round(
    run: Run, implementation: Implementation, returned: Returned, states: Sequence[CallState], *, first: bool
) -> None:
    by_id = {state.call.id: state for state in states}
    for call_id in returned.per_call:
        if call_id not in by_id:
            raise _wrong(run, implementation, f"gave a verdict for call '{call_id}', which is not in the round")
    for state in states:
        for verdict in (returned.verdict, returned.per_call.get(state.call.id)):
            if verdict is not None:
                _take(run, implementation, state, verdict, final=not first)
    _hold(run, returned.messages, first=first)


def _hold(run: Run, messages: list[UserMessage], *, first: bool) -> None:
    """Hold added messages behind the round; what was said before it was amended is not said twice."""
    held = run.state.transcript.held
    store_added(run, [message for message in messages if first or message not in held])


def _take(run: Run, implementation: Implementation, state: CallState, verdict: Any, *, final: bool = False) -> None:
    plugin = implementation.plugin
    if not isinstance(verdict, Amend):
        state.judge(verdict, plugin)
        return
    if not final:
        if _amend(run, implementation, state, verdict):
            state.amended_by = plugin
        return
    before = state.call
    if _amend(run, implementation, state, verdict):
        state.call = before
        first = state.edited_by or state.amended_by or "an earlier gate"
        state.judge(Deny(f"'{first}' and '{plugin}' want different arguments for this call"), plugin)


def _amend(run: Run, implementation: Implementation, state: CallState, verdict: Amend) -> bool:
    try:
        return state.amend(verdict.arguments)
    except (ArgumentsError, TypeError, ValueError) as error:
        what = f"amended call '{state.call.name}' ({state.call.id}) with arguments that do not fit: {error}"
        raise _wrong(run, implementation, what) from error


def _wrong(run: Run, implementation: Implementation, what: str) -> PluginError:
    run.dispatch.failed.add(implementation.plugin)
    return PluginError(implementation.plugin, implementation.distribution, implementation.hook, what)


def _stopped(states: Sequence[CallState]) -> End | None:
    for state in states:
        if isinstance(state.verdict, Stop):
            return End("stopped", f"'{state.by}' stopped the run: {state.verdict.reason}")
    return None


def to_look_at(states: Sequence[CallState]) -> list[CallState]:
    """The calls that a gate amended and that the other gates have not seen with their final arguments."""
    return [state for state in states if state.amended_by is not None and state.looked_at is not state.call]


def still_suspended(states: Sequence[CallState]) -> list[CallState]:
    """The calls that wait for an answer."""
    return [state for state in states if isinstance(state.verdict, Suspend) and state.problem is None]
