"""Sizes and shapes as values: counted once, chosen by bisection, safe when a transcript takes another way."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hookagent import (
    AssistantMessage,
    BlockView,
    Image,
    Request,
    TextPart,
    ToolCall,
    ToolResult,
    ToolRound,
    UserMessage,
    freeze,
)
from hookagent import Transcript as Blocks
from hookagent_context_window.gauge import Gauge
from hookagent_context_window.shape import Shape
from hookagent_context_window.sizes import IMAGE, BlockSizes, block_size

Block = UserMessage | AssistantMessage | ToolRound


def round_of(size: int, number: int = 0) -> ToolRound:
    call = ToolCall(f"c{number}", "look", freeze({}))
    return ToolRound(AssistantMessage((call,)), (ToolResult("x" * size, call_id=call.id),))


blocks = st.lists(
    st.one_of(
        st.builds(lambda size: UserMessage("u" * size), st.integers(0, 900)),
        st.builds(lambda size: AssistantMessage((TextPart("a" * size),)), st.integers(0, 900)),
        st.builds(round_of, st.integers(0, 2_000), st.integers(0, 10**6)),
    ),
    min_size=1,
    max_size=25,
)


def request_of(transcript: Blocks, protected: tuple[int, ...] = ()) -> Request:
    return Request(BlockView(transcript), system="rules", protected=protected)


@settings(max_examples=100)
@given(found=blocks, cut=st.integers(0, 25), others=blocks)
def test_sizes_followed_step_by_step_are_those_of_the_whole(found: list[Block], cut: int, others: list[Block]) -> None:
    sizes = BlockSizes()
    for length in range(len(found) + 1):
        assert sizes.follow(Blocks(found[:length])) == max(0, length - 1)
    cut = min(cut, len(found))
    forked = [*found[:cut], *others]
    assert sizes.follow(Blocks(forked)) == cut
    assert sizes.between(0, len(sizes)) == sum(map(block_size, forked))
    assert [sizes.at(index) for index in range(len(sizes))] == list(map(block_size, forked))
    assert sizes.steps == [i for i, block in enumerate(forked) if not isinstance(block, UserMessage)]


class Counted(BlockView):
    """A view that would notice being walked."""

    def __iter__(self) -> Any:
        raise AssertionError("a request was walked from end to end")

    def __getitem__(self, index: Any) -> Any:
        raise AssertionError("a block was looked at again")


def test_a_request_is_measured_without_walking_it() -> None:
    transcript = Blocks([UserMessage("task"), *(round_of(500, number) for number in range(1_000))])
    sizes = BlockSizes()
    sizes.follow(transcript)
    request = Request(Counted(transcript), protected=(0,))
    assert sizes.of(request) == sizes.between(0, 1_001)


@settings(max_examples=100)
@given(found=blocks, goal=st.integers(0, 4_000), data=st.data())
def test_dropping_takes_no_more_than_is_needed(found: list[Block], goal: int, data: st.DataObject) -> None:
    transcript = Blocks(found)
    people = [index for index, block in enumerate(found) if isinstance(block, UserMessage)]
    protected = tuple(sorted({people[0], people[-1]})) if people else ()
    keep_rounds = data.draw(st.integers(1, 4))
    sizes, gauge = BlockSizes(), Gauge(4.0)
    sizes.follow(transcript)
    shape = Shape(sizes, gauge)
    request = request_of(transcript, protected)
    dropped = shape.drop(request, goal, keep_rounds)
    shaped = shape.apply(request)
    sent = list(shaped.blocks)

    assert dropped == (len(shaped.blocks) < len(found) or shape.start > 0)
    assert all(found[index] in sent for index in protected)
    steps = [index for index, block in enumerate(found) if not isinstance(block, UserMessage)]
    assert all(index >= shape.start for index in steps[-keep_rounds:])
    assert gauge.tokens(sizes.of(shaped)) == shape.tokens_from(shaped, shape.start)
    if shape.start > 0:
        # One block more would have been too much.
        assert shape.tokens_from(request, shape.start - 1) > goal
    if gauge.tokens(sizes.of(shaped)) > goal:
        assert shape.start == shape.newest_start(keep_rounds)


def test_clearing_measures_what_it_takes_out() -> None:
    transcript = Blocks([UserMessage("task"), *(round_of(1_000, number) for number in range(10))])
    sizes, gauge = BlockSizes(), Gauge(4.0)
    sizes.follow(transcript)
    shape = Shape(sizes, gauge)
    request = request_of(transcript, (0,))
    assert shape.clear_results(request, 1_500, 2)
    shaped = shape.apply(request)
    whole = sum(block_size(block) for block in shaped.blocks) + len("rules")
    assert sizes.of(shaped) == whole
    assert gauge.tokens(whole) <= 1_500
    sent = [result for block in shaped.blocks if isinstance(block, ToolRound) for result in block.results]
    assert [len(result.content) for result in sent[-2:] if result] == [1_000, 1_000]
    # The stand-ins stay the same objects, so that what was encoded of them is used again.
    again = shape.apply(request)
    assert all(mine is theirs for mine, theirs in zip(shaped.blocks, again.blocks, strict=True))


def test_short_results_are_not_cleared() -> None:
    transcript = Blocks([UserMessage("task"), *(round_of(100, number) for number in range(10))])
    sizes = BlockSizes()
    sizes.follow(transcript)
    shape = Shape(sizes, Gauge(4.0))
    assert not shape.clear_results(request_of(transcript, (0,)), 0, 1)
    assert shape.stand_ins == {}


@pytest.mark.parametrize("known", [0, 1, 3])
def test_a_transcript_that_took_another_way_loses_what_was_decided_about_it(known: int) -> None:
    old: list[Block] = [UserMessage("task"), *(round_of(1_000, number) for number in range(6))]
    sizes, gauge = BlockSizes(), Gauge(4.0)
    sizes.follow(Blocks(old))
    shape = Shape(sizes, gauge)
    shape.clear_results(request_of(Blocks(old), (0,)), 0, 1)
    assert max(shape.stand_ins) == 5
    shape.start, shape.summary = 4, "old"
    new = Blocks([*old[:known], *(UserMessage("new") for _ in range(9))])
    shape.shrink_to(sizes.follow(new))
    shaped = shape.apply(request_of(new, (0,)))
    assert (shape.start, shaped.summary) == (0, None)
    assert all(index < known for index in shape.stand_ins)
    assert len(shaped.blocks) == known + 9


def test_what_others_left_out_stays_out_and_their_summary_stays() -> None:
    transcript = Blocks([UserMessage("task"), *(round_of(1_000, number) for number in range(10))])
    sizes, gauge = BlockSizes(), Gauge(4.0)
    sizes.follow(transcript)
    shape = Shape(sizes, gauge)
    shape.start, shape.summary = 3, "mine"
    theirs = request_of(transcript, (0,)).dropping_before(7).with_summary("theirs")
    shaped = shape.apply(theirs)
    assert (shaped.blocks.start, shaped.blocks.kept) == (7, (0,))
    assert shaped.summary is not None
    assert shaped.summary.startswith("theirs\n\nSummary of ")
    assert shaped.summary.endswith("mine")
    assert shape.tokens_from(shaped, shape.start) == gauge.tokens(sizes.of(shaped))
    assert not shape.drop(shaped, gauge.tokens(sizes.of(shaped)), 1)


def test_images_count() -> None:
    assert block_size(UserMessage("", images=(Image("aGk=", "image/png"),))) >= IMAGE
