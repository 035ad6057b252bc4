"""What stays open of a session, and how long an agent lives: no file, and not a moment, longer than somebody has it."""

from __future__ import annotations

import asyncio
import gc
import os
import weakref
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from hookagent import Agent, ToolContext, hookimpl
from hookagent.errors import PluginError
from hookagent.events import Event
from hookagent.keeping import session_store
from hookagent.providers.scripted import ScriptedProvider
from hookagent.sessions.store import SessionStore

OPEN = Path("/proc/self/fd")
AGENTS = 50

pytestmark = pytest.mark.skipif(not OPEN.is_dir(), reason="open files cannot be listed there")


def look(context: ToolContext) -> str:
    """Look, in a thread."""
    return "seen"


async def look_too() -> str:
    """Look, in the event loop."""
    return "seen too"


async def fail() -> str:
    """Raise."""
    raise ValueError("no")


async def nest() -> str:
    """Run an agent that nobody closes."""
    return (await made(tools=[look, look_too]).run("inside")).answer


class Listening:
    """A plugin that hears each event, and knows no agent."""

    @hookimpl
    def on_event(self, event: Any) -> None:
        """Hear it."""

    @hookimpl
    def before_llm(self, iteration: int) -> str | None:
        """Add a note, which is reported."""
        return "a note" if iteration == 1 else None


@pytest.fixture(autouse=True)
def without_collections(store: SessionStore) -> Iterator[None]:
    """In a home of the test's own; what goes must go by itself."""
    gc.collect()
    gc.disable()
    yield
    gc.enable()


def files() -> list[str]:
    """What is open of sessions: locks, logs, databases."""
    found = []
    for one in OPEN.iterdir():
        try:
            target = os.readlink(one)
        except OSError:  # the folder itself, which was open while it was listed
            continue
        if "session" in target or ".log" in target:
            found.append(target)
    return sorted(found)


def made(**options: Any) -> Agent:
    tools = options.pop("tools", [look, look_too, fail])
    calls = [{"name": one.__name__, "arguments": {}} for one in tools]
    model = ScriptedProvider([{"calls": calls}, {"text": "done"}])
    return Agent("files", model=model, tools=tools, quiet=True, **options)


def aborting(agent: weakref.ref[Agent]) -> Callable[[Event], None]:
    def listen(event: Event) -> None:
        running = agent()
        assert running is not None
        running.abort()

    return listen


def test_agents_that_nobody_has_any_more_leave_nothing_open() -> None:
    made().run_sync("go")
    before = files()
    assert any(one.endswith("sessions.sqlite") for one in before)
    gone = []
    for number in range(AGENTS):
        agent = made(plugins=[Listening()] if number % 2 else [])
        assert agent.run_sync("go").status == "completed"
        gone.append(weakref.ref(agent))
        del agent
    assert files() == before
    assert [one() for one in gone] == [None] * AGENTS
    assert len(session_store().list()) == AGENTS + 1


def test_so_it_is_in_a_callers_own_event_loop_and_after_an_abort() -> None:
    async def each() -> list[weakref.ref[Agent]]:
        gone = []
        for number in range(AGENTS):
            agent = made()
            if number % 2:
                agent.subscribe(aborting(weakref.ref(agent)))
            assert (await agent.run("go")).status == ("aborted" if number % 2 else "completed")
            gone.append(weakref.ref(agent))
        return gone

    asyncio.run(made().run("go"))
    before = files()
    gone = asyncio.run(each())
    assert files() == before
    assert [one() for one in gone] == [None] * AGENTS


def test_so_it_is_with_agents_inside_of_tools_and_with_streams() -> None:
    async def each() -> list[weakref.ref[Agent]]:
        gone = []
        for _ in range(5):
            outer, streamed, left = made(tools=[nest]), made(), made()
            gone += [weakref.ref(outer), weakref.ref(streamed), weakref.ref(left)]
            await outer.run("go")
            async for _event in streamed.stream("go"):
                pass
            async for _event in left.stream("go"):
                break
            await left.wait_idle()
        return gone

    asyncio.run(made().run("go"))
    before = files()
    gone = asyncio.run(each())
    assert files() == before
    assert [one() for one in gone] == [None] * 15


def test_an_idle_agent_has_its_lock_open_and_nothing_else() -> None:
    made().run_sync("go")
    before = files()
    agents = [made() for _ in range(AGENTS)]
    for agent in agents:
        agent.run_sync("go")
    assert len(files()) == len(before) + AGENTS
    assert {one.rpartition(".")[2] for one in files() if one not in before} == {"lock"}
    for agent in agents:
        agent.close_sync()
    assert files() == before


def test_a_session_that_was_only_looked_at_is_free_again() -> None:
    first = made()
    first.run_sync("go")
    session = first.session.id
    del first
    for _ in range(3):
        assert len(made(session=session).transcript) == 3


def test_a_plugin_that_hears_the_end_hears_it_and_then_nothing_is_open() -> None:
    ended = []

    class Ending:
        @hookimpl
        def on_session_end(self) -> None:
            ended.append(files())

    made().run_sync("go")
    before = files()
    agent = made(plugins=[Ending()])
    agent.run_sync("go")
    del agent
    made().run_sync("the private loop has ended the other session before this one runs")
    assert len(ended) == 1
    assert len(ended[0]) == len(before) + 1
    assert files() == before


def test_a_run_that_raised_leaves_nothing_open_when_its_error_is_gone() -> None:
    class Failing:
        @hookimpl
        def before_llm(self, iteration: int) -> None:
            raise ValueError("no")

    made().run_sync("go")
    before = files()
    for _ in range(5):
        with pytest.raises(PluginError, match="no"):
            made(plugins=[Failing()]).run_sync("go")
    gc.collect()  # an error knows the frames that it came through, and one of them knows the error
    assert files() == before


def test_another_home_closes_with_the_last_session_in_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOOKAGENT_HOME", str(tmp_path / "first"))
    agent = made()
    agent.run_sync("go")
    monkeypatch.setenv("HOOKAGENT_HOME", str(tmp_path / "second"))
    made().run_sync("go")
    first = [one for one in files() if "/first/" in one]
    assert any(one.endswith("sessions.sqlite") for one in first)
    agent.close_sync()
    del agent
    assert [one for one in files() if "/first/" in one] == []
    assert any("/second/" in one for one in files())
