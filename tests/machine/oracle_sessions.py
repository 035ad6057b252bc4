"""A session that is opened again: equal to the one that was closed, or, after a crash, true to what had been said."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from hookagent import Agent, ToolResult, UserMessage
from hookagent.events import MessageEnd, ToolEnd, ToolStart
from tests.machine.course import Course
from tests.machine.world import Hooked, Ran


def check_reopened(before: Agent, after: Agent) -> Iterator[str]:
    """A session that was closed in order comes back as it was."""
    if after.transcript != before.transcript:
        yield f"reopened: {list(after.transcript.messages())} was {list(before.transcript.messages())}"
    for name in ("steering", "follow_ups"):
        mine, theirs = getattr(after, name).peek(), getattr(before, name).peek()
        if mine != theirs:
            yield f"reopened: {name} is {mine}, was {theirs}"
    if after.session.waiting != before.session.waiting:
        yield f"reopened: waiting is {after.session.waiting}, was {before.session.waiting}"
    if after.pending_calls != before.pending_calls:
        yield f"reopened: {after.pending_calls} wait, it was {before.pending_calls}"
    if after.session.usage != before.session.usage:
        yield f"reopened: usage is {after.session.usage}, was {before.session.usage}"


def check_after_crash(course: Course, known: Sequence[Any], after: Agent) -> Iterator[str]:
    """What had been said before a process died is there; what was started is never said not to have run.

    `known` are the messages that the session had when the run began.
    """
    found = list(after.transcript.messages())
    said = [
        event.message
        for _, event in course.all(MessageEnd)
        if not (isinstance(event.message, UserMessage) and event.message.via in ("steer", "follow_up"))
    ]
    missing = [message for message in (*known, *said) if message not in found]
    if missing:
        yield f"crash: {missing} had been said, and is gone"
    results = {one.call_id: one for one in found if isinstance(one, ToolResult)}
    ended = {event.call.id: event.result for _, event in course.all(ToolEnd)}
    for call_id, result in ended.items():
        if results.get(call_id) != result:
            yield f"crash: the result of '{call_id}' was {result}, and is {results.get(call_id)}"
    begun = {event.call.id for _, event in course.all(ToolStart)} | {one.call_id for _, one in course.all(Ran)}
    for call_id in begun - set(ended):
        restored = results.get(call_id)
        if restored is None or restored.status not in ("interrupted", "ok", "error"):
            yield f"crash: '{call_id}' was started, and it says {restored}"
        elif "may have run" not in restored.content and restored.status == "interrupted":
            yield f"crash: '{call_id}' may have run, and it says '{restored.content}'"


def refused_by_a_hook(course: Course) -> set[str]:
    """The texts of messages that a hook was about to keep out when the process died: nobody could say so any more."""
    return {
        one.given["message"].text
        for _, one in course.all(Hooked)
        if one.hook == "after_user_input" and one.act is not None
    }
