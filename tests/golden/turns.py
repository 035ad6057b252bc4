"""Scenarios: turns, queues, windows, model errors and limits."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from hookagent import Limits, Stop
from tests.core.scripts import calls
from tests.golden.rounds import DONE, always, asking, call
from tests.golden.stage import Scenario, Stage

TURNS = (
    Scenario("two-turns", "Turns", "Two turns", "The second prompt comes to the same session.",
             [{"text": "four"}, {"text": "twelve"}], prompts=("2+2?", "times 3?")),
    Scenario(
        "added-to-prompt", "Turns", "A message added to a prompt, and one before the model call",
        "`after_user_input` and `before_llm` add one each; both stand behind the prompt.", [DONE],
        {"after_user_input": always("by the way"), "before_llm": always("be short")},
    ),
    Scenario(
        "steered", "Turns", "Steering while a tool runs",
        "The message goes in behind the round, before the model is asked again.",
        [asking(call("steer", text="rather this")), DONE],
    ),
    Scenario(
        "steered-at-the-end", "Turns", "Steering while the model gives its answer",
        "The answer is stored; the message goes in, and the turn goes on without `before_complete` for this answer.",
        lambda stage: [_steering(stage), DONE],
    ),
    Scenario(
        "followed-up", "Turns", "A follow-up message", "It waits until the turn would end, and goes in then.",
        [asking(call("follow", text="and that?")), {"text": "first"}, DONE],
    ),
    Scenario(
        "sent-on", "Turns", "before_complete asks the model to go on",
        "Its message is stored, and the model asked again.",
        [{"text": "half"}, DONE],
        {"before_complete": lambda stage, given: "the other half?" if given["answer"] == "half" else None},
    ),
    Scenario(
        "kept-for-next-turn", "Turns", "A message of on_complete", "It is kept, and does not restart the turn.",
        [DONE, DONE], {"on_complete": always("remember")}, ("go", "on"),
    ),
    Scenario(
        "queued-at-the-end", "Turns", "A follow-up queued while the end is announced",
        "It starts a new turn of the same run.",
        [{"text": "first"}, DONE],
        {"on_complete": lambda stage, given: stage.follow_up("one more") if given["outcome"].turn == 1 else None},
    ),
    Scenario(
        "compaction", "Turns", "Compaction", "From the second model call on, `shape_request` leaves out what lies "
        "between the first task and the newest block, and puts a summary there.",
        [calls("look"), calls("look", ids=["c2"]), DONE], {"shape_request": lambda stage, given: _shortened(given)},
    ),
    Scenario(
        "too-long-shortened", "Turns", "A request that is too long, and shortened",
        "The vendor refuses it for its length; `shape_request` is asked once more, and makes it shorter.",
        [{"text": "early"}, {"error": "too_long", "window": 1000}, DONE],
        {"shape_request": lambda stage, given: _shorter_than_refused(given)},
        ("before", "go"),
    ),
    Scenario(
        "too-long", "Turns", "A request that is too long, and stays so",
        "Nobody makes it shorter: it is not sent again, and the run fails.", [{"error": "too_long", "window": 1000}],
    ),
    Scenario("model-error", "Turns", "The model fails", "The vendor refuses the key.", [{"error": "authentication"}]),
    Scenario(
        "model-error-retried", "Turns", "The model fails once", "It is overloaded; the same request is sent again.",
        [{"error": "overloaded"}, DONE],
    ),
    Scenario("empty-reply", "Turns", "An empty reply", "The model says nothing: the run fails.", [{"text": ""}]),
    Scenario("refusing-reply", "Turns", "The model refuses", "It stops with the reason `refusal`: the run fails.",
             [{"text": "I will not.", "stop": "refusal"}]),
)  # fmt: skip


def _steering(stage: Stage) -> Any:
    def step(request: Any) -> Any:
        stage.steer("wait")
        return {"text": "first"}

    return step


def _shortened(given: dict[str, Any]) -> Any:
    request = given["request"]
    if given["session"].iteration < 2:
        return None
    return request.dropping_before(len(request.blocks.transcript) - 1).with_summary("looked")


def _shorter_than_refused(given: dict[str, Any]) -> Any:
    request = given["request"]
    too_long = given["session"].context_window is not None
    return request.dropping_before(len(request.blocks.transcript) - 1) if too_long else None


USAGE = {"input_tokens": 60, "output_tokens": 10, "cost_usd": 1.0}
_USED = [asking(call("count"), usage=USAGE), asking(call("count", "c2"), usage=USAGE)]
_LIMITED: dict[str, tuple[Any, list[Any], str]] = {
    "max_iterations": (2, _USED, "Two rounds are allowed, and used."),
    "max_tool_calls": (
        1, [asking(call("count"), call("count", "c2"))],
        "The round crosses the limit: the first call runs. (No two calls at once here, so that the order is certain.)",
    ),
    "max_tokens": (140, _USED, "Two model calls use all tokens."),
    "max_input_tokens": (120, _USED, "Two model calls use all input tokens."),
    "max_output_tokens": (20, _USED, "Two model calls use all output tokens."),
    "max_cost_usd": (2.0, _USED, "Two model calls cost as much as is allowed."),
    "max_seconds": (10, [asking(call("take", seconds=6)), asking(call("take", "c2", seconds=6))],
                    "Two tools take six seconds each."),
    "max_equal_calls": (3, [calls("look", ids=[f"c{number}"]) for number in (1, 2, 3)],
                        "The model makes the same call three times; before the last one it is warned."),
}  # fmt: skip


def _limits() -> tuple[Scenario, ...]:
    """One scenario for each limit there is, by its name; KeyError for one that the table does not know."""
    made = []
    for name in (one.name for one in fields(Limits) if one.name != "closing_answer"):
        value, script, happens = _LIMITED[name]
        options = {"limits": {name: value}, "max_parallel_tools": 1}
        made.append(Scenario(f"limit-{name}", "Limits", f"The limit {name}", happens, script, options=options))
    return tuple(made)


LIMITS = (
    *_limits(),
    Scenario(
        "limit-closing-answer", "Limits", "A closing answer at a limit",
        "At the limit the model is asked once more, with tools switched off.",
        [calls("look"), {"text": "so far: half"}],
        options={"limits": {"max_iterations": 1, "closing_answer": True}},
    ),
    Scenario(
        "limit-closing-stopped", "Limits", "A closing answer that a plugin stops",
        "`before_llm` is asked before this model call as before any other; its `Stop` holds.",
        [calls("look")],
        {"before_llm": lambda stage, given: Stop("no more") if given["iteration"] == 2 else None},
        options={"limits": {"max_iterations": 1, "closing_answer": True}},
    ),
    Scenario(
        "limit-steered", "Limits", "Steering at a limit", "Limits win: the message stays in its queue.",
        [asking(call("steer", text="rather this"))], options={"limits": {"max_iterations": 1}},
    ),
)  # fmt: skip
