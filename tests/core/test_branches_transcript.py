"""The transcript as a sequence: reading it by place, comparing, forking, and the words of its refusals."""

from __future__ import annotations

import re
import threading

import pytest

from hookagent.messages import AssistantMessage, TextPart, ToolCall, ToolResult, UserMessage
from hookagent.transcript import Block, ToolRound, Transcript, TranscriptError

FIRST, SECOND, THIRD = UserMessage("first"), AssistantMessage((TextPart("second"),)), UserMessage("third")


def reply(*ids: str) -> AssistantMessage:
    return AssistantMessage(tuple(ToolCall(one, "tool", None, "{}") for one in ids))


def three() -> Transcript:
    return Transcript([FIRST, SECOND, THIRD])


def waiting(*ids: str) -> Transcript:
    """A transcript whose round waits for the results of these calls."""
    return Transcript([FIRST]).with_reply(reply(*ids))


@pytest.mark.parametrize(
    ("place", "block"),
    [(0, FIRST), (1, SECOND), (2, THIRD), (-1, THIRD), (-2, SECOND), (-3, FIRST), (True, SECOND), (False, FIRST)],
)
def test_blocks_are_read_by_place_as_in_a_list(place: int, block: Block) -> None:
    assert three()[place] is block


@pytest.mark.parametrize(("transcript", "end"), [(Transcript(), (0, None)), (three(), (3, THIRD))])
def test_how_it_ends_is_one_question(transcript: Transcript, end: tuple[int, Block | None]) -> None:
    assert transcript.end() == (*end, None)
    asked = Transcript([FIRST, SECOND, THIRD]).with_reply(reply("c1"))
    assert asked.end() == (3, THIRD, asked.open_round)
    assert asked.open_round is not None
    # A snapshot taken earlier ends where it ended, whatever came behind it in what grew from it.
    earlier = three()
    earlier.with_user(UserMessage("fourth"))
    assert earlier.end() == (3, THIRD, None)


@pytest.mark.parametrize("place", [3, 4, -4, -7])
def test_a_place_outside_is_an_index_error(place: int) -> None:
    with pytest.raises(IndexError, match=r"^block index out of range$"):
        three()[place]


def test_a_place_is_outside_although_a_newer_snapshot_has_it() -> None:
    old = Transcript([FIRST])
    old.with_user(THIRD)
    for place in (1, -2):
        with pytest.raises(IndexError):
            old[place]
    assert old[0] is FIRST
    assert old[:] == [FIRST]


@pytest.mark.parametrize("part", [slice(1, None), slice(None, -1), slice(None, None, 2), slice(5, 9), slice(-2, None)])
def test_a_slice_is_the_one_of_a_list(part: slice) -> None:
    assert three()[part] == [FIRST, SECOND, THIRD][part]


def test_equal_are_transcripts_with_the_same_blocks_round_and_held_messages() -> None:
    assert three() == three()
    assert three() != three().before_newest()
    assert three() != Transcript([FIRST, SECOND, UserMessage("another")])
    assert three() != [FIRST, SECOND, THIRD]
    assert waiting("a") == waiting("a")
    assert waiting("a") != waiting("b")
    assert waiting("a") != Transcript([FIRST])
    assert waiting("a").with_user(THIRD) == waiting("a").with_user(THIRD)
    assert waiting("a").with_user(THIRD) != waiting("a")
    # The same round and held messages behind other blocks, of the same number.
    assert waiting("a") != Transcript([THIRD]).with_reply(reply("a"))


def test_equality_with_something_else_is_left_to_the_other() -> None:
    assert three().__eq__([FIRST, SECOND, THIRD]) is NotImplemented


def test_a_transcript_has_no_hash() -> None:
    with pytest.raises(TypeError, match="unhashable"):
        hash(three())


def test_its_text_form_counts_blocks_and_the_open_round() -> None:
    assert repr(three()) == "Transcript(3 blocks)"
    assert repr(waiting("a", "b")) == "Transcript(1 blocks, open round of 2)"


def test_taking_back_the_newest_block_leaves_those_before() -> None:
    shorter = three().before_newest()
    assert list(shorter) == [FIRST, SECOND]
    assert (shorter.open_round, shorter.held) == (None, ())
    # What is added then stands where the block stood, and the old snapshot keeps it.
    assert list(shorter.with_user(FIRST)) == [FIRST, SECOND, FIRST]
    assert list(three()) == [FIRST, SECOND, THIRD]


def test_an_old_snapshot_grows_into_a_log_of_its_own_of_the_right_length() -> None:
    old = Transcript([FIRST])
    newest = old.with_user(UserMessage("newest"))
    forked = old.with_user(THIRD)
    assert len(forked) == 2
    assert list(forked.with_user(FIRST)) == [FIRST, THIRD, FIRST]
    assert [block.text for block in newest if isinstance(block, UserMessage)] == ["first", "newest"]


def test_two_threads_that_grow_one_snapshot_get_a_block_each() -> None:
    old = Transcript()
    grown: list[list[Block]] = []

    def grow(number: int) -> None:
        grown.append(list(old.with_user(UserMessage(str(number)))))

    threads = [threading.Thread(target=grow, args=(number,)) for number in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(block.text for [block] in grown if isinstance(block, UserMessage)) == sorted(map(str, range(20)))


class Crowded(list[Block]):
    """A log to which another thread appends just ahead of whoever appends to it."""

    def append(self, block: Block) -> None:
        if not self:
            super().append(UserMessage("ahead"))
        super().append(block)


def test_who_comes_second_in_a_race_forks() -> None:
    old = Transcript()
    old._log = Crowded()
    late = old.with_user(FIRST)
    assert list(late) == [FIRST]
    assert late._log is not old._log


def test_a_reply_without_calls_leaves_nothing_held_and_no_round() -> None:
    grown = Transcript().with_reply(SECOND)
    assert list(grown) == [SECOND]
    assert (grown.open_round, grown.held) == (None, ())
    assert (Transcript().open_round, Transcript().held) == (None, ())


def test_a_closed_round_leaves_nothing_held() -> None:
    grown = waiting("a").with_result(ToolResult("x", call_id="a"))
    assert (grown.open_round, grown.held) == (None, ())
    assert grown.with_reply(reply("b")).with_user(THIRD).held == (THIRD,)


def test_a_result_is_found_by_its_call_and_none_while_it_is_open() -> None:
    done = ToolResult("x", call_id="b")
    open_round = waiting("a", "b").with_result(done).open_round
    assert open_round is not None
    assert open_round.result_of("b") is done
    assert open_round.result_of("a") is None
    with pytest.raises(KeyError, match=r"^'c'$"):
        open_round.result_of("c")


def test_another_text_for_a_request_changes_that_result_alone() -> None:
    first = ToolResult("long", True, "error", "a", "ValueError", 12.0)
    second = ToolResult("stays", call_id="b")
    whole = ToolRound(reply("a", "b", "c"), (first, second, None))
    shorter = whole.with_result_text("a", "short")
    assert shorter.results == (ToolResult("short", True, "error", "a", "ValueError", 12.0), second, None)
    assert shorter.reply is whole.reply
    assert shorter.results[1] is second
    assert whole.results[0] is first


@pytest.mark.parametrize(
    ("grow", "says"),
    [
        (
            lambda: Transcript([ToolRound(reply("a"), (None,))]),
            "a transcript is built from closed blocks; grow it to open a round",
        ),
        (
            lambda: Transcript([reply("a")]),
            "an assistant message with calls stands in a ToolRound, with its results",
        ),
        (lambda: waiting("a").with_reply(SECOND), "a reply cannot be added while tool calls wait for results"),
        (lambda: waiting("a", "a"), "the calls of a reply need ids, all different"),
        (lambda: waiting("a", ""), "the calls of a reply need ids, all different"),
        (lambda: waiting(""), "the calls of a reply need ids, all different"),
        (lambda: three().with_result(ToolResult("x", call_id="a")), "no call waits for a result (got one for 'a')"),
        (lambda: waiting("a").with_result(ToolResult("x", call_id="b")), "no open call has the id 'b'"),
        (
            lambda: (
                waiting("a", "b").with_result(ToolResult("x", call_id="b")).with_result(ToolResult("x", call_id="b"))
            ),
            "call 'b' already has its result",
        ),
    ],
)
def test_each_refusal_says_what_is_wrong(grow, says: str) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(TranscriptError, match=f"^{re.escape(says)}$"):
        grow()


def test_what_is_wrong_with_the_last_block_is_found_behind_good_ones() -> None:
    good = waiting("a").with_result(ToolResult("x", call_id="a"))
    assert list(Transcript([*good, SECOND])) == [*good, SECOND]
    with pytest.raises(TranscriptError, match="closed blocks"):
        Transcript([*good, ToolRound(reply("b"), (None,))])
