import asyncio
import contextvars
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from typing import Any

import pytest

from hookagent.tools.threads import TOOL_THREADS, ThreadPool

USER: contextvars.ContextVar[str] = contextvars.ContextVar("user", default="nobody")


def test_the_callers_context_is_copied() -> None:
    def change() -> str:
        seen = USER.get()
        USER.set("changed in the thread")
        return seen

    async def run() -> tuple[str, str]:
        USER.set("ann")
        return await TOOL_THREADS.run(change), USER.get()

    assert asyncio.run(run()) == ("ann", "ann")


def test_blocking_functions_run_at_once_and_leave_the_loop_free() -> None:
    async def run() -> str:
        pool = ThreadPool()
        barrier = threading.Barrier(9)
        calls = [pool.run(barrier.wait, 10) for _ in range(8)]
        # The loop is free while eight functions block: it is the one that lets them go.
        await asyncio.sleep(0)
        assert not any(call.done() for call in calls)
        calls.append(pool.run(barrier.wait, 10))
        await asyncio.gather(*calls)
        return "all"

    assert asyncio.run(run()) == "all"


def test_an_idle_thread_is_used_again() -> None:
    async def run() -> None:
        pool = ThreadPool()
        for _ in range(50):
            await pool.run(lambda: None)
        # The one before may not be back yet when the next call comes.
        assert pool.thread_count <= 3

    asyncio.run(run())


def test_an_idle_thread_ends_after_a_while() -> None:
    async def run() -> threading.Thread:
        pool = ThreadPool(idle_seconds=0.0)
        return await pool.run(threading.current_thread)

    thread = asyncio.run(run())
    thread.join(10)
    assert not thread.is_alive()


def test_no_more_than_the_most_run_at_once_and_the_rest_wait_their_turn() -> None:
    running: list[int] = []
    most: list[int] = []
    order: list[int] = []
    lock = threading.Lock()

    def work(number: int) -> None:
        with lock:
            running.append(number)
            order.append(number)
            most.append(len(running))
        with lock:
            running.remove(number)

    async def run() -> None:
        pool = ThreadPool(max_threads=2)
        await asyncio.gather(*(pool.run(work, number) for number in range(20)))
        assert pool.thread_count <= 2

    asyncio.run(run())
    assert max(most) <= 2
    assert sorted(order) == list(range(20))


def test_a_bound_below_one_is_refused() -> None:
    with pytest.raises(ValueError, match="must be at least 1"):
        ThreadPool(max_threads=0)


def test_a_call_that_is_given_up_before_it_began_never_begins() -> None:
    began: list[str] = []
    free = threading.Event()

    async def run() -> None:
        pool = ThreadPool(max_threads=1)
        first = pool.run(free.wait, 10)
        second = pool.run(began.append, "second")
        third = pool.run(began.append, "third")
        second.cancel()
        free.set()
        await first
        await third

    asyncio.run(run())
    assert began == ["third"]


@pytest.mark.parametrize(
    "error", [ValueError("no"), SystemExit(3), KeyboardInterrupt(), StopIteration(), asyncio.CancelledError()]
)
def test_what_is_raised_arrives(error: BaseException) -> None:
    def work() -> None:
        raise error

    async def run() -> BaseException:
        try:
            await TOOL_THREADS.run(work)
        except BaseException as raised:
            return raised
        raise AssertionError("nothing was raised")

    raised = asyncio.run(run())
    assert raised is error or (isinstance(raised, RuntimeError) and raised.__cause__ is error)
    assert not isinstance(raised, asyncio.CancelledError)


def test_a_result_for_a_closed_loop_is_dropped() -> None:
    free, done = threading.Event(), threading.Event()

    def work() -> None:
        free.wait(10)

    async def run() -> None:
        pool.run(work)

    pool = ThreadPool()
    asyncio.run(run())
    free.set()

    async def again() -> None:
        await pool.run(done.set)

    asyncio.run(again())
    assert done.is_set()


def test_an_abandoned_thread_does_not_hold_the_process() -> None:
    code = (
        "import asyncio, threading\nfrom hookagent.tools.threads import TOOL_THREADS\n"
        "async def main():\n    TOOL_THREADS.run(threading.Event().wait)\n"
        "asyncio.run(main())\nprint('ended')\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout == "ended\n"
    assert done.stderr == ""


def test_the_pool_works_in_a_forked_child() -> None:
    async def ask(function: Callable[[], Any]) -> Any:
        return await TOOL_THREADS.run(function)

    assert asyncio.run(ask(lambda: "parent")) == "parent"
    code = (
        "import asyncio, os, sys\nfrom hookagent.tools.threads import TOOL_THREADS\n"
        "async def ask(word):\n    return await TOOL_THREADS.run(lambda: word)\n"
        "assert asyncio.run(ask('parent')) == 'parent'\n"
        "child = os.fork()\n"
        "if child == 0:\n"
        "    works = asyncio.run(ask('child')) == 'child' and TOOL_THREADS.thread_count == 1\n"
        "    os._exit(0 if works else 1)\n"
        "sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))\n"
    )
    if not hasattr(os, "fork"):
        pytest.skip("no fork here")
    subprocess.run([sys.executable, "-W", "ignore", "-c", code], timeout=60, check=True)
