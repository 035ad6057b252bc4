"""Several calls in one reply: each settles alone, results stand in call order, and nothing blocks the event loop."""

from __future__ import annotations

import asyncio
import contextvars
import functools
import itertools
import threading
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from hookagent import Agent, Stop, Tool, ToolResult, hookimpl
from hookagent.testing import Call, Reply, StrictServer
from tests.cases.person import Person, approval
from tests.cases.wires import MODES, WIRES, agent_on, arguments_sent, assert_accepted, entries, result_texts
from tests.core.scripts import calls, make_agent, words

PATIENCE_SECONDS = 60
"""When something that must happen counts as never happening."""
USER: contextvars.ContextVar[str] = contextvars.ContextVar("user", default="nobody")


@pytest.fixture(params=WIRES)
def wire(request: pytest.FixtureRequest) -> str:
    """One wire form after the other."""
    name: str = request.param
    return name


def ok() -> str:
    """Work."""
    return "fine"


async def ok_async() -> str:
    """Work, asynchronously."""
    return "fine"


def bad() -> str:
    """Fail."""
    raise ValueError("no")


class Odd(BaseException):
    """Not even an Exception."""


async def worse() -> str:
    """Fail in a way that few expect."""
    raise Odd("no")


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("names", list(itertools.permutations(["ok", "bad", "ok_async", "worse"], 3)), ids="-".join)
def test_par_01_each_call_settles_alone(names: tuple[str, ...], mode: Any) -> None:
    agent = make_agent([calls(*names), "end"], tools=[ok, ok_async, bad, worse], tool_execution=mode)
    assert agent.run_sync("go").answer == "end"
    results = [one for one in agent.transcript.messages() if isinstance(one, ToolResult)]
    assert [one.call_id for one in results] == ["c1", "c2", "c3"]
    for name, result in zip(names, results, strict=True):
        fails = name in ("bad", "worse")
        assert result.is_error is fails
        assert ("no" in result.content) if fails else (result.content == "fine")


@pytest.mark.parametrize("by", ["a gate's Stop", "abort"])
@pytest.mark.parametrize("failing", [0, 1, 2])
def test_par_03_stop_on_failure_starts_nothing_more(wire: str, by: str, failing: int) -> None:
    ran: list[int] = []

    def step(n: int) -> str:
        """Take a step."""
        if n == failing:
            raise ValueError("no")
        ran.append(n)
        return "done"

    class StopOnFailure:
        name = "stop-on-failure"
        failed = False

        @hookimpl
        def on_error(self, error: Any, agent: Agent) -> None:
            self.failed = True
            if by == "abort":
                agent.abort("a tool failed")

        @hookimpl
        def before_each_tool(self) -> Stop | None:
            return Stop("a tool failed") if self.failed else None

        @hookimpl
        def after_tools(self) -> Stop | None:
            return Stop("a tool failed") if self.failed else None

    replies = [Reply(calls=[Call("step", {"n": n}) for n in range(3)]), Reply(text="next")]
    with StrictServer(replies) as server:
        plugin = StopOnFailure()
        agent = agent_on(wire, server, tools=[step], plugins=[plugin], tool_execution="sequential")
        assert agent.run_sync("go").status == ("aborted" if by == "abort" else "stopped")
        assert len(server.requests) == 1
        plugin.failed = False
        assert agent.run_sync("again").answer == "next"
        assert_accepted(server)
    assert ran == list(range(failing))
    statuses = [line.split()[-1] for line in words(agent.transcript) if line.startswith("R")]
    assert statuses == ["ok"] * failing + ["error"] + ["not_run"] * (2 - failing)


def who() -> str:
    """Say who is there."""
    return USER.get()


async def who_async() -> str:
    """Say who is there, asynchronously."""
    return USER.get()


class Who:
    """A callable object."""

    def __call__(self) -> str:
        """Say who is there."""
        return USER.get()


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("in_loop", [True, False], ids=["run", "run_sync"])
def test_par_05_the_callers_context_is_there_in_every_kind_of_tool(mode: Any, in_loop: bool) -> None:
    partial = functools.partial(lambda suffix="": USER.get() + suffix, "")
    tools = [
        who,
        who_async,
        Tool.from_callable(Who(), name="who_object"),
        Tool.from_callable(partial, name="who_partial"),
    ]
    script = [calls("who", "who_async", "who_object", "who_partial"), "end"]

    async def main() -> Any:
        USER.set("ann")
        return await make_agent(script, tools=tools, tool_execution=mode).run("go")

    def plain() -> Any:
        USER.set("ann")
        return make_agent(script, tools=tools, tool_execution=mode).run_sync("go")

    result = asyncio.run(main()) if in_loop else contextvars.copy_context().run(plain)
    contents = [one.content for one in result.session.transcript.messages() if hasattr(one, "content")]
    assert contents == ["ann"] * 4
    assert USER.get() == "nobody"


def beating(agent: Agent, started: threading.Event, beat: threading.Event) -> Any:
    """Run, and set `beat` from the event loop once a tool has `started`."""

    async def main() -> Any:
        run = asyncio.create_task(agent.run("go"))
        while not started.is_set() and not run.done():
            await asyncio.sleep(0)
        beat.set()
        return await run

    return asyncio.run(main())


def blocking(started: threading.Event, beat: threading.Event) -> Callable[[], str]:
    """A plain tool that blocks its thread until the event loop has beaten meanwhile."""

    def plain() -> str:
        """Block."""
        started.set()
        return "ok" if beat.wait(PATIENCE_SECONDS) else "the loop stood still"

    return plain


@pytest.mark.parametrize("in_loop", [True, False], ids=["run", "run_sync"])
@pytest.mark.parametrize("count", [2, 8])
def test_par_07_plain_tools_run_side_by_side(in_loop: bool, count: int) -> None:
    barrier = threading.Barrier(count)

    def meet() -> str:
        """Wait until all calls of the round are here."""
        barrier.wait(PATIENCE_SECONDS)
        return "met"

    agent = make_agent([calls(*["meet"] * count), "end"], tools=[meet])
    result = asyncio.run(agent.run("go")) if in_loop else agent.run_sync("go")
    contents = [one.content for one in result.session.transcript.messages() if hasattr(one, "content")]
    assert contents == ["met"] * count


async def later(value: str) -> str:
    """Give a value after a moment."""
    await asyncio.sleep(0)
    return value


class AsyncObject:
    """A callable object whose call is a coroutine."""

    async def __call__(self) -> str:
        """Give 'o'."""
        return await later("o")


@pytest.mark.parametrize("mode", MODES)
def test_par_07_08_any_kind_of_callable_and_the_loop_goes_on(mode: Any) -> None:
    started, beat = threading.Event(), threading.Event()

    def wrapper() -> Awaitable[str]:
        """Give an awaitable."""
        return later("w")

    tools = [
        blocking(started, beat),
        wrapper,
        Tool.from_callable(AsyncObject(), name="obj"),
        Tool.from_callable(functools.partial(later, "p"), name="p"),
    ]
    agent = make_agent([calls("plain", "wrapper", "obj", "p"), "end"], tools=tools, tool_execution=mode)
    assert beating(agent, started, beat).answer == "end"
    contents = [one.content for one in agent.transcript.messages() if hasattr(one, "content")]
    assert contents == ["ok", "w", "o", "p"]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("answers", list(itertools.product("yn", repeat=3)), ids="".join)
def test_par_09_every_question_of_a_round_is_asked(wire: str, answers: tuple[str, ...], mode: Any) -> None:
    removed: list[str] = []

    def rm(p: str) -> str:
        """Remove."""
        removed.append(p)
        return "ok"

    person = Person(*answers)
    replies = [Reply(calls=[Call("rm", {"p": p}) for p in "abc"]), Reply(text="end")]
    with StrictServer(replies) as server:
        agent = agent_on(wire, server, tools=[rm], plugins=[approval(person)], tool_execution=mode)
        assert agent.run_sync("go").answer == "end"
        assert_accepted(server)
        texts = list(result_texts(server.requests[1]).values())
    wanted = [p for p, answer in zip("abc", answers, strict=True) if answer == "y"]
    assert sorted(removed) == wanted
    assert len(person.shown) == 3
    assert all(f'p: "{p}"' in person.shown[0] for p in "abc")
    assert [text == "ok" for text in texts] == [answer == "y" for answer in answers]
    assert all("a person said no" in text for text, answer in zip(texts, answers, strict=True) if answer == "n")


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))), ids=str)
def test_par_11_results_stand_in_call_order_whatever_ends_first(wire: str, order: tuple[int, ...]) -> None:
    ended: list[int] = []

    async def work(n: int) -> str:
        """Work until it is this call's turn to end."""
        while len(ended) < order.index(n):
            await asyncio.sleep(0)
        ended.append(n)
        return f"result {n}"

    replies = [Reply(calls=[Call("work", {"n": n}) for n in range(3)]), Reply(text="end")]
    with StrictServer(replies) as server:
        agent = agent_on(wire, server, tools=[work])
        assert agent.run_sync("go").answer == "end"
        assert_accepted(server)
        request = server.requests[1]
    assert ended == list(order)
    assert [arguments["n"] for arguments in arguments_sent(request).values()] == [0, 1, 2]
    assert list(result_texts(request).values()) == ["result 0", "result 1", "result 2"]
    if wire == "anthropic":
        assert [len(message["content"]) for message in request.body["messages"]] == [1, 3, 3]
    else:
        assert [kind for kind, _ in entries(request)] == ["user", *["call"] * 3, *["result"] * 3]
