"""Where a request begins and what is cleared, to the exact place, and how it is kept and restored."""

from __future__ import annotations

from typing import Any

import pytest

from hookagent import (
    AssistantMessage,
    BlockView,
    Request,
    TextPart,
    ToolCall,
    ToolResult,
    ToolRound,
    Transcript,
    UserMessage,
    freeze,
)
from hookagent_context_window.gauge import Gauge
from hookagent_context_window.shape import Shape
from hookagent_context_window.sizes import BlockSizes


def round_of(*contents: str, text: str = "", arguments: Any = None) -> ToolRound:
    """A closed round with one call of `look` for each content, ids c0, c1, ..."""
    calls = tuple(ToolCall(f"c{number}", "look", freeze(arguments or {})) for number in range(len(contents)))
    parts = ((TextPart(text),) if text else ()) + calls
    results = tuple(ToolResult(content, call_id=call.id) for call, content in zip(calls, contents, strict=True))
    return ToolRound(AssistantMessage(parts), results)


def request_with(transcript: Transcript, **fields: Any) -> Request:
    return Request(BlockView(transcript), **fields)


def shape_of(transcript: Transcript) -> Shape:
    sizes = BlockSizes()
    sizes.follow(transcript)
    return Shape(sizes, Gauge(1.0))


def test_the_newest_rounds_bound_where_a_request_may_begin() -> None:
    task = UserMessage("task")
    shape = shape_of(Transcript([task, round_of("a"), task, round_of("b"), round_of("c")]))
    assert [shape.newest_start(keep) for keep in (1, 2, 3, 4, 5)] == [4, 3, 1, 0, 0]
    shape.start = 3
    assert [shape.newest_start(keep) for keep in (1, 2, 3, 4)] == [4, 3, 3, 3]


def test_a_summary_is_measured_in_the_place_of_the_one_that_is_there() -> None:
    transcript = Transcript([UserMessage("task"), round_of("a" * 100), round_of("b" * 100)])
    shape = shape_of(transcript)
    request = request_with(transcript, protected=(0,))
    whole = shape.tokens_from(request, 0)
    assert whole == 20 + 2 * (16 + 22 + 116)
    assert shape.tokens_from(request, 2) == 20 + 154
    assert shape.tokens_from(request, 2, 50) == 20 + 154 + 50
    assert shape.tokens_from(request.with_summary("s" * 30), 2, 50) == 20 + 154 + 50
    assert shape.tokens_from(request.with_summary("s" * 30), 2) == 20 + 154 + 46


def test_it_drops_up_to_the_first_place_where_the_goal_is_reached() -> None:
    transcript = Transcript([UserMessage("task"), *(round_of("a" * 100) for _ in range(6))])
    shape = shape_of(transcript)
    request = request_with(transcript, protected=(0,))
    assert shape.start_for(request, 20 + 3 * 154, 6) == 4
    assert shape.start_for(request, 20 + 3 * 154 - 1, 6) == 5
    assert shape.start_for(request, 1, 6) == 6
    assert shape.start_for(request, 10_000, 6) == 0
    assert shape.drop(request, 20 + 3 * 154, 1)
    assert shape.start == 4
    assert not shape.drop(request, 20 + 3 * 154, 1)
    assert not shape.drop(request, 10_000, 1)


def test_dropped_stand_ins_are_forgotten_and_the_others_stay() -> None:
    transcript = Transcript([UserMessage("task"), *(round_of("a" * 400) for _ in range(6))])
    shape = shape_of(transcript)
    request = request_with(transcript, protected=(0,))
    assert shape.clear_results(request, 0, 1)
    assert sorted(shape.stand_ins) == [1, 2, 3, 4, 5]
    assert shape.drop(request, shape.tokens_from(request, 3), 1)
    assert (shape.start, sorted(shape.stand_ins)) == (3, [3, 4, 5])


def test_only_so_many_results_are_cleared_as_the_goal_needs() -> None:
    transcript = Transcript([UserMessage("task"), *(round_of("a" * 400) for _ in range(6))])
    shape = shape_of(transcript)
    request = request_with(transcript, protected=(0,))
    whole = shape.tokens_from(request, 0)
    assert not shape.clear_results(request, whole, 1)
    assert shape.clear_results(request, whole - 1, 1)
    assert sorted(shape.stand_ins) == [1]
    # It goes on where it stopped.
    assert shape.clear_results(request, shape.tokens_from(request, 0) - 1, 1)
    assert sorted(shape.stand_ins) == [1, 2]
    assert shape.state() == {"start": 0, "summary": None, "cleared": 3}


def test_the_text_in_place_of_a_result_says_what_it_was() -> None:
    long, short = "a" * 201, "b" * 200
    transcript = Transcript([UserMessage("task"), round_of(long, short), round_of("c")])
    shape = shape_of(transcript)
    assert shape.clear_results(request_with(transcript), 0, 1)
    results = [result.content for result in shape.stand_ins[1].results if result is not None]
    assert results == [
        "[the text of this result, 201 characters, was taken out to save space; call 'look' again if it is needed]",
        short,
    ]


def test_a_restored_shape_is_the_one_that_was_left() -> None:
    transcript = Transcript([UserMessage("task"), *(round_of("a" * 400) for _ in range(6))])
    left, restored = shape_of(transcript), shape_of(transcript)
    request = request_with(transcript, protected=(0,))
    left.clear_results(request, 0, 2)
    left.drop(request, left.tokens_from(request, 2), 2)
    left.summary = "what was"
    restored.restore(left.state(), transcript)
    assert restored.state() == left.state() == {"start": 2, "summary": "what was", "cleared": 5}
    assert restored.stand_ins == left.stand_ins
    assert restored.tokens_from(request, 2) == left.tokens_from(request, 2)
    assert list(restored.apply(request).blocks) == list(left.apply(request).blocks)
    assert restored.apply(request).summary == left.apply(request).summary


@pytest.mark.parametrize("place", ["start", "cleared"])
@pytest.mark.parametrize("value", [-1, 4, "1", None, 1.0, False])
def test_a_state_that_does_not_fit_is_left_alone(place: str, value: Any) -> None:
    transcript = Transcript([UserMessage("task"), round_of("a"), round_of("b")])
    shape = shape_of(transcript)
    shape.restore({"start": 1, "summary": "s", "cleared": 2} | {place: value}, transcript)
    assert shape.state() == {"start": 0, "summary": None, "cleared": 0}


def test_the_ends_of_a_transcript_are_places_that_fit() -> None:
    transcript = Transcript([UserMessage("task"), round_of("a"), round_of("b")])
    shape = shape_of(transcript)
    shape.restore({"start": 3, "summary": None, "cleared": 3}, transcript)
    assert shape.state() == {"start": 3, "summary": None, "cleared": 3}
    shape.restore({"start": 0, "summary": None, "cleared": 0}, transcript)
    assert shape.state() == {"start": 0, "summary": None, "cleared": 0}


@pytest.mark.parametrize(
    ("known", "state"),
    [
        (5, {"start": 3, "summary": "s", "cleared": 5}),
        (4, {"start": 3, "summary": "s", "cleared": 4}),
        (3, {"start": 3, "summary": "s", "cleared": 3}),
        (2, {"start": 0, "summary": None, "cleared": 2}),
    ],
)
def test_what_was_decided_about_blocks_that_are_gone_is_forgotten(known: int, state: dict[str, Any]) -> None:
    transcript = Transcript([UserMessage("task"), *(round_of("a" * 400) for _ in range(6))])
    shape = shape_of(transcript)
    shape.restore({"start": 3, "summary": "s", "cleared": 5}, transcript)
    assert sorted(shape.stand_ins) == [3, 4]
    shape.shrink_to(known)
    assert shape.state() == state
    assert sorted(shape.stand_ins) == [index for index in (3, 4) if index < known]


def test_stand_ins_of_others_stay_beside_its_own() -> None:
    transcript = Transcript([UserMessage("task"), *(round_of("a" * 400) for _ in range(3))])
    shape = shape_of(transcript)
    theirs = round_of("theirs")
    request = Request(BlockView(transcript, 0, (), {3: theirs}), protected=(0,))
    shape.clear_results(request, 0, 2)
    shaped = shape.apply(request)
    assert dict(shaped.blocks.replaced) == {3: theirs, **shape.stand_ins}
    assert (shaped.blocks.start, shaped.blocks.kept) == (0, ())
