"""Running the calls that may run: at once or one by one, each result stored as it comes."""

from __future__ import annotations

import asyncio
import collections
from collections.abc import Coroutine, Mapping, Sequence
from typing import Any

from hookagent.abort import Aborted
from hookagent.around import around_tool
from hookagent.dispatch import Implementation
from hookagent.events import ToolProgress, ToolStart
from hookagent.loop.calls import CallState
from hookagent.loop.results import ABANDONED, INTERRUPTING, clean_result, graver, settle, store_result
from hookagent.loop.run import Run
from hookagent.messages import ToolResult
from hookagent.tools.context import ToolContext, calling
from hookagent.tools.execute import Execution, execute
from hookagent.work import Work


async def execute_calls(run: Run, states: Sequence[CallState]) -> None:
    """Run `states` at once, as far as tools and settings allow, and store each result as it comes.

    After an abort nothing more is started; what runs is asked to stop, has the grace time, and is left
    behind with a result that says so. Raises, when what ran has its result, the `PluginError` of a hook that
    failed, `KeyboardInterrupt` when a tool raised it, and the cancellation of the run's own task.
    """
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
                while waiting and (not running or _may_start(run, waiting[0], running)):
                    state = waiting.popleft()
                    over = run.budget.take_call()
                    if over is not None:
                        raised = await _not_run(run, state, over)
                        failure = failure if raised is None else graver(failure, raised)
                        continue
                    context = _context(run, state)
                    state.started = True
                    run.emit(ToolStart, state.call)
                    work = Work(supervisor.loop, _call(run, state, context), ended)
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
        try:
            await store_result(run, state, ToolResult(ABANDONED, True, "interrupted", state.call.id))
        except INTERRUPTING as error:
            failure = graver(failure, error)
    if failure is not None:
        raise failure


def _ask_to_stop(run: Run, work: Work, state: CallState) -> None:
    """Ask one running call to stop: a plain tool reads the signal, hooks around a call see `Aborted`."""
    if not run.abort.aborted or (state.tool is not None and state.tool.is_async and not run.hooks.wrap_tool_call):
        work.cancel()


async def _not_run(run: Run, state: CallState, reason: str) -> BaseException | None:
    """Give a call that a limit forbids its result; what a hook did with it, if it failed."""
    try:
        await store_result(run, state, ToolResult(reason, True, "not_run", state.call.id, "Limit"))
    except INTERRUPTING as raised:
        return raised
    return None


def _may_start(run: Run, state: CallState, running: Mapping[Work, tuple[CallState, ToolContext]]) -> bool:
    if run.max_parallel is not None and len(running) >= run.max_parallel:
        return False
    if state.tool is not None and state.tool.alone:
        return False
    return not any(other.tool is not None and other.tool.alone for other, _ in running.values())


def _context(run: Run, state: CallState) -> ToolContext:
    session = run.state
    called = session.tools_called
    count = len(called)
    called.append(state.call.name)
    run.tool_calls += 1

    def report(value: object) -> None:
        if run.emitter.heard:
            run.emit(ToolProgress, state.call, value)

    return ToolContext(
        agent=run.agent,
        session=run.session,
        task=session.user_prompt,
        iteration=session.iteration,
        call_id=state.call.id,
        tool_name=state.call.name,
        previous_tools=lambda: tuple(called[:count]),
        abort=run.supervisor.abort,
        report=report,
    )


def _call(run: Run, state: CallState, context: ToolContext) -> Coroutine[Any, Any, Execution | ToolResult | Aborted]:
    """Execute one call, through the `wrap_tool_call` hooks where there are any."""
    wraps = run.hooks.wrap_tool_call
    return _wrapped(run, wraps, state, context) if wraps else _innermost(run, state, context)


async def _wrapped(
    run: Run, wraps: tuple[Implementation, ...], state: CallState, context: ToolContext
) -> Execution | ToolResult | Aborted:
    with calling(context):
        executions: list[Execution] = []

        async def innermost() -> ToolResult | Aborted:
            execution = await _innermost(run, state, context)
            executions.append(execution)
            state.raised = execution.exception
            return execution.result

        result: ToolResult | Aborted = await around_tool(run.dispatch, wraps, state.call, innermost)
        if isinstance(result, Aborted):
            return result
        for execution in executions:
            if execution.result is result:
                return execution
        result = clean_result(run, result, state.call.id)
        raised = next((one.exception for one in reversed(executions) if one.exception is not None), None)
        return Execution(result, raised if result.is_error else None)


def _innermost(run: Run, state: CallState, context: ToolContext) -> Coroutine[Any, Any, Execution]:
    tool = state.tool
    assert tool is not None
    keywords = state.keywords
    if keywords is None:
        keywords = tool.validate(state.call.arguments or {})
    state.keywords = None  # another call of `call_next` makes fresh objects
    limit = tool.time_limit
    monotonic = run.supervisor.clock.monotonic
    execution = execute(tool, keywords, context, run.result_limit, monotonic=monotonic)
    return execution if limit is None else _limited(run, state, execution, limit)


async def _limited(run: Run, state: CallState, execution: Coroutine[Any, Any, Execution], limit: float) -> Execution:
    supervisor = run.supervisor
    work = Work(supervisor.loop, execution)
    try:
        ended = await supervisor.ended(work, limit)
    except BaseException:  # cancelled from outside: what runs in the other task must hear of it
        await supervisor.cancel(work)
        raise
    outcome = work.outcome
    if outcome is not None:
        if outcome.error is not None:
            raise outcome.error
        executed: Execution = outcome.value
        return executed
    work.cancel()
    if ended == "aborted":
        stopped = await supervisor.cancel(work)
        text = ABANDONED if not stopped else "interrupted: aborted by user while it ran; it may have run"
        return Execution(ToolResult(text, True, "interrupted", state.call.id), None)
    text = f"overran its time limit of {limit:g} s: the outcome is unknown, it may have run"
    return Execution(ToolResult(text, True, "interrupted", state.call.id, "TimeLimit"), TimeoutError(text))
