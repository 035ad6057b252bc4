"""Time that hooks take: when one is called slow, what is charged to whom, and what is not its own."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable
from typing import Any

import pytest

from hookagent import PluginError, hookimpl
from hookagent.events import HookReport
from hookagent.testing import FakeClock
from tests.core.plugin_making import made
from tests.core.scripts import make_agent

ANSWER = {"text": "done"}


def line_of(function: Callable[..., Any], offset: int = 0) -> str:
    """Where a function is written, as file:line; `offset` lines below its first one."""
    code = inspect.unwrap(function).__code__
    return f"{code.co_filename}:{code.co_firstlineno + offset}"


def reports(agent: Any) -> list[tuple[str, str, str, str]]:
    return [
        (one.plugin, one.hook, one.outcome, one.detail) for one in agent.session.trace if isinstance(one, HookReport)
    ]


@pytest.mark.parametrize(
    ("seconds", "said"),
    [(1.0, None), (1.25, "took 1.2 s"), (60.0, "took 60.0 s"), (61.0, "took 61.0 s, over its limit of 60 s")],
)
def test_a_slow_plain_hook_is_named(seconds: float, said: str | None) -> None:
    clock = FakeClock()

    def before_llm(iteration: int) -> None:
        clock.advance(seconds)

    agent = make_agent([ANSWER], made("slow", before_llm=before_llm), clock=clock)
    agent.run_sync("go")
    expected = [] if said is None else [("slow", "before_llm", "slow", f"{said} ({line_of(before_llm)})")]
    assert reports(agent) == expected


@pytest.mark.parametrize(("says", "outcome"), [("note", "returned"), (None, "slow")])
def test_an_async_hook_that_is_slow_is_reported_once(says: str | None, outcome: str) -> None:
    clock = FakeClock()

    async def before_llm(iteration: int) -> str | None:
        asyncio.get_running_loop().call_soon(clock.advance, 2.0)
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        return says

    agent = make_agent([ANSWER], made("slow", before_llm=before_llm), clock=clock)
    agent.run_sync("go")
    assert [(one, seen) for one, _, seen, _ in reports(agent)] == [("slow", outcome)]


def test_a_hook_that_does_not_end_in_the_grace_time_is_named() -> None:
    clock = FakeClock()

    async def on_complete(outcome: Any) -> None:
        await asyncio.Event().wait()

    async def main() -> Any:
        plugin = made("stuck", before_llm=lambda agent: agent.abort("enough"), on_complete=on_complete)
        agent = make_agent([ANSWER], plugin, clock=clock, grace_seconds=5)
        task = asyncio.create_task(agent.run("go"))
        while not clock.waiting:
            await asyncio.sleep(0)
        assert not task.done()
        clock.advance(5)
        assert (await task).status == "aborted"
        return agent

    agent = asyncio.run(main())
    place = line_of(on_complete)
    [report] = [one for one in agent.session.trace if isinstance(one, HookReport) and one.outcome == "overran"]
    assert (report.plugin, report.hook, report.detail, report.milliseconds) == (
        ("stuck", "on_complete", f"did not end in the grace time ({place})", 5_000.0)
    )


def test_who_asks_a_person_may_take_any_time() -> None:
    clock = FakeClock()

    class Patient:
        name = "patient"
        time_limit = None

        @hookimpl
        def before_llm(self, iteration: int) -> None:
            clock.advance(5_000.0)

    agent = make_agent([ANSWER], Patient(), clock=clock)
    agent.run_sync("go")
    assert reports(agent) == []


def test_a_slow_listener_of_events_is_named() -> None:
    clock = FakeClock()
    slow = [True]

    def on_event(event: Any) -> None:
        if slow[0] and event.type == "turn_start":
            slow[0] = False
            clock.advance(3.0)

    agent = make_agent([ANSWER], made("listens", on_event=on_event), clock=clock)
    agent.run_sync("go")
    assert reports(agent) == [("listens", "on_event", "slow", f"took 3.0 s ({line_of(on_event)})")]


def test_each_call_is_charged_although_it_failed() -> None:
    clock = FakeClock()

    def before_llm(iteration: int) -> None:
        clock.advance(0.5)
        raise ValueError

    agent = make_agent([ANSWER], made("fails", before_llm=before_llm), clock=clock)
    with pytest.raises(PluginError):
        agent.run_sync("go")
    assert agent.session.hook_calls == {"fails": (1, 0.5)}


def test_time_in_what_an_around_hook_calls_is_not_its_own() -> None:
    clock = FakeClock()

    async def answers(request: Any) -> Any:
        clock.advance(4.0)
        return ANSWER

    async def wrap_model_call(request: Any, call_next: Any) -> Any:
        clock.advance(0.5)
        return await call_next(request)

    agent = make_agent(answers, made("wraps", wrap_model_call=wrap_model_call), clock=clock)  # type: ignore[arg-type]
    agent.run_sync("go")
    assert agent.session.hook_calls == {"wraps": (1, 0.5)}
