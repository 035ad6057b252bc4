"""Nothing is lost and nothing stands twice: the transcript as events tell it, the queues, and what plugins add."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from hookagent import Agent, AssistantMessage, ToolResult, Transcript, UserMessage
from hookagent.events import MessageEnd, ToolEnd
from tests.machine.course import MESSAGE_HOOKS, Course
from tests.machine.world import Hooked, World

MOST_GRANTS = 3
_ADDED = re.compile(r"<(\w+)-says-\d+>")
_GOES_ON = ("completed", "waiting", "refused", "limit")


class Told:
    """The transcript as its events tell it: a list of its own, kept apart from the product's."""

    def __init__(self) -> None:
        self.flat: list[Any] = []
        self._reply: AssistantMessage | None = None
        self._results: dict[str, ToolResult] = {}
        self._held: list[UserMessage] = []

    def begin_with(self, transcript: Transcript) -> None:
        """Forget everything, and go on from a transcript that is known to be right."""
        self.flat, self._reply, self._results, self._held = [], None, {}, []
        for message in transcript.messages():
            self._take(message)

    def hear(self, events: Sequence[Any]) -> None:
        """Take in what happened."""
        for event in events:
            if type(event) is MessageEnd:
                self._take(event.message)
            elif type(event) is ToolEnd:
                self._take(event.result)

    def _take(self, message: Any) -> None:
        if isinstance(message, ToolResult):
            self._results[message.call_id] = message
            if self._reply is not None and len(self._results) == len(self._reply.tool_calls):
                self.flat = [*self._closed(), *self._held]
                self._reply, self._results, self._held = None, {}, []
        elif isinstance(message, UserMessage) and self._reply is not None:
            self._held.append(message)
        elif isinstance(message, AssistantMessage) and message.tool_calls:
            self._reply = message
        else:
            self.flat.append(message)

    def _closed(self) -> list[Any]:
        assert self._reply is not None
        results = [self._results[call.id] for call in self._reply.tool_calls if call.id in self._results]
        return [*self.flat, self._reply, *results]

    def messages(self) -> list[Any]:
        """The flat list, an open round included."""
        return self.flat if self._reply is None else [*self._closed(), *self._held]


def check_transcript(transcript: Transcript, told: Told) -> Iterator[str]:
    """The transcript is what its events say, and whatever they say it is in order."""
    found, expected = list(transcript.messages()), told.messages()
    if found != expected:
        place = next((i for i, pair in enumerate(zip(found, expected, strict=False)) if pair[0] != pair[1]), None)
        where = min(len(found), len(expected)) if place is None else place
        yield (
            f"transcript: {len(found)} messages, {len(expected)} were told of; at {where} stands "
            f"{found[where : where + 1]}, told was {expected[where : where + 1]}"
        )
    seen: set[str] = set()
    waiting: list[str] = []
    for place, message in enumerate(found):
        if isinstance(message, ToolResult):
            if not waiting or message.call_id != waiting.pop(0):
                # Of an open round results may be missing, and only there.
                yield from [] if transcript.open_round is not None else [f"transcript: result out of place at {place}"]
        elif waiting and transcript.open_round is None:
            yield f"transcript: message {place} stands between calls and their results"
            waiting = []
        if isinstance(message, AssistantMessage):
            waiting = [call.id for call in message.tool_calls]
            if seen & set(waiting) or len(set(waiting)) != len(waiting) or not all(waiting):
                yield f"transcript: call ids {waiting} are not new"
            seen |= set(waiting)


def check_queues(world: World, agent: Agent, prompts: Sequence[str], reported: Sequence[str]) -> Iterator[str]:
    """What was queued is in the transcript, in its queue, or reported as not stored: in one of them, and once."""
    stored = [message.text for message in agent.transcript.messages() if isinstance(message, UserMessage)]
    queued = [message.text for message in (*agent.steering.peek(), *agent.follow_ups.peek())]
    for known in (world.steered, world.followed, prompts):
        places = []
        for token in known:
            found = [place for place, text in enumerate(stored) if token in text]
            places += found[:1]
            count = len(found) + sum(token in text for text in queued) + sum(token in text for text in reported)
            if count != 1:
                where = f"{len(found)} in the transcript, {queued} queued, {list(reported)} reported"
                yield f"queues: {token} is there {count} times ({where})"
        if places != sorted(places):
            yield f"queues: {list(known)} stand in another order"


def check_added(course: Course) -> Iterator[str]:
    """What plugins add stands there once, as theirs; all of it does, where nothing went wrong."""
    messages = [one for one in course.agent.transcript.messages() if isinstance(one, UserMessage)]
    where: dict[str, list[UserMessage]] = {}
    for message in messages:
        for found in _ADDED.finditer(message.text):
            where.setdefault(found[0], []).append(message)
    for place, one in course.all(Hooked):
        said = one.returned if isinstance(one.returned, list) else [one.returned]
        for part in said:
            if not isinstance(part, str | UserMessage):
                continue
            text = part if isinstance(part, str) else part.text
            found_at = where.get(text, [])
            if len(found_at) > 1:
                yield f"added: {text} stands there {len(found_at)} times"
            if found_at and one.hook not in MESSAGE_HOOKS:
                yield f"added: {text} came from '{one.hook}', where none is allowed"
            if any(message.origin != one.plugin for message in found_at):
                yield f"added: {text} is said to come from '{found_at[0].origin}', not from '{one.plugin}'"
            if not found_at and _must_be_stored(course, place, one):
                yield f"added: {text} came from '{one.hook}' of '{one.plugin}' and is lost"


def _must_be_stored(course: Course, place: int, one: Hooked) -> bool:
    if one.hook not in MESSAGE_HOOKS or not course.undisturbed or course.status not in _GOES_ON:
        return False
    granted = sum(
        two.hook == "before_complete" and two.plugin == one.plugin and two.returned is not None
        for when, two in course.all(Hooked)
        if when <= place
    )
    return not (one.hook == "before_complete" and granted > MOST_GRANTS)
