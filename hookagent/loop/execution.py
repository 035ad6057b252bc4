"""Running the calls that may run: at once or one by one, each result stored as it comes."""

from __future__ import annotations

import asyncio
import collections
from collections.abc import Sequence
from dataclasses import replace

from hookagent.abort import Aborted
from hookagent.errors import PluginError
from hookagent.events import ErrorEvent, ToolEnd, ToolProgress, ToolStart
from hookagent.frozen import thaw
from hookagent.loop.calls import CallState
from hookagent.loop.run import Run
from hookagent.messages import ToolResult
from hookagent.supervise import Contained, contained
from hookagent.tools.context import ToolContext, calling
from hookagent.tools.execute import Execution, execute
from hookagent.tools.text import to_text

ABANDONED = "aborted by user: the tool did not stop in the grace time; it may still be running, and may have run"
NOT_STARTED = "not run: aborted by user before it started"


class ToolFailedError(Exception):
    """What `on_error` sees of a call that failed without an exception of its own: unknown tool, bad arguments."""


async def execute_calls(run: Run, states: Sequence[CallState]) -> None:
    """Run `states` at once, as far as tools and settings allow, and store each result as it comes.

    After an abort nothing more is started; what runs is asked to stop, has the grace time, and is left
    behind with a result that says so. Raises `PluginError` when a hook failed; what ran by then has its
    result, and `KeyboardInterrupt` when a tool raised it.
    """
    waiting = collections.deque(states)
    running: dict[asyncio.Task[Contained], tuple[CallState, ToolContext]] = {}
    finished: collections.deque[asyncio.Task[Contained]] = collections.deque()
    supervisor = run.supervisor
    wake: asyncio.Future[None] | None = None
    failure: BaseException | None = None

    def ended(task: asyncio.Task[Contained]) -> None:
        finished.append(task)
        if wake is not None and not wake.done():
            wake.set_result(None)

    give_up_at: float | None = None
    while waiting or running:
        if give_up_at is None and (run.aborted or failure is not None):
            left = supervisor.grace_left if run.aborted else supervisor.grace_seconds
            give_up_at = supervisor.clock.monotonic() + left
            for task, (state, _) in running.items():
                _ask_to_stop(run, task, state)
        if give_up_at is None:
            while waiting and _may_start(run, waiting[0], running):
                state = waiting.popleft()
                context = _context(run, state)
                run.emit(ToolStart, state.call)
                task = supervisor.loop.create_task(contained(_call(run, state, context)))
                running[task] = (state, context)
                task.add_done_callback(ended)
        elif not running:
            break
        if not finished:
            wake = supervisor.loop.create_future()
            limit = None if give_up_at is None else max(0.0, give_up_at - supervisor.clock.monotonic())
            overran = await supervisor.asleep(wake, limit=limit, heed_abort=give_up_at is None)
            if overran and not finished:
                break
        while finished:
            task = finished.popleft()
            state, context = running.pop(task)
            context.finish()
            try:
                await _settle(run, state, task.result())
            except (PluginError, KeyboardInterrupt) as error:
                failure = failure or error
    for task in running:
        task.cancel()
    for state, context in running.values():
        context.finish()
        try:
            await store_result(run, state, ToolResult(ABANDONED, True, "interrupted", state.call.id))
        except PluginError as error:
            failure = failure or error
    if failure is not None:
        raise failure


def _ask_to_stop(run: Run, task: asyncio.Task[Contained], state: CallState) -> None:
    """Ask one running call to stop: a plain tool reads the signal, hooks around a call see `Aborted`."""
    if not run.aborted or (state.tool is not None and state.tool.is_async and not run.hooks.wrap_tool_call):
        task.cancel()


def _may_start(
    run: Run, state: CallState, running: dict[asyncio.Task[Contained], tuple[CallState, ToolContext]]
) -> bool:
    if not running:
        return True
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


async def _call(run: Run, state: CallState, context: ToolContext) -> Execution | ToolResult | Aborted:
    """Execute one call, through the `wrap_tool_call` hooks where there are any."""
    with calling(context):
        wraps = run.hooks.wrap_tool_call
        if not wraps:
            return await _innermost(run, state, context)
        errors: list[BaseException] = []

        async def innermost() -> ToolResult | Aborted:
            execution = await _innermost(run, state, context)
            if execution.exception is not None:
                errors[:] = [execution.exception]
            return execution.result

        result = await run.dispatch.around_tool(wraps, state.call, innermost)
        if isinstance(result, ToolResult):
            failed = result.is_error and bool(errors)
            return Execution(replace(result, call_id=state.call.id), errors[0] if failed else None)
        aborted: Aborted = result
        return aborted


async def _innermost(run: Run, state: CallState, context: ToolContext) -> Execution:
    tool = state.tool
    assert tool is not None
    keywords = state.keywords
    if keywords is None:
        keywords = tool.validate(state.call.arguments or {})
    state.keywords = None  # another call of `call_next` makes fresh objects
    limit = tool.time_limit
    monotonic = run.supervisor.clock.monotonic
    if limit is None:
        return await execute(tool, keywords, context, run.result_limit, monotonic=monotonic)
    supervisor = run.supervisor
    task = supervisor.loop.create_task(
        contained(execute(tool, keywords, context, run.result_limit, monotonic=monotonic))
    )
    ended = await supervisor.until(task, limit=limit)
    if ended == "done":
        outcome = task.result()
        if outcome.error is not None:
            raise outcome.error
        execution: Execution = outcome.value
        return execution
    task.cancel()
    if ended == "aborted":
        await supervisor.cancel(task)
        text = ABANDONED if not task.done() else "interrupted: aborted by user while it ran; it may have run"
        return Execution(ToolResult(text, True, "interrupted", state.call.id), None)
    text = f"overran its time limit of {limit:g} s: the outcome is unknown, it may have run"
    return Execution(ToolResult(text, True, "interrupted", state.call.id, "TimeLimit"), TimeoutError(text))


async def _settle(run: Run, state: CallState, outcome: Contained) -> None:
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


