"""What is broken in the records of a session is repaired by one rule; any records give a valid transcript."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hookagent.limits import Limits
from hookagent.messages import ToolResult, UserMessage
from hookagent.providers.anthropic_messages.encode import encode as encode_messages
from hookagent.providers.openai_chat.encode import build_messages
from hookagent.requests import BlockView, Request
from hookagent.sessions.record_kinds import (
    ForkRecord,
    QueuedRecord,
    Record,
    ResultRecord,
    TakenRecord,
    UserRecord,
)
from hookagent.sessions.restore import restore
from hookagent.testing import check_messages_request
from tests.sessions.made import RECORDS, words
from tests.sessions.replaying import A, R, S, U, W, back, stored

BROKEN: dict[str, tuple[list[Record], list[str], str]] = {
    "a call in the middle without result": (
        [U("a"), A("", "c1"), U("b"), A("ok"), U("c")],
        ["U a", "A c1", "R c1 not_run", "U b", "A ok", "U c"],
        "calls still wait",
    ),
    "a call that was started in the middle": (
        [U("a"), A("", "c1"), S("c1"), U("b"), A("ok")],
        ["U a", "A c1", "R c1 interrupted", "U b", "A ok"],
        "calls still wait",
    ),
    "a waiting round in the middle": (
        [U("a"), A("", "c1"), W("c1"), A("ok")],
        ["U a", "A c1", "R c1 not_run", "A ok"],
        "calls still wait",
    ),
    "a result without a call": ([U("a"), R("c1"), U("b")], ["U a", "U b"], "'c1', which is not open"),
    "a result of another call": ([U("a"), A("", "c1"), R("c9"), R("c1")], ["U a", "A c1", "R c1 ok"], "'c9'"),
    "two results": ([U("a"), A("", "c1"), R("c1"), R("c1", "again")], ["U a", "A c1", "R c1 ok"], "not open"),
    "a start without a call": ([U("a"), S("c1")], ["U a"], "was started and is not open"),
    "a blank message": ([U("a"), U(" \n"), A("b")], ["U a", "A b"], "blank user message"),
    "an empty reply": ([U("a"), A(" "), A("b")], ["U a", "A b"], "empty reply"),
    "a reply at the beginning": (
        [A("b"), U("c")],
        ["U (The beginning of this conversation could not be read.) <hookagent>", "A b", "U c"],
        "lost before it",
    ),
    "a round at the beginning": (
        [A("", "c1"), R("c1")],
        ["U (The beginning of this conversation could not be read.) <hookagent>", "A c1", "R c1 ok"],
        "lost before it",
    ),
    "an id used before": (
        [U("a"), A("", "c1"), R("c1"), A("", "c1"), S("c1"), R("c1")],
        ["U a", "A c1", "R c1 ok", "A c1_2", "R c1_2 ok"],
        "'c1_2' now",
    ),
    "an id used twice in a reply": (
        [U("a"), A("", "c1", "c1"), R("c1")],
        ["U a", "A c1 c1_2", "R c1 ok", "R c1_2 not_run"],
        "'c1_2' now",
    ),
    "a blank id": ([U("a"), A("", ""), R("")], ["U a", "A call_2", "R call_2 ok"], "'call_2' now"),
    "a waiting call that is none": ([U("a"), A("", "c1"), W("c1", "c7")], ["U a", "A c1"], "'c7' waits"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_what_is_broken_is_repaired_by_one_rule_and_said(name: str) -> None:
    records, expected, said = BROKEN[name]
    restored = back(*records)
    assert words(restored.state.transcript) == expected
    assert len(restored.problems) == 1
    assert said in restored.problems[0]
    assert restored.problems[0].startswith("record ")


def test_the_first_of_two_results_stays_and_a_blank_one_says_so() -> None:
    restored = back(U("a"), A("", "c1", "c2"), R("c1", "real"), R("c1", "again"), R("c2", " \n"))
    texts = [one.content for one in restored.state.transcript.messages() if isinstance(one, ToolResult)]
    assert texts == ["real", "(no output)"]


def test_a_waiting_call_whose_id_was_used_before_keeps_its_question() -> None:
    restored = back(U("a"), A("", "c1"), R("c1"), A("", "c1"), W("c1"))
    assert [one.call.id for one in restored.pending] == ["c1_2"]
    assert restored.pending[0].original.id == "c1_2"
    assert restored.pending[0].suspended


def test_a_pause_is_no_empty_reply() -> None:
    assert words(back(U("a"), A("", stop_reason="pause"), A("b")).state.transcript) == ["U a", "A ", "A b"]


LIKELY = st.one_of(
    st.builds(U, st.sampled_from(["u", " ", "v"]), via=st.sampled_from(["prompt", "steer"])),
    st.builds(A, st.sampled_from(["", "a"]), st.sampled_from(["c1", "c2", "c3", ""])),
    st.builds(lambda text, ids: A(text, *ids), st.just("t"), st.lists(st.sampled_from(["c1", "c2", "c3"]), max_size=3)),
    st.builds(S, st.sampled_from(["c1", "c2", "c3", "c1_2"])),
    st.builds(R, st.sampled_from(["c1", "c2", "c3", "c1_2", ""]), st.sampled_from(["x", " "])),
    st.builds(W, st.sampled_from(["c1", "c2"]), suspended=st.booleans()),
    st.builds(ForkRecord, st.just("f"), st.integers(1, 3)),
    st.builds(QueuedRecord, st.integers(1, 4), st.builds(UserMessage, st.just("q"), via=st.just("steer"))),
    st.builds(TakenRecord, st.integers(1, 4)),
    # What no vendor takes for an image is not for a session to refuse.
    RECORDS.filter(lambda record: not (isinstance(record, UserRecord) and record.message.images)),
)


@given(st.lists(LIKELY, max_size=14))
@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_any_records_give_a_valid_transcript_that_every_vendor_takes(records: list[Record]) -> None:
    restored = back(*records)
    state = restored.state
    if restored.pending:
        assert any(one.suspended for one in restored.pending)
        assert state.transcript.open_round is not None
        return
    assert state.transcript.open_round is None
    grown = state.transcript.with_user(UserMessage("on"))
    state.grow(grown)
    request = Request(BlockView(state.transcript), protected=state.protected)
    check_messages_request(encode_messages(request, "claude-x"))
    build_messages(request, "gpt-x")
    # What was made up can be written behind it, and changes nothing.
    again = restore(stored(*records, *(ResultRecord(one) for one in restored.repairs)), Limits())
    assert again.state.transcript.with_user(UserMessage("on")) == grown
    assert len({one.entry for one in restored.queued}) == len(restored.queued)
