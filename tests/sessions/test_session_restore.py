"""A session as it was: transcript, queues, usage and open calls; and what becomes of what is broken in its records."""

from __future__ import annotations

from typing import Any

import pytest

from hookagent.limits import Limits
from hookagent.messages import AssistantMessage, ToolResult, UserMessage
from hookagent.providers.anthropic_messages.encode import encode as encode_messages
from hookagent.requests import BlockView, Request
from hookagent.sessions.open_calls import OpenCall
from hookagent.sessions.record_kinds import (
    BookedRecord,
    CompactionRecord,
    ErrorRecord,
    ForkRecord,
    PluginStateRecord,
    QueuedRecord,
    Record,
    ReplyRecord,
    ResponseRecord,
    ResultRecord,
    RunStartRecord,
    TakenRecord,
    TurnEndRecord,
    TurnStartRecord,
    UserRecord,
    WaitingRecord,
)
from hookagent.sessions.records import StoredRecord, encode_record
from hookagent.sessions.restore import restore
from hookagent.testing import check_messages_request
from hookagent.usage import Usage
from hookagent.verdicts import Amend, Deny, Stop, Suspend
from tests.sessions.made import look, words
from tests.sessions.replaying import A, R, S, U, W, back, stored


def test_a_whole_session_comes_back() -> None:
    used = Usage(10, 1, 2, 5, 0.5, 1)
    restored = back(
        RunStartRecord("mine", "scripted:x"),
        TurnStartRecord(1, "one"),
        U("one"),
        ResponseRecord(used, "tool_calls", 1.0),
        A("looking", "c1", "c2"),
        S("c1"),
        S("c2"),
        R("c2", "second"),
        U("a note", origin="noter", via="plugin"),
        R("c1", "first"),
        ResponseRecord(used, "end", 1.0),
        A("answer"),
        BookedRecord("noter", Usage(1, 0, 0, 1, None, 1)),
        TurnEndRecord(1, "completed", "answer", used + used, 5.0),
        RunStartRecord("mine", "scripted:y"),
        TurnStartRecord(2, "two"),
        U("two"),
        ResponseRecord(Usage(7, 0, 0, 1, 0.25, 0), "end", 1.0),
        A("again"),
        TurnEndRecord(2, "completed", "again", used, 5.0),
    )
    state = restored.state
    assert words(state.transcript) == [
        *("U one", "A c1 c2 looking", "R c1 ok", "R c2 ok", "U a note <noter>", "A answer", "U two", "A again"),
    ]
    assert (restored.agent, restored.model, restored.status) == ("mine", "scripted:y", "completed")
    assert state.usage == Usage(28, 2, 4, 12, None, 4)
    assert state.turn_usage == Usage(7, 0, 0, 1, 0.25, 1)
    assert state.plugin_usage == {"noter": Usage(1, 0, 0, 1, None, 1)}
    assert (state.turn, state.iteration, state.number) == (2, 1, 200)
    assert (state.user_prompt, state.used_ids, state.last_reply_tokens) == ("two", {"c1", "c2"}, 8)
    assert state.protected == (0, 4)
    assert not state.started
    assert restored.problems == ()
    assert (restored.pending, restored.queued, restored.repairs) == ((), (), ())


def test_what_was_started_is_interrupted_and_what_was_not_is_not_run() -> None:
    restored = back(U("go"), A("", "c1", "c2", "c3"), S("c1"), S("c2"), R("c1"), U("held"))
    assert words(restored.state.transcript) == [
        *("U go", "A c1 c2 c3", "R c1 ok", "R c2 interrupted", "R c3 not_run", "U held"),
    ]
    made = {one.call_id: one.content for one in restored.repairs}
    assert made == {
        "c2": "interrupted: the process ended while it ran; it may have run",
        "c3": "not run: the process ended before it started",
    }
    assert all(one.is_error for one in restored.repairs)
    assert restored.problems == ()


def test_what_is_restored_twice_is_the_same() -> None:
    records: list[Record] = [U("go"), A("", "c1", "c2"), S("c1")]
    first = back(*records)
    second = back(*records, *(ResultRecord(one) for one in first.repairs))
    assert second.state.transcript == first.state.transcript
    assert second.repairs == ()


def test_a_waiting_round_goes_on_waiting() -> None:
    call, original = look("c1", path="b"), look("c1", path="a")
    asked = OpenCall(call, original, Suspend("why?"), "gate", (("gate", "why?"),), ("amender", "before_tools"))
    later = OpenCall(look("c3"), look("c3"), None, gated=False)
    restored = back(
        U("go"),
        ReplyRecord(AssistantMessage((original, look("c2"), look("c3")))),
        S("c2"),
        R("c2"),
        WaitingRecord((asked, later)),
        TurnEndRecord(1, "waiting", "", Usage(), 1.0),
        U("meanwhile", via="steer"),
    )
    state = restored.state
    assert state.transcript.open_round is not None
    assert [one.id for one in state.transcript.open_round.open_calls] == ["c1", "c3"]
    assert words(state.transcript) == ["U go", "A c1 c2 c3", "R c2 ok", "U meanwhile"]
    assert restored.pending[0] == asked
    assert restored.pending[1].result == ToolResult("seen", call_id="c2")
    assert restored.pending[2] == later
    assert restored.status == "waiting"
    assert restored.repairs == ()


@pytest.mark.parametrize(
    ("then", "expected", "pending"),
    [
        ([S("c1")], ["R c1 interrupted"], ["c2"]),
        ([S("c1"), R("c1")], ["R c1 ok"], ["c2"]),
        ([S("c1"), S("c2")], ["R c1 interrupted", "R c2 interrupted"], []),
        ([R("c1"), R("c2")], ["R c1 ok", "R c2 ok"], []),
        ([W("c1")], ["R c2 not_run"], ["c1"]),
        ([W("c1", "c2", suspended=False)], ["R c1 not_run", "R c2 not_run"], []),
    ],
)
def test_a_waiting_round_that_was_resumed(then: list[Record], expected: list[str], pending: list[str]) -> None:
    restored = back(U("go"), A("", "c1", "c2"), W("c1", "c2"), *then)
    assert words(restored.state.transcript)[2:] == expected
    assert [one.call.id for one in restored.pending if one.result is None] == pending


@pytest.mark.parametrize("verdict", [None, Stop("s"), Deny("d", True), Amend({"a": 1})])
def test_a_round_that_nobody_is_asked_about_does_not_wait(verdict: Any) -> None:
    restored = back(U("go"), A("", "c1"), WaitingRecord((OpenCall(look("c1"), look("c1"), verdict, "gate"),)))
    assert words(restored.state.transcript) == ["U go", "A c1", "R c1 not_run"]


def test_a_fork_closes_what_the_original_had_begun() -> None:
    restored = back(U("go"), A("", "c1", "c2"), S("c1"), ForkRecord("other", 3), A("on"))
    assert words(restored.state.transcript) == ["U go", "A c1 c2", "R c1 interrupted", "R c2 not_run", "A on"]
    texts = [one.content for one in restored.state.transcript.messages() if isinstance(one, ToolResult)]
    assert all("the session was forked" in text for text in texts)
    waiting = back(U("go"), A("", "c1"), W("c1"), ForkRecord("other", 3))
    assert [one.call.id for one in waiting.pending] == ["c1"]


def test_records_that_are_missing_twice_or_of_a_later_version_are_said() -> None:
    good = stored(U("a"), A("b"), U("c"), A("d"))
    later = StoredRecord(5, 1.0, "dream", '{"v":1}')
    broken = StoredRecord(6, 1.0, "user", '{"v":1,"mess')
    records = [good[0], good[0], good[2], good[1], good[3], later, broken, StoredRecord(9, 1.0, *encode_record(U("e")))]
    restored = restore(records, Limits())
    assert words(restored.state.transcript) == ["U a", "U c", "A d", "U e"]
    said = "\n".join(restored.problems)
    assert said.count("\n") == 5
    assert "record 1: stands there twice" in said
    assert "record 3: record 2 is missing before it" in said
    assert "record 2: stands there twice, or out of order" in said
    assert "record 5: kind 'dream' is of a later version; it is kept and not used" in said
    assert "record 6: cannot be read and was left out: not the JSON that was written" in said
    assert "record 9: records from 7 on are missing before it" in said


def test_queues_come_back_none_twice() -> None:
    def q(entry: int, text: str, via: Any = "steer") -> QueuedRecord:
        return QueuedRecord(entry, UserMessage(text, via=via))

    restored = back(
        U("go"),
        q(1, "same"),
        q(2, "same"),
        q(3, "later", "follow_up"),
        q(4, "taken back"),
        UserRecord(UserMessage("same", via="steer"), 1),
        TakenRecord(4),
        q(5, "last"),
        TakenRecord(99),
    )
    assert [one.entry for one in restored.queued] == [2, 3, 5]
    assert [one.text for one in restored.steering] == ["same", "last"]
    assert [one.text for one in restored.follow_ups] == ["later"]
    assert restored.next_entry == 6
    assert words(restored.state.transcript) == ["U go", "U same"]
    broken = back(q(1, "a"), TakenRecord(1), q(1, "a"), q(2, " "), q(3, "x", "prompt"))
    assert broken.queued == ()
    assert len(broken.problems) == 3


def test_a_compaction_leaves_the_transcript_and_the_plugins_summary_comes_back() -> None:
    talk: list[Record] = [U("task"), A("1"), U("two"), A("2"), U("three"), A("3")]
    compaction = CompactionRecord("context-window", 6, 2, True, 4, "they talked")
    restored = back(
        *talk,
        PluginStateRecord("context-window", {"summary": "old", "start": 2}),
        compaction,
        PluginStateRecord("context-window", {"summary": "they talked", "start": 4}),
        PluginStateRecord("gone", [1, 2]),
    )
    assert len(restored.state.transcript) == 6
    assert restored.compactions == (compaction,)
    assert restored.plugin_state == {"context-window": {"summary": "they talked", "start": 4}, "gone": [1, 2]}
    state = restored.state
    assert state.shapes == {"context-window": (4, "they talked")}
    request = Request(BlockView(state.transcript), protected=state.protected).dropping_before(4)
    request = request.with_summary(restored.plugin_state["context-window"]["summary"])
    body = encode_messages(request, "claude-x")
    check_messages_request(body)
    assert body["messages"][0]["role"] == "user"
    assert "they talked" in str(body["messages"][0])
    assert "'two'" not in str(body)


def test_errors_and_what_is_only_told_change_nothing() -> None:
    restored = back(U("a"), ErrorRecord("tool", "x", "y"), A("b"), TurnEndRecord(1, "failed", "", Usage(), 1.0))
    assert words(restored.state.transcript) == ["U a", "A b"]
    assert restored.status == "failed"
