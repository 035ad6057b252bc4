"""What the model gets right with the real file tools: nothing here knows what it will say."""

from pathlib import Path
from typing import Any

import pytest

from hookagent import Agent, Event, RunResult, ToolCall, ToolRound
from hookagent_local import LocalProvider


def calls_of(result: RunResult) -> list[tuple[str, dict[str, Any]]]:
    rounds = [block for block in result.session.transcript if isinstance(block, ToolRound)]
    return [(call.name, dict(call.arguments or {})) for one in rounds for call in one.calls]


def test_it_counts_the_words_of_the_readme_twenty_times_of_twenty(folder: Path) -> None:
    words = len((folder / "README.md").read_text().split())
    answers = []
    for _ in range(20):
        events: list[Event] = []
        agent = Agent(tools=["files"], model=LocalProvider())
        agent.subscribe(events.append)
        result = agent.run_sync("How many words are in README.md?")
        started = [event.call for event in events if event.type == "tool_start"]
        assert [(call.name, call.arguments) for call in started] == [("count_words", {"path": "README.md"})]
        answers.append((result.status, result.answer.split(",")[0]))
    assert answers == [("completed", f"README.md: {words} words")] * 20


def test_the_number_is_that_of_the_file_and_not_of_the_question(folder: Path) -> None:
    agent = Agent(tools=["files"], model=LocalProvider())
    first = agent.run_sync("How many words are in README.md?")
    (folder / "README.md").write_text("only four words here")
    second = agent.run_sync("How many words are in README.md?")
    assert first.answer.startswith("README.md: 98 words,")
    assert second.answer.startswith("README.md: 4 words,")


@pytest.mark.parametrize(
    ("task", "calls", "said"),
    [
        ("List the files in docs", [("list_files", {"path": "docs"})], "docs/guide.md"),
        ("search for TODO in src", [("search_text", {"text": "TODO", "path": "src"})], "src/main.py:1: a = 1  # TODO"),
        ("read pyproject.toml", [("read_file", {"path": "pyproject.toml"})], 'name = "thing"'),
        ("How many words are in docs/guide.md?", [("count_words", {"path": "docs/guide.md"})], "2 words"),
    ],
)
def test_it_does_simple_jobs(folder: Path, task: str, calls: list[tuple[str, dict[str, Any]]], said: str) -> None:
    result = Agent(tools=["files"], model=LocalProvider()).run_sync(task)
    assert calls_of(result) == calls
    assert said in result.answer


def test_one_sentence_makes_two_calls_whose_results_are_told_apart(folder: Path) -> None:
    result = Agent(tools=["files"], model=LocalProvider()).run_sync("Count the words of CHANGELOG.md and LICENSE")
    assert calls_of(result) == [("count_words", {"path": "CHANGELOG.md"}), ("count_words", {"path": "LICENSE"})]
    assert result.answer.splitlines() == [
        "count_words(path=CHANGELOG.md) gave: CHANGELOG.md: 3 words, 1 line, 14 characters",
        "count_words(path=LICENSE) gave: LICENSE: 4 words, 1 line, 15 characters",
    ]


def test_what_no_tool_fits_is_said_and_fails(folder: Path) -> None:
    result = Agent(tools=["files"], model=LocalProvider()).run_sync("What is the capital of France?")
    assert result.status == "failed"
    assert "found no tool for this" in result.answer
    assert "read_file, write_file, edit_file, list_files, search_text, count_words" in result.answer
    assert "ANTHROPIC_API_KEY" in result.answer
    assert calls_of(result) == []


def test_what_the_engine_takes_for_a_prohibition_is_not_done(folder: Path) -> None:
    result = Agent(tools=["files"], model=LocalProvider()).run_sync("Do not read LICENSE")
    assert calls_of(result) == []
    assert "free as in air" not in result.answer


def test_agents_with_other_tools_take_turns(folder: Path) -> None:
    def ring_bell() -> str:
        """Ring the bell."""
        return "ding"

    files, bell = Agent(tools=["files"], model=LocalProvider()), Agent(tools=[ring_bell], model=LocalProvider())
    for _ in range(2):
        assert files.run_sync("read LICENSE").answer.strip() == "free as in air"
        assert bell.run_sync("Ring the bell.").answer == "ding"


def test_call_ids_differ_over_a_session(folder: Path) -> None:
    agent = Agent(tools=["files"], model=LocalProvider())
    seen: list[ToolCall] = []
    for _ in range(3):
        agent.run_sync("Count the words of CHANGELOG.md and LICENSE")
    for block in agent.session.transcript:
        if isinstance(block, ToolRound):
            seen.extend(block.calls)
    assert len(seen) == 6
    assert len({call.id for call in seen}) == 6
