"""The oracle of balance has teeth: what is in balance passes, and each altered trace is refused by its rule."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

import pytest

from hookagent import ToolResult
from hookagent.contract import CONTRACTS
from hookagent.testing import Recorder
from tests.core.scripts import calls, make_agent
from tests.golden.balance import Call, UnbalancedError, check_balance
from tests.golden.perform import play
from tests.golden.table import SCENARIOS, plainest

Altered = Callable[[list[Call]], list[Call]]


@cache
def recorded(name: str) -> tuple[Call, ...]:
    """The hook calls of a scenario, as its witness kept them."""
    scenario = next(one for one in SCENARIOS if one.name == name)
    return tuple(play(scenario, plainest("parallel")).stage.witness.calls)


def place(seen: Sequence[Call], hook: str, number: int = 0) -> int:
    return [index for index, (name, _) in enumerate(seen) if name == hook][number]


def without(hook: str, number: int = 0) -> Altered:
    def alter(seen: list[Call]) -> list[Call]:
        del seen[place(seen, hook, number)]
        return seen

    return alter


def twice(hook: str, number: int = 0) -> Altered:
    def alter(seen: list[Call]) -> list[Call]:
        index = place(seen, hook, number)
        return [*seen[: index + 1], *seen[index:]]

    return alter


def swapped(first: str, second: str) -> Altered:
    def alter(seen: list[Call]) -> list[Call]:
        one, other = place(seen, first), place(seen, second)
        seen[one], seen[other] = seen[other], seen[one]
        return seen

    return alter


def given(hook: str, **changed: Any) -> Altered:
    def alter(seen: list[Call]) -> list[Call]:
        index = place(seen, hook)
        seen[index] = hook, {**seen[index][1], **changed}
        return seen

    return alter


def ended_as(status: Any) -> Altered:
    def alter(seen: list[Call]) -> list[Call]:
        index = place(seen, "on_complete", -1)
        seen[index] = "on_complete", {"outcome": replace(seen[index][1]["outcome"], status=status)}
        return seen

    return alter


MUTANTS: list[tuple[str, Altered, str]] = [
    ("three-tools", without("after_llm"), "before_llm has no after_llm"),
    ("three-tools", without("before_llm"), "no before_llm led to it"),
    ("three-tools", without("shape_request"), "no shape_request led to it"),
    ("three-tools", without("before_llm", 1), "no before_llm led to it"),
    ("three-tools", without("before_tools"), "no before_tools led to c1"),
    ("three-tools", without("before_each_tool", 1), "c2 runs without its before_each_tool"),
    ("three-tools", twice("before_each_tool"), "c1 is judged once too often"),
    ("three-tools", twice("wrap_tool_call"), "c1 runs twice"),
    ("three-tools", without("after_each_tool", 1), "no after_each_tool for c2"),
    ("three-tools", twice("after_each_tool"), "a second after_each_tool for c3"),
    (
        "three-tools",
        given("after_each_tool", result=ToolResult("x", call_id="c9")),
        "it is of another call, c9",
    ),
    ("three-tools", without("after_tools"), "the round before has no after_tools"),
    ("three-tools", twice("after_tools"), "no before_tools led to it"),
    ("three-tools", swapped("after_tools", "after_each_tool"), "no after_each_tool for c1, c2, c3"),
    ("three-tools", without("on_complete"), "the turn has no on_complete"),
    ("three-tools", twice("on_complete"), "turn 1 ends after turn 1"),
    ("three-tools", twice("on_session_start"), "the session has begun already"),
    ("three-tools", twice("on_session_end"), "the session has ended"),
    ("three-tools", given("before_llm", iteration=2), "iteration 1 was due"),
    ("two-rounds", without("before_tools", 1), "no before_tools led to c2"),
    ("failing-tool", swapped("on_error", "after_each_tool"), "c1 has its after_each_tool already"),
    ("failing-tool", twice("on_error"), "on_error was told of c1 already"),
    ("stopped-before-llm", ended_as("completed"), "before_llm has no after_llm"),
    ("stopped-before-llm", ended_as("failed"), "before_llm has no after_llm"),
    ("failing-before_llm", without("on_error"), "before_llm has no after_llm"),
    ("failing-before_tools", without("after_each_tool", 1), "no after_each_tool for c2"),
    ("abort-in-before_llm", ended_as("completed"), "before_llm has no after_llm"),
    ("abort-in-before_tools", ended_as("waiting"), "it waits, but each call has its after_each_tool"),
    ("model-error", ended_as("completed"), "the model call failed"),
    ("suspended-still", ended_as("completed"), "no after_each_tool for c1"),
    ("steered", swapped("after_user_input", "before_each_tool"), "no before_tools led to c1"),
    ("steered-at-the-end", swapped("after_llm", "after_user_input"), "no request led to this reply"),
]


@pytest.mark.parametrize(
    ("name", "alter", "says"), MUTANTS, ids=[f"{number}-{name}" for number, (name, _, _) in enumerate(MUTANTS)]
)
def test_an_altered_trace_is_refused(name: str, alter: Altered, says: str) -> None:
    check_balance(recorded(name))
    with pytest.raises(UnbalancedError, match=says):
        check_balance(alter(list(recorded(name))))


@pytest.mark.parametrize("hook", ["before_llm", "after_llm", "after_each_tool", "after_tools", "on_complete"])
def test_none_of_these_can_be_missing_anywhere_in_a_session_that_came_to_its_end(hook: str) -> None:
    for name in ("three-tools", "two-rounds", "denied", "suspended-resumed", "two-turns", "limit-max_iterations"):
        seen = recorded(name)
        for number in range(sum(one == hook for one, _ in seen)):
            with pytest.raises(UnbalancedError):
                check_balance(without(hook, number)(list(seen)))


def test_a_failed_turn_goes_without_on_error_only_where_nobody_is_told() -> None:
    seen = recorded("failing-on_event")
    check_balance(seen, ["on_event"])
    with pytest.raises(UnbalancedError, match="before_tools has no after_tools"):
        check_balance(without("on_error")(list(recorded("failing-before_tools"))), ["before_tools"])


def test_a_session_that_was_brought_back_goes_on_where_it_was() -> None:
    seen = list(recorded("suspended-resumed"))
    second = seen[place(seen, "on_complete") + 1 :]
    check_balance(second, turn=1, waiting={"c1": False, "c2": True})
    with pytest.raises(UnbalancedError, match="no before_tools led to c1"):
        check_balance(second, turn=1)
    with pytest.raises(UnbalancedError, match="turn 2 ends after turn 0"):
        check_balance(second, waiting={"c1": False, "c2": True})


def test_it_takes_what_the_kits_recorder_keeps() -> None:
    recorder = Recorder()
    agent = make_agent([calls("quick", "bad"), {"text": "done"}], recorder)
    agent.run_sync("go")
    with pytest.raises(UnbalancedError, match="at the end: the last turn has no on_complete"):
        check_balance(recorder.calls[:-1])
    agent.close_sync()
    check_balance(recorder.calls)
    assert set(recorder.names) == set(CONTRACTS) - {"on_event", "resolve_suspended"}
