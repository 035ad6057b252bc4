"""What a run has used, counted by hand: its own limits, those it is nested under, and time that does not count."""

from __future__ import annotations

import pytest

from hookagent.limits import Limits
from hookagent.loop.budget import Budget, Exceeded
from hookagent.usage import NO_USAGE, Usage

NONE = Limits(max_iterations=None)
USED = Usage(4, 3, 2, 1)


class Time:
    now = 10.0

    def __call__(self) -> float:
        return self.now


def nested(outer: Limits, inner: Limits = NONE) -> tuple[Budget, Budget, Time]:
    time = Time()
    parent = Budget(outer, time)
    return parent, Budget(inner, time, parent), time


@pytest.mark.parametrize(
    ("limits", "usage", "text"),
    [
        (Limits(max_tokens=10), USED, "stopped after 10 tokens: the limit max_tokens is 10"),
        (Limits(max_input_tokens=9), USED, "stopped after 9 input tokens: the limit max_input_tokens is 9"),
        (Limits(max_output_tokens=1), USED, "stopped after 1 output token: the limit max_output_tokens is 1"),
        (
            Limits(max_cost_usd=0.5),
            Usage(1, cost_usd=0.5),
            "stopped after $0.5000: the limit max_cost_usd is 0.5",
        ),
        (
            Limits(max_cost_usd=0.5),
            Usage(1, cost_usd=None),
            "stopped after a model call whose price is unknown: the limit max_cost_usd is 0.5",
        ),
    ],
)
def test_usage_is_held_to_its_limit_by_name_and_not_before(limits: Limits, usage: Usage, text: str) -> None:
    budget = Budget(limits, Time())
    assert budget.exceeded() is None
    budget.add(usage)
    [name] = [one for one in Limits.__slots__ if getattr(limits, one) and one != "max_iterations"]
    assert budget.exceeded() == Exceeded(name, text)
    less = Budget(limits, Time())
    less.add(Usage(4, 2, 2, 0, cost_usd=0.4375))
    assert less.exceeded() is None


def test_iterations_are_held_to_their_limit() -> None:
    budget = Budget(Limits(max_iterations=2), Time())
    budget.begin_iteration()
    assert budget.exceeded() is None
    budget.begin_iteration()
    assert budget.exceeded() == Exceeded("max_iterations", "stopped after 2 iterations: the limit max_iterations is 2")


@pytest.mark.parametrize("inner", [NONE, Limits(max_iterations=9, max_tool_calls=9)])
def test_what_is_nested_counts_for_both_and_obeys_both(inner: Limits) -> None:
    parent, child, _ = nested(Limits(max_iterations=1, max_tool_calls=2), inner)
    assert child.exceeded() is None
    child.begin_iteration()
    assert (parent.iterations, child.iterations) == (1, 1)
    assert child.exceeded() == parent.exceeded()
    assert child.exceeded() is not None
    assert parent.take_call() is None
    assert child.take_call() is None
    text = "not run: stopped after 2 tool calls: the limit max_tool_calls is 2"
    assert child.take_call() == text
    assert (parent.tool_calls, child.tool_calls) == (2, 1)
    assert parent.crossed == child.crossed == Exceeded("max_tool_calls", text.removeprefix("not run: "))
    child.add(Usage(5))
    assert (parent.usage.input_tokens, child.usage.input_tokens) == (5, 5)


def test_the_first_limit_that_was_crossed_stays_the_one_that_is_named() -> None:
    parent, child, _ = nested(Limits(max_tool_calls=2), Limits(max_tool_calls=1))
    assert child.take_call() is None
    assert child.take_call() == "not run: stopped after 1 tool call: the limit max_tool_calls is 1"
    assert parent.take_call() is None
    assert parent.take_call() == "not run: stopped after 2 tool calls: the limit max_tool_calls is 2"
    first = child.crossed
    child.take_call()
    assert child.crossed is first
    assert child.exceeded() is first
    exceeded = parent.exceeded()
    assert exceeded is not None
    assert exceeded.text == "stopped after 2 tool calls: the limit max_tool_calls is 2"


def test_a_sum_that_was_made_already_is_taken_over_where_it_fits() -> None:
    parent, child, _ = nested(NONE)
    total = Usage(7)
    child.add(Usage(7), (NO_USAGE, total))
    assert child.usage is total
    assert parent.usage == total
    child.add(Usage(1), (NO_USAGE, Usage(1)))  # of another beginning than this one's
    assert (child.usage.input_tokens, parent.usage.input_tokens) == (8, 8)


def test_time_in_which_several_people_are_asked_at_once_is_left_out_once() -> None:
    parent, child, time = nested(Limits(max_seconds=5))
    time.now += 3.0
    child.begin_asking()
    time.now += 100.0
    child.begin_asking()
    parent.begin_asking()
    assert (parent.seconds, child.seconds) == (3.0, 3.0)
    time.now += 100.0
    child.end_asking()
    parent.end_asking()
    assert (parent.seconds, child.seconds) == (3.0, 3.0)
    child.end_asking()
    time.now += 1.5
    assert (parent.seconds, child.seconds) == (4.5, 4.5)
    assert child.exceeded() is None
    time.now += 0.5
    assert child.exceeded() == Exceeded("max_seconds", "stopped after 5.0 s: the limit max_seconds is 5")


def test_equal_rounds_are_warned_of_before_the_last_and_others_begin_anew() -> None:
    budget = Budget(Limits(max_iterations=None, max_equal_calls=3), Time())
    assert Budget(NONE, Time()).end_round("a") is None
    assert [budget.end_round(one) for one in ("a", "b")] == [None, None]
    assert budget.end_round("b") == (
        "The same calls gave the same results 2 times in a row. Once more, and the run is stopped: try something else, "
        "or answer with what you have."
    )
    assert budget.end_round("a") is None
    assert budget.end_round("a") is not None
    assert budget.exceeded() is None
    assert budget.end_round("a") is None
    assert budget.exceeded() == Exceeded(
        "max_equal_calls", "stopped after 3 rounds of equal calls and results: the limit max_equal_calls is 3"
    )
