"""Balance: each hook that opens something is followed by the one that closes it, on every path."""

from __future__ import annotations

import collections
import itertools
from collections.abc import Iterator

from hookagent import AssistantMessage, UserMessage
from hookagent.events import AgentEnd, AgentStart, Event, MessageEnd, ToolEnd, ToolStart, TurnEnd, TurnStart
from tests.machine.course import Course
from tests.machine.world import Hooked

LEFT_OPEN = {"aborted", "failed", "stopped", "limit", "refused", "waiting"}
"""The outcomes of a turn that may leave something open; a turn that completed closed everything."""
FAILED_CALLS = ("UnknownTool", "BadArguments", "CutReply")


def check_hooks(course: Course) -> Iterator[str]:
    """Look at what the plugin that only watches was called for."""
    seen = [one for _, one in course.all(Hooked) if one.plugin == "watch"]
    yield from _check_turns(course, seen)
    yield from _check_model_calls(seen)
    yield from _check_rounds(course, seen)
    yield from _check_results(course, seen)
    yield from _check_messages(course, seen)
    yield from _check_numbers(course)


def _check_turns(course: Course, seen: list[Hooked]) -> Iterator[str]:
    starts, ends = len(list(course.all(TurnStart))), [event for _, event in course.all(TurnEnd)]
    outcomes = [one.given["outcome"] for one in seen if one.hook == "on_complete"]
    begun, ended = len(list(course.all(AgentStart))), len(list(course.all(AgentEnd)))
    if course.crashed:
        return
    if starts != len(ends) or begun != ended:
        yield f"balance: {starts} turns began and {len(ends)} ended; {begun} runs began and {ended} ended"
    heard, told = [one.status for one in outcomes], [event.status for event in ends]
    if heard != told:
        yield f"balance: on_complete heard of {heard}, turns ended {told}"
    for plugin in ("one", "two"):
        count = len(course.hooked("on_complete", plugin))
        if count != len(ends):
            yield f"balance: {len(ends)} turns ended, and on_complete of '{plugin}' was called {count} times"


def _check_model_calls(seen: list[Hooked]) -> Iterator[str]:
    """`before_llm` is followed by `after_llm`, by `on_error` without a call, or by an end that says why not."""
    is_open = False
    for one in seen:
        if one.hook == "before_llm":
            if is_open:
                yield "balance: before_llm follows before_llm, and nothing between says what became of the model call"
            is_open = True
        elif one.hook == "after_llm" or (one.hook == "on_error" and one.given["tool_call"] is None):
            is_open = False
        elif one.hook == "on_complete":
            if is_open and one.given["outcome"].status not in LEFT_OPEN:
                yield f"balance: before_llm has no after_llm in a turn that is '{one.given['outcome'].status}'"
            is_open = False


def _check_rounds(course: Course, seen: list[Hooked]) -> Iterator[str]:
    """`before_tools` is followed by `after_tools`, `before_each_tool` by `after_each_tool`, or by an end."""
    round_open = False
    calls: set[str] = set()
    for one in seen:
        if one.hook == "before_tools":
            round_open = True
        elif one.hook == "after_tools":
            round_open = False
            if calls:
                yield f"balance: the round is over, and {sorted(calls)} had no after_each_tool"
        elif one.hook == "before_each_tool":
            calls.add(one.given["tool_call"].id)
        elif one.hook == "after_each_tool":
            calls.discard(one.given["tool_call"].id)
        elif one.hook == "before_llm" and (round_open or calls):
            yield "balance: a model call begins while a round is open"
        elif one.hook == "on_complete":
            status = one.given["outcome"].status
            if round_open and status not in LEFT_OPEN:
                yield f"balance: before_tools has no after_tools in a turn that is '{status}'"
            if calls and status != "waiting" and not course.refused_while_waiting:
                yield f"balance: {sorted(calls)} had no after_each_tool in a turn that is '{status}'"
            round_open, calls = False, set()


def _check_results(course: Course, seen: list[Hooked]) -> Iterator[str]:
    """Each result passes `after_each_tool` once, and `on_error` just before where the call failed."""
    ended = collections.Counter(event.call.id for _, event in course.all(ToolEnd))
    passed = collections.Counter(one.given["tool_call"].id for one in seen if one.hook == "after_each_tool")
    if not course.crashed and ended != passed:
        yield f"balance: results of {dict(ended)}, after_each_tool for {dict(passed)}"
    told = {one.given["tool_call"].id for one in seen if one.hook == "on_error" and one.given["tool_call"] is not None}
    for _, event in course.all(ToolEnd):
        if event.result.error_type in FAILED_CALLS and event.call.id not in told and event.result.status != "denied":
            yield f"balance: '{event.call.id}' failed ({event.result.error_type}), and on_error heard nothing"
    started = {event.call.id for _, event in course.all(ToolStart)}
    if not course.crashed and not started <= set(ended):
        yield f"balance: {sorted(started - set(ended))} started and have no result"


def _check_messages(course: Course, seen: list[Hooked]) -> Iterator[str]:
    """What a person says passes `after_user_input`; what the model says passes `after_llm`."""
    heard = collections.Counter(one.given["message"].via for one in seen if one.hook == "after_user_input")
    stored = collections.Counter(
        event.message.via
        for _, event in course.all(MessageEnd)
        if isinstance(event.message, UserMessage) and event.message.origin is None
    )
    for via, count in stored.items():
        if heard[via] < count:
            yield f"balance: {count} messages came by '{via}', and after_user_input heard of {heard[via]}"
    replies = sum(isinstance(event.message, AssistantMessage) for _, event in course.all(MessageEnd))
    after = sum(one.hook == "after_llm" for one in seen)
    failed_between = any(hook == "after_llm" for _, hook in course.misbehaved)
    if replies > after and not failed_between:
        yield f"balance: {replies} replies are stored, and after_llm was called {after} times"


def _check_numbers(course: Course) -> Iterator[str]:
    """Events are numbered one after the other."""
    numbers = [item.number for item in course.timeline if isinstance(item, Event)]
    for before, after in itertools.pairwise(numbers):
        if after != before + 1:
            yield f"events: number {after} follows {before}"
