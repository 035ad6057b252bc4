"""What an example is made of: its agent, and for each run the replies, the acts and what comes from outside.

Plain frozen values, drawn by hypothesis ahead of a run, so that an example that fails shrinks and can be read.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st

PLUGINS = ("one", "two")
TOOLS = ("ok", "slow", "bad", "hangs", "stubborn", "steers", "stops", "risky", "big", "limited", "alone", "nowhere")
ARGUMENTS: tuple[Any, ...] = ({}, {"n": 1}, {"n": 2}, {"n": "many"}, '{"n": ', "[1]")
"""The last three do not fit; the texts are no objects."""
WIRES = ("plain", "anthropic", "openai", "openai-chat")

FAULTS = ("raise", "raise_base", "overrun", "wrong", "message", "cancel", "mutate", "abort", "re-enter")
"""What a plugin may do wrong in every hook; `message` is wrong only where none is allowed."""
SIDE = ("steer", "follow_up")
MESSAGES = ("message", "two_messages")
ACTS: dict[str, tuple[str, ...]] = {
    "on_session_start": (),
    "after_user_input": (*MESSAGES, "replace", "stop"),
    "before_llm": (*MESSAGES, "stop"),
    "shape_request": ("note", "shorten", "summary", "clear", "drop_system"),
    "wrap_model_call": ("twice", "instead", "note"),
    "after_llm": (*MESSAGES, "replace", "replace_calls"),
    "before_tools": (*MESSAGES, "stop", "deny", "suspend", "deny_one", "amend_one", "suspend_one", "message_and_deny"),
    "before_each_tool": ("stop", "deny", "suspend", "amend", "amend", "insist", "amend_badly", "unanswered"),
    "resolve_suspended": ("approve", "deny", "amend", "stop", "unanswered", "approve_one"),
    "wrap_tool_call": ("twice", "instead"),
    "after_each_tool": ("replace",),
    "on_error": (),
    "after_tools": (*MESSAGES, "stop", "stop_and_message"),
    "before_complete": MESSAGES,
    "on_complete": MESSAGES,
    "on_event": (),
}
"""What a plugin may do in each hook, besides `FAULTS` and `SIDE`."""
GATES = ("before_tools", "before_each_tool", "resolve_suspended")


@dataclass(frozen=True, slots=True)
class Act:
    """The `nth` call (from 0) of a hook of a plugin in one run does `what`."""

    plugin: int
    hook: str
    nth: int
    what: str


@dataclass(frozen=True, slots=True)
class Reply:
    """One answer of the model; `calls` are indexes into `TOOLS`, `ARGUMENTS`, and what kind of id it has."""

    text: bool = True
    calls: tuple[tuple[int, int, str], ...] = ()
    thinking: bool = False
    stop: str | None = None
    failure: str | None = None


@dataclass(frozen=True, slots=True)
class Outside:
    """Something from outside when `at` more things have happened: abort, cancel, steer, follow_up, steer_three."""

    at: int
    what: str


@dataclass(frozen=True, slots=True)
class Plan:
    """One run, and what is done `first`, while nothing runs: steer, follow_up, reopen, fork.

    `crash` is the number of the write with which the run's process dies, and whether that was still made.
    """

    first: tuple[str, ...]
    replies: tuple[Reply, ...]
    acts: tuple[Act, ...]
    outside: tuple[Outside, ...]
    crash: tuple[int, bool] | None
    summary: str


@dataclass(frozen=True, slots=True)
class Setup:
    """The agent of an example."""

    wire: str = "plain"
    mode: Any = "parallel"
    log: bool = False
    asynchronous: tuple[bool, bool] = (False, True)
    around: bool = False
    listens: bool = False
    window: int | None = None
    strategy: str = "drop"
    real_window: int | None = None
    max_iterations: int | None = None
    max_tool_calls: int | None = None
    closing_answer: bool = False
    max_parallel: int | None = None
    steering: Any = "one-at-a-time"
    follow_ups: Any = "one-at-a-time"
    suspends: str = ""
    answers: str = ""
    insists: str = ""
    bare: bool = False


class Dice:
    """Draws of hypothesis as throws of dice: weights are exact, and what shrinks goes to the first, plainest choice."""

    def __init__(self, draw: st.DrawFn) -> None:
        self._draw = draw

    def pick(self, *choices: Any) -> Any:
        """One of `choices`; one that stands there twice comes twice as often."""
        return choices[self._draw(st.integers(0, len(choices) - 1))]

    def upto(self, least: int, most: int) -> int:
        """A whole number from `least` to `most`."""
        return self._draw(st.integers(least, most))

    def chance(self, percent: int) -> bool:
        """True so often."""
        return self._draw(st.integers(0, 99)) >= 100 - percent


_ALL_HOOKS = tuple(ACTS)
_TALK = tuple(hook for hook in ACTS if set(ACTS[hook]) & set(MESSAGES))
_STOPS = ("length", "length", "refusal", "filtered", "too_long", "pause", "pause", "unknown", "stop_sequence")
_FAILURES = (
    *("server", "rate_limit", "authentication", "too_long", "broken", "broken", "cut", "cut", "nothing", "foreign"),
    "hangs",
)
_IDS = ("fresh",) * 6 + ("same", "first", "blank")
_USUAL = (0, 0, 1, 1, 7, 7, 4, 9)
_FIRST = ("steer", "steer", "follow_up", "reopen", "reopen", "fork")
_OUTSIDE = ("steer", "steer", "follow_up", "follow_up", "steer_three", "abort", "abort", "cancel")


@st.composite
def plans(draw: st.DrawFn) -> Plan:
    """A plan for one run."""
    dice = Dice(draw)
    theme = dice.pick("quiet", "gates", "gates", "gates", "talk", "talk", "any", "any", "faults", "quiet")
    long = dice.chance(25)
    replies = tuple(_reply(dice, long) for _ in range(dice.upto(3, 5) if long else dice.upto(0, 5)))
    outside = tuple(Outside(dice.upto(0, 60), dice.pick(*_OUTSIDE)) for _ in range(dice.pick(0, 0, 0, 1, 2)))
    crash = (dice.upto(1, 25), dice.chance(50)) if dice.chance(15) else None
    summary = dice.pick("short", "short", "long", "longest", "longest", "blank", "broken")
    first = tuple(dice.pick(*_FIRST) for _ in range(dice.pick(0, 0, 1, 2)))
    return Plan(first, replies, _acts(dice, theme), outside, crash, summary)


def _acts(dice: Dice, theme: str) -> tuple[Act, ...]:
    if theme == "quiet":
        return ()
    hooks = {"gates": GATES, "talk": _TALK}.get(theme, _ALL_HOOKS)
    acts = []
    for _ in range(dice.upto(1, 5 if theme == "gates" else 3)):
        hook = dice.pick(*hooks)
        faulty = not ACTS[hook] or dice.chance(90 if theme == "faults" else 8)
        what = dice.pick(*FAULTS, *SIDE) if faulty else dice.pick(*ACTS[hook])
        acts.append(Act(dice.upto(0, 1), hook, dice.pick(0, 0, 0, 1, 1, 2), what))
    return tuple(acts)


def _reply(dice: Dice, long: bool) -> Reply:
    kind = dice.pick(*("calls",) * 14, "final", "odd", "odd", "failed", "failed", "paused")
    if long and kind != "failed":
        return Reply(calls=((8, 1, "fresh"),) * dice.pick(1, 2, 3, 3))
    if kind == "failed":
        return Reply(failure=dice.pick(*_FAILURES), calls=_calls(dice))
    if kind == "paused":
        return Reply(thinking=dice.chance(50), stop="pause")
    if kind == "final":
        return Reply(thinking=dice.chance(50))
    calls = _calls(dice) if kind == "calls" or dice.chance(60) else ()
    return Reply(dice.chance(60), calls, dice.chance(30), dice.pick(*_STOPS) if kind == "odd" else None)


def _calls(dice: Dice) -> tuple[tuple[int, int, str], ...]:
    return tuple(
        (
            dice.pick(*_USUAL) if dice.chance(70) else dice.upto(0, len(TOOLS) - 1),
            dice.pick(0, 0, 0, 1, 1, 1, 2, 2) if dice.chance(90) else dice.pick(3, 4, 5),
            dice.pick(*_IDS),
        )
        for _ in range(dice.pick(1, 1, 2, 2, 3))
    )


@st.composite
def setups(draw: st.DrawFn) -> Setup:
    """An agent."""
    dice = Dice(draw)
    return Setup(
        wire=dice.pick(*WIRES),
        mode=dice.pick("parallel", "parallel", "sequential"),
        log=dice.chance(50),
        asynchronous=(dice.chance(50), dice.chance(50)),
        around=dice.chance(40),
        listens=dice.chance(30),
        window=dice.pick(None, None, 1_500, 2_400, 2_400, 3_200),
        strategy=dice.pick("drop", "clear_results", "summarize", "summarize"),
        real_window=dice.pick(None, None, None, 1_800, 2_400),
        max_iterations=dice.pick(None, None, None, 3),
        max_tool_calls=dice.pick(None, None, None, 4),
        closing_answer=dice.chance(40),
        max_parallel=dice.pick(None, None, 1, 2),
        steering=dice.pick("one-at-a-time", "all"),
        follow_ups=dice.pick("one-at-a-time", "all"),
        suspends=dice.pick("", "", "risky", "every"),
        answers=dice.pick("", "", "approve", "deny", "amend", "some"),
        insists=dice.pick("", "", "", "", "one", "both"),
        bare=dice.chance(15),
    )
