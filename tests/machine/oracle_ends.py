"""How a run ends: with a status that is true, within its limits, and with the culprit's name where a plugin failed."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import get_args

from hookagent import AssistantMessage, Deny, MisuseError, PluginError
from hookagent.events import IterationStart, Retry, ToolStart
from hookagent.result import Status
from tests.machine.course import Course, stopped_at
from tests.machine.plans import Setup
from tests.machine.world import Hooked, Mark, Sent

LATE = ("on_complete", "on_error", "on_event", "on_session_end")
"""The hooks whose failure may come too late to be raised: it is listed, or said, with its name."""
MAX_WAIT = 5.0


def check_end(course: Course) -> Iterator[str]:
    """Look at what a run gave or raised."""
    yield from _check_raised(course)
    yield from _check_named(course)
    if course.crashed or course.result is None:
        return
    yield from _check_status(course)
    yield from _check_stops(course)
    yield from _check_limits(course, course.setup)
    yield from _check_calls_of_the_model(course)


def _check_raised(course: Course) -> Iterator[str]:
    error = course.error
    if error is None or course.crashed:
        return
    if isinstance(error, asyncio.CancelledError):
        if not any(type(item) is Mark and item.what == "cancel" for item in course.timeline):
            yield "raised: the run was cancelled, and nobody cancelled it"
    elif not isinstance(error, PluginError | MisuseError):
        yield f"raised: {type(error).__name__}: {error}"
    elif isinstance(error, PluginError):
        if (error.plugin, error.hook) not in course.misbehaved:
            yield f"named: '{error.plugin}' is blamed for '{error.hook}', which did nothing wrong: {error}"
        if f"'{error.plugin}'" not in str(error) or f"'{error.hook}'" not in str(error):
            yield f"named: the text does not name plugin and hook: {error}"


def _check_named(course: Course) -> Iterator[str]:
    """Who misbehaved is named: raised, listed or warned of; nobody who did what no hook may gets away with it."""
    if course.crashed or course.ended_by_force or course.result is None:
        return
    said = " ".join([str(course.error or ""), *course.result.errors, *course.result.warnings, course.result.reason])
    for plugin, hook in course.misbehaved:
        if f"'{plugin}'" not in said and not (course.error is not None and hook in LATE):
            yield f"named: '{plugin}' failed in '{hook}', and nobody says so"
    early = [hook for _, hook in course.misbehaved if hook not in LATE]
    if early and course.error is None and course.status in ("completed", "waiting"):
        yield f"named: {course.misbehaved} failed, and the run is '{course.status}'"


def _check_status(course: Course) -> Iterator[str]:
    result, transcript = course.result, course.agent.transcript
    assert result is not None
    if result.status not in get_args(Status):
        yield f"status: there is no '{result.status}'"
    waits = result.status == "waiting" or (result.status == "stopped" and course.refused_while_waiting)
    if (transcript.open_round is not None) != waits:
        yield f"status: '{result.status}', and the open round is {transcript.open_round}"
    refused = any(one.act == "stop" for one in course.hooked("after_user_input"))
    if result.not_stored and result.status in ("completed", "waiting", "limit") and not (refused or course.misbehaved):
        yield f"status: '{result.status}', and nobody refused what is not stored: {result.not_stored}"
    if result.status == "waiting" and not course.agent.session.waiting:
        yield "status: 'waiting', and no call waits"
    replies = [one for one in transcript.messages() if isinstance(one, AssistantMessage)]
    if result.status == "completed" and (not replies or replies[-1].tool_calls or result.answer != replies[-1].text):
        yield f"status: completed with {result.answer!r}, which is not the last reply"
    if result.status not in ("completed", "waiting") and not result.reason:
        yield f"status: '{result.status}' without a reason"
    forced = course.ended_by_force
    if result.status == "aborted" and not forced:
        yield "status: 'aborted', and nobody aborted it"
    unanswered = [
        part
        for _, one in course.all(Hooked)
        for part in (one.returned.values() if isinstance(one.returned, dict) else [one.returned])
        if isinstance(part, Deny) and part.unanswered
    ]
    if unanswered and result.status in ("completed", "stopped"):
        yield f"status: '{result.status}', although a call was denied since nobody could be asked"


def _check_stops(course: Course) -> Iterator[str]:
    """After a `Stop` or an abort no request leaves and no tool starts in this run."""
    stopped = stopped_at(course)
    if stopped is not None and course.status in ("completed", "waiting"):
        yield f"stop: somebody stopped the run, and it is '{course.status}'"
    marks = [place for place, item in course.all(Mark) if item.what == "abort"]
    ends = {"stop": stopped, "abort": marks[0] if marks else None}
    for what, end in ends.items():
        if end is None:
            continue
        if any(place > end and not one.summarizes for place, one in course.all(Sent)):
            yield f"{what}: a request left behind it"
        by_gate = what == "abort" or course.world.timeline[end].hook in ("before_tools", "resolve_suspended")
        by_gate = by_gate or course.world.timeline[end].hook == "before_each_tool"
        if by_gate and any(place > end for place, _ in course.all(ToolStart)):
            yield f"{what}: a tool started behind it"


def _check_limits(course: Course, setup: Setup) -> Iterator[str]:
    result = course.result
    assert result is not None
    iterations = sum(1 for _ in course.all(IterationStart))
    if setup.max_iterations is not None:
        if result.iterations > setup.max_iterations or iterations > setup.max_iterations:
            yield f"limits: {iterations} iterations, at most {setup.max_iterations} are allowed"
        if result.limit == "max_iterations" and result.iterations < setup.max_iterations:
            yield f"limits: stopped after {result.iterations} iterations of {setup.max_iterations}"
    starts = sum(1 for _ in course.all(ToolStart))
    if result.iterations != iterations:
        yield f"limits: {iterations} iterations began, the result counts {result.iterations}"
    if setup.max_tool_calls is not None and starts > setup.max_tool_calls:
        yield f"limits: {starts} calls started, at most {setup.max_tool_calls} may"
    if result.tool_calls != starts:
        yield f"limits: {starts} calls started, the result counts {result.tool_calls}"


def _check_calls_of_the_model(course: Course) -> Iterator[str]:
    """A model call that failed is tried again only where nobody heard a piece of it, and the wait is bounded."""
    last: Sent | None = None
    for item in course.timeline:
        if type(item) is Sent and not item.summarizes:
            if last is not None and last.answer == "too_long" and last.body == item.body:
                yield "requests: one that was too long was sent again, unchanged"
            last = item
        elif type(item) is Retry:
            if item.wait_seconds > MAX_WAIT:
                yield f"retry: waits {item.wait_seconds} s, more than {MAX_WAIT}"
            if last is not None and last.pieces:
                yield f"retry: after {last.pieces} pieces were heard"
            if last is not None and last.answer in ("authentication", "too_long", "reply"):
                yield f"retry: after '{last.answer}', which does not pass"


def usage_problems(course: Course, counted: int, used: int) -> Iterator[str]:
    """What the replies of a run used is what it adds to the session; an abort may lose the newest one."""
    if counted > used or (counted != used and course.undisturbed):
        yield f"usage: {counted} tokens are counted, {used} were used"
