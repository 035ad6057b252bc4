"""Who is told of what, and in which order: events while events are told, and interrupts that come late."""

from __future__ import annotations

import asyncio
import os
import signal
from typing import Any

import pytest

from hookagent import MisuseError, interrupts, take_interrupts
from hookagent.emitter import Emitter
from hookagent.events import AgentStart, ErrorEvent, MessageDelta, ToolProgress, TurnStart
from hookagent.limits import Limits
from hookagent.session import SessionState
from tests.core.scripts import calls, make_agent, quick

ANSWER = {"text": "done"}


def emitter_of() -> Emitter:
    return Emitter(SessionState(Limits()), lambda: 7.0)


# ---- events ----


def test_an_event_has_its_number_its_time_and_its_place_and_is_kept() -> None:
    emitter = emitter_of()
    emitter.state.turn, emitter.state.iteration = 2, 3
    emitter.emit(TurnStart, "go")
    emitter.emit(MessageDelta, "text", "a")
    [event] = emitter.state.trace.events()
    assert event == TurnStart(1, 7.0, 2, 3, "go")
    assert emitter.state.number == 2


def test_what_is_emitted_while_an_event_is_told_is_told_behind_it_to_everybody() -> None:
    emitter = emitter_of()
    heard: list[str] = []

    def first(event: Any) -> None:
        heard.append(f"first {event.type}")
        if event.type == "agent_start":
            emitter.emit(TurnStart, "go")

    emitter.subscribe(first)
    emitter.subscribe(lambda event: heard.append(f"second {event.type}"))
    emitter.emit(AgentStart, "tested", "model")
    assert heard == ["first agent_start", "second agent_start", "first turn_start", "second turn_start"]


def test_journal_hooks_and_listeners_hear_in_this_order_and_can_be_asked_for() -> None:
    emitter = emitter_of()
    heard: list[str] = []
    assert (emitter.told, emitter.heard, emitter.listened, emitter.relayed) == (False, False, False, False)

    def journal(event: Any) -> None:
        heard.append("journal")

    def hook(event: Any) -> None:
        heard.append("hook")

    end_relay = emitter.relay(lambda event: heard.append("relay"))
    assert (emitter.told, emitter.heard, emitter.listened, emitter.relayed) == (True, False, False, True)
    end_listener = emitter.subscribe(lambda event: heard.append("listener"))
    assert (emitter.heard, emitter.listened) == (True, True)
    emitter.hook, emitter.journal = hook, journal
    assert emitter.hook is hook
    assert emitter.journal is journal
    emitter.emit(TurnStart, "go")
    assert heard == ["journal", "hook", "listener", "relay"]
    heard.clear()
    for kind, fields in ((MessageDelta, ("text", "a")), (ToolProgress, (None, 1))):
        emitter.emit(kind, *fields)
    assert heard == ["journal", "hook", "listener"] * 2
    end_listener()
    end_relay()
    end_relay()
    assert (emitter.told, emitter.heard, emitter.listened, emitter.relayed) == (True, True, False, False)
    emitter.hook = None
    assert (emitter.told, emitter.heard) == (True, False)
    emitter.journal = None
    assert not emitter.told


def test_a_journal_that_is_interrupted_leaves_nothing_to_be_told_later() -> None:
    emitter = emitter_of()
    heard: list[str] = []

    def journal(event: Any) -> None:
        if event.type == "agent_start":
            emitter.emit(ErrorEvent, "plugin", "x", "never told")
            raise KeyboardInterrupt

    emitter.journal = journal
    emitter.subscribe(lambda event: heard.append(event.type))
    with pytest.raises(KeyboardInterrupt):
        emitter.emit(AgentStart, "tested", "model")
    emitter.emit(TurnStart, "go")
    assert heard == ["turn_start"]
    assert [event.type for event in emitter.state.trace.events()] == ["agent_start", "error", "turn_start"]


def test_an_interrupt_of_a_listener_goes_to_whoever_raises_it_or_is_raised_at_once() -> None:
    emitter = emitter_of()
    heard: list[BaseException] = []

    def listener(event: Any) -> None:
        raise KeyboardInterrupt

    emitter.subscribe(listener)
    with pytest.raises(KeyboardInterrupt):
        emitter.emit(TurnStart, "go")
    emitter.on_interrupt = heard.append
    emitter.emit(TurnStart, "go")
    assert [type(one) for one in heard] == [KeyboardInterrupt]


def test_a_listener_is_dropped_at_its_third_fault_and_each_fault_is_an_event() -> None:
    emitter = emitter_of()
    told: list[str] = []
    count = [0]

    def failing(event: Any) -> None:
        if event.type != "error":
            count[0] += 1
            raise ValueError("deaf")

    emitter.subscribe(failing)
    for number in range(4):
        emitter.emit(TurnStart, str(number))
        emitter.on_fault = told.append
    assert count == [3]
    errors = [event for event in emitter.state.trace.events() if isinstance(event, ErrorEvent)]
    name = failing.__qualname__
    assert [event.message for event in errors] == [
        f"listener '{name}' raised ValueError: deaf",
        f"listener '{name}' raised ValueError: deaf",
        f"listener '{name}' raised ValueError: deaf; it is dropped",
    ]
    assert {(event.kind, event.source) for event in errors} == {("listener", name)}
    assert told == [event.message for event in errors[1:]]
    assert not emitter.told


def test_who_listens_goes_on_listening_in_the_next_session() -> None:
    agent = make_agent([ANSWER, ANSWER])
    heard: list[str] = []
    end = agent.subscribe(lambda event: heard.append(event.type))

    async def main() -> None:
        await agent.run("go")
        await agent.reset()
        heard.clear()
        await agent.run("again")
        assert heard[0] == "agent_start"
        end()
        await agent.reset()

    asyncio.run(main())
    assert heard[-1] == "agent_end"
    assert agent._listeners == []


# ---- interrupts and waiting ----


def test_an_interrupt_at_the_very_end_of_a_question_is_the_programs(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[str] = []
    before = signal.signal(signal.SIGINT, lambda number, frame: told.append("program"))
    real = signal.getsignal

    def look(number: int) -> Any:
        os.kill(os.getpid(), signal.SIGINT)  # the question is over, and its handler still stands
        return real(number)

    try:
        question = take_interrupts(lambda: told.append("question"))
        question.__enter__()
        monkeypatch.setattr(signal, "getsignal", look)
        question.__exit__(None, None, None)
        assert told == ["program"]
        assert interrupts._handler_before is None
    finally:
        monkeypatch.undo()
        signal.signal(signal.SIGINT, before)


def test_who_waits_for_a_run_inside_of_a_tool_of_an_agent_inside_of_it_is_told_so() -> None:
    said: list[str] = []

    async def inside() -> str:
        """Wait for the outer agent, and for one that does nothing."""
        await idle.wait_idle()
        try:
            await outer.wait_idle()
        except MisuseError as error:
            said.append(str(error))
        return "waited"

    inner = make_agent([calls("inside"), ANSWER], tools=[inside])

    async def delegate() -> str:
        """Ask the inner agent."""
        return (await inner.run("inner")).answer

    outer = make_agent([calls("delegate"), ANSWER], tools=[delegate])
    idle = make_agent([], tools=[quick])
    assert outer.run_sync("go").answer == "done"
    assert said == ["wait_idle(): called inside of a tool of the run that it would wait for"]
