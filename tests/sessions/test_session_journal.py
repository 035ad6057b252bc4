"""What happens is on disk before anything goes on, and in the order in which it happened."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from hookagent.events import (
    Compaction,
    ErrorEvent,
    HookReport,
    IterationStart,
    MessageDelta,
    MessageEnd,
    MessageReplaced,
    MessageStart,
    RequestSent,
    ResolveStart,
    Retry,
    ToolProgress,
)
from hookagent.limits import Limits
from hookagent.loop.calls import CallState
from hookagent.messages import UserMessage
from hookagent.sessions.errors import SessionError
from hookagent.sessions.record_kinds import (
    BookedRecord,
    ErrorRecord,
    HookRecord,
    TakenRecord,
    TurnEndRecord,
    UserRecord,
)
from hookagent.sessions.restore import restore
from hookagent.sessions.store import SessionStore
from hookagent.usage import Usage
from hookagent.verdicts import Suspend
from tests.sessions.looking import Failing, kinds, of_kind
from tests.sessions.made import journal_for, look, words


def test_each_event_is_on_disk_when_the_journal_returns(store: SessionStore) -> None:
    journal, teller = journal_for(store)
    reader = SessionStore(store.database.folder)
    teller.begin("go")
    assert kinds(reader) == ["run_start", "turn_start", "user"]
    teller.reply("", "c1")
    assert kinds(reader)[3:] == ["response", "reply"]
    teller.start("c1")
    assert kinds(reader)[-1] == "start"
    teller.result("c1")
    assert kinds(reader)[-1] == "result"
    teller.tell(Compaction, "window", 9, 3, True)
    teller.tell(ErrorEvent, "tool", "look", "no")
    assert kinds(reader)[-2:] == ["compaction", "error"]
    teller.reply("done")
    teller.end()
    assert kinds(reader)[-1] == "turn_end"
    journal.close()
    reader.close()
    restored = restore(store.read("one"), Limits())
    assert restored.state.number == teller.number
    assert of_kind(store, TurnEndRecord)[0].milliseconds == pytest.approx(2_500.0)
    assert restored.problems == ()


def test_what_nobody_needs_later_is_not_written(store: SessionStore) -> None:
    journal, teller = journal_for(store)
    teller.begin("go")
    before = kinds(store)
    for kind, fields in [
        (MessageDelta, ("text", "secret piece")),
        (ToolProgress, (look("c1"), object())),
        (RequestSent, (3, 2, "shaper")),
        (IterationStart, (10,)),
        (MessageStart, ("assistant",)),
        (MessageReplaced, ("retry",)),
        (Retry, (1, 2.0, "x-api-key: abc")),
        (HookReport, ("p", "shape_request", "returned", "Request", 1.0)),
        (HookReport, ("p", "before_each_tool", "slow", "took 3 s", 3000.0)),
    ]:
        teller.tell(kind, *fields)
    assert kinds(store) == before
    teller.tell(HookReport, "p", "before_each_tool", "returned", "Deny", 1.0)
    teller.tell(HookReport, "q", "shape_request", "failed", "raised ValueError", 1.0)
    found = [(one.plugin, one.outcome) for one in of_kind(store, HookRecord)]
    assert found == [("p", "returned"), ("q", "failed")]
    journal.close()


def test_an_agent_that_never_ran_leaves_no_file(store: SessionStore) -> None:
    journal, _ = journal_for(store)
    journal.queued(UserMessage("early", via="steer"))
    journal.close()
    assert not store.database.folder.exists()


def test_what_was_queued_before_the_first_run_is_written_with_it(store: SessionStore) -> None:
    journal, teller = journal_for(store)
    journal.queued(UserMessage("early", via="steer"))
    teller.begin()
    assert kinds(store) == ["queued", "run_start", "turn_start", "user"]
    journal.close()


def test_a_queued_message_is_stored_and_taken_in_one_record(store: SessionStore) -> None:
    journal, teller = journal_for(store)
    teller.begin()
    first, second = UserMessage("same", via="steer"), UserMessage("same", via="steer")
    journal.queued(first)
    journal.queued(second)
    # The message as a plugin changed it is stored; what leaves the queue is the one that was put there.
    teller.tell(MessageEnd, UserMessage("changed", via="steer"))
    middle = restore(store.read("one"), Limits())
    assert [one.text for one in middle.steering] == ["same", "same"]
    assert words(middle.state.transcript) == ["U go"]
    journal.taken(first)
    restored = restore(store.read("one"), Limits())
    assert [one.entry for one in restored.queued] == [2]
    assert words(restored.state.transcript) == ["U go", "U changed"]
    assert of_kind(store, UserRecord)[-1].entry == 1
    assert of_kind(store, TakenRecord) == []
    journal.close()


def test_hooks_that_hear_of_a_queued_message_do_not_come_between(store: SessionStore) -> None:
    journal, teller = journal_for(store)
    teller.begin()
    message = UserMessage("x", via="follow_up")
    journal.queued(message)
    teller.tell(MessageEnd, message)
    teller.tell(HookReport, "p", "on_event", "failed", "raised", 1.0)
    teller.tell(ErrorEvent, "plugin", "p", "raised")
    assert kinds(store)[-1] == "queued"
    journal.taken(message)
    assert kinds(store)[-3:] == ["user", "hook", "error"]
    journal.close()


@pytest.mark.parametrize("then", ["event", "close"])
def test_a_queued_message_that_nobody_takes_is_written_all_the_same(store: SessionStore, then: str) -> None:
    journal, teller = journal_for(store)
    teller.begin()
    journal.queued(UserMessage("other", via="steer"))
    teller.tell(MessageEnd, UserMessage("from a prompt", via="steer"))
    if then == "event":
        teller.reply("on")
        assert kinds(store)[-3:] == ["user", "response", "reply"]
    journal.close()
    assert [one.text for one in restore(store.read("one"), Limits()).steering] == ["other"]


def test_a_message_that_was_taken_back_or_refused_is_gone(store: SessionStore) -> None:
    journal, teller = journal_for(store)
    teller.begin()
    back, twice = UserMessage("back", via="steer"), UserMessage("twice", via="steer")
    for message in (back, twice, twice):
        journal.queued(message)
    journal.taken(back)
    journal.taken(twice)
    journal.taken(UserMessage("never queued", via="steer"))
    assert [one.entry for one in of_kind(store, TakenRecord)] == [1, 2, 3]
    assert restore(store.read("one"), Limits()).queued == ()
    journal.close()


def test_a_resumed_session_goes_on_with_its_entries_and_numbers(store: SessionStore) -> None:
    journal, teller = journal_for(store)
    teller.begin()
    journal.queued(UserMessage("one", via="steer"))
    journal.queued(UserMessage("two", via="steer"))
    teller.reply("", "c1")
    teller.start("c1")
    journal.close()
    again, second = journal_for(store)
    again.claim()
    restored = restore(store.read("one"), Limits())
    again.resumed(restored)
    assert kinds(store)[-1] == "result"
    again.taken(restored.steering[0])
    again.queued(UserMessage("three", via="steer"))
    second.turn = 1
    second.begin("on")
    again.close()
    last = restore(store.read("one"), Limits())
    assert [(one.entry, one.message.text) for one in last.queued] == [(2, "two"), (3, "three")]
    assert words(last.state.transcript) == ["U go", "A c1", "R c1 interrupted", "U on"]
    assert last.repairs == ()
    assert last.problems == ()
    assert last.state.turn == 2


def test_the_open_calls_of_a_turn_that_waits_are_written_with_its_end(store: SessionStore) -> None:
    states = [CallState(look("c1")), CallState(look("c2")), CallState(look("c3"))]
    journal, teller = journal_for(store, pending=lambda: states)
    teller.begin()
    teller.reply("", "c1", "c2", "c3")
    teller.call("c1")
    states[0].result = restore(store.read("one"), Limits()).repairs[0]
    states[1].judge(Suspend("sure?"), "gate")
    states[1].call = look("c2", path="safe")
    states[1].amended_by = ("amender", "before_tools")
    teller.end("waiting", "")
    journal.close()
    assert kinds(store)[-2:] == ["waiting", "turn_end"]
    pending = restore(store.read("one"), Limits()).pending
    assert [one.suspended for one in pending] == [False, True, False]
    assert pending[1].verdict == Suspend("sure?")
    assert pending[1].asked_by == (("gate", "sure?"),)
    assert pending[1].call == look("c2", path="safe")
    assert pending[1].original == look("c2")
    assert pending[1].amended_by == ("amender", "before_tools")


def test_what_waits_can_be_written_before_anybody_is_asked(store: SessionStore) -> None:
    state = CallState(look("c1"))
    journal, teller = journal_for(store)
    teller.begin()
    teller.reply("", "c1")
    state.judge(Suspend("sure?"), "gate")
    journal.waiting([state])
    assert kinds(store)[-1] == "waiting"
    journal.close()
    assert [one.suspended for one in restore(store.read("one"), Limits()).pending] == [True]


def test_a_process_that_dies_while_a_person_is_asked_asks_again(store: SessionStore) -> None:
    state, sibling = CallState(look("c1")), CallState(look("c2"))
    journal, teller = journal_for(store, pending=lambda: [state, sibling])
    teller.begin()
    teller.reply("", "c1", "c2")
    state.judge(Suspend("sure?"), "gate")
    teller.tell(ResolveStart, (state.call,))
    assert kinds(store)[-1] == "waiting"
    restored = restore(store.read("one"), Limits())
    assert [one.suspended for one in restored.pending] == [True, False]
    assert restored.repairs == ()
    # Answered, it runs: what dies then may have run.
    teller.start("c1")
    journal.close()
    assert words(restore(store.read("one"), Limits()).state.transcript)[2:] == ["R c1 interrupted", "R c2 not_run"]


def test_plugins_keep_state_and_book_usage(store: SessionStore) -> None:
    journal, teller = journal_for(store)
    teller.begin()
    value = {"notes": ["a"], "n": 1.0}
    journal.plugin_state("noter", value)
    value["notes"] = "changed later"
    journal.booked("noter", Usage(1, 0, 0, 2, None, 1))
    with pytest.raises(SessionError, match="plugin 'noter': its state cannot be saved: not a JSON value: object"):
        journal.plugin_state("noter", {"a": object()})
    journal.close()
    restored = restore(store.read("one"), Limits())
    assert restored.plugin_state == {"noter": {"notes": ["a"], "n": 1.0}}
    assert of_kind(store, BookedRecord) == [BookedRecord("noter", Usage(1, 0, 0, 2, None, 1))]
    assert restored.state.usage.cost_usd is None


SECRET = "sk-test-SECRET123"


def test_secrets_are_masked_in_what_failed_and_nowhere_else(
    store: SessionStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[str] = []
    environment = {"VENDOR_API_KEY": SECRET, "PATH": "/usr/bin", "DEBUG_TOKEN": "1"}
    Failing(monkeypatch, 4, text=f"disk of {SECRET} is full 1")
    journal, teller = journal_for(store, warn=said.append, environment=environment)
    teller.begin()
    teller.tell(ErrorEvent, "model", "x", f"401: header 'x-api-key: {SECRET}' was refused (1 try of /usr/bin)")
    teller.tell(HookReport, "p", "before_tools", "failed", f"raised ValueError: {SECRET}", 1.0)
    teller.end("failed", f"it said {SECRET}")
    teller.tell(ErrorEvent, "model", "x", "Authorization: Bearer abcdefghijklmnop.1234")
    journal.close()
    for path in store.database.folder.rglob("*"):
        if path.is_file():
            assert b"SECRET123" not in path.read_bytes()
    first, second = (one.message for one in of_kind(store, ErrorRecord))
    assert first == "401: header 'x-api-key: ***' was refused (1 try of /usr/bin)"
    assert second.startswith("Authorization: ")
    assert "abcdefghijklmnop" not in second
    assert len(said) == 1
    assert "SECRET123" not in said[0]
    # What a person said is theirs: it has to come back as it was.
    told, teller = journal_for(store, "two", environment=environment)
    teller.begin(f"use {SECRET}")
    told.close()
    assert words(restore(store.read("two"), Limits()).state.transcript) == [f"U use {SECRET}"]


def test_a_session_has_the_folder_it_began_in(
    store: SessionStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    journal, teller = journal_for(store, cwd=None, parent_id="above")
    teller.begin()
    journal.close()
    row = store.row("one")
    assert (row.cwd, row.parent_id, row.agent, row.model) == (
        os.path.realpath(tmp_path),
        "above",
        "tested",
        "scripted:test",
    )
