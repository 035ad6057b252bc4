import asyncio
import contextvars
import threading
import types
from collections.abc import Iterator
from typing import Any

import pytest

from hookagent.abort import AbortSignal
from hookagent.errors import MisuseError
from hookagent.tools.context import CURRENT_CALL, ToolContext, current_call
from hookagent.tools.execute import execute
from hookagent.tools.tool import Tool


def test_outside_of_a_tool_there_is_no_call() -> None:
    with pytest.raises(MisuseError, match="outside of a tool"):
        current_call()


def test_nested_calls_give_back_the_outer_one() -> None:
    seen: list[str] = []

    async def inner(fails: bool) -> None:
        seen.append(current_call().call_id)
        if fails:
            raise RuntimeError("boom")

    async def outer() -> None:
        for fails in (False, True):
            await execute(Tool.from_callable(inner), {"fails": fails}, ToolContext(call_id="inner"))
            seen.append(current_call().call_id)

    asyncio.run(execute(Tool.from_callable(outer), {}, ToolContext(call_id="outer")))
    assert seen == ["inner", "outer", "inner", "outer"]
    with pytest.raises(MisuseError):
        current_call()


def test_parallel_tasks_each_see_their_own_call() -> None:
    async def work(name: str, barrier: asyncio.Barrier) -> str:
        CURRENT_CALL.set(ToolContext(call_id=name))
        await barrier.wait()
        seen = current_call().call_id
        await barrier.wait()
        return f"{seen}{await asyncio.create_task(_ask())}"

    async def _ask() -> str:
        return current_call().call_id

    async def run() -> list[str]:
        barrier = asyncio.Barrier(3)
        return await asyncio.gather(*(work(name, barrier) for name in "abc"))

    assert asyncio.run(run()) == ["aa", "bb", "cc"]


def test_what_a_tool_may_know() -> None:
    abort = AbortSignal()
    agent, session = object(), object()
    context = ToolContext(
        agent=agent,
        session=session,
        task="tidy",
        iteration=2,
        call_id="c",
        tool_name="t",
        previous_tools=("a", "b"),
        abort=abort,
    )
    assert (context.agent, context.session, context.task) == (agent, session, "tidy")
    assert (context.iteration, context.call_id, context.tool_name) == (2, "c", "t")
    assert context.abort is abort
    assert context.previous_tools == ("a", "b")
    assert ToolContext().previous_tools == ()
    with pytest.raises(AttributeError):
        context.other = 1  # type: ignore[attr-defined]


def test_progress_from_a_thread_is_reported_in_the_loops_thread_and_in_order() -> None:
    reports: list[tuple[Any, int]] = []

    async def run() -> None:
        context = ToolContext(report=lambda value: reports.append((value, threading.get_ident())))
        context.report_progress("first")

        def work() -> None:
            for number in range(5):
                context.report_progress(number)

        await asyncio.to_thread(work)

    asyncio.run(run())
    assert [value for value, _ in reports] == ["first", 0, 1, 2, 3, 4]
    assert {thread for _, thread in reports} == {threading.get_ident()}


def test_late_progress_goes_nowhere() -> None:
    reports: list[Any] = []

    async def run() -> ToolContext:
        context = ToolContext(report=reports.append)
        reported, finished = threading.Event(), threading.Event()

        def work() -> None:
            context.report_progress("on its way when the call ends")
            reported.set()
            assert finished.wait(10)
            context.report_progress("late")

        thread = threading.Thread(target=work)
        thread.start()
        assert reported.wait(10)
        context.finish()
        finished.set()
        thread.join()
        await asyncio.sleep(0)
        context.report_progress("later")
        return context

    context = asyncio.run(run())
    assert reports == []
    assert context.finished


def test_progress_after_the_loop_is_closed_is_ignored() -> None:
    async def run() -> ToolContext:
        return ToolContext(report=pytest.fail)

    context = asyncio.run(run())
    thread = threading.Thread(target=context.report_progress, args=("late",))
    thread.start()
    thread.join()
    assert context.finished


def test_without_listeners_progress_is_fine() -> None:
    ToolContext().report_progress(object())


def test_a_call_that_nobody_finishes_ends_quietly_in_any_context() -> None:
    @types.coroutine
    def leaving() -> Iterator[None]:
        yield

    async def waits() -> str:
        await leaving()
        return "never"

    call = execute(Tool.from_callable(waits), {}, ToolContext(call_id="c1", tool_name="waits"))
    assert contextvars.copy_context().run(call.send, None) is None
    call.close()  # as the garbage collector does, in the context that it happens to be called in
