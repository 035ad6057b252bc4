"""What each thing counts for: sizes in characters, and the gauge that makes tokens of them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from hookagent import (
    AssistantMessage,
    BlockView,
    Image,
    Request,
    TextPart,
    Tool,
    ToolCall,
    ToolResult,
    ToolRound,
    Transcript,
    Usage,
    UserMessage,
    freeze,
)
from hookagent_context_window.gauge import Gauge
from hookagent_context_window.sizes import BlockSizes, block_size, text_size


def round_of(*contents: str, text: str = "", arguments: Any = None) -> ToolRound:
    """A closed round with one call of `look` for each content, ids c0, c1, ..."""
    calls = tuple(ToolCall(f"c{number}", "look", freeze(arguments or {})) for number in range(len(contents)))
    parts = ((TextPart(text),) if text else ()) + calls
    results = tuple(ToolResult(content, call_id=call.id) for call, content in zip(calls, contents, strict=True))
    return ToolRound(AssistantMessage(parts), results)


@pytest.mark.parametrize(
    ("block", "size"),
    [
        (UserMessage("four"), 16 + 4),
        (UserMessage("", images=(Image("aGk=", "image/png"), Image("aGk=", "image/png"))), 16 + 12_000),
        (AssistantMessage((TextPart("abc"), TextPart("de"))), 16 + 5),
        # The reply, its call with name and arguments, and the result.
        (round_of("result"), 16 + (16 + 4 + 2) + (16 + 6)),
        (round_of("r", "rr", text="Hm."), 16 + 3 + 2 * (16 + 4 + 2) + (16 + 1) + (16 + 2)),
        # As they are sent: not escaped.
        (round_of("", arguments={"a": "ü"}), 16 + (16 + 4 + len('{"a": "ü"}')) + 16),
        (
            ToolRound(AssistantMessage((ToolCall("c", "look", None, "{broken"),)), (ToolResult("", call_id="c"),)),
            16 + (16 + 4 + 7) + 16,
        ),
        (ToolRound(AssistantMessage((ToolCall("c", "look", None),)), (ToolResult("", call_id="c"),)), 16 + 20 + 16),
    ],
)
def test_what_a_block_counts_for(block: Any, size: int) -> None:
    assert block_size(block) == size


@pytest.mark.parametrize(("text", "size"), [(None, 0), ("", 0), ("abc", 19)])
def test_what_a_text_counts_for(text: str | None, size: int) -> None:
    assert text_size(text) == size


def request_with(transcript: Transcript, **fields: Any) -> Request:
    return Request(BlockView(transcript), **fields)


def test_a_request_is_its_head_notes_summary_and_blocks() -> None:
    tool = Tool.from_callable(look)
    transcript = Transcript([UserMessage("task"), round_of("x" * 10)])
    sizes = BlockSizes()
    sizes.follow(transcript)
    plain = request_with(transcript, system="rules")
    assert sizes.of(plain) == 5 + (16 + 4) + (16 + 22 + 26)
    assert sizes.of(plain.with_summary("sum")) == sizes.of(plain) + 16 + 3
    tooled = request_with(transcript, system="rules", tools=(tool,))
    tool_size = 16 + len("look") + len(tool.description) + len(json.dumps(tool.parameters, default=str))
    assert tool.description == "Look."
    assert sizes.head_of(tooled) == 5 + tool_size
    assert sizes.of(tooled) == sizes.of(plain) + tool_size
    # Other tools, and none again.
    assert sizes.head_of(request_with(transcript, tools=(tool, tool))) == 2 * tool_size
    assert sizes.head_of(plain) == 5


def look() -> str:
    """Look."""
    return ""


def test_a_note_counts_with_its_mark() -> None:
    transcript = Transcript([UserMessage("task")])
    sizes = BlockSizes()
    sizes.follow(transcript)
    noted = request_with(transcript, notes=(UserMessage("abc"), UserMessage("")))
    assert sizes.of(noted) == sizes.of(request_with(transcript)) + 16 + 3 + 16


def test_the_size_between_two_places() -> None:
    sizes = BlockSizes()
    transcript = Transcript([UserMessage("a"), UserMessage("bb"), UserMessage("ccc")])
    assert [sizes.follow(transcript), sizes.follow(transcript)] == [0, 3]
    assert [sizes.between(0, 3), sizes.between(1, 2), sizes.between(2, 2), sizes.between(2, 1)] == [54, 18, 0, 0]
    assert (sizes.at(0), sizes.at(2), len(sizes)) == (17, 19, 3)


def test_kept_blocks_ahead_of_the_start_count_too() -> None:
    transcript = Transcript([UserMessage("a"), UserMessage("bb"), UserMessage("ccc")])
    sizes = BlockSizes()
    sizes.follow(transcript)
    view = request_with(transcript, protected=(0,)).dropping_before(2).blocks
    assert sizes.blocks_of(view) == 17 + 19


def test_stand_ins_count_instead_and_all_sums_behind_them_follow() -> None:
    rounds = [round_of("x" * 100), round_of("y" * 100), round_of("z" * 100)]
    sizes = BlockSizes()
    sizes.follow(Transcript(rounds))
    whole = sizes.at(0)
    sizes.stand_ins({1: round_of("short")})
    assert [sizes.at(index) for index in range(3)] == [whole, whole - 95, whole]
    assert [sizes.between(0, end) for end in range(1, 4)] == [whole, 2 * whole - 95, 3 * whole - 95]
    sizes.stand_ins({})
    assert sizes.between(0, 3) == 3 * whole - 95


def test_a_transcript_that_grew_anew_from_its_first_block_is_counted_anew() -> None:
    first, other = UserMessage("first"), UserMessage("other and longer")
    sizes = BlockSizes()
    sizes.follow(Transcript([first, AssistantMessage((TextPart("a"),)), first]))
    assert sizes.steps == [1]
    assert sizes.follow(Transcript([other])) == 0
    assert (sizes.steps, sizes.between(0, 1), len(sizes)) == ([], 16 + 16, 1)
    assert sizes.follow(Transcript([other, AssistantMessage((TextPart("a"),))])) == 1
    assert sizes.steps == [1]


def test_an_estimate_knows_no_report() -> None:
    gauge = Gauge(4.0)
    gauge.learn(400, 0, Usage(input_tokens=200))
    assert gauge.estimate(100) == 50
    assert gauge.tokens(0) == 0
    assert gauge.tokens(402) == 201


def test_a_reply_is_part_of_what_was_reported() -> None:
    gauge = Gauge(2.0)
    gauge.learn(100, 40, Usage(input_tokens=50, output_tokens=30))
    assert gauge.tokens(140) == 80
    assert gauge.tokens(150) == 85


@pytest.mark.parametrize(("characters", "tokens", "ratio"), [(1_000, 1, 0.05), (1_000, 9_000, 2.0), (1_000, 700, 0.7)])
def test_one_report_sets_the_factor_within_bounds(characters: int, tokens: int, ratio: float) -> None:
    gauge = Gauge(4.0)
    gauge.learn(characters, 0, Usage(input_tokens=tokens))
    assert gauge.tokens_per_character == ratio


@pytest.mark.parametrize(("characters", "tokens"), [(0, 5), (5, 0), (0, 0), (-1, 5)])
def test_a_report_about_nothing_teaches_nothing(characters: int, tokens: int) -> None:
    gauge = Gauge(4.0)
    gauge.learn(characters, 0, Usage(input_tokens=tokens))
    assert (gauge.tokens_per_character, gauge.tokens(8)) == (0.25, 2)


def test_one_token_of_one_character_is_a_report() -> None:
    gauge = Gauge(4.0)
    gauge.learn(1, 0, Usage(input_tokens=1))
    assert gauge.tokens_per_character == 1.0
