import asyncio
import contextvars
import functools
import threading
from typing import Any

import pytest

from hookagent.abort import AbortSignal
from hookagent.messages import ToolResult
from hookagent.tools.context import ToolContext, current_call
from hookagent.tools.execute import Execution, execute, failure
from hookagent.tools.text import NO_OUTPUT
from hookagent.tools.threads import ThreadPool
from hookagent.tools.tool import Tool

USER: contextvars.ContextVar[str] = contextvars.ContextVar("user", default="nobody")


def run(function: Any, /, limit: int = 100_000, **values: Any) -> Execution:
    made = Tool.from_callable(function, name="tested")

    async def main() -> Execution:
        return await execute(made, values, ToolContext(call_id="c1", tool_name="tested"), limit)

    return asyncio.run(main())


class AsyncObject:
    async def __call__(self) -> str:
        return "o"


async def _p(word: str) -> str:
    return word


def _wrapper() -> Any:
    return _p("w")


@pytest.mark.parametrize(
    ("function", "content"),
    [
        (lambda: "ok", "ok"),
        (functools.partial(_p, "p"), "p"),
        (_wrapper, "w"),
        (AsyncObject(), "o"),
        (lambda: {"a": [1]}, '{"a": [1]}'),
        (lambda: None, NO_OUTPUT),
        (lambda: "", NO_OUTPUT),
        (lambda: [*""], "[]"),
    ],
)
def test_every_kind_of_tool_is_run(function: Any, content: str) -> None:
    execution = run(function)
    assert execution.result.content == content
    assert execution.result.call_id == "c1"
    assert (execution.result.is_error, execution.result.status, execution.exception) == (False, "ok", None)


def raises(error: BaseException) -> list[Any]:
    def plain() -> None:
        raise error

    async def coroutine() -> None:
        raise error

    def late() -> Any:
        return coroutine()

    return [plain, coroutine, late]


@pytest.mark.parametrize("form", [0, 1, 2], ids=["plain", "async", "awaitable"])
@pytest.mark.parametrize(
    ("error", "content"),
    [
        (ValueError("no"), "ValueError: no"),
        (PermissionError("403"), "PermissionError: 403"),
        (RuntimeError(), "RuntimeError"),
        (SystemExit(3), "the tool tried to exit"),
        (asyncio.CancelledError(), "the tool cancelled itself"),
        (StopIteration("x"), "StopIteration"),
        (BaseException("odd"), "BaseException: odd"),
        (ExceptionGroup("several", [ValueError("one"), KeyError("two")]), "ValueError: one; KeyError: 'two'"),
    ],
)
def test_what_a_tool_raises_becomes_an_error_result(form: int, error: BaseException, content: str) -> None:
    execution = run(raises(error)[form])
    result = execution.result
    assert content in result.content
    assert (result.is_error, result.status) == (True, "error")
    assert execution.exception is not None


@pytest.mark.parametrize("form", [0, 1, 2], ids=["plain", "async", "awaitable"])
@pytest.mark.parametrize("error", [KeyboardInterrupt(), BaseExceptionGroup("g", [KeyboardInterrupt()])])
def test_a_keyboard_interrupt_passes(form: int, error: BaseException) -> None:
    made = Tool.from_callable(raises(error)[form])

    async def main() -> str:
        try:
            await execute(made, {}, ToolContext())
        except KeyboardInterrupt:
            return "interrupted"
        return "swallowed"

    assert asyncio.run(main()) == "interrupted"


def test_exit_called_inside_a_tool_ends_nothing() -> None:
    def code(src: str) -> None:
        exec(src, {})

    result = run(code, src="raise SystemExit").result
    assert "tried to exit the process" in result.content
    assert result.error_type == "SystemExit"


def test_the_first_cause_is_named() -> None:
    def deep() -> None:
        try:
            try:
                raise KeyError("root")
            except KeyError as error:
                raise ValueError("middle") from error
        except ValueError as error:
            raise RuntimeError("top") from error

    assert run(deep).result.content == "RuntimeError: top (first cause: KeyError: 'root')"


def test_a_hidden_context_stays_hidden() -> None:
    def hides() -> None:
        try:
            raise KeyError("secret")
        except KeyError:
            raise ValueError("told") from None

    assert run(hides).result.content == "ValueError: told"


class ReadTimeout(Exception):
    """As HTTP clients have it."""


@pytest.mark.parametrize("error", [TimeoutError("slow"), ReadTimeout("slow")])
def test_after_a_time_out_the_outcome_is_unknown_and_nothing_is_repeated(error: Exception) -> None:
    paid: list[int] = []

    def pay() -> None:
        paid.append(1)
        raise error

    content = run(pay).result.content
    assert "the outcome is unknown" in content
    assert "again" not in content
    assert "retry" not in content
    assert paid == [1]


def test_an_abort_that_a_tool_heeds_is_an_interruption() -> None:
    abort = AbortSignal()
    abort.set("ctrl-c")
    execution = run(lambda: abort.raise_if_aborted())
    assert execution.result.status == "interrupted"
    assert execution.result.is_error
    assert "ctrl-c" in execution.result.content


@pytest.mark.parametrize(
    ("returned", "content", "is_error", "status"),
    [
        (ToolResult("fine"), "fine", False, "ok"),
        (ToolResult("bad", is_error=True), "bad", True, "error"),
        (ToolResult("", is_error=True, error_type="connection refused"), "connection refused", True, "error"),
        (ToolResult(" ", is_error=True), "the tool failed and gave no output", True, "error"),
        (ToolResult(""), NO_OUTPUT, False, "ok"),
        (ToolResult("a\ud835b\x00"), "a\ufffdb\u2400", False, "ok"),
        (ToolResult("x", status="error"), "x", True, "error"),
        (ToolResult({"a": 1}), '{"a": 1}', False, "ok"),  # type: ignore[arg-type]
        (ToolResult(None), NO_OUTPUT, False, "ok"),  # type: ignore[arg-type]
    ],
)
def test_a_result_of_the_tools_own_is_cleaned(returned: ToolResult, content: str, is_error: bool, status: str) -> None:
    result = run(lambda: returned).result
    assert (result.content, result.is_error, result.status, result.call_id) == (content, is_error, status, "c1")


def test_a_returned_exception_counts_as_raised() -> None:
    execution = run(lambda: ValueError("no"))
    assert execution.result.is_error
    assert isinstance(execution.exception, ValueError)


def test_results_are_bounded_whatever_their_way() -> None:
    big = "A" + "x" * 200_000 + "Z"

    def fails() -> None:
        raise ValueError(big)

    async def asynchronous() -> str:
        return big

    for function in (lambda: big, fails, asynchronous, lambda: ToolResult(big)):
        content = run(function, limit=1_000).result.content
        assert len(content) < 1_100
        assert "left out" in content
        assert content.endswith("Z")


def test_milliseconds_are_measured_with_the_given_clock() -> None:
    ticks = iter([10.0, 10.25])

    async def main() -> Execution:
        made = Tool.from_callable(lambda: "x", name="x")
        return await execute(made, {}, ToolContext(), monotonic=lambda: next(ticks))

    assert asyncio.run(main()).result.milliseconds == 250.0


def test_the_callers_context_variables_and_the_call_are_seen_in_both_kinds() -> None:
    def plain() -> str:
        return f"{USER.get()} {current_call().call_id}"

    async def asynchronous() -> str:
        return plain()

    USER.set("ann")
    try:
        assert [run(function).result.content for function in (plain, asynchronous)] == ["ann c1", "ann c1"]
    finally:
        USER.set("nobody")


def test_a_context_parameter_is_filled_in() -> None:
    def plain(a: int, context: ToolContext) -> str:
        return f"{a} {context.call_id} {context is current_call()}"

    assert run(plain, a=1).result.content == "1 c1 True"


def test_parallel_calls_settle_alone_and_a_blocking_one_leaves_the_loop_free() -> None:
    free = threading.Event()

    def blocks() -> str:
        assert free.wait(10)
        return current_call().call_id

    def fails() -> None:
        raise ValueError("no")

    async def frees() -> str:
        free.set()
        return current_call().call_id

    async def main() -> list[str]:
        pool = ThreadPool()
        tools = [Tool.from_callable(function) for function in (blocks, fails, frees)]
        executions = await asyncio.gather(
            *(execute(made, {}, ToolContext(call_id=made.name), threads=pool) for made in tools)
        )
        return [execution.result.content for execution in executions]

    assert asyncio.run(main()) == ["blocks", "ValueError: no", "frees"]


def test_a_nested_run_gives_the_outer_call_back() -> None:
    async def outer() -> str:
        inner = Tool.from_callable(lambda: current_call().call_id, name="inner")
        nested = await execute(inner, {}, ToolContext(call_id="nested"))
        return f"{nested.result.content} in {current_call().call_id}"

    assert run(outer).result.content == "nested in c1"


@pytest.mark.parametrize("kind", ["plain", "async"])
def test_a_cancellation_from_outside_passes_and_late_progress_is_ignored(kind: str) -> None:
    reports: list[str] = []

    async def main() -> None:
        started, free, left = threading.Event(), threading.Event(), threading.Event()
        begun = asyncio.Event()

        def plain(context: ToolContext) -> None:
            loop.call_soon_threadsafe(begun.set)
            started.set()
            free.wait(10)
            context.report_progress("late")
            left.set()

        async def asynchronous() -> None:
            begun.set()
            await asyncio.Event().wait()

        loop = asyncio.get_running_loop()
        made = Tool.from_callable(plain if kind == "plain" else asynchronous)
        context = ToolContext(report=reports.append)
        task = asyncio.create_task(execute(made, {}, context))
        await begun.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert context.finished
        free.set()
        if kind == "plain":
            assert left.wait(10)
            await asyncio.sleep(0)

    asyncio.run(main())
    assert reports == []


def test_progress_comes_before_the_result() -> None:
    order: list[str] = []

    def work(context: ToolContext) -> str:
        context.report_progress("half")
        return "done"

    async def main() -> None:
        context = ToolContext(report=order.append)
        execution = await execute(Tool.from_callable(work), {}, context)
        order.append(execution.result.content)

    asyncio.run(main())
    assert order == ["half", "done"]


def test_an_error_whose_text_raises_is_still_an_error() -> None:
    class OddError(Exception):
        def __str__(self) -> str:
            raise RuntimeError("no text")

    result = failure(OddError())
    assert result.is_error
    assert "OddError: its text form raised RuntimeError" in result.content
