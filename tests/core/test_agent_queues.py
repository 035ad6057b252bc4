"""Steering, follow-up and continue: what waits goes in at its place, once."""

from __future__ import annotations

import asyncio
import sys
from typing import Any

import pytest

from hookagent import Agent, MisuseError, Stop, queues
from hookagent.messages import UserMessage
from hookagent.queues import MessageQueue
from hookagent.testing import Recorder
from tests.core.scripts import calls, make_agent, ok, words

ANSWER = {"text": "done"}


def test_steering_goes_in_behind_the_rounds_results_and_follow_up_at_the_end() -> None:
    agent = make_agent([calls("ask", "ask"), *({"text": f"answer {n}"} for n in range(1, 5))], tools=[ok])

    async def ask() -> str:
        """Queue messages while the round runs."""
        agent.follow_up("later")
        agent.steer("now")
        return "asked"

    agent.tools.add(ask)
    result = agent.run_sync("go")
    assert words(result.session.transcript) == [
        "U go", "A c1 c2", "R c1 ok", "R c2 ok", "U now", "A answer 1", "U now", "A answer 2",
        "U later", "A answer 3", "U later", "A answer 4",
    ]  # fmt: skip
    assert agent.session.turn == 1
    assert agent.steering.peek() == agent.follow_ups.peek() == ()


def test_steering_all_at_once() -> None:
    agent = make_agent([{"text": "one"}], steering_mode="all")
    agent.steer("a")
    agent.steer("b")
    agent.run_sync("go")
    assert words(agent.session.transcript) == ["U go", "U a", "U b", "A one"]


def test_one_at_a_time_each_queued_message_gets_its_own_reply() -> None:
    agent = make_agent([{"text": "1"}, {"text": "2"}, {"text": "3"}])
    agent.follow_up("f1")
    agent.follow_up("f2")
    agent.run_sync("go")
    assert words(agent.session.transcript) == ["U go", "A 1", "U f1", "A 2", "U f2", "A 3"]
    assert agent.session.turn == 1


def test_what_is_queued_while_the_end_is_announced_starts_a_new_turn_of_the_same_run() -> None:
    agent: Agent
    once = [True]

    def queue(_: Any) -> None:
        if once.pop() if once else False:
            agent.follow_up("one more")

    recorder = Recorder({"on_complete": queue})
    agent = make_agent([{"text": "1"}, {"text": "2"}], recorder)
    result = agent.run_sync("go")
    assert result.answer == "2"
    assert words(agent.session.transcript) == ["U go", "A 1", "U one more", "A 2"]
    assert agent.session.turn == 2
    assert recorder.names.count("on_complete") == 2


def test_a_stopped_steering_message_is_not_stored_and_not_lost() -> None:
    recorder = Recorder({"after_user_input": lambda a: Stop("no") if a["message"].via == "steer" else None})
    agent = make_agent([ANSWER], recorder)
    agent.steer("bad")
    result = agent.run_sync("go")
    assert result.status == "stopped"
    assert [one.text for one in result.not_stored] == ["bad"]
    assert len(agent.steering) == 0


def test_continue() -> None:
    agent = make_agent([{"error": "authentication"}, {"text": "1"}, {"text": "2"}])
    with pytest.raises(MisuseError, match="the session is empty"):
        asyncio.run(agent.continue_())
    assert agent.run_sync("go").status == "failed"
    assert asyncio.run(agent.continue_()).answer == "1"
    with pytest.raises(MisuseError, match="nothing is queued"):
        asyncio.run(agent.continue_())
    agent.follow_up("f")
    agent.steer("s")
    assert asyncio.run(agent.continue_()).status == "failed"  # the script has one reply left for two messages
    assert words(agent.session.transcript) == ["U go", "A 1", "U s", "A 2", "U f"]


def test_nothing_is_lost_doubled_or_stuck_when_a_signal_handler_queues_at_any_line() -> None:
    """A handler of the main thread runs between two steps of whatever it interrupts, also of the queue itself."""
    queue = MessageQueue("all")
    sent: list[UserMessage] = []
    taken: list[UserMessage] = []
    inside = False

    def handler(frame: Any, event: str, argument: Any) -> Any:
        nonlocal inside
        if frame.f_code.co_filename != queues.__file__:
            return None
        if event == "line" and not inside:
            inside = True
            send()
            inside = False
        return handler

    def send() -> None:
        sent.append(UserMessage(f"m{len(sent)}"))
        queue.put(sent[-1])

    before = sys.gettrace()
    sys.settrace(handler)
    try:
        send()
        for _ in range(3):
            for message in queue.due():
                assert queue.take(message)
                taken.append(message)
        taken.extend(queue.clear())
    finally:
        sys.settrace(before)
    taken.extend(queue.clear())
    assert len(sent) > 50
    assert sorted(map(id, taken)) == sorted(map(id, sent))


def test_a_message_is_written_as_queued_before_anybody_can_take_it() -> None:
    queue = MessageQueue()
    told: list[str] = []

    class Watcher:
        def queued(self, message: UserMessage) -> None:
            told.append(f"queued, {len(queue)} wait")

        def taken(self, message: UserMessage) -> None:
            told.append(f"taken, {len(queue)} wait")

    queue.watcher = Watcher()
    queue.put(message := UserMessage("a"))
    assert queue.take(message)
    assert not queue.take(message)
    assert told == ["queued, 0 wait", "taken, 0 wait"]


@pytest.mark.parametrize("kind", ["steer", "follow_up", "new turn"])
def test_what_is_taken_back_at_the_last_moment_is_not_delivered_and_makes_no_request(kind: str) -> None:
    agent: Agent

    def take_back(arguments: Any) -> None:
        if arguments["message"].via != "prompt":
            for queue in (agent.steering, agent.follow_ups):
                for message in queue.peek():
                    assert queue.take(message)

    def queue_more(_: Any) -> None:
        if agent.session.turn == 1:
            agent.steer("never mind")

    recorder = Recorder({"after_user_input": take_back, "on_complete": queue_more if kind == "new turn" else None})
    agent = make_agent([{"text": "one"}], recorder)
    if kind == "follow_up":
        agent.follow_up("never mind")
    elif kind == "steer":
        agent.subscribe(lambda event: agent.steer("never mind") if event.type == "response" else None)
    result = agent.run_sync("go")
    assert (result.status, result.answer) == ("completed", "one")
    assert words(agent.session.transcript) == ["U go", "A one"]


def test_of_several_only_those_that_were_taken_back_stay_out() -> None:
    agent = make_agent([{"text": "one"}, {"text": "two"}], follow_up_mode="all")
    for text in ("first", "second", "third"):
        agent.follow_up(text)

    def drop_second(event: Any) -> None:
        if event.type == "message_end" and getattr(event.message, "text", "") == "first":
            assert agent.follow_ups.take(agent.follow_ups.peek()[1])

    agent.subscribe(drop_second)
    agent.run_sync("go")
    assert words(agent.session.transcript) == ["U go", "A one", "U first", "U third", "A two"]
