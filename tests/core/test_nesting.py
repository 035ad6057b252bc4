"""An agent inside of a tool: its own session, the outer run's limits and abort, and its events outside."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path
from typing import Any

import pytest

from hookagent import Agent, Stop, Suspend, hookimpl
from hookagent.events import Event, Nested
from hookagent.keeping import session_store
from hookagent.providers.scripted import ScriptedProvider
from hookagent.result import RunResult
from hookagent.verdicts import Approve
from tests.core.nested import INNER, WAYS, Gate, Inside, outer_of, plain_inner
from tests.core.scripts import calls, make_agent, ok


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOOKAGENT_HOME", str(tmp_path))
    return tmp_path


@WAYS
def test_an_inner_agent_has_a_session_of_its_own_with_the_id_of_the_outer_one(way: str) -> None:
    inside = Inside(plain_inner)
    outer = outer_of(inside, way)
    asyncio.run(outer.run("go"))
    [inner] = inside.agents
    assert inner.session.id != outer.session.id
    assert inner.session.parent_id == outer.session.id
    assert session_store().row(inner.session.id).parent_id == outer.session.id
    assert len(outer.session.transcript) == 3


@WAYS
def test_an_agent_that_was_made_outside_gets_the_parents_id_when_it_first_runs_inside(way: str) -> None:
    inner = plain_inner()
    outer = outer_of(Inside(lambda: inner), way)
    assert inner.session.parent_id is None
    asyncio.run(outer.run("go"))
    assert inner.session.parent_id == outer.session.id
    assert session_store().row(inner.session.id).parent_id == outer.session.id


def test_a_session_that_began_outside_belongs_to_nobody_and_one_that_comes_back_to_whom_it_did() -> None:
    inner = Agent("inner", tools=[ok], model=ScriptedProvider(["alone", *INNER]), quiet=True)
    inner.run_sync("before")
    asyncio.run(outer_of(Inside(lambda: inner), "here").run("go"))
    assert inner.session.parent_id is None

    inside = Inside(plain_inner)
    outer = outer_of(inside, "here")
    asyncio.run(outer.run("go"))
    [nested] = inside.agents
    nested.close_sync()
    again = Agent("inner", model=ScriptedProvider(["more"]), session=nested.session.id, quiet=True)
    assert again.session.parent_id == outer.session.id
    again.close_sync()


@WAYS
def test_it_shares_the_outer_limits(way: str) -> None:
    inside = Inside(lambda: Agent("inner", tools=[ok], model=ScriptedProvider([calls("ok")] * 9), quiet=True))
    outer = outer_of(inside, way, limits={"max_iterations": 3})
    result = asyncio.run(outer.run("go"))
    assert (inside.results[0].status, inside.results[0].limit) == ("limit", "max_iterations")
    assert inside.results[0].iterations == 2  # the outer one made the first
    assert (result.status, result.limit) == ("limit", "max_iterations")


@WAYS
def test_it_shares_the_outer_limit_of_tool_calls_and_has_tighter_ones_of_its_own(way: str) -> None:
    def script() -> Agent:
        return Agent("inner", tools=[ok], model=ScriptedProvider([calls("ok"), calls("ok"), "never"]), quiet=True)

    inside = Inside(script)
    result = asyncio.run(outer_of(inside, way, limits={"max_tool_calls": 2}).run("go"))
    assert inside.results[0].limit == "max_tool_calls"
    assert result.limit == "max_tool_calls"

    tight = Inside(lambda: plain_inner(limits={"max_iterations": 1}))
    result = asyncio.run(outer_of(tight, way).run("go"))
    assert tight.results[0].limit == "max_iterations"
    assert result.status == "completed"


@WAYS
def test_an_abort_of_the_outer_run_aborts_the_inner_one(way: str) -> None:
    started = threading.Event()

    async def hang() -> str:
        """Never end."""
        started.set()
        await asyncio.Event().wait()
        return "never"

    inside = Inside(lambda: Agent("inner", tools=[hang], model=ScriptedProvider([calls("hang"), "never"]), quiet=True))
    outer = outer_of(inside, way)

    async def main() -> RunResult:
        task = asyncio.create_task(outer.run("go"))
        await asyncio.to_thread(started.wait)
        outer.abort("enough")
        return await task

    result = asyncio.run(main())
    assert (result.status, result.reason) == ("aborted", "enough")
    asyncio.run(inside.agents[0].wait_idle())
    inner = inside.agents[0].last_result
    assert inner is not None
    assert (inner.status, inner.reason) == ("aborted", "enough")
    assert inside.agents[0].session.transcript.open_round is None


class Person:
    """Answers what is asked, and notes what the listeners had heard by then."""

    def __init__(self, answer: Any, heard: list[Event]) -> None:
        self.answer, self.heard = answer, heard
        self.asked: list[str] = []

    @hookimpl
    def resolve_suspended(self, pending: Any) -> Any:
        self.asked.extend(one.call.name for one in pending)
        return None if self.answer is None else {one.call.id: self.answer for one in pending}


@pytest.mark.parametrize(("answer", "status"), [(Approve(), "completed"), (Stop("I leave"), "refused")])
def test_the_outer_plugins_are_asked_and_the_outer_listeners_hear_of_the_question(answer: Any, status: str) -> None:
    heard: list[Event] = []
    person = Person(answer, heard)
    inside = Inside(plain_inner)
    outer = outer_of(inside, "here", Gate(Suspend("may it?")), person)
    outer.subscribe(heard.append)
    result = asyncio.run(outer.run("go"))
    assert result.status == status
    assert person.asked == ["ok"]
    questions = [one for one in heard if isinstance(one, Nested) and one.event.type.startswith("resolve_")]
    assert [one.event.type for one in questions] == ["resolve_start", "resolve_end"]
    start = questions[0]
    assert (start.agent, start.session_id, start.call_id) == ("inner", inside.agents[0].session.id, "c1")
    assert [call.id for call in start.event.calls] == ["in1"]  # type: ignore[union-attr]


def test_a_call_that_nobody_answers_waits_inside_and_makes_the_outer_run_refused() -> None:
    inside = Inside(plain_inner)
    result = asyncio.run(outer_of(inside, "here", Gate(Suspend("may it?"))).run("go"))
    assert inside.results[0].status == "waiting"
    assert inside.agents[0].pending_calls[0].name == "ok"
    assert result.status == "refused"
    assert "nobody answered for ok (in1)" in result.reason


@WAYS
def test_the_outer_listeners_and_the_stream_hear_what_the_inner_trace_keeps(way: str) -> None:
    inside = Inside(plain_inner)
    outer = outer_of(inside, way)

    async def main() -> list[Event]:
        return [event async for event in outer.stream("go")]

    events = asyncio.run(main())
    inner = [event.event for event in events if isinstance(event, Nested)]
    assert inner == list(inside.agents[0].session.trace)
    assert [event.number for event in events] == list(range(1, len(events) + 1))
    assert not any(isinstance(event, Nested) for event in outer.session.trace)
    place = [event.type for event in events if event.type in ("tool_start", "nested", "tool_end")]
    assert place[0] == "tool_start"
    assert place[-1] == "tool_end"


def test_a_tool_that_calls_a_tool_of_its_own_agent_is_not_told_twice() -> None:
    async def outside() -> str:
        """Call the other tool."""
        return (await agent.call_tool("ok")).content

    agent = make_agent([calls("outside"), "done"], tools=[ok, outside])
    heard: list[str] = []
    agent.subscribe(lambda event: heard.append(event.type))
    asyncio.run(agent.run("go"))
    assert heard.count("tool_start") == 2
    assert "nested" not in heard


def test_it_takes_no_slot_of_the_outer_pool() -> None:
    both = threading.Barrier(2, timeout=60)

    def meet() -> str:
        """Wait for the other one."""
        both.wait()
        return "met"

    inside = Inside(
        lambda: Agent(
            "inner", tools=[meet], model=ScriptedProvider([calls("meet", "meet"), "inner answer"]), quiet=True
        )
    )
    for way in ("here", "there"):
        result = asyncio.run(outer_of(inside, way, max_parallel_tools=1).run("go"))
        assert result.status == "completed"
        assert inside.results[-1].answer == "inner answer"
