"""One summary: bounded questions, and what is not taken for a summary."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from hookagent import Agent, AssistantMessage, TextPart, ToolCall, ToolResult, ToolRound, UserMessage, freeze
from hookagent_context_window.summarizer import Summarizer, UselessSummaryError, cut


def summarize(metered: Any, answer: Any, blocks: list[Any], room: int) -> tuple[Any, Any]:
    model = metered(answer)
    agent = Agent(model=model)
    summarizer = Summarizer("context-window", None, 10.0, 400)
    return model, asyncio.run(summarizer.summarize(agent, "TASK-1", None, blocks, room))


def test_a_long_message_is_cut_before_it_is_shown(metered: Any) -> None:
    blocks = [UserMessage("HEAD" + "x" * 50_000 + "TAIL")] * 3
    model, summary = summarize(metered, lambda request: "SUMMARY", blocks, 3_000)
    assert max(model.sizes) * 4 <= 3_010
    assert all("HEAD" in metered.text_of(request) for request in model.requests)
    assert all("TAIL" in metered.text_of(request) for request in model.requests)
    assert summary == "SUMMARY"
    assert len(model.requests) > 1


def test_a_summary_longer_than_a_short_history_is_useless(metered: Any) -> None:
    with pytest.raises(UselessSummaryError, match="not shorter than what it stands for"):
        summarize(metered, lambda request: "z" * 60, [UserMessage("short"), UserMessage("history")], 3_000)


def test_every_result_of_a_round_has_its_share_of_the_question(metered: Any) -> None:
    calls = tuple(ToolCall(f"c{number}", "look", freeze({"number": number})) for number in range(5))
    results = tuple(ToolResult(f"HEAD{call.id}" + "x" * 9_000, call_id=call.id) for call in calls)
    blocks = [ToolRound(AssistantMessage((TextPart("Looking."), *calls)), results)]
    model, _ = summarize(metered, lambda request: "SUMMARY", blocks, 9_000)
    question = metered.text_of(model.requests[0])
    assert all(f"HEADc{number}" in question and f'{{"number": {number}}}' in question for number in range(5))
    assert "agent: Looking." in question


@pytest.mark.parametrize("most", [0, 10, 50, 200, 5_000])
def test_what_is_cut_is_never_longer_than_asked(most: int) -> None:
    text = "HEAD" + "x" * 3_000 + "TAIL"
    shorter = cut(text, most)
    assert len(shorter) <= most or shorter == text
    if most == 200:
        assert shorter.startswith("HEAD")
        assert shorter.endswith("TAIL")
        assert "3008 characters, cut" in shorter
