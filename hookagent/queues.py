"""The two queues of an agent: messages wait here until they are in the transcript."""

from __future__ import annotations

import threading
from typing import Literal, Protocol

from hookagent.messages import UserMessage

QueueMode = Literal["one-at-a-time", "all"]


class QueueWatcher(Protocol):
    """Told of what enters a queue and what leaves it; in the thread that did it."""

    def queued(self, message: UserMessage) -> None:
        """A message was put in."""

    def taken(self, message: UserMessage) -> None:
        """A message left: it was stored, taken back, or cleared."""


class MessageQueue:
    """Messages in the order in which they came; safe from any thread.

    A message leaves only by `take` (it is stored), `take_back` or `clear`. Messages are told apart by
    identity, so equal texts may wait side by side.
    """

    __slots__ = ("_lock", "_messages", "mode", "watcher")

    def __init__(self, mode: QueueMode = "one-at-a-time") -> None:
        self.mode: QueueMode = mode
        self._messages: tuple[UserMessage, ...] = ()
        self._lock = threading.Lock()
        self.watcher: QueueWatcher | None = None

    def put(self, message: UserMessage) -> None:
        """Add a message at the end."""
        with self._lock:
            self._messages = (*self._messages, message)
        if self.watcher is not None:
            self.watcher.queued(message)

    def peek(self) -> tuple[UserMessage, ...]:
        """All messages that wait, left where they are."""
        return self._messages

    def due(self) -> tuple[UserMessage, ...]:
        """The messages that may go in next, left where they are: the first one, or all."""
        messages = self._messages
        return messages if self.mode == "all" else messages[:1]

    def take(self, message: UserMessage) -> bool:
        """Remove this very message; whether it was there."""
        with self._lock:
            kept = tuple(one for one in self._messages if one is not message)
            found = len(kept) != len(self._messages)
            self._messages = kept
        if found and self.watcher is not None:
            self.watcher.taken(message)
        return found

    def clear(self) -> tuple[UserMessage, ...]:
        """Remove all messages, and return them."""
        with self._lock:
            cleared, self._messages = self._messages, ()
        if self.watcher is not None:
            for message in cleared:
                self.watcher.taken(message)
        return cleared

    def __len__(self) -> int:
        return len(self._messages)


class TwoQueues:
    """The two queues of an agent, as the loop sees them: messages are looked at, and taken once they are stored."""

    steering: MessageQueue
    follow_ups: MessageQueue

    def peek_steering(self) -> tuple[UserMessage, ...]:
        """For the loop: what may go in now."""
        return self.steering.due()

    def peek_follow_up(self) -> tuple[UserMessage, ...]:
        """For the loop: what may go in now."""
        return self.follow_ups.due()

    def take(self, message: UserMessage) -> None:
        """For the loop: the message is stored."""
        if message.via == "steer":
            self.steering.take(message)
        elif message.via == "follow_up":
            self.follow_ups.take(message)
