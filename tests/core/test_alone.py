"""A call that runs alone runs in the run's own task, and nobody can tell by what it may do, or by how it ends."""

from __future__ import annotations

import asyncio
import contextvars
from typing import Any

import pytest

from hookagent import Agent, current_call
from hookagent.events import ToolStart
from hookagent.testing import FakeClock
from tests.core.plugin_making import Around
from tests.core.scripts import calls, make_agent, quick, words

ANSWER = {"text": "done"}
PERSON: contextvars.ContextVar[str] = contextvars.ContextVar("person", default="nobody")


async def _pass(given: Any, call_next: Any) -> Any:
    return await call_next()


WRAPPED = pytest.mark.parametrize("wrapped", [False, True], ids=["bare", "wrapped"])


def agent_of(tool: Any, wrapped: bool = False, **options: Any) -> Agent:
    plugins = [Around("outer", _pass), Around("inner", _pass)] if wrapped else []
    return make_agent([calls(tool.__name__), ANSWER, ANSWER], *plugins, tools=[tool, quick], **options)


@WRAPPED
def test_a_tool_that_heeds_no_abort_is_left_behind_and_goes_on(wrapped: bool) -> None:
    log: list[str] = []
    free: list[asyncio.Event] = []

    async def stubborn() -> str:
        """Wait, whatever comes."""
        free.append(asyncio.Event())
        while not free[0].is_set():
            try:
                await free[0].wait()
            except asyncio.CancelledError:
                log.append("cancelled")
        log.append(f"ended as {current_call().call_id}")
        return "late"

    async def main() -> None:
        clock = FakeClock()
        agent = agent_of(stubborn, wrapped, clock=clock, grace_seconds=5.0)
        running = asyncio.ensure_future(agent.run("go"))
        while not free:
            await asyncio.sleep(0)
        agent.abort("enough")
        while not log:
            await asyncio.sleep(0)
        for _ in range(5):
            await asyncio.sleep(0)
        clock.advance(6.0)
        result = await running
        assert (result.status, words(agent.transcript)[2]) == ("aborted", "R c1 interrupted")
        free[0].set()
        for _ in range(5):
            await asyncio.sleep(0)
        assert set(log[:-1]) == {"cancelled"}
        assert log[-1] == "ended as c1"

    asyncio.run(main())


@WRAPPED
@pytest.mark.parametrize("then", ["returns", "waits", "raises", "takes it back"])
def test_a_tool_that_cancels_its_task_ends_nothing_but_itself(wrapped: bool, then: str) -> None:
    async def rash() -> str:
        """Cancel the task it runs in."""
        task = asyncio.current_task()
        assert task is not None
        task.cancel()
        if then == "waits":
            await asyncio.sleep(0)
        if then == "raises":
            raise asyncio.CancelledError
        if then == "takes it back":
            task.uncancel()
        return "returned"

    agent = agent_of(rash, wrapped)
    result = agent.run_sync("go")
    assert (result.status, result.answer) == ("completed", "done")
    assert words(agent.transcript)[2].startswith("R c1 ")


@WRAPPED
def test_what_a_tool_sets_in_its_context_stays_in_it(wrapped: bool) -> None:
    seen: list[str] = []

    async def setting() -> str:
        """Look and set."""
        seen.append(PERSON.get())
        PERSON.set("ann")
        await asyncio.sleep(0)
        seen.append(PERSON.get())
        return "set"

    agent = agent_of(setting, wrapped)
    agent.run_sync("go")
    agent = make_agent([calls("setting"), calls("setting"), ANSWER], tools=[setting])
    agent.run_sync("go")
    assert seen == ["nobody", "ann"] * 3


@WRAPPED
def test_time_outs_of_a_tools_own_work_and_leave_the_run_alone(wrapped: bool) -> None:
    async def timed() -> str:
        """Wait for something with a time-out, twice, and clean up with a wait."""
        said = []
        for _ in range(2):
            try:
                async with asyncio.timeout(0.001):
                    try:
                        await asyncio.Event().wait()
                    finally:
                        await asyncio.sleep(0)
            except TimeoutError:
                said.append("timed out")
        return ", ".join(said)

    agent = agent_of(timed, wrapped)
    result = agent.run_sync("go")
    assert result.status == "completed"
    assert agent.transcript[1].results[0].content == "timed out, timed out"  # type: ignore[union-attr]


def test_a_time_out_of_a_hook_around_a_call_ends_the_call_and_not_the_run() -> None:
    log: list[str] = []

    async def slow() -> str:
        """Wait for ever."""
        try:
            await asyncio.Event().wait()
        finally:
            log.append("ended")
        return "never"

    async def hurried(tool_call: Any, call_next: Any) -> Any:
        from hookagent import ToolResult

        try:
            async with asyncio.timeout(0.001):
                return await call_next()
        except TimeoutError:
            return ToolResult("took too long", is_error=True, status="error")

    agent = make_agent([calls("slow"), ANSWER], Around("hurried", hurried), Around("below", _pass), tools=[slow])
    result = agent.run_sync("go")
    assert (result.status, words(agent.transcript)[2], log) == ("completed", "R c1 error", ["ended"])


@WRAPPED
def test_the_cancellation_of_the_runs_own_task_closes_the_round_and_is_raised(wrapped: bool) -> None:
    started: list[str] = []

    async def slow() -> str:
        """Wait for ever."""
        started.append("slow")
        await asyncio.Event().wait()
        return "never"

    async def main() -> None:
        agent = agent_of(slow, wrapped)
        running = asyncio.ensure_future(agent.run("go"))
        while not started:
            await asyncio.sleep(0)
        for task in asyncio.all_tasks():
            if "run_turns" in repr(task):
                task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        assert words(agent.transcript)[2] == "R c1 interrupted"
        assert agent.last_result is not None
        assert agent.last_result.status == "aborted"
        assert (await agent.run("again")).answer == "done"

    asyncio.run(main())


def test_an_abort_by_who_hears_of_the_start_keeps_the_tool_from_running() -> None:
    ran: list[str] = []

    async def mark() -> str:
        """Leave a mark."""
        ran.append("mark")
        return "marked"

    agent = agent_of(mark)

    def stop(event: Any) -> None:
        if isinstance(event, ToolStart):
            agent.abort("not that one")

    agent.subscribe(stop)
    result = agent.run_sync("go")
    assert (result.status, ran, words(agent.transcript)[2]) == ("aborted", [], "R c1 interrupted")


def test_a_run_that_never_waits_lets_others_have_their_turn() -> None:
    async def main() -> None:
        agent = make_agent([calls("quick")] * 400 + [ANSWER], limits={"max_iterations": None})
        running = asyncio.ensure_future(agent.run("go"))
        await asyncio.sleep(0)
        while not agent.session.iteration:
            await asyncio.sleep(0)
        agent.abort("enough")
        assert (await running).status == "aborted"
        assert 0 < agent.session.iteration < 400

    asyncio.run(main())
