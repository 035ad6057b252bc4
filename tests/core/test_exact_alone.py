"""What became of a call is said in the same words, whether it ran alone in its round or beside another one."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import Any

import pytest

from hookagent import Agent, ToolResult, current_call
from hookagent.events import ToolStart
from hookagent.testing import FakeClock
from hookagent.transcript import ToolRound
from tests.core.plugin_making import made
from tests.core.scripts import calls, make_agent, quick

ANSWER = {"text": "done"}
BESIDE = pytest.mark.parametrize("names", [("tested",), ("tested", "quick")], ids=["alone", "beside"])
BY_ITSELF = "interrupted: it was cancelled, by itself or because the run failed, while it ran; it may have run"
ABORTED = "interrupted: aborted by user (enough) while it ran; it may have run"
ABANDONED = "aborted by user: the tool did not stop in the grace time; it may still be running, and may have run"


def agent_of(names: tuple[str, ...], tested: Callable[[], Any], *plugins: Any, **options: Any) -> Agent:
    tested.__name__ = "tested"
    tested.__doc__ = "Be tested."
    return make_agent([calls(*names), ANSWER, ANSWER], *plugins, tools=[tested, quick], **options)


def first_result(agent: Agent) -> ToolResult:
    block = agent.transcript[1]
    assert isinstance(block, ToolRound)
    assert block.results[0] is not None
    return block.results[0]


def said(agent: Agent) -> tuple[str, str, bool]:
    result = first_result(agent)
    assert result.call_id == "c1"
    return result.content, result.status, result.is_error


async def turns(count: int = 10) -> None:
    for _ in range(count):
        await asyncio.sleep(0)


# ---- a tool that cancels the task it runs in ----


@BESIDE
@pytest.mark.parametrize(
    ("then", "expected"),
    [
        ("returns", (BY_ITSELF, "interrupted", True)),
        ("waits", (BY_ITSELF, "interrupted", True)),
        ("raises", (BY_ITSELF, "interrupted", True)),
        ("heeds it", ("heeded", "ok", False)),
    ],
)
def test_a_tool_that_cancels_itself_has_run_only_where_it_took_that_for_its_own(
    then: str, expected: tuple[str, str, bool], names: tuple[str, ...]
) -> None:
    async def rash() -> str:
        task = asyncio.current_task()
        assert task is not None
        task.cancel()
        if then == "waits":
            await asyncio.sleep(0)
        if then == "raises":
            raise asyncio.CancelledError
        if then == "heeds it":
            try:
                await asyncio.sleep(0)
            except asyncio.CancelledError:
                return "heeded"
        return "returned"

    agent = agent_of(names, rash)
    result = agent.run_sync("go")
    assert (result.status, result.answer) == ("completed", "done")
    assert said(agent) == expected


@BESIDE
def test_an_interrupt_is_raised_although_the_tool_cancelled_itself_before(names: tuple[str, ...]) -> None:
    async def rash() -> str:
        task = asyncio.current_task()
        assert task is not None
        task.cancel()
        raise KeyboardInterrupt

    agent = agent_of(names, rash)
    with pytest.raises(KeyboardInterrupt):
        asyncio.run(agent.run("go"))
    text = "interrupted: the tool was stopped by a keyboard interrupt; it may have run"
    assert said(agent) == (text, "interrupted", True)


# ---- a tool that says itself how it ended ----


@BESIDE
def test_that_a_tool_finds_its_arguments_bad_is_told_as_if_they_had_not_fitted(names: tuple[str, ...]) -> None:
    async def looks() -> Any:
        return ToolResult("there is no such table", True, error_type="BadArguments")

    told: list[tuple[str, str]] = []
    hears = made("hears", on_error=lambda error, tool_call: told.append((tool_call.id, str(error))))
    agent = agent_of(names, looks, hears)
    assert agent.run_sync("go").status == "completed"
    assert said(agent) == ("there is no such table", "error", True)
    assert told == [("c1", "there is no such table")]


# ---- a run whose own task is cancelled ----


@BESIDE
@pytest.mark.parametrize("fails", [False, True])
def test_the_cancellation_of_the_run_is_an_abort_that_says_so(names: tuple[str, ...], fails: bool) -> None:
    tasks: list[asyncio.Task[Any]] = []
    started: list[str] = []

    def remember() -> None:
        task = asyncio.current_task()
        assert task is not None
        tasks.append(task)

    def judge(tool_call: Any) -> None:
        if fails and tool_call.name == "tested":
            raise ValueError("no")  # which is less than what interrupts the run

    async def endless() -> str:
        started.append("tested")
        await asyncio.Event().wait()
        return "never"

    async def main() -> Agent:
        agent = agent_of(names, endless, made("remembers", before_llm=remember, after_each_tool=judge))
        running = asyncio.ensure_future(agent.run("go"))
        while not started:
            await asyncio.sleep(0)
        tasks[0].cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        return agent

    agent = asyncio.run(main())
    assert said(agent) == (ABORTED.replace("enough", "cancelled"), "interrupted", True)
    assert agent.last_result is not None
    assert (agent.last_result.status, agent.last_result.reason) == ("aborted", "cancelled")


# ---- an abort ----


@BESIDE
@pytest.mark.parametrize(
    ("heeds", "expected"),
    [
        ("at once", (ABORTED, "interrupted", True)),
        ("in time", ("in time", "ok", False)),
        ("too late", (ABANDONED, "interrupted", True)),
        ("never", (ABANDONED, "interrupted", True)),
    ],
)
def test_an_async_tool_is_aborted_at_once_and_has_the_grace_time_to_end(
    heeds: str, expected: tuple[str, str, bool], names: tuple[str, ...]
) -> None:
    async def main() -> Agent:
        clock, started, over = FakeClock(), asyncio.Event(), asyncio.Event()

        async def waits() -> str:
            started.set()
            while not over.is_set():
                try:
                    await over.wait()
                except asyncio.CancelledError:
                    if heeds == "at once" or (heeds == "too late" and clock.now):
                        raise
                    if heeds == "in time":
                        return "in time"
            return "far too late"

        agent = agent_of(names, waits, clock=clock, grace_seconds=5.0)
        running = asyncio.ensure_future(agent.run("go"))
        await started.wait()
        agent.abort("enough")
        await turns()
        clock.advance(5.0)
        result = await running
        assert (result.status, result.reason) == ("aborted", "enough")
        over.set()
        await turns()
        return agent

    assert said(asyncio.run(main())) == expected


@BESIDE
@pytest.mark.parametrize(
    ("heeds", "expected"), [(True, ("heeded", "ok", False)), (False, (ABANDONED, "interrupted", True))]
)
def test_a_plain_tool_has_the_grace_time_to_see_an_abort(
    heeds: bool, expected: tuple[str, str, bool], names: tuple[str, ...]
) -> None:
    over = threading.Event()

    async def main() -> Agent:
        clock, started = FakeClock(), asyncio.Event()
        loop = asyncio.get_running_loop()

        def waits() -> str:
            abort = current_call().abort
            loop.call_soon_threadsafe(started.set)
            if heeds:
                abort.wait(60)
            else:
                over.wait(60)
            return "heeded"

        agent = agent_of(names, waits, clock=clock, grace_seconds=5.0)
        running = asyncio.ensure_future(agent.run("go"))
        await started.wait()
        agent.abort("enough")
        await turns()
        if not heeds:
            clock.advance(5.0)
        assert (await running).status == "aborted"
        return agent

    try:
        assert said(asyncio.run(main())) == expected
    finally:
        over.set()


@BESIDE
@pytest.mark.parametrize("plain", [False, True])
@pytest.mark.parametrize("grace", [0.0, 5.0])
def test_a_tool_that_was_aborted_as_its_start_was_told_does_not_run(
    grace: float, plain: bool, names: tuple[str, ...]
) -> None:
    ran: list[str] = []

    def marks() -> str:
        ran.append("tested")
        return "marked"

    async def marks_async() -> str:
        return marks()

    agent = agent_of(names, marks if plain else marks_async, grace_seconds=grace)
    agent.subscribe(lambda event: agent.abort("enough") if isinstance(event, ToolStart) else None)
    assert agent.run_sync("go").status == "aborted"
    assert (said(agent), ran) == ((ABORTED, "interrupted", True), [])


@pytest.mark.parametrize("plain", [False, True])
def test_a_later_abort_has_nothing_more_to_do_with_a_tool_that_ended(plain: bool) -> None:
    async def main() -> None:
        clock, asked = FakeClock(), asyncio.Event()

        async def ends() -> str:
            return "ended"

        async def before_llm(iteration: int) -> None:
            if iteration == 2:
                asked.set()
                await asyncio.Event().wait()

        tool = (lambda: "ended") if plain else ends
        agent = agent_of(("tested",), tool, made("waits", before_llm=before_llm), clock=clock, grace_seconds=5.0)
        running = asyncio.ensure_future(agent.run("go"))
        await asked.wait()
        agent.abort("enough")
        await turns()
        clock.advance(5.0)
        result = await running
        assert (result.status, result.reason, said(agent)) == ("aborted", "enough", ("ended", "ok", False))

    asyncio.run(main())


# ---- nothing is waited for that nobody has to wait for ----


def test_a_run_that_is_listened_to_lets_the_listeners_have_their_turn_and_waits_for_no_time_to_pass() -> None:
    async def main() -> None:
        async def ends() -> str:
            return "ended"

        agent = agent_of(("tested",), ends)
        heard: list[str] = []
        agent.subscribe(lambda event: heard.append(event.type))
        running = asyncio.ensure_future(agent.run("go"))
        await turns(300)
        assert running.done()
        assert heard.count("tool_start") == heard.count("tool_end") == 1

    asyncio.run(main())
