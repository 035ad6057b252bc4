"""Running one call: from bound arguments to a result, whatever the tool does.

A tool cannot end the run: what it raises becomes an error result. Two things pass: a cancellation that comes from
outside, and `KeyboardInterrupt`.
"""

from __future__ import annotations

import asyncio
import inspect
import time
from collections.abc import Callable
from contextvars import copy_context
from typing import Any, NamedTuple

from hookagent.abort import AbortedError
from hookagent.errors import error_text
from hookagent.messages import ToolResult
from hookagent.tools.context import CURRENT_CALL, ToolContext
from hookagent.tools.text import DEFAULT_LIMIT, bounded_text, to_text
from hookagent.tools.threads import TOOL_THREADS, ThreadPool
from hookagent.tools.tool import Tool

_MOST_CAUSES = 5
# A named tuple's own way to be made is a function in Python.
_made: Callable[..., Execution] = tuple.__new__


class Execution(NamedTuple):
    """What running a call gave: the result for the model, and the exception for `on_error` (None: it raised none)."""

    result: ToolResult
    exception: BaseException | None = None


async def execute(
    tool: Tool,
    values: dict[str, Any],
    context: ToolContext,
    result_limit: int = DEFAULT_LIMIT,
    *,
    monotonic: Callable[[], float] = time.monotonic,
    threads: ThreadPool = TOOL_THREADS,
) -> Execution:
    """Run `tool` with validated `values` (by parameter name) and return its result, at most `result_limit` characters.

    An async tool runs in the calling task, a plain one in a thread with the caller's context variables; an awaitable
    that it returns is awaited. Never raises but `KeyboardInterrupt` and the caller's own cancellation; a thread that
    is given up runs on, but what it reports is ignored. Milliseconds are measured with `monotonic` (seconds).
    """
    started = monotonic()
    error: BaseException | None = None
    result: ToolResult | None = None
    token = CURRENT_CALL.set(context)
    try:
        if tool.is_async:
            value = await tool.call(values, context)
        else:
            carried = copy_context()
            value = await threads.run(_call, tool, values, context, result_limit, context=carried)
        # The commonest answer first: asking whether something can be awaited is slow.
        while type(value) is not str and inspect.isawaitable(value):
            value = await value
        if type(value) is str:
            content = to_text(value, result_limit)
            milliseconds = (monotonic() - started) * 1000.0
            return _made(Execution, (ToolResult(content, False, "ok", context.call_id, None, milliseconds), None))
        if isinstance(value, BaseException):
            error = value
        else:
            result = _as_result(value, result_limit)
    except asyncio.CancelledError as raised:
        # Asked only now: the tasks of calls are new, nobody has cancelled them before.
        task = asyncio.current_task()
        if task is not None and task.cancelling():
            raise
        error = raised
    except (KeyboardInterrupt, GeneratorExit):
        raise
    except BaseException as raised:
        error = raised
    finally:
        # What nobody finishes is closed by whoever collects it, in another context: there is nothing to take back then.
        try:  # noqa: SIM105 - `suppress` is three calls, in each round
            CURRENT_CALL.reset(token)
        except ValueError:
            pass
        context.finish()
    if error is not None and _interrupted(error):
        raise KeyboardInterrupt from error
    if error is not None or result is None:
        result = failure(error or RuntimeError("the tool gave nothing"), result_limit)
    milliseconds = (monotonic() - started) * 1000.0
    result = ToolResult(
        result.content, result.is_error, result.status, context.call_id, result.error_type, milliseconds
    )
    try:
        return Execution(result, error)
    finally:
        # What was raised knows this frame: it would keep itself alive, and with it the call and its agent.
        del error


def _call(tool: Tool, values: dict[str, Any], context: ToolContext, limit: int) -> Any:
    try:
        value = tool.call(values, context)
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        # Returned, not raised: a future could not carry every kind, and one that is given up would complain.
        return error
    # Made into text here, so that a large value does not hold up the event loop.
    return value if inspect.isawaitable(value) else _as_text(value, limit)


def _as_text(value: Any, limit: int) -> Any:
    return value if isinstance(value, (ToolResult, BaseException)) else to_text(value, limit)


def _as_result(outcome: Any, limit: int) -> ToolResult:
    if not isinstance(outcome, ToolResult):
        return ToolResult(to_text(outcome, limit))
    content = outcome.content if isinstance(outcome.content, str) else to_text(outcome.content, limit)
    failed = outcome.is_error or outcome.status != "ok"
    if failed and not content.strip():
        content = outcome.error_type or "the tool failed and gave no output"
    status = "error" if failed and outcome.status == "ok" else outcome.status
    return ToolResult(
        bounded_text(content, limit), failed, status, outcome.call_id, outcome.error_type, outcome.milliseconds
    )


def failure(error: BaseException, result_limit: int = DEFAULT_LIMIT) -> ToolResult:
    """Return the error result for what a tool raised; its text says what happened and does not ask for a repeat."""
    kind = type(error).__name__
    if isinstance(error, AbortedError):
        text = f"stopped: the run was aborted while the tool ran ({error_text(error) or 'no reason given'})"
        return ToolResult(bounded_text(text, result_limit), True, "interrupted", error_type=kind)
    if isinstance(error, SystemExit):
        text = f"SystemExit: the tool tried to exit the process (code {error.code!r}), which no tool can do"
    elif isinstance(error, asyncio.CancelledError):
        text = "CancelledError: the tool cancelled itself, or something that it waited for was cancelled"
    else:
        text = _described(error)
        if _timed_out(error):
            text += ". the outcome is unknown: the work may have been done, in part or whole, or not at all"
    text += _causes(error)
    return ToolResult(bounded_text(text, result_limit), True, "error", error_type=kind)


def _described(error: BaseException) -> str:
    said = error_text(error)
    if isinstance(error, BaseExceptionGroup):
        inside = "; ".join(_described(inner) for inner in error.exceptions[:_MOST_CAUSES])
        said = f"{said}: {inside}"
    return f"{type(error).__name__}: {said}" if said else type(error).__name__


def _causes(error: BaseException) -> str:
    """Name the first cause of a chain, the one that the others grew from."""
    seen = {id(error)}
    current = error
    while True:
        deeper = current.__cause__ or (None if current.__suppress_context__ else current.__context__)
        if deeper is None or id(deeper) in seen:
            break
        seen.add(id(deeper))
        current = deeper
    return "" if current is error else f" (first cause: {_described(current)})"


def _timed_out(error: BaseException) -> bool:
    # The libraries' own classes (of HTTP clients, drivers) are known by name only.
    return isinstance(error, TimeoutError) or any("timeout" in kind.__name__.lower() for kind in type(error).__mro__)


def _interrupted(error: BaseException) -> bool:
    if isinstance(error, BaseExceptionGroup):
        return any(_interrupted(inner) for inner in error.exceptions)
    return isinstance(error, KeyboardInterrupt)
