"""What happened in one example, in order: hook calls, tools that ran, requests, events; and its clock."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from hookagent import Request
from hookagent.testing import FakeClock


@dataclass(slots=True)
class Hooked:
    """A hook of a plugin was called: with what, what it was planned to do, and what it returned in the end."""

    plugin: str
    hook: str
    given: Mapping[str, Any]
    act: str | None = None
    returned: Any = None


@dataclass(slots=True)
class Ran:
    """The body of a tool was entered; `done` once it was left again, by returning or by raising what it meant to."""

    call_id: str
    name: str
    arguments: Mapping[str, Any]
    done: bool = False


@dataclass(slots=True)
class Sent:
    """A request reached the model; `answer` says what became of it ("reply", a kind of error, "broken", "hangs").

    `pieces` counts the deltas that left before the end; `summarizes` says that a plugin asked for a summary.
    """

    request: Request
    body: str
    tokens: int
    summarizes: bool = False
    answer: str = "hangs"
    pieces: int = 0
    reply: Any = None


@dataclass(slots=True)
class Mark:
    """Something that is no call of ours was done: "abort", "cancel", "dead"."""

    what: str


class SteppingClock(FakeClock):
    """A clock that knows when its next timer is due."""

    def __init__(self) -> None:
        super().__init__()
        self._set: list[Any] = []

    def call_later(self, seconds: float, callback: Callable[[], object]) -> Any:
        """Set a timer, and remember it."""
        timer = super().call_later(seconds, callback)
        self._set.append(timer)
        return timer

    def step(self) -> bool:
        """Move to the next timer that is due; whether there was one."""
        self._set = [timer for timer in self._set if timer.callback is not None]
        if not self._set:
            return False
        self.advance(max(0.0, min(timer.when for timer in self._set) - self.now))
        return True


@dataclass(slots=True)
class World:
    """One example's course. Once `dead` the process has ended: what goes on in it is seen by nobody."""

    clock: SteppingClock = field(default_factory=SteppingClock)
    timeline: list[Any] = field(default_factory=list)
    progress: int = 0
    dead: bool = False
    problems: list[str] = field(default_factory=list)
    checked: int = 0
    refused: int = 0
    steered: list[str] = field(default_factory=list)
    followed: list[str] = field(default_factory=list)
    _names: Iterator[int] = field(default_factory=itertools.count)

    def note(self, what: Any) -> Any:
        """Put something into the timeline, unless the process is dead; gives it back."""
        self.progress += 1
        if not self.dead:
            self.timeline.append(what)
        return what

    def token(self, what: str) -> str:
        """A text that no other message of the example contains."""
        return f"<{what}{next(self._names)}>"

    def wrong(self, text: str) -> None:
        """Note what must not be; looked at behind each step."""
        if not self.dead:
            self.problems.append(text)

    def steer(self, agent: Any) -> None:
        """Steer with a message of its own."""
        self._queue(agent.steer, "steer", self.steered)

    def follow_up(self, agent: Any) -> None:
        """Queue a follow-up of its own."""
        self._queue(agent.follow_up, "follow", self.followed)

    def _queue(self, put: Callable[[str], object], kind: str, known: list[str]) -> None:
        if self.dead:
            return
        token = self.token(kind)
        put(token)
        if not self.dead:  # the process may die of writing it
            known.append(token)

    def abort(self, agent: Any, reason: str) -> None:
        """Abort what runs, and note that."""
        if agent.running:
            agent.abort(reason)
            self.note(Mark("abort"))
