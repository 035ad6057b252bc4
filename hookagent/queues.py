"""The two queues of an agent: messages wait here until they are in the transcript."""

from __future__ import annotations

import itertools
from typing import Literal, Protocol

from hookagent.errors import ConfigurationError
from hookagent.messages import UserMessage
from hookagent.prompts import as_messages

QueueMode = Literal["one-at-a-time", "all"]


class QueueWatcher(Protocol):
    """Told of what enters a queue and what leaves it; in the thread that did it."""

    def queued(self, message: UserMessage) -> None:
        """A message was put in."""

    def taken(self, message: UserMessage) -> None:
        """A message left: it was stored, taken back, or cleared."""


class MessageQueue:
    """Messages in the order in which they came; safe from any thread and from signal handlers.

    A message leaves only by `take` (it is stored, or taken back by whoever finds it with `peek`) or `clear`; what
    left otherwise than by being stored is never delivered. Messages are told apart by identity, so equal texts
    may wait side by side.
    """

    # Without a lock, which a signal handler would find taken by the very code that it interrupted: each step is one
    # operation of a dict, in which nothing can come between.
    __slots__ = ("_messages", "_mode", "_numbers", "watcher")

    def __init__(self, mode: QueueMode = "one-at-a-time") -> None:
        self.mode = mode
        self._messages: dict[int, UserMessage] = {}
        self._numbers = itertools.count()
        self.watcher: QueueWatcher | None = None

    @property
    def mode(self) -> QueueMode:
        """How many go in at once; may be changed at any time. Raises `ConfigurationError` for anything else."""
        return self._mode

    @mode.setter
    def mode(self, mode: QueueMode) -> None:
        if mode not in ("one-at-a-time", "all"):
            raise ConfigurationError(f"queue mode: expected 'one-at-a-time' or 'all', got {mode!r}")
        self._mode: QueueMode = mode

    def put(self, message: UserMessage) -> None:
        """Add a message at the end."""
        watcher = self.watcher
        # Before anybody can take it: that it came must not be written behind that it went.
        if watcher is not None:
            watcher.queued(message)
        self._messages[next(self._numbers)] = message
        if watcher is None and self.watcher is not None:
            self.watcher.queued(message)

    def peek(self) -> tuple[UserMessage, ...]:
        """All messages that wait, left where they are."""
        return tuple(self._messages.values()) if self._messages else ()

    def due(self) -> tuple[UserMessage, ...]:
        """The messages that may go in next, left where they are: the first one, or all."""
        if not self._messages:
            return ()
        messages = tuple(self._messages.values())
        return messages if self._mode == "all" else messages[:1]

    def take(self, message: UserMessage) -> bool:
        """Remove this very message; whether it was there."""
        for number, one in tuple(self._messages.items()):
            if one is message and self._messages.pop(number, None) is not None:
                if self.watcher is not None:
                    self.watcher.taken(message)
                return True
        return False

    def clear(self) -> tuple[UserMessage, ...]:
        """Remove all messages, and return them."""
        cleared = []
        for number in tuple(self._messages):
            message = self._messages.pop(number, None)
            if message is not None:
                cleared.append(message)
                if self.watcher is not None:
                    self.watcher.taken(message)
        return tuple(cleared)

    def holds(self, message: UserMessage) -> bool:
        """Whether this very message waits."""
        return any(one is message for one in tuple(self._messages.values()))

    def __len__(self) -> int:
        return len(self._messages)


class TwoQueues:
    """The two queues of an agent. The loop looks at messages, and takes them once they are stored."""

    steering: MessageQueue
    follow_ups: MessageQueue

    def steer(self, message: str | UserMessage) -> None:
        """Queue a message that goes in before the next reply, behind the round's results. From any thread.

        Raises `MisuseError` for a blank one.
        """
        for one in as_messages(message, "steer"):
            self.steering.put(one)

    def follow_up(self, message: str | UserMessage) -> None:
        """Queue a message that goes in when the run would end. From any thread.

        Raises `MisuseError` for a blank one.
        """
        for one in as_messages(message, "follow_up"):
            self.follow_ups.put(one)

    def peek_steering(self) -> tuple[UserMessage, ...]:
        """For the loop: what may go in now."""
        steering = self.steering
        return steering.due() if steering._messages else ()

    def peek_follow_up(self) -> tuple[UserMessage, ...]:
        """For the loop: what may go in now."""
        return self.follow_ups.due()

    def still_wanted(self, message: UserMessage) -> bool:
        """For the loop: whether the message was not taken back since it was looked at."""
        queue = {"steer": self.steering, "follow_up": self.follow_ups}.get(message.via)
        return queue is None or queue.holds(message)

    def take(self, message: UserMessage) -> None:
        """For the loop: the message is stored."""
        if message.via == "steer":
            self.steering.take(message)
        elif message.via == "follow_up":
            self.follow_ups.take(message)
