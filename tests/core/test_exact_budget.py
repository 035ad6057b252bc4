"""Budgets to the letter: what is counted where nothing is limited, and time in which people are waited for again."""

from __future__ import annotations

from typing import Any

import pytest

from hookagent.limits import Limits
from hookagent.loop.budget import Budget, Exceeded
from hookagent.usage import Usage

NONE = Limits(max_iterations=None)


class Time:
    now = 10.0

    def __call__(self) -> float:
        return self.now


def test_time_in_which_people_are_waited_for_is_left_out_each_time() -> None:
    time = Time()
    parent = Budget(Limits(max_iterations=None, max_seconds=4), time)
    child = Budget(NONE, time, parent)
    for asked in (100.0, 10.0, 1.0):
        time.now += 1.0
        child.begin_asking()
        time.now += asked
        child.end_asking()
    assert (parent.seconds, child.seconds) == (3.0, 3.0)
    assert child.exceeded() is None
    time.now += 1.25
    text = "stopped after 4.2 s: the limit max_seconds is 4"
    assert child.exceeded() == parent.exceeded() == Exceeded("max_seconds", text)


def test_what_is_not_limited_is_counted_all_the_same_and_by_all_who_are_around() -> None:
    time = Time()
    outer = Budget(NONE, time)
    middle = Budget(NONE, time, outer)
    inner = Budget(NONE, time, middle)
    for budget, number in ((outer, 2), (middle, 2), (inner, 3)):
        for _ in range(number):
            budget.begin_iteration()
            assert budget.take_call() is None
            budget.add(Usage(number))
    assert [(one.iterations, one.tool_calls, one.usage.input_tokens) for one in (outer, middle, inner)] == [
        (7, 7, 17),
        (5, 5, 13),
        (3, 3, 9),
    ]
    assert [one.exceeded() for one in (outer, middle, inner)] == [None, None, None]


@pytest.mark.parametrize(
    "limits", [NONE, Limits(max_iterations=9), Limits(max_iterations=None, max_tokens=900, max_cost_usd=9.0)]
)
@pytest.mark.parametrize("level", [0, 1])
def test_a_limit_of_anyone_around_forbids_calls_and_iterations_of_what_is_innermost(limits: Limits, level: int) -> None:
    time = Time()
    one = Limits(max_iterations=1, max_tool_calls=1)
    outer = Budget(one if level == 0 else NONE, time)
    middle = Budget(one if level == 1 else NONE, time, outer)
    inner = Budget(limits, time, middle)
    assert inner.take_call() is None
    over = "stopped after 1 tool call: the limit max_tool_calls is 1"
    assert inner.take_call() == f"not run: {over}"
    assert (outer.tool_calls, middle.tool_calls, inner.tool_calls) == (1, 1, 1)
    assert inner.exceeded() == middle.exceeded() == Exceeded("max_tool_calls", over)
    assert outer.exceeded() == (inner.exceeded() if level == 0 else None)
    assert outer.take_call() == (f"not run: {over}" if level == 0 else None)


@pytest.mark.parametrize(
    ("limit", "used"),
    [
        ("max_tokens", [Usage(1), Usage(0, 1), Usage(0, 0, 1), Usage(0, 0, 0, 1)]),
        ("max_input_tokens", [Usage(1), Usage(0, 1), Usage(0, 0, 1)]),
        ("max_output_tokens", [Usage(0, 0, 0, 1)]),
    ],
)
def test_a_token_limit_counts_each_kind_of_token_that_it_is_about(limit: str, used: list[Usage]) -> None:
    values: dict[str, Any] = {"max_iterations": None, limit: 3}
    for usage in used:
        budget = Budget(Limits(**values), Time())
        for _ in range(2):
            budget.add(usage)
        assert budget.exceeded() is None
        budget.add(usage)
        exceeded = budget.exceeded()
        assert exceeded is not None
        assert exceeded.limit == limit


def test_where_everything_is_limited_the_first_limit_that_is_reached_is_named() -> None:
    every = Limits(
        max_iterations=9, max_tokens=9, max_input_tokens=9, max_output_tokens=9, max_cost_usd=9.0, max_seconds=9
    )
    time = Time()
    budget = Budget(every, time)
    budget.add(Usage(1, cost_usd=1.0))
    assert budget.exceeded() is None
    time.now += 9.0
    assert budget.exceeded() == Exceeded("max_seconds", "stopped after 9.0 s: the limit max_seconds is 9")
    budget.add(Usage(8, cost_usd=8.0))
    assert budget.exceeded() == Exceeded("max_tokens", "stopped after 9 tokens: the limit max_tokens is 9")


def test_equal_rounds_that_are_not_in_a_row_are_warned_of_and_stop_nothing() -> None:
    budget = Budget(Limits(max_iterations=None, max_equal_calls=2), Time())
    warning = (
        "The same calls gave the same results 1 time in a row. Once more, and the run is stopped: try something else, "
        "or answer with what you have."
    )
    assert [budget.end_round(one) for one in ("a", "b", "a")] == [warning] * 3
    assert budget.exceeded() is None
    assert budget.end_round("a") is None
    text = "stopped after 2 rounds of equal calls and results: the limit max_equal_calls is 2"
    assert budget.exceeded() == Exceeded("max_equal_calls", text)
