"""One run as the oracles look at it, and what is common to their questions."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeVar

from hookagent import (
    Agent,
    AssistantMessage,
    RunResult,
    Stop,
    ToolCall,
    Transcript,
)
from hookagent.events import MessageEnd, ResolveStart, TurnEnd
from tests.machine.plans import GATES, Plan, Setup
from tests.machine.world import Hooked, Mark, World

Item = TypeVar("Item")
MISBEHAVIOUR = frozenset({"raise", "raise_base", "overrun", "wrong", "cancel", "amend_badly", "drop_system"})
"""The acts that a plugin must be named for, wherever it does them."""
MESSAGE_HOOKS = frozenset(
    {"after_user_input", "before_llm", "after_llm", "before_tools", "after_tools", "before_complete", "on_complete"}
)


class Verdict(NamedTuple):
    """What one call of a gate or an answerer said of one tool call, and with which arguments it saw it."""

    place: int
    plugin: str
    hook: str
    call: ToolCall
    verdict: Any


@dataclass(slots=True)
class Call:
    """What became of one tool call, over all runs in which it was open; `sights` are in the order of the timeline."""

    call: ToolCall
    cut: bool
    round: tuple[str, ...]
    sights: list[Verdict] = field(default_factory=list)


@dataclass(slots=True)
class Course:
    """One run: its part of the timeline begins at `start`."""

    world: World
    agent: Agent
    setup: Setup
    plan: Plan
    start: int
    before: Transcript
    prompts: tuple[str, ...] = ()
    result: RunResult | None = None
    error: BaseException | None = None
    crashed: bool = False

    @property
    def timeline(self) -> list[Any]:
        """What happened in it."""
        return self.world.timeline[self.start :]

    def all(self, kind: type[Item]) -> Iterator[tuple[int, Item]]:
        """Everything of a kind, each with its place in the whole timeline."""
        for place in range(self.start, len(self.world.timeline)):
            item = self.world.timeline[place]
            if type(item) is kind:
                yield place, item

    def hooked(self, hook: str, plugin: str | None = None) -> list[Hooked]:
        """The calls of one hook."""
        return [one for _, one in self.all(Hooked) if one.hook == hook and (plugin is None or one.plugin == plugin)]

    @property
    def ended_by_force(self) -> bool:
        """Whether it was aborted or cancelled."""
        return any(type(item) is Mark for item in self.timeline)

    @property
    def status(self) -> str:
        """Its status; "" when it raised before it began."""
        return "" if self.result is None else self.result.status

    @property
    def misbehaved(self) -> list[tuple[str, str]]:
        """The plugins and hooks that did what they must be named for."""
        return [(one.plugin, one.hook) for _, one in self.all(Hooked) if misbehaves(one)]

    @property
    def refused_while_waiting(self) -> bool:
        """Whether a prompt to a waiting session was refused: the calls wait on, whatever became of the prompt."""
        return self.agent.session.waiting and any(one.act == "stop" for one in self.hooked("after_user_input"))

    @property
    def undisturbed(self) -> bool:
        """Whether nothing ended it from outside and no plugin failed."""
        return not (self.ended_by_force or self.crashed or self.error is not None or self.misbehaved)


def misbehaves(one: Hooked) -> bool:
    """Whether this call of a hook did what it must be named for."""
    if one.act in ("message", "two_messages"):
        return one.hook not in MESSAGE_HOOKS
    return one.act in MISBEHAVIOUR


def same(first: Any, second: Any) -> bool:
    """Whether two arguments are the same JSON."""
    return json.dumps(first, sort_keys=True) == json.dumps(second, sort_keys=True)


def fits(call: ToolCall) -> bool:
    """Whether a call could run: a known tool, and arguments that fit it."""
    arguments = call.arguments
    return call.name != "nowhere" and arguments is not None and type(arguments.get("n", 0)) is int


def verdicts_of(place: int, one: Hooked) -> Iterator[Verdict]:
    """What a call of a gate said, call by call; also where it said nothing of one that it saw."""
    if one.hook == "before_each_tool":
        call = one.given["tool_call"]
        yield Verdict(place, one.plugin, one.hook, call, one.returned if _is_verdict(one.returned) else None)
    elif one.hook == "before_tools":
        said = one.returned if isinstance(one.returned, list) else [one.returned]
        for call in one.given["tool_calls"]:
            mine = [part for part in said if _is_verdict(part)]
            mine += [part[call.id] for part in said if isinstance(part, Mapping) and call.id in part]
            for verdict in mine or [None]:
                yield Verdict(place, one.plugin, one.hook, call, verdict)
    elif one.hook == "resolve_suspended":
        answers = one.returned if isinstance(one.returned, Mapping) else {}
        for pending in one.given["pending"]:
            yield Verdict(place, one.plugin, one.hook, pending.call, answers.get(pending.call.id))


def _is_verdict(value: Any) -> bool:
    return type(value).__name__ in ("Stop", "Deny", "Suspend", "Amend")


def stopped_at(course: Course) -> int | None:
    """Where in the timeline somebody's `Stop` was returned first, if anybody's was."""
    for place, one in course.all(Hooked):
        parts = one.returned if isinstance(one.returned, list) else [one.returned]
        if isinstance(one.returned, Mapping):
            parts = list(one.returned.values())
        if any(isinstance(part, Stop) for part in parts):
            return place
    return None


def take_in(course: Course, calls: dict[str, Call]) -> None:
    """Add what a run tells of calls to what is known of them."""
    for place in range(course.start, len(course.world.timeline)):
        item = course.world.timeline[place]
        if type(item) is MessageEnd and isinstance(item.message, AssistantMessage):
            made = item.message.tool_calls
            cut = item.message.stop_reason in ("length", "too_long", "refusal", "filtered")
            for call in made:
                calls[call.id] = Call(call, cut, tuple(one.id for one in made))
        elif type(item) is Hooked and item.hook in GATES:
            for verdict in verdicts_of(place, item):
                if verdict.call.id in calls:
                    calls[verdict.call.id].sights.append(verdict)


def forget(course: Course, calls: dict[str, Call]) -> None:
    """Forget what was said of calls and had not reached the disk when the process died; they are judged anew."""
    written = [
        place
        for place in range(course.start, len(course.world.timeline))
        if type(item := course.world.timeline[place]) is ResolveStart
        or (type(item) is TurnEnd and item.status == "waiting")
    ]
    last = written[-1] if written else course.start
    for call in calls.values():
        call.sights = [one for one in call.sights if one.place < last]
