"""A session that is left and taken up again: its requests keep the shape that they had."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from hookagent import Agent, Request, ToolRound
from hookagent_context_window import ContextWindow


@pytest.fixture(autouse=True)
def _home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOOKAGENT_HOME", str(tmp_path / "home"))


def look(number: int) -> str:
    """Look."""
    return f"<{number}>" + "r" * 560


def rounds(count: int) -> list[Any]:
    return [{"calls": [{"name": "look", "arguments": {"number": number}}]} for number in range(count)]


def agent_of(asked: Any, session: str | None = None, /, **options: Any) -> Agent:
    plugin = ContextWindow(ContextWindow.Options(**options))
    return Agent(tools=[look], model=asked, plugins=[plugin], limits={"max_iterations": 60}, session=session)


def told(request: Request) -> tuple[int, str | None, list[list[str]]]:
    rounds_sent = [block for block in request.blocks if isinstance(block, ToolRound)]
    texts = [[result.content for result in block.results if result is not None] for block in rounds_sent]
    return request.blocks.start, request.summary, texts


@pytest.mark.parametrize("strategy", ["drop", "clear_results", "summarize"])
def test_a_resumed_session_goes_on_with_what_was_left_out_and_its_summary(strategy: str, metered: Any) -> None:
    side = metered(lambda request: "THE SUMMARY")
    options = {"strategy": strategy, "model": side, "keep_rounds": 1}
    first = metered([*rounds(10), "left"], window=1_500)
    agent = agent_of(first, **options)
    agent.run_sync("TASK-1")
    agent.close_sync()
    asked = len(side.requests)
    second = metered(["back"], window=1_500)
    again = agent_of(second, agent.session.id, **options)
    assert again.run_sync("Go on.").answer == "back"
    again.close_sync()
    start, summary, texts = told(first.requests[-1])
    assert (start > 0) == (strategy != "clear_results")
    assert (summary is not None) == (strategy == "summarize")
    # Nothing that was left out is back, and nobody was asked for a summary once more.
    assert told(second.requests[0]) == (start, summary, texts)
    assert len(side.requests) == asked
    # All of it is still in the session.
    assert [len(block.results) for block in again.session.transcript if isinstance(block, ToolRound)] == [1] * 10


def test_a_strategy_that_only_watches_leaves_nothing_out_of_a_resumed_session(metered: Any) -> None:
    agent = agent_of(metered([*rounds(12), "left"], window=1_000))
    agent.run_sync("TASK-1")
    agent.close_sync()
    second = metered(["back"], window=1_000)
    again = agent_of(second, agent.session.id, strategy="none")
    again.run_sync("Go on.")
    again.close_sync()
    assert second.requests[0].blocks.start == 0


@pytest.mark.parametrize(
    "state",
    [
        "no mapping",
        {"start": 99, "summary": None, "cleared": 0},
        {"start": True, "summary": None, "cleared": 0},
        {"start": 1, "summary": 7, "cleared": 0},
        {"start": 1, "cleared": -1},
        {},
    ],
)
def test_what_does_not_fit_the_session_changes_nothing(state: Any, metered: Any) -> None:
    agent = agent_of(metered(["one"]))
    agent.run_sync("TASK-1")
    agent.store_state("context-window", state)
    agent.close_sync()
    second = metered(["two"])
    again = agent_of(second, agent.session.id)
    assert again.run_sync("Go on.").answer == "two"
    again.close_sync()
    assert (second.requests[0].blocks.start, second.requests[0].summary) == (0, None)
