"""Exit codes, explanations and the closing line, for every way a run can end."""

from __future__ import annotations

from typing import Any, get_args

import pytest

from hookagent.cli.closing import amount, closing_line, exit_code, explanation
from hookagent.limits import Limits
from hookagent.result import RunResult, Status
from hookagent.session import Session, SessionState
from hookagent.usage import Usage

CODES: dict[Status, int] = {
    "completed": 0,
    "failed": 1,
    "stopped": 1,
    "limit": 3,
    "refused": 4,
    "waiting": 4,
    "aborted": 1,
}


def result(status: Status, **fields: Any) -> RunResult:
    return RunResult("answer", status, fields.pop("usage", Usage()), Session(SessionState(Limits())), **fields)


@pytest.mark.parametrize("status", get_args(Status))
def test_every_status_has_its_code_and_words(status: Status) -> None:
    assert exit_code(result(status)) == CODES[status]
    assert (explanation(result(status)) is None) == (status == "completed")
    assert "1 iteration, 2 tool calls, " in closing_line(result(status, iterations=1), 2, 0)


def test_an_aborted_run_has_the_code_of_its_signal() -> None:
    assert exit_code(result("aborted", reason="interrupted"), 130) == 130
    assert exit_code(result("aborted", reason="terminated"), 143) == 143
    assert exit_code(result("aborted", reason="interrupted")) == 130
    assert exit_code(result("aborted", reason="a plugin's reason")) == 1


def test_errors_cost_a_completed_run_its_0_and_warnings_do_not() -> None:
    completing = "plugin 'hard': hook 'on_complete' raised"
    assert exit_code(result("completed", warnings=("plugin 'mild': hook 'on_session_start' raised",))) == 0
    assert exit_code(result("completed", errors=(completing,))) == 1
    assert exit_code(result("limit", errors=(completing,))) == 3


def test_the_whole_closing_line() -> None:
    usage = Usage(400, 10_000, 2_000, 1_100, 0.041, 3)
    ended = result("completed", usage=usage, iterations=3, seconds=18.24)
    assert closing_line(ended, 5, 1) == (
        "done in 3 iterations, 5 tool calls (1 denied), 12.4k in / 1.1k out, $0.041, 18.2 s, "
        f"session {ended.session.id}"
    )


@pytest.mark.parametrize(
    ("cost", "shown"),
    [(None, "price unknown"), (0.0, "$0"), (0.00012, "$0.0001"), (0.5, "$0.500"), (12.345, "$12.35")],
)
def test_costs(cost: float | None, shown: str) -> None:
    assert f", {shown}, " in closing_line(result("completed", usage=Usage(cost_usd=cost)), 0, 0)


@pytest.mark.parametrize(
    ("count", "shown"),
    [(0, "0"), (999, "999"), (1_000, "1.0k"), (999_949, "999.9k"), (999_950, "1.0M"), (3_400_000, "3.4M")],
)
def test_amounts(count: int, shown: str) -> None:
    assert amount(count) == shown
