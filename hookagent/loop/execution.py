"""Running the calls that may run: at once or one by one, each result stored as it comes."""

from __future__ import annotations

import asyncio
import collections
from collections.abc import Mapping, Sequence

from hookagent.loop.alone import execute_alone
from hookagent.loop.calls import CallState
from hookagent.loop.results import ABANDONED, INTERRUPTING, LEFT_BEHIND, cancelled_result, graver, settle, stored
from hookagent.loop.run import Run
from hookagent.loop.starting import begin, carried_out, not_run
from hookagent.messages import ToolResult
from hookagent.tools.context import ToolContext
from hookagent.work import Work


async def execute_calls(run: Run, states: Sequence[CallState]) -> None:
    """Run `states` at once, as far as tools and settings allow, and store each result as it comes.

    After an abort nothing more is started; what runs is asked to stop, has the grace time, and is left
    behind with a result that says so. Raises, when what ran has its result, the `PluginError` of a hook that
    failed, `KeyboardInterrupt` when a tool raised it, and the cancellation of the run's own task.
    """
    if len(states) == 1:
        await execute_alone(run, states[0])
        return
    waiting = collections.deque(states)
    running: dict[Work, tuple[CallState, ToolContext]] = {}
    finished: collections.deque[Work] = collections.deque()
    supervisor = run.supervisor
    wake: asyncio.Future[None] | None = None
    failure: BaseException | None = None

    def ended(work: Work) -> None:
        finished.append(work)
        if wake is not None and not wake.done():
            wake.set_result(None)

    give_up_at: float | None = None
    try:
        while waiting or running:
            if give_up_at is None and (run.abort.aborted or failure is not None):
                left = supervisor.grace_left if run.abort.aborted else supervisor.grace_seconds
                give_up_at = supervisor.clock.monotonic() + left
                for work, (state, _) in running.items():
                    _ask_to_stop(run, work, state)
            if give_up_at is None:
                # Whoever is told of a start may abort; then nothing more is started.
                while waiting and not run.abort.aborted and (not running or _may_start(run, waiting[0], running)):
                    state = waiting.popleft()
                    over = run.budget.take_call()
                    if over is not None:
                        raised = await not_run(run, state, over)
                        failure = failure if raised is None else graver(failure, raised)
                        continue
                    context = begin(run, state)
                    if run.abort.aborted and not run.hooks.wrap_tool_call:
                        context.finish()
                        failure = await stored(run, state, cancelled_result(run, state.call.id), failure)
                        continue
                    work = Work(supervisor.loop, carried_out(run, state, context), ended)
                    running[work] = (state, context)
            if not running:
                break
            if not finished:
                wake = supervisor.loop.create_future()
                limit = None if give_up_at is None else max(0.0, give_up_at - supervisor.clock.monotonic())
                try:
                    overran = await supervisor.asleep(wake, limit=limit, heed_abort=give_up_at is None)
                except asyncio.CancelledError as cancelled:
                    failure = graver(failure, cancelled)
                    supervisor.abort.set("cancelled")
                    continue
                if overran and not finished:
                    break
            while finished:
                work = finished.popleft()
                state, context = running.pop(work)
                context.finish()
                assert work.outcome is not None
                try:
                    await settle(run, state, work.outcome)
                except INTERRUPTING as error:
                    failure = graver(failure, error)
    finally:  # also where somebody who listens raised what nobody may: what was started must hear of the end
        for work in running:
            work.cancel()
    for state, context in running.values():
        context.finish()
        text = ABANDONED if run.abort.aborted else LEFT_BEHIND
        failure = await stored(run, state, ToolResult(text, True, "interrupted", state.call.id), failure)
    if failure is not None:
        raise failure


def _ask_to_stop(run: Run, work: Work, state: CallState) -> None:
    """Ask one running call to stop: a plain tool reads the signal, hooks around a call see `Aborted`."""
    if not run.abort.aborted or (state.tool is not None and state.tool.is_async and not run.hooks.wrap_tool_call):
        work.cancel()


def _may_start(run: Run, state: CallState, running: Mapping[Work, tuple[CallState, ToolContext]]) -> bool:
    if run.max_parallel is not None and len(running) >= run.max_parallel:
        return False
    if state.tool is not None and state.tool.alone:
        return False
    return not any(other.tool is not None and other.tool.alone for other, _ in running.values())
