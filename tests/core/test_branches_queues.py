"""Queues while they change: what is taken meanwhile, who watches, and what belongs to which."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

import pytest

from hookagent import ConfigurationError
from hookagent.messages import UserMessage
from hookagent.queues import MessageQueue, TwoQueues


class Watcher:
    """Notes what it is told, and takes a message away when it hears of another one."""

    def __init__(self, queue: MessageQueue, takes: UserMessage | None = None) -> None:
        self.queue = queue
        self.takes = takes
        self.told: list[str] = []

    def queued(self, message: UserMessage) -> None:
        self.told.append(f"queued {message.text}")

    def taken(self, message: UserMessage) -> None:
        self.told.append(f"taken {message.text}")
        if self.takes is not None:
            takes, self.takes = self.takes, None
            self.queue.take(takes)


FIRST, SECOND, THIRD = (UserMessage(text) for text in ("first", "second", "third"))


def test_what_was_taken_while_a_queue_is_cleared_is_not_given_a_second_time() -> None:
    queue = MessageQueue("all")
    for message in (FIRST, SECOND, THIRD):
        queue.put(message)
    assert queue.due() == queue.peek() == (FIRST, SECOND, THIRD)
    watcher = queue.watcher = Watcher(queue, takes=SECOND)
    assert queue.clear() == (FIRST, THIRD)
    assert watcher.told == ["taken first", "taken second", "taken third"]
    assert (len(queue), queue.clear(), queue.peek(), queue.due()) == (0, (), (), ())


def test_a_watcher_that_comes_while_a_message_is_put_in_is_told_of_it() -> None:
    queue = MessageQueue()
    watcher = Watcher(queue)

    def numbers() -> Iterator[int]:
        queue.watcher = watcher
        yield from range(2)

    queue._numbers = cast(Any, numbers())
    queue.put(FIRST)
    queue.put(SECOND)
    assert watcher.told == ["queued first", "queued second"]
    assert (queue.due(), queue.peek()) == ((FIRST,), (FIRST, SECOND))


def test_a_message_is_taken_by_identity_and_once() -> None:
    queue = MessageQueue()
    queue.put(FIRST)
    assert not queue.holds(UserMessage("first"))
    assert not queue.take(UserMessage("first"))
    assert queue.holds(FIRST)
    assert queue.take(FIRST)
    assert not queue.take(FIRST)


def test_a_mode_that_there_is_not_is_refused() -> None:
    queue = MessageQueue()
    with pytest.raises(ConfigurationError, match=r"^queue mode: expected 'one-at-a-time' or 'all', got 'some'$"):
        queue.mode = cast(Any, "some")
    assert queue.mode == "one-at-a-time"


def test_each_queue_lets_go_of_its_own_messages_and_prompts_are_in_none() -> None:
    queues = TwoQueues()
    queues.steering, queues.follow_ups = MessageQueue(), MessageQueue()
    queues.steer("left")
    queues.follow_up("later")
    [left], [later] = queues.peek_steering(), queues.peek_follow_up()
    prompt = UserMessage("go")
    for message in (left, later, prompt):
        assert queues.still_wanted(message)
        queues.take(message)
    assert (queues.peek_steering(), queues.peek_follow_up()) == ((), ())
    assert [queues.still_wanted(message) for message in (left, later, prompt)] == [False, False, True]
