"""Gates: what plugins say about calls before they run.

No gate can allow; the strictest verdict wins, so order opens no hole. After an amendment every other gate
is asked once more with the final arguments (design, "Hooks").
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hookagent.contract import Returned
from hookagent.errors import PluginError
from hookagent.implementations import Implementation
from hookagent.loop.calls import CallState
from hookagent.loop.messages_in import store_added
from hookagent.loop.run import End, Run
from hookagent.messages import UserMessage
from hookagent.tools.arguments import ArgumentsError
from hookagent.verdicts import Amend, Deny, Stop, strictness


async def before_tools(run: Run, states: Sequence[CallState]) -> End | None:
    """Ask the gates that see the round as a whole."""
    values: list[Any] = [tuple([state.call for state in states])]
    for implementation, answer in run.dispatch.voices(run.hooks.before_tools, values):
        returned = await answer
        if returned is not None:
            _take_round(run, implementation, returned, states, final=False)
            values[0] = tuple([state.call for state in states])
        if run.aborted:
            return run.abort_end()
    return _stopped(states)


async def before_each_tool(run: Run, states: Sequence[CallState]) -> End | None:
    """Ask the gates for each call in call order, until a Stop or an abort.

    A call that they were asked for before (a waiting session is resumed) can only be judged more strictly.
    """
    for state in states:
        again, state.gated = state.gated, True
        values: list[Any] = [state.call]
        for implementation, answer in run.dispatch.voices(run.hooks.before_each_tool, values):
            returned = await answer
            if returned is not None and returned.verdict is not None:
                _take(run, implementation, state, returned.verdict, final=again)
                values[0] = state.call
            if run.aborted:
                return run.abort_end()
            if isinstance(state.verdict, Stop):
                return _stopped(states)
    return None


async def look_again(run: Run, states: Sequence[CallState]) -> End | None:
    """Put those of `states` that a gate amended to the other gates, unless they saw the final arguments so already."""
    amended = [state for state in states if state.amended_by is not None and state.looked_at is not state.call]
    return await ask_again(run, amended) if amended else None


async def ask_again(run: Run, amended: Sequence[CallState]) -> End | None:
    """Put amended calls, with their final arguments, to every gate but the one that amended them last.

    `before_tools` sees the whole round; what it says counts for the calls that have no result yet.
    """
    round_states = amended if run.detached else run.state.pending
    unseen = [state for state in amended if state.round_saw is not state.call]
    for implementation in run.hooks.before_tools if unseen else ():
        if all(_is_amender(implementation, state) for state in unseen):
            continue
        returned = await run.dispatch.one(implementation, tuple(state.call for state in round_states))
        if returned is not None:
            _take_round(run, implementation, returned, round_states, final=True)
        if run.aborted:
            return run.abort_end()
    for state in round_states:
        state.round_saw = state.call
    for state in amended:
        state.looked_at = state.call
        for implementation in run.hooks.before_each_tool:
            if _is_amender(implementation, state):
                continue
            returned = await run.dispatch.one(implementation, state.call)
            if returned is not None and returned.verdict is not None:
                _take(run, implementation, state, returned.verdict, final=True)
            if run.aborted:
                return run.abort_end()
    return _stopped(round_states)


def _is_amender(implementation: Implementation, state: CallState) -> bool:
    """Whether this gate chose the arguments itself; once a person changed them, none did."""
    return state.amended_by == (implementation.plugin, implementation.hook) and state.edited_by is None


def _take_round(
    run: Run, implementation: Implementation, returned: Returned, states: Sequence[CallState], *, final: bool
) -> None:
    by_id = {state.call.id: state for state in states}
    for call_id in returned.per_call:
        if call_id not in by_id:
            raise wrong(run, implementation, f"gave a verdict for call '{call_id}', which is not in the round")
    for state in states:
        if state.result is not None:
            continue
        verdicts = [one for one in (returned.verdict, returned.per_call.get(state.call.id)) if one is not None]
        # An amendment first: what it repairs can be suspended.
        for verdict in sorted(verdicts, key=strictness):
            _take(run, implementation, state, verdict, final=final)
    _hold(run, returned.messages, again=final)


def _hold(run: Run, messages: list[UserMessage], *, again: bool) -> None:
    """Hold added messages behind the round; what was said before it was amended is not said twice."""
    held = run.state.transcript.held
    store_added(run, [message for message in messages if not again or message not in held])


def _take(run: Run, implementation: Implementation, state: CallState, verdict: Any, *, final: bool) -> None:
    """Take one verdict; a `final` one comes when the arguments stand, so that an `Amend` then is a `Deny`."""
    plugin = implementation.plugin
    if not isinstance(verdict, Amend):
        if isinstance(verdict, Deny) and verdict.unanswered:
            run.refuse(implementation, verdict.reason)
        elif isinstance(verdict, Stop):
            run.obey(implementation, End("stopped", f"'{plugin}' stopped the run: {verdict.reason}"))
        state.judge(verdict, plugin)
    elif not final and not state.answered:
        if amend(run, implementation, state, verdict):
            state.amended_by = plugin, implementation.hook
    elif (state.answered or not _is_amender(implementation, state)) and amend(
        run, implementation, state, verdict, apply=False
    ):
        first = state.edited_by or (state.amended_by[0] if state.amended_by is not None else None)
        reason = (
            f"'{first}' and '{plugin}' want different arguments for this call"
            if first is not None
            else f"'{plugin}' wants different arguments for this call after {_too_late(state)}"
        )
        state.judge(Deny(reason), plugin)


def amend(run: Run, implementation: Implementation, state: CallState, verdict: Amend, *, apply: bool = True) -> bool:
    """Give a call other arguments; whether that changes (or, without `apply`, would change) anything.

    Raises `PluginError` when they do not fit the tool.
    """
    try:
        return state.amend(verdict.arguments) if apply else state.would_change(verdict.arguments)
    except (ArgumentsError, TypeError, ValueError, RecursionError) as error:
        what = f"amended call '{state.call.name}' ({state.call.id}) with arguments that do not fit: {error}"
        raise wrong(run, implementation, what) from error


def wrong(run: Run, implementation: Implementation, what: str) -> PluginError:
    """The error for a verdict or an answer that cannot be taken."""
    run.dispatch.failed.add(implementation.plugin)
    return PluginError(implementation.plugin, implementation.distribution, implementation.hook, what)


def _too_late(state: CallState) -> str:
    return "it was answered for" if state.answered else "all gates have spoken"


def _stopped(states: Sequence[CallState]) -> End | None:
    for state in states:
        if isinstance(state.verdict, Stop):
            return End("stopped", f"'{state.by}' stopped the run: {state.verdict.reason}")
    return None
