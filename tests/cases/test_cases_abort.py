"""Aborts, failed requests and queues: each call has its result, nothing accepted is lost, the session goes on."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest

from hookagent import Approve, Suspend, UserMessage, current_call, hookimpl
from hookagent.testing import Call, Fault, Recorder, Reply, StrictServer, Thinking
from tests.cases.wires import MODES, WIRES, agent_on, assert_accepted, entries, result_texts, without_ids
from tests.core.scripts import calls, make_agent, ok, words


@pytest.fixture(params=WIRES)
def wire(request: pytest.FixtureRequest) -> str:
    """One wire form after the other."""
    name: str = request.param
    return name


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("kind", ["async", "heeds", "stubborn"])
def test_abr_01_an_abort_while_a_tool_runs_answers_every_call(wire: str, kind: str, mode: Any) -> None:
    release = threading.Event()

    async def waits() -> str:
        """Abort, and wait for ever."""
        agent.abort()
        await asyncio.Event().wait()
        return "never"

    def heeds() -> str:
        """Abort, and end when told to."""
        agent.abort()
        current_call().abort.raise_if_aborted()
        return "never"

    def stubborn() -> str:
        """Abort, and go on until the test ends."""
        agent.abort()
        release.wait(60)
        return "late"

    tool = {"async": waits, "heeds": heeds, "stubborn": stubborn}[kind]
    name = tool.__name__
    try:
        with StrictServer([Reply(calls=[Call(name), Call("ok")]), Reply(text="fine")]) as server:
            agent = agent_on(wire, server, tools=[tool, ok], tool_execution=mode, grace_seconds=0.05)
            assert agent.run_sync("go").status == "aborted"
            assert len(server.requests) == 1
            assert agent.run_sync("hello").answer == "fine"
            assert_accepted(server)
            second = server.requests[1]
    finally:
        release.set()
    assert without_ids(second) == ["user: go", "call", "call", "result", "result", "user: hello"]
    first = next(iter(result_texts(second).values()))
    assert "aborted" in first


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    "fault",
    [
        Fault(status=400),
        Fault(status=500),
        Fault(status=529),
        Fault(kind="drop"),
        Fault(kind="cut"),
        Fault(kind="error_event"),
    ],
    ids=lambda fault: f"{fault.kind}-{fault.status}",
)
def test_abr_05_a_failed_request_leaves_the_round_before_it_closed(wire: str, fault: Fault, mode: Any) -> None:
    failing = fault if fault.kind == "status" else Reply(text="half of it", fault=fault)
    stored_at_request_2: list[str] = []

    @hookimpl
    def shape_request(session: Any) -> None:
        stored_at_request_2[:] = words(session.transcript)

    with StrictServer([Reply(calls=[Call("ok"), Call("ok")]), failing, Reply(text="back")]) as server:
        agent = agent_on(wire, server, tools=[ok], plugins=[shape_request], tool_execution=mode)
        assert agent.run_sync("go").status == "failed"
        assert [line[0] for line in stored_at_request_2] == ["U", "A", "R", "R"]
        assert words(agent.transcript) == stored_at_request_2
        assert agent.run_sync("try again").answer == "back"
        assert_accepted(server)


@pytest.mark.parametrize("kind", ["cut", "drop"])
@pytest.mark.parametrize("after", range(1, 8))
def test_abr_13_thinking_that_was_cut_off_is_never_replayed(wire: str, after: int, kind: Any) -> None:
    half = Reply(
        thinking=Thinking("abcdefghijklmnop"), text="so far, so good. " * 9, fault=Fault(kind=kind, after=after)
    )
    with StrictServer([half, Reply(text="fine")]) as server:
        agent = agent_on(wire, server)
        assert agent.run_sync("go").status == "failed"
        assert agent.run_sync("again").answer == "fine"
        assert_accepted(server)
        assert entries(server.requests[1]) == [("user", "go"), ("user", "again")]
    assert words(agent.transcript) == ["U go", "U again", "A fine"]


PHASES = ("after_each_tool", "after_tools", "before_llm", "after_user_input", "shape_request")


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("phase", PHASES)
def test_abr_15_a_steered_message_is_stored_or_still_queued(wire: str, phase: str, mode: Any) -> None:
    def slow() -> str:
        """Be steered while it runs."""
        agent.steer("stop that")
        return "ran"

    def abort_then(given: dict[str, Any]) -> None:
        asked = agent.session.transcript
        steered = len(agent.steering) > 0 or "U stop that" in words(asked)
        if phase == "after_user_input" and given["message"].via != "steer":
            return
        if steered and not aborted:
            aborted.append(phase)
            agent.abort()

    aborted: list[str] = []
    replies = [Reply(calls=[Call("ok"), Call("slow")]), *[Reply(text="ok")] * 3]
    with StrictServer(replies) as server:
        agent = agent_on(wire, server, tools=[ok, slow], plugins=[Recorder({phase: abort_then})], tool_execution=mode)
        assert agent.run_sync("go").status == "aborted"
        assert aborted == [phase]
        queued = [message.text for message in agent.steering.peek()]
        assert words(agent.transcript).count("U stop that") + queued.count("stop that") == 1
        agent.run_sync("(continue)")
        assert_accepted(server)
        assert entries(server.requests[1]).count(("user", "stop that")) == 1
    assert words(agent.transcript).count("U stop that") == 1
    assert len(agent.steering) == 0


@pytest.mark.parametrize("queue", ["steer", "follow_up"])
def test_abr_17_what_is_queued_before_and_after_an_abort_is_kept_in_order(queue: str) -> None:
    async def stop() -> str:
        """Queue, abort, queue again before the run has wound down."""
        getattr(agent, queue)("f1")
        agent.abort()
        getattr(agent, queue)("f2")
        return "stopped"

    def wind_down(_: Any) -> None:
        if not len(agent.steering) + len(agent.follow_ups) > 2:
            getattr(agent, queue)("f3")

    recorder = Recorder({"on_complete": wind_down})
    agent = make_agent([calls("stop"), *["ok"] * 9], recorder, tools=[stop])
    assert agent.run_sync("go").status == "aborted"
    waiting = agent.steering if queue == "steer" else agent.follow_ups
    assert [message.text for message in waiting.peek()] == ["f1", "f2", "f3"]
    assert len(waiting) == 3
    recorder.returns.clear()
    agent.run_sync("on")
    lines = words(agent.transcript)
    assert [line for line in lines if line.startswith("U f")] == ["U f1", "U f2", "U f3"]
    assert len(waiting) == 0


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("resumed", ["at once", "unanswered once", "from disk"])
def test_abr_18_results_that_exist_are_not_computed_again(wire: str, mode: Any, resumed: str) -> None:
    ran: list[str] = []
    there = {"somebody": False}

    async def count() -> str:
        """Count."""
        ran.append("count")
        return f"{ran.count('count')}"

    async def ask_human(q: str) -> str:
        """Ask."""
        ran.append("ask_human")
        return "yes"

    def gate(given: dict[str, Any]) -> Any:
        return Suspend("a person answers this") if given["tool_call"].name == "ask_human" else None

    def resolve(given: dict[str, Any]) -> Any:
        return {one.call.id: Approve() for one in given["pending"]} if there["somebody"] else None

    recorder = Recorder({"before_each_tool": gate, "resolve_suspended": resolve})
    with StrictServer([Reply(calls=[Call("count"), Call("ask_human", {"q": "ok?"})]), Reply(text="end")]) as server:
        options: dict[str, Any] = {"tools": [count, ask_human], "plugins": [recorder], "tool_execution": mode}
        agent = agent_on(wire, server, **options)
        assert agent.run_sync("go").status == "waiting"
        assert ran == ["count"]
        if resumed == "unanswered once":
            assert agent.run_sync("well?").status == "waiting"
            assert len(server.requests) == 1
        if resumed == "from disk":
            agent.close_sync()
            agent = agent_on(wire, server, session=agent.session.id, **options)
        there["somebody"] = True
        assert asyncio.run(agent.continue_()).answer == "end"
        assert_accepted(server)
        texts = result_texts(server.requests[1])
        sent = [kind for kind, _ in entries(server.requests[1])]
    assert ran == ["count", "ask_human"]
    assert list(texts.values()) == ["1", "yes"]
    assert sent[:5] == ["user", "call", "call", "result", "result"]
    assert UserMessage("well?") in list(agent.transcript) or resumed != "unanswered once"
