"""Ends of all kinds: of the process, of the private loop, of sessions nobody closed, of blocks and of streams."""

from __future__ import annotations

import asyncio
import concurrent.futures
import gc
import runpy
import sys
import threading
import weakref
from typing import Any

import pytest

import hookagent
from hookagent import Agent, MisuseError, hookimpl, private_loop, session_end
from hookagent.private_loop import run_in_private_loop
from tests.core.scripts import calls, make_agent, quick

ANSWER = {"text": "done"}


def test_the_module_is_the_command(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys, "argv", ["hookagent", "--version"])
    with pytest.raises(SystemExit) as ended:
        runpy.run_module("hookagent", run_name="__main__")
    assert not ended.value.code
    assert hookagent.__version__ in capsys.readouterr().out


# ---- the private loop ----


def test_without_a_thread_there_is_no_loop_and_the_next_caller_tries_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(private_loop, "_loop", None)
    made_loops: list[asyncio.AbstractEventLoop] = []
    new_event_loop = asyncio.new_event_loop

    def new() -> asyncio.AbstractEventLoop:
        made_loops.append(new_event_loop())
        return made_loops[-1]

    def start(thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(asyncio, "new_event_loop", new)
    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", start)
        with pytest.raises(RuntimeError, match="can't start new thread"):
            private_loop._private_loop()
    assert private_loop._loop is None
    assert made_loops[0].is_closed()

    async def work() -> str:
        return "done"

    assert run_in_private_loop(work, "") == "done"
    loop = made_loops[-1]
    [thread] = [one for one in threading.enumerate() if one.name == private_loop.LOOP_THREAD][-1:]
    loop.call_soon_threadsafe(loop.stop)
    thread.join(60)
    assert not thread.is_alive()
    loop.close()
    private_loop._serve(loop)  # one that is closed is served no more
    assert run_in_private_loop(work, "") == "done"
    assert private_loop._loop is not loop


def test_after_a_fork_there_is_a_loop_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(private_loop, "_loop", object())
    monkeypatch.setattr(private_loop, "_lock", before := object())
    private_loop._forget_after_fork()
    assert private_loop._loop is None
    assert private_loop._lock is not before
    with private_loop._lock:
        pass


def test_an_interrupt_before_it_began_lets_it_never_begin(monkeypatch: pytest.MonkeyPatch) -> None:
    loop, free, began = private_loop._private_loop(), threading.Event(), []
    loop.call_soon_threadsafe(free.wait, 60)

    def interrupted(future: Any) -> Any:
        raise KeyboardInterrupt

    async def work() -> None:
        began.append(True)

    with monkeypatch.context() as patch:
        patch.setattr(private_loop, "_wait_for", interrupted)
        with pytest.raises(KeyboardInterrupt):
            run_in_private_loop(work, "", lambda: began.append(False))
    free.set()

    async def other() -> str:
        return "done"

    assert run_in_private_loop(other, "") == "done"
    assert began == []


@pytest.mark.parametrize("question", [False, True])
def test_an_interrupt_that_nobody_wants_to_hear_of_is_raised_at_once_and_an_answer_is_not(
    question: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    began, free, times = threading.Event(), threading.Event(), []
    real_wait = private_loop._wait_for

    def wait_for(future: concurrent.futures.Future[Any]) -> Any:
        assert began.wait(60)
        times.append(future)
        if len(times) == 1:
            raise KeyboardInterrupt
        free.set()
        return real_wait(future)

    async def work() -> str:
        began.set()
        await asyncio.to_thread(free.wait, 60)
        return "done"

    monkeypatch.setattr(private_loop, "_wait_for", wait_for)
    monkeypatch.setattr(private_loop, "pass_interrupt", lambda: question)
    if question:
        assert run_in_private_loop(work, "") == "done"
        assert len(times) == 2
        assert times[0] is times[1]
    else:
        with pytest.raises(KeyboardInterrupt):
            run_in_private_loop(work, "")
        free.set()
        assert times[0].result(60).value == "done"


# ---- sessions that nobody closed ----


class Ends:
    name = "ends"

    def __init__(self, fails: bool = False) -> None:
        self.told: list[str] = []
        self.fails = fails

    @hookimpl
    def on_session_end(self) -> None:
        self.told.append("end")
        if self.fails:
            raise ValueError("not now")


@pytest.fixture
def mine(monkeypatch: pytest.MonkeyPatch) -> Any:
    """No agents of other tests wait for the end of the process."""
    own: Any = weakref.WeakValueDictionary()
    monkeypatch.setattr(session_end, "_open", own)
    return own


@pytest.mark.parametrize("fails", [False, True])
@pytest.mark.parametrize("threads", [True, False])
def test_at_the_end_of_the_process_sessions_are_ended_and_failures_said(
    threads: bool, fails: bool, mine: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    plugins = [Ends(fails), Ends()]
    agents = [make_agent([ANSWER], plugin) for plugin in plugins]
    for agent in agents:
        agent.run_sync("go")
    assert len(mine) == 2

    def close_sync(agent: Agent) -> None:
        raise RuntimeError("can't start new thread at interpreter shutdown")

    if not threads:
        monkeypatch.setattr(Agent, "close_sync", close_sync)
    session_end._end_all()
    assert [plugin.told for plugin in plugins] == [["end"], ["end"]]
    said = capsys.readouterr().err
    assert said.startswith("hookagent: plugin 'ends': hook 'on_session_end' raised ValueError: not now (") is fails
    assert said.count("\n") == int(fails)
    assert not mine
    session_end._end_all()
    assert [plugin.told for plugin in plugins] == [["end"], ["end"]]


def test_a_forgotten_agent_is_let_go_when_no_loop_can_be_had_any_more(
    mine: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def start(make: Any) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(session_end, "start_in_private_loop", start)
    plugin = Ends()
    agent = make_agent([ANSWER], plugin)
    agent.run_sync("go")
    state = agent._state
    assert not state.ended
    del agent
    gc.collect()
    assert state.ended
    assert plugin.told == []


def test_a_session_is_ended_by_with_and_a_run_in_it_is_aborted_first() -> None:
    plugin, results = Ends(), []

    async def waits() -> str:
        """Wait."""
        await asyncio.Event().wait()
        return "never"

    async def main() -> None:
        async with make_agent([calls("waits")], plugin, tools=[waits, quick]) as agent:
            task = asyncio.create_task(agent.run("go"))
            while not agent.session.trace or agent.session.trace[-1].type != "tool_start":
                await asyncio.sleep(0)
            with pytest.raises(MisuseError, match=r"^close\(\): a run is active; abort\(\) it and wait for its end"):
                await agent.close()
        results.append(await task)
        await agent.close()
        with pytest.raises(MisuseError, match=r"^the session was closed; call reset\(\) to begin a new one$"):
            await agent.run("again")

    async def idle() -> None:
        async with make_agent([ANSWER], other) as agent:
            assert (await agent.run("go")).answer == "done"
        with pytest.raises(ZeroDivisionError):
            async with agent:
                1 // 0  # noqa: B018 - it fails in the block

    other = Ends()
    asyncio.run(idle())
    assert other.told == ["end"]
    asyncio.run(main())
    assert [(one.status, one.reason) for one in results] == [("aborted", "the agent was closed")]
    assert plugin.told == ["end"]
