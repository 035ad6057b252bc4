"""Calls beside each other when the run is to end: what each is told, how long it has, and what its result says."""

from __future__ import annotations

import asyncio
import contextlib
from typing import Any

import pytest

from hookagent import PluginError
from hookagent.abort import Aborted
from hookagent.testing import FakeClock
from tests.core.plugin_making import Around, made
from tests.core.scripts import calls, make_agent
from tests.core.waiting_tools import CANCELLED, OUTLASTED, STOPPED, Tools, ended_by, ends, results, seen, turns, until

ANSWER = {"text": "done"}


@pytest.fixture
def tools() -> Any:
    """The tools of one test; what still waits in a thread is let go behind it."""
    made_here = Tools()
    yield made_here
    made_here.free.set()


# ---- an abort ----


@pytest.mark.parametrize(
    ("names", "seconds", "expected"),
    [
        (("waits", "waits"), 0.0, [STOPPED, STOPPED]),
        (("patient", "patient"), 0.0, ["heeded: enough", "heeded: enough"]),
        (("patient", "waits"), 0.0, ["heeded: enough", STOPPED]),
        (("waits", "stubborn"), 5.0, [STOPPED, f"aborted by user: {OUTLASTED}"]),
        (("deaf", "waits"), 5.0, [f"aborted by user: {OUTLASTED}", STOPPED]),
    ],
)
def test_what_runs_at_an_abort_is_told_in_its_own_way(
    tools: Tools, names: Any, seconds: float, expected: list[str]
) -> None:
    async def main() -> None:
        clock = FakeClock()
        agent = make_agent([calls(*names)], tools=tools.all(), clock=clock, grace_seconds=5.0)
        result = await ended_by(agent, clock, lambda: agent.abort("enough"), seconds or 99.0)
        assert (result.status, result.reason) == ("aborted", "enough")
        heeds = [text.startswith("heeded") for text in expected]
        assert seen(agent) == [
            (text, "ok" if heeded else "interrupted", not heeded) for text, heeded in zip(expected, heeds, strict=True)
        ]
        assert clock.now == seconds
        tools.free.set()
        await turns()

    asyncio.run(main())


@pytest.mark.parametrize("names", [("waits", "waits"), ("deaf", "waits")])
def test_hooks_around_calls_see_that_an_abort_ended_them_and_have_the_grace_time(tools: Tools, names: Any) -> None:
    got: list[Any] = []

    async def around(tool_call: Any, call_next: Any) -> Any:
        got.append(await call_next())
        await turns(3)
        got.append(tool_call.id)
        return got[0]

    async def main() -> None:
        clock = FakeClock()
        agent = make_agent([calls(*names)], Around("around", around), tools=tools.all(), clock=clock)
        assert (await ended_by(agent, clock, lambda: agent.abort("enough"), 99.0)).status == "aborted"
        assert [one if isinstance(one, str) else (type(one), one.reason) for one in got] == [
            *[(Aborted, "enough")] * 2,
            "c1",
            "c2",
        ]
        assert seen(agent) == [(STOPPED, "interrupted", True)] * 2
        assert clock.now == 0.0

    asyncio.run(main())


def test_an_abort_by_who_hears_of_a_start_starts_nothing_more(tools: Tools) -> None:
    agent = make_agent([calls("waits", "quick", "ok")], tools=tools.all())
    agent.subscribe(lambda event: agent.abort("enough") if event.type == "tool_start" else None)
    assert agent.run_sync("go").status == "aborted"
    unstarted = ("not run: aborted by user before it started", "not_run", True)
    assert seen(agent) == [(STOPPED, "interrupted", True), unstarted, unstarted]
    assert ends(agent)[0] == "+c1"
    assert "+c2" not in ends(agent)


@pytest.mark.parametrize("grace", [0.0, 2.0, 5.0])
def test_what_heeds_no_abort_is_left_when_the_grace_time_is_over_and_not_before(tools: Tools, grace: float) -> None:
    async def main() -> None:
        clock = FakeClock()
        agent = make_agent([calls("stubborn", "stubborn")], tools=tools.all(), clock=clock, grace_seconds=grace)
        task = asyncio.ensure_future(agent.run("go"))
        await until(lambda: "+c2" in ends(agent))
        clock.advance(3.0)
        agent.abort("enough")
        if grace:
            await turns(50)
            clock.advance(grace - 0.5)
            await turns(50)
            assert not task.done()
            clock.advance(0.5)
        await until(task.done)
        assert task.done()
        assert seen(agent) == [(f"aborted by user: {OUTLASTED}", "interrupted", True)] * 2
        tools.free.set()
        await turns()

    asyncio.run(main())


@pytest.mark.parametrize("spent", [0.0, 3.0])
def test_a_hook_that_ends_late_takes_its_time_from_what_the_calls_beside_it_have(tools: Tools, spent: float) -> None:
    begun = asyncio.Event()

    async def main() -> None:
        clock = FakeClock()
        late = asyncio.Event()

        async def after_each_tool(tool_call: Any) -> None:
            if tool_call.id == "c1":
                begun.set()
                with contextlib.suppress(asyncio.CancelledError):
                    await asyncio.Event().wait()
                await late.wait()

        agent = make_agent(
            [calls("quick", "stubborn")],
            made("late", after_each_tool=after_each_tool),
            tools=tools.all(),
            clock=clock,
            grace_seconds=5.0,
        )
        task = asyncio.ensure_future(agent.run("go"))
        await begun.wait()
        agent.abort("enough")
        await turns()
        clock.advance(spent)
        late.set()
        await turns()
        clock.advance(5.0 - spent)
        await until(task.done)
        assert task.done()
        assert seen(agent)[1] == (f"aborted by user: {OUTLASTED}", "interrupted", True)
        tools.free.set()
        await turns()

    asyncio.run(main())


# ---- a failure ----


@pytest.mark.parametrize(
    ("name", "seconds", "expected"),
    [
        ("waits", 0.0, CANCELLED),
        ("patient", 0.0, CANCELLED),
        ("deaf", 0.0, CANCELLED),
        ("stubborn", 5.0, f"the run failed: {OUTLASTED}"),
    ],
)
def test_what_runs_beside_a_call_whose_hook_failed_is_told_to_end(
    tools: Tools, name: str, seconds: float, expected: str
) -> None:
    gate = asyncio.Event()

    async def first() -> str:
        """Wait until the other one runs."""
        await gate.wait()
        return "first"

    async def main() -> None:
        clock = FakeClock()
        fails = made("fails", after_each_tool=lambda tool_call, result: 1 // 0 if tool_call.id == "c1" else None)
        agent = make_agent(
            [calls("first", name, "quick")],
            fails,
            tools=[first, *tools.all()],
            clock=clock,
            grace_seconds=5.0,
            max_parallel_tools=2,
        )
        with pytest.raises(PluginError, match="hook 'after_each_tool' raised ZeroDivisionError") as raised:
            await ended_by(agent, clock, gate.set, seconds or 99.0)
        assert clock.now == seconds
        assert seen(agent) == [
            ("first", "ok", False),
            (expected, "interrupted", True),
            (f"not run: {raised.value}", "not_run", True),
        ]
        tools.free.set()
        await turns()

    asyncio.run(main())


@pytest.mark.parametrize("at", ["once", "its cancellation"])
def test_an_interrupt_by_one_call_ends_those_beside_it_and_is_graver_than_a_hook_that_failed(
    tools: Tools, at: str
) -> None:
    async def interrupts() -> str:
        """Interrupt, when the others have begun, or when this is to end."""
        if at == "once":
            await turns(5)
        else:
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.Event().wait()
        raise KeyboardInterrupt

    fails = made("fails", after_each_tool=lambda tool_call, result: 1 // 0)
    names = ["waits", "interrupts"] if at == "once" else ["quick", "waits", "interrupts"]
    agent = make_agent([calls(*names)], fails, tools=[interrupts, *tools.all()], clock=FakeClock())
    with pytest.raises(KeyboardInterrupt):
        asyncio.run(agent.run("go"))
    expected = [CANCELLED, "interrupted: the tool was stopped by a keyboard interrupt; it may have run"]
    assert [one.content for one in results(agent)] == ["quick 0", *expected][-len(names) :]
    assert len(tools.log) == 1


def test_when_the_run_s_own_task_is_cancelled_its_calls_are_and_it_is_raised(tools: Tools) -> None:
    async def main() -> None:
        agent = make_agent([calls("waits", "waits", "quick")], tools=tools.all(), max_parallel_tools=2)
        task = asyncio.ensure_future(agent.run("go"))
        await until(lambda: "+c2" in ends(agent))
        await turns()
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task
        assert task.cancelled()
        stopped = (
            "interrupted: aborted by user (cancelled by the caller) while it ran; it may have run",
            "interrupted",
            True,
        )
        assert seen(agent)[:2] == [stopped, stopped]
        assert seen(agent)[2][1:] == ("not_run", True)
        assert tools.log == ["c1 told", "c2 told"]

    asyncio.run(main())


@pytest.mark.parametrize("aborted", [False, True])
def test_an_abort_that_comes_while_a_failed_run_ends_has_a_grace_time_of_its_own(tools: Tools, aborted: bool) -> None:
    completed: list[str] = []

    async def main() -> None:
        clock = FakeClock()

        async def on_complete(outcome: Any) -> None:
            waited = asyncio.Event()
            clock.call_later(1.0, waited.set)
            clock.advance(1.0)
            await waited.wait()
            completed.append(outcome.status)

        fails = made("fails", after_each_tool=lambda tool_call, result: 1 // 0)
        agent = make_agent(
            [calls("quick", "stubborn")],
            fails,
            made("late", on_complete=on_complete),
            tools=tools.all(),
            clock=clock,
            grace_seconds=5.0,
        )
        task = asyncio.ensure_future(agent.run("go"))
        await until(lambda: "-c1" in ends(agent))
        await turns()
        clock.advance(3.0)
        if aborted:
            agent.abort("enough")
        await turns()
        clock.advance(2.0)
        with pytest.raises(PluginError):
            await task
        said = "aborted by user" if aborted else "the run failed"
        assert seen(agent)[1] == (f"{said}: {OUTLASTED}", "interrupted", True)
        tools.free.set()
        await turns()

    asyncio.run(main())
    assert len(completed) == 1


@pytest.mark.parametrize("interrupted", [False, True])
def test_when_others_cancel_all_tasks_the_calls_end_and_an_interrupt_that_came_before_is_raised(
    tools: Tools, interrupted: bool
) -> None:
    """A server that shuts down cancels every task, the run's own too."""

    def cancel_the_run() -> None:
        for task in asyncio.all_tasks():
            if "run_turns" in repr(task):
                task.cancel()

    async def first() -> str:
        """End the run in one way or the other, when the calls beside it have begun."""
        await turns(5)
        if interrupted:
            raise KeyboardInterrupt
        cancel_the_run()
        await asyncio.Event().wait()
        return "never"

    async def last() -> str:
        """Cancel the run when this is to end."""
        try:
            await asyncio.Event().wait()
        finally:
            cancel_the_run()
            await turns(5)
        return "never"

    async def main() -> None:
        agent = make_agent([calls("first", "waits", "last")], tools=[first, last, *tools.all()], clock=FakeClock())
        with pytest.raises(KeyboardInterrupt if interrupted else asyncio.CancelledError):
            await agent.run("go")
        assert seen(agent)[1] == (STOPPED.replace("enough", "cancelled"), "interrupted", True)
        assert {one.status for one in results(agent)} == {"interrupted"}

    asyncio.run(main())
