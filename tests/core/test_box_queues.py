"""Going on without a prompt, and what waits in the queues when a run is aborted: nothing is lost, nothing doubled."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from hookagent import Agent
from hookagent.events import Event
from hookagent.testing import Recorder
from tests.core.asked import asking
from tests.core.scripts import calls, make_agent, words

ANSWER = {"text": "done"}
FAILED = {"error": "authentication"}
ONE_BY_ONE = ["U s1", "A answer 2", "U s2", "A answer 3"]


# ---- going on ----


def test_going_on_from_a_prompt_announces_only_the_new_answer() -> None:
    agent = make_agent([FAILED, ANSWER])
    agent.run_sync("go")
    heard: list[Event] = []
    agent.subscribe(heard.append)
    assert asyncio.run(agent.continue_()).answer == "done"
    assert [one.role for one in heard if one.type == "message_start"] == ["assistant"]
    assert [one.message.text for one in heard if one.type == "message_end"] == ["done"]
    assert words(agent.transcript) == ["U go", "A done"]


def test_going_on_from_what_a_plugin_left_behind_an_answer() -> None:
    notes = ["look again"]
    agent, asked = asking(Recorder({"on_complete": lambda _: notes.pop() if notes else None}))
    agent.run_sync("go")
    assert asyncio.run(agent.continue_()).answer == "answer 2"
    assert asked.texts[1] == ["go", "answer 1", "look again"]
    assert words(agent.transcript) == ["U go", "A answer 1", "U look again <recorder>", "A answer 2"]


@pytest.mark.parametrize(
    ("steered", "followed", "said"),
    [
        ([], ["f"], ["U f", "A answer 2"]),
        (["s"], ["f"], ["U s", "A answer 2", "U f", "A answer 3"]),
    ],
)
def test_going_on_after_an_answer_takes_what_is_queued_steering_first(
    steered: list[str], followed: list[str], said: list[str]
) -> None:
    agent, asked = asking()
    agent.run_sync("go")
    for text in followed:
        agent.follow_up(text)
    for text in steered:
        agent.steer(text)
    asyncio.run(agent.continue_())
    assert words(agent.transcript)[2:] == said
    assert len(asked.requests) == 1 + len(said) // 2


def test_of_two_steered_messages_each_gets_its_own_answer_when_going_on() -> None:
    agent, _ = asking()
    agent.run_sync("go")
    agent.steer("s1")
    agent.steer("s2")
    asyncio.run(agent.continue_())
    assert words(agent.transcript)[2:] == ONE_BY_ONE


def test_of_two_messages_steered_while_the_end_is_announced_each_gets_its_own_answer() -> None:
    left = ["s1", "s2"]

    def queue(_: dict[str, Any]) -> None:
        while left:
            agent.steer(left.pop(0))

    agent, _ = asking(Recorder({"on_complete": queue}))
    agent.run_sync("go")
    assert words(agent.transcript)[2:] == ONE_BY_ONE


# ---- queues ----


@pytest.mark.parametrize(
    ("mode", "said"),
    [("one-at-a-time", ["U q1", "A answer 2", "U q2", "A answer 3"]), ("all", ["U q1", "U q2", "A answer 2"])],
)
def test_follow_ups_go_in_one_at_a_time_or_all_at_once(mode: Any, said: list[str]) -> None:
    agent, _ = asking(follow_up_mode=mode)
    agent.follow_up("q1")
    agent.follow_up("q2")
    agent.run_sync("go")
    assert words(agent.transcript) == ["U go", "A answer 1", *said]


@pytest.mark.parametrize("cleared", [False, True])
@pytest.mark.parametrize("mode", ["one-at-a-time", "all"])
@pytest.mark.parametrize("queue", ["steering", "follow_ups"])
@pytest.mark.parametrize("hook", ["after_tools", "before_llm"])
def test_an_abort_on_the_way_to_the_next_request_loses_and_doubles_nothing(
    hook: str, queue: str, mode: Any, cleared: bool
) -> None:
    """What `before_llm` sees of steering is stored already; all else waits, in order, until it is wanted again."""
    agent: Agent

    async def fill() -> str:
        """Queue two messages."""
        for text in ("q1", "q2"):
            (agent.steer if queue == "steering" else agent.follow_up)(text)
        return "queued"

    def abort(given: dict[str, Any]) -> None:
        if given.get("iteration") != 1:
            agent.abort("enough")

    recorder = Recorder({hook: abort})
    script = [calls("fill"), *({"text": f"{n}"} for n in range(4))]
    agent = make_agent(script, recorder, tools=[fill], steering_mode=mode, follow_up_mode=mode)
    assert agent.run_sync("go").status == "aborted"
    waiting = getattr(agent, queue)
    stored = [line[2:] for line in words(agent.transcript) if line.startswith("U q")]
    assert recorder.names.count("wrap_model_call") == 1
    assert [*stored, *(one.text for one in waiting.peek())] == ["q1", "q2"]
    assert bool(stored) == (hook == "before_llm" and queue == "steering")
    if cleared:
        assert [one.text for one in waiting.clear()] == ["q1", "q2"][len(stored) :]
    recorder.returns.clear()
    assert agent.run_sync("again").status == "completed"
    delivered = [line[2:] for line in words(agent.transcript) if line.startswith("U q")]
    assert delivered == (stored if cleared else ["q1", "q2"])


@pytest.mark.parametrize("via", ["steer", "follow_up"])
def test_of_two_taken_together_the_one_that_was_stored_before_an_abort_stays_and_the_other_waits(via: Any) -> None:
    agent, asked = asking(steering_mode="all", follow_up_mode="all")

    def listen(event: Event) -> None:
        if event.type == "message_end" and getattr(event.message, "text", "") == "q1":
            agent.abort("enough")

    agent.subscribe(listen)
    for text in ("q1", "q2"):
        getattr(agent, via)(text)
    assert agent.run_sync("go").status == "aborted"
    queue = agent.steering if via == "steer" else agent.follow_ups
    assert [one.text for one in queue.peek()] == ["q2"]
    answered = ["A answer 1"] if via == "follow_up" else []
    assert words(agent.transcript) == ["U go", *answered, "U q1"]
    assert len(asked.requests) == len(answered)


def test_what_is_steered_and_aborted_while_the_answer_is_announced_still_waits() -> None:
    agent, asked = asking()

    def listen(event: Event) -> None:
        if event.type == "message_end" and getattr(event.message, "text", "") == "answer 1":
            agent.steer("s")
            agent.abort("enough")

    agent.subscribe(listen)
    assert agent.run_sync("go").status == "aborted"
    assert words(agent.transcript) == ["U go", "A answer 1"]
    assert [one.text for one in agent.steering.peek()] == ["s"]
    assert len(asked.requests) == 1
    agent.run_sync("again")
    assert words(agent.transcript)[2:] == ["U again", "U s", "A answer 2"]
