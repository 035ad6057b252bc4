"""What a reference run shows against a plugin, each kind of it by itself."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from hookagent import Agent, AssistantMessage, MisuseError, ToolCall, Transcript, UserMessage, freeze
from hookagent.testing import ScriptedProvider
from hookagent.testing.plugin_check.evidence import Evidence, Neighbours, carry_out_sync
from hookagent.testing.plugin_check.judging import Problem, problems_of
from hookagent.testing.plugin_check.model import SCRIPTED
from hookagent.testing.plugin_check.runs import RUNS
from hookagent.testing.plugin_check.witness import Watch
from tests.core.plugin_making import made

GIVEN = SimpleNamespace(status="completed", id="c1", name="look")
WHOLE = [
    (hook, {"outcome": GIVEN, "tool_call": GIVEN})
    for hook in ("on_session_start", "before_llm", "after_llm", "on_complete", "on_session_end")
]


def evidence(**found: Any) -> Evidence:
    """What came of a run in which nothing is wrong but `found`."""
    return Evidence(**{"run": RUNS[0], "where": SCRIPTED, "watch": Watch(), "calls": WHOLE, **found})


def said(**found: Any) -> list[Problem]:
    return list(problems_of(evidence(**found), "tested"))


def holding(*blocks: Any, waiting: bool = False) -> Any:
    """An agent whose session has this transcript."""
    transcript = Transcript([])
    for block in blocks:
        transcript = transcript.with_user(block) if isinstance(block, UserMessage) else transcript.with_reply(block)
    return SimpleNamespace(session=SimpleNamespace(transcript=transcript, waiting=waiting, trace=[]))


ASKED = AssistantMessage((ToolCall("c1", "look", freeze({})),), "tool_calls")


def test_a_run_in_which_nothing_is_wrong_shows_nothing() -> None:
    assert said() == []
    assert said(agent=holding(UserMessage("go"))) == []


def test_a_run_that_did_not_end_shows_nothing_else() -> None:
    (problem,) = said(too_long=True, refused=["blank"], calls=[])
    assert problem.what == "the run did not end"


@pytest.mark.parametrize(
    ("found", "what", "remedy"),
    [
        ({"refused": ["blank (rule 'x')"]}, "a provider would refuse the request: blank (rule 'x')", "shape requests"),
        ({"raised": KeyError("k")}, "the run raised KeyError: 'k'", "a plugin must not end the run in that way"),
        ({"closing": OSError("full")}, "the run raised OSError: full", "a plugin must not end the run in that way"),
        ({"calls": WHOLE[:-1]}, "'on_session_end' was called 0 times", "let every call go on to the end"),
        ({"tasks": ["poll"]}, "a task was left running: poll", "await what was started, or cancel it"),
        ({"untold": ["Task: no"]}, "an exception was lost: Task: no", "await what was started"),
        ({"agent": holding(UserMessage(" "))}, "the transcript is not valid: message 0 is blank", "add messages by"),
    ],
)
def test_each_fault_is_said_with_its_remedy(found: dict[str, Any], what: str, remedy: str) -> None:
    problem = said(**found)[0]
    assert problem.what.startswith(what)
    assert problem.remedy.startswith(remedy)


def test_calls_without_results_are_a_fault_unless_the_session_waits() -> None:
    left = "a tool round was left open"
    for waiting in (False, True):
        found = [one.what for one in said(agent=holding(UserMessage("go"), ASKED, waiting=waiting))]
        assert (left in found) is not waiting


def test_what_a_result_says_of_failures_and_warnings_is_said_again() -> None:
    agent = Agent(model=ScriptedProvider(["Hello."]), log=False, quiet=True)
    result = agent.run_sync("Hello")
    agent.close_sync()
    assert said(results=[result]) == []
    failing = replace(result, errors=("no wine",), warnings=("no bread",), status="failed", reason="no cheese")
    problems = said(results=[failing, failing])
    assert [one.what for one in problems] == [
        "no wine",
        "the run ended with a warning: no bread",
        "no wine",
        "the run ended with a warning: no bread",
        "the run ended as 'failed' instead of 'completed': no cheese",
    ]
    assert said(results=[replace(result, status="failed")])[0].what == (
        "the run ended as 'failed' instead of 'completed'"
    )
    assert said(results=[replace(result, status="stopped")]) == []


def test_a_run_that_cannot_begin_has_no_result_and_says_why() -> None:
    (by_run_sync,) = [run for run in RUNS if run.drive is None]
    found = Neighbours().prepare(by_run_sync, made("tested", before_llm=lambda: None), None, None, {})
    assert found.agent is not None
    found.agent.close_sync()
    carry_out_sync(found)
    assert found.results == []
    assert isinstance(found.raised, MisuseError)
    assert any(one.what.startswith("the run raised MisuseError: ") for one in problems_of(found, "tested"))
