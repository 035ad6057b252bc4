"""Records at their edges: what no JSON can hold, what a later version wrote, and whoever brings them too late."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from hookagent.events import MessageEnd, ResponseReceived
from hookagent.frozen import FrozenDict
from hookagent.limits import Limits
from hookagent.loop.calls import CallState
from hookagent.messages import ToolCall, UserMessage
from hookagent.sessions.entries import journaled
from hookagent.sessions.errors import SessionError
from hookagent.sessions.fields import Fields
from hookagent.sessions.json_text import json_text, json_value
from hookagent.sessions.locking import SessionLock
from hookagent.sessions.open_calls import read_open_call
from hookagent.sessions.overview import overview
from hookagent.sessions.record_kinds import ResponseRecord, UnknownRecord
from hookagent.sessions.records import decode_record
from hookagent.sessions.restore import restore
from hookagent.sessions.store import SessionStore
from hookagent.sessions.values import read_verdict
from hookagent.usage import Usage
from hookagent.verdicts import Suspend
from tests.sessions.looking import kinds, of_kind
from tests.sessions.made import journal_for, look


def nested(levels: int) -> Any:
    value: Any = 1
    for _ in range(levels):
        value = [value]
    return value


# ---- values ----


@pytest.mark.parametrize(
    ("read", "said"),
    [
        (lambda fields: fields.number("n"), "tested: 'n': expected a number, got 'five'"),
        (lambda fields: fields.number("missing"), "tested: 'missing': expected a number, got nothing"),
        (lambda fields: fields.number("yes"), "tested: 'yes': expected a number, got bool"),
        (lambda fields: fields.number("digits"), "tested: 'digits': expected a number, got int"),
        (lambda fields: fields.number("endless"), "tested: 'endless': expected a number, got float"),
        (lambda fields: fields.flag("n"), "tested: 'n': expected true or false, got 'five'"),
        (lambda fields: fields.flag("one"), "tested: 'one': expected true or false, got int"),
        (lambda fields: fields.items("n"), "tested: 'n': expected a list, got 'five'"),
        (lambda fields: fields.json("missing"), "tested: 'missing': expected a value, got nothing"),
        (lambda fields: fields.json("deep"), "tested: 'deep' is nested too deeply"),
    ],
)
def test_a_field_that_is_something_else_is_told_what_was_expected(read: Any, said: str) -> None:
    digits, endless = 10**400, float("inf")
    value = {"n": "five", "yes": True, "one": 1, "digits": digits, "endless": endless, "deep": nested(100_000)}
    fields = Fields(value, "tested")
    with pytest.raises(SessionError) as failed:
        read(fields)
    assert str(failed.value) == said


def test_a_value_that_is_nested_too_deeply_is_neither_written_nor_read() -> None:
    with pytest.raises(SessionError, match=r"^a value is nested too deeply to be saved$"):
        json_text(nested(100_000))
    with pytest.raises(SessionError, match=r"^a value is nested too deeply to be read$"):
        json_value("[" * 100_000 + "]" * 100_000)


def test_a_value_that_looks_like_one_of_our_marks_comes_back_as_it_was() -> None:
    marked = {"$marked": {"$number": "5"}}
    for value in (marked, {"$object": {"$number": float("inf")}}, {"$number": float("-inf")}, {"$object": [2**2000]}):
        assert json_value(json_text(value)) == value


@pytest.mark.parametrize("pair", ["ab", ["a"], ["a", "b", "c"], ["a", 5], None, {"a": "b"}])
def test_who_asked_is_a_pair_of_texts(pair: Any) -> None:
    original = {"id": "c1", "name": "look", "arguments": None}
    with pytest.raises(SessionError, match=r"^open call: expected a pair of texts$"):
        read_open_call({"original": original, "asked_by": [pair]})


@pytest.mark.parametrize("arguments", [None, [], "text", 5])
def test_arguments_that_were_amended_are_an_object(arguments: Any) -> None:
    with pytest.raises(SessionError, match=r"^verdict: 'arguments': expected an object$"):
        read_verdict({"verdict": "amend", "arguments": arguments})


# ---- the journal ----


def test_a_cost_that_is_no_number_is_an_unknown_one(store: SessionStore) -> None:
    journal, teller = journal_for(store)
    teller.begin()
    usage = Usage(7, 0, 0, 3, float("nan"), 1)
    teller.tell(ResponseReceived, usage, "end", 5.0)
    teller.end()
    journal.close()
    assert journaled(ResponseReceived(1, 0.0, 1, 1, usage, "end", 5.0), 0.0, str) == (
        ResponseRecord(usage, "end", 5.0),
        False,
    )
    (kept,) = of_kind(store, ResponseRecord)
    assert (kept.usage.input_tokens, kept.usage.output_tokens, kept.usage.cost_usd) == (7, 3, None)
    assert kinds(store)[-1] == "turn_end"


def test_what_comes_behind_the_end_is_neither_written_nor_kept(store: SessionStore) -> None:
    journal, teller = journal_for(store)
    assert journal.works is None
    teller.begin()
    assert journal.works
    journal.close()
    before = kinds(store)
    assert before[-1] == "user"
    teller.user("too late")
    teller.reply("too late", "c1")
    teller.call("c1")
    assert kinds(store) == before
    assert journal.unsaved == 0


def test_a_session_that_is_claimed_twice_stays_with_its_first_writer(store: SessionStore) -> None:
    journal, teller = journal_for(store)
    teller.begin()
    journal.close()
    again, teller = journal_for(store)
    again.claim()
    again.claim()
    again(MessageEnd(9, 0.0, 2, 1, UserMessage("more")))
    assert kinds(store)[-1] == "user"
    again.close()
    again.claim()
    again(MessageEnd(10, 0.0, 2, 1, UserMessage("and more")))
    assert kinds(store)[-2:] == ["user", "user"]
    again.close()


def test_a_failure_that_nobody_wants_to_hear_of_is_no_failure(tmp_path: Path) -> None:
    (tmp_path / "home").write_text("a file")
    journal, teller = journal_for(SessionStore(tmp_path / "home"))
    teller.begin()
    teller.end()
    assert journal.works is False
    assert journal.unsaved == 4
    journal.close()


def test_a_directory_that_was_removed_has_no_name(
    store: SessionStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    journal, teller = journal_for(store, cwd=None)
    teller.begin()
    journal.close()
    assert store.row("one").cwd == ""


# ---- the writer ----


@pytest.mark.parametrize(("repeated", "fails"), [(["a", "b"], False), (["a", "b", "c"], False), (["a", "x"], True)])
def test_what_stands_there_already_is_taken_for_ours_only_where_it_is_the_same(
    store: SessionStore, repeated: list[str], fails: bool
) -> None:
    def entries(texts: list[str]) -> list[tuple[float, str, str]]:
        return [(1.0, "turn_start", json.dumps({"v": 1, "turn": 1, "prompt": text})) for text in texts]

    journal, teller = journal_for(store)
    teller.begin()
    journal.close()
    with store.writer("one") as writer:
        first = writer.next_number
        writer.append(entries(["a", "b"]))
        # As an interrupt between the commit and the counting leaves it.
        writer._next = first
        if fails:
            with pytest.raises(SessionError, match="UNIQUE constraint failed"):
                writer.append(entries(repeated))
        else:
            writer.append(entries(repeated))
            assert writer.next_number == first + len(repeated)
    written = [json.loads(one.data)["prompt"] for one in store.read("one")[first - 1 :]]
    assert written == (["a", "b"] if fails else repeated)


# ---- the store ----


def test_a_session_that_is_removed_while_its_lock_is_taken_is_gone(
    store: SessionStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal, teller = journal_for(store)
    teller.begin()
    journal.close()
    acquire = SessionLock.acquire

    def acquire_after_another_removed_it(lock: SessionLock) -> None:
        acquire(lock)
        with store.database.changing() as connection:
            connection.execute("DELETE FROM sessions WHERE id = 'one'")

    monkeypatch.setattr(SessionLock, "acquire", acquire_after_another_removed_it)
    with pytest.raises(SessionError, match=r"^session 'one': was removed meanwhile$"):
        store.writer("one")
    monkeypatch.undo()
    lock = SessionLock(store.database.folder, "one")
    lock.acquire()
    lock.release()


def test_records_of_a_later_version_are_passed_over(store: SessionStore) -> None:
    journal, teller = journal_for(store)
    teller.begin("first")
    teller.end()
    journal.close()
    later = json.dumps({"v": 99, "turn": 2, "prompt": "second", "mood": "good"})
    with store.writer("one") as writer:
        writer.append([(1.0, "turn_start", later), (1.0, "turn_end", later)])
    assert decode_record("turn_end", later) == (UnknownRecord("turn_end", later), 0)
    assert overview(store, "one")[:2] == (1, "first")
    assert overview(store, "one").status == "completed"
    fork = store.fork("one", at_turn=1)
    assert [one.kind for one in store.read(fork)] == [*kinds(store), "fork"]
    with pytest.raises(SessionError, match="has no turn 2; its turns are 1 to 1"):
        store.fork("one", at_turn=2)


def test_calls_that_wait_stand_in_an_export(store: SessionStore) -> None:
    states = [CallState(look("c1")), CallState(ToolCall("c2", "look", FrozenDict({"path": "a"})))]
    journal, teller = journal_for(store, pending=lambda: states)
    teller.begin()
    teller.reply("", "c1", "c2")
    teller.call("c1")
    states[0].result = restore(store.read("one"), Limits()).repairs[0]
    states[1].judge(Suspend("sure?"), "gate")
    teller.end("waiting", "")
    journal.close()
    loaded = yaml.safe_load(store.export("one", "yaml"))
    assert [(one["id"], one["name"]) for one in loaded["waiting"]] == [("c2", "look")]
    assert "problems" not in loaded
