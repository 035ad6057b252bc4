"""Sessions found, listed, forked and removed; and what is said when that cannot be."""

from __future__ import annotations

import os
import sqlite3
import time
from pathlib import Path
from typing import Any

import pytest

from hookagent.limits import Limits
from hookagent.messages import ToolResult
from hookagent.sessions.errors import SessionError
from hookagent.sessions.restore import Restored, restore
from hookagent.sessions.store import SessionStore
from hookagent.sessions.writer import NewSession
from tests.sessions.made import journal_for, words


class Ticking:
    """Seconds since the epoch, one more each time."""

    def __init__(self, start: float) -> None:
        self.now = start

    def __call__(self) -> float:
        self.now += 1.0
        return self.now


def told(store: SessionStore, session_id: str, *prompts: str, start: float = 1_000.0, **options: Any) -> None:
    """A session of one turn per prompt, each with a call."""
    journal, teller = journal_for(store, session_id, wall=Ticking(start), **options)
    for number, prompt in enumerate(prompts):
        teller.begin(prompt)
        teller.reply("", f"c{number}")
        teller.call(f"c{number}")
        teller.reply(f"answer to {prompt}")
        teller.end()
    journal.close()


def back(store: SessionStore, session_id: str) -> Restored:
    restored = restore(store.read(session_id), Limits())
    assert restored.problems == ()
    return restored


def test_sessions_are_listed_by_when_they_were_worked_on(store: SessionStore, tmp_path: Path) -> None:
    here, there = tmp_path / "here", tmp_path / "there"
    here.mkdir()
    there.mkdir()
    told(store, "old", "x", cwd=str(here), start=1_000.0)
    told(store, "other", "x", cwd=str(there), start=2_000.0)
    told(store, "newer", "x", cwd=str(here), start=3_000.0)
    told(store, "nested", "x", cwd=str(here), start=4_000.0, parent_id="newer")
    assert [one.id for one in store.list()] == ["nested", "newer", "other", "old"]
    assert [one.id for one in store.list(here)] == ["nested", "newer", "old"]
    assert store.newest(here) == "newer"
    assert store.newest(there) == "other"
    assert store.newest(tmp_path) is None
    link = tmp_path / "link"
    link.symlink_to(here)
    assert store.newest(link) == "newer"
    first = store.list(there)[0]
    assert (first.agent, first.model, first.cwd, first.records) == (
        "tested",
        "scripted:test",
        os.path.realpath(there),
        10,
    )
    assert first.updated == 2_010.0
    # Worked on again, it is the newest.
    journal, teller = journal_for(store, "old", wall=Ticking(5_000.0))
    journal.claim()
    teller.user("once more")
    journal.close()
    assert store.newest(here) == "old"


def test_a_clock_that_was_wrong_once_does_not_make_a_session_the_newest_for_ever(store: SessionStore) -> None:
    now = time.time()
    starts = {"old": now - 90_000.0, "next year": now + 31_000_000.0, "next month": now + 2_700_000.0}
    starts |= {"a minute ahead": now + 60.0, "now": now}
    for name, start in starts.items():
        told(store, name.replace(" ", "-"), "x", cwd="/", start=start)
    order = ["a-minute-ahead", "now", "old", "next-year", "next-month"]
    assert [one.id for one in store.list()] == order
    assert store.newest("/") == order[0]


def test_a_store_that_was_never_written_has_no_sessions_and_no_file(store: SessionStore) -> None:
    assert store.list() == ()
    assert store.newest("/") is None
    assert store.verify() == ()
    with pytest.raises(SessionError, match="session 'abc': there is none"):
        store.find("abc")
    with pytest.raises(SessionError, match="session 'abc': there is none"):
        store.read("abc")
    assert not store.database.folder.exists()


def test_a_beginning_finds_its_session(store: SessionStore) -> None:
    for one in ("abc1", "abc2", "abd", "ab", *(f"many{n}" for n in range(9)), "A_c", "Axc"):
        told(store, one, "x")
    assert store.find("abd") == "abd"
    assert store.find("ab") == "ab"
    assert store.find("abc2") == "abc2"
    assert store.find("A_") == "A_c"
    with pytest.raises(SessionError, match=r"session 'abc': 2 sessions begin so: abc2, abc1; give more of the id"):
        store.find("abc")
    with pytest.raises(SessionError, match=r"9 sessions begin so: many8, many7, many6, many5, many4, …"):
        store.find("many")
    with pytest.raises(SessionError, match="there is none"):
        store.find("aB")


def test_records_are_numbered_without_gaps_over_several_writers(store: SessionStore) -> None:
    told(store, "one", "x")
    told_again = store.writer("one")
    assert told_again.next_number == 11
    told_again.append([(1.0, "error", '{"v":1}'), (2.0, "error", '{"v":1}')])
    told_again.close()
    assert [record.number for record in store.read("one")] == list(range(1, 13))


def test_an_id_is_given_once(store: SessionStore) -> None:
    told(store, "one", "x")
    with pytest.raises(SessionError, match="session 'one': exists already"):
        store.writer("one", NewSession("a", "m", "/"))
    # What was refused left no lock behind.
    store.writer("one").close()


def test_a_fork_shares_what_was_before_and_goes_its_own_way(store: SessionStore) -> None:
    told(store, "one", "first", "second", "third")
    before = store.read("one")
    rows = _count(store)
    forked = store.fork("one", at_turn=1, new_id="two")
    assert forked == "two"
    assert _count(store) == rows + 1
    assert words(back(store, "two").state.transcript) == ["U first", "A c0", "R c0 ok", "A answer to first"]
    journal, teller = journal_for(store, "two")
    journal.claim()
    teller.user("another way")
    journal.close()
    assert words(back(store, "two").state.transcript)[-1] == "U another way"
    assert store.read("one") == before
    numbers = [record.number for record in store.read("two")]
    assert numbers == list(range(1, len(numbers) + 1))
    summary = next(one for one in store.list() if one.id == "two")
    assert summary.forked_from == "one"
    assert summary.records == len(numbers)
    assert len(store.fork("one")) == 16


def test_a_fork_at_every_record_has_a_valid_transcript(store: SessionStore) -> None:
    told(store, "one", "first", "second")
    number = len(store.read("one"))
    for at in range(1, number + 1):
        two = store.fork("one", at_record=at)
        restored = back(store, two)
        assert restored.state.transcript.open_round is None
        made_up = [one.content for one in restored.state.transcript.messages() if isinstance(one, ToolResult)]
        assert not any("the process ended" in content for content in made_up)
        # A fork of the fork, at its end and before its beginning.
        assert words(back(store, store.fork(two)).state.transcript) == words(restored.state.transcript)
        early = store.fork(two, at_record=max(1, at - 3))
        expected = restore(store.read("one")[: max(1, at - 3)], Limits()).state.transcript
        assert [word.split()[0] for word in words(back(store, early).state.transcript)] == [
            word.split()[0] for word in words(expected)
        ]
    assert store.verify() == ()


@pytest.mark.parametrize(
    ("point", "said"),
    [
        ({"at_record": 0}, "has no record 0; its records are 1 to 20"),
        ({"at_record": 21}, "has no record 21"),
        ({"at_turn": 0}, "has no turn 0; its turns are 1 to 2"),
        ({"at_turn": 3}, "has no turn 3; its turns are 1 to 2"),
    ],
)
def test_a_point_that_is_none_is_said(store: SessionStore, point: dict[str, int], said: str) -> None:
    told(store, "one", "first", "second")
    with pytest.raises(SessionError, match=f"session 'one': {said}"):
        store.fork("one", at_record=point.get("at_record"), at_turn=point.get("at_turn"))
    assert len(store.list()) == 1


def test_a_session_without_turns_says_so(store: SessionStore) -> None:
    store.writer("one", NewSession("a", "m", "/")).close()
    with pytest.raises(SessionError, match="has no turn 1; it has no turns"):
        store.fork("one", at_turn=1)
    with pytest.raises(SessionError, match="has no record 0"):
        store.fork("one")


@pytest.mark.parametrize(
    "order", [["one", "two", "three"], ["two", "one", "three"], ["two", "three"], ["one", "three"]]
)
def test_forks_stay_whole_when_what_they_came_from_is_removed(store: SessionStore, order: list[str]) -> None:
    told(store, "one", "first", "second", "third")
    told_on(store, store.fork("one", at_turn=2, new_id="two"), "on two")
    told_on(store, store.fork("two", new_id="three"), "on three")
    store.fork("two", at_turn=1, new_id="early")
    expected = {one.id: store.read(one.id) for one in store.list()}
    for gone in order:
        store.remove(gone)
        del expected[gone]
        assert {one.id: store.read(one.id) for one in store.list()} == expected
        assert store.verify() == ()
        for one in expected:
            back(store, one)


def told_on(store: SessionStore, session_id: str, text: str) -> None:
    journal, teller = journal_for(store, session_id)
    journal.claim()
    teller.user(text)
    journal.close()


def test_what_was_removed_is_in_no_file_any_more(store: SessionStore) -> None:
    told(store, "one", "a very private word", *(f"filling {number}" * 50 for number in range(20)))
    told(store, "two", "something else")
    store.remove("one")
    with pytest.raises(SessionError, match="there is none"):
        store.read("one")
    with pytest.raises(SessionError, match="there is none"):
        store.remove("one")
    for path in store.database.folder.rglob("*"):
        if path.is_file():
            assert b"very private" not in path.read_bytes()
    assert words(back(store, "two").state.transcript)[0] == "U something else"


def test_a_later_version_of_the_file_is_left_alone(store: SessionStore) -> None:
    told(store, "one", "x")
    store.close()
    with sqlite3.connect(store.path) as connection:
        connection.execute("PRAGMA user_version = 7")
    connection.close()
    before = store.path.read_bytes()
    with pytest.raises(SessionError, match=r"sessions.sqlite: has version 7.*install a later hookagent"):
        store.list()
    assert store.path.read_bytes() == before


def test_another_programs_database_is_left_alone(store: SessionStore) -> None:
    store.database.folder.mkdir()
    connection = sqlite3.connect(store.path)
    connection.execute("CREATE TABLE notes (text)")
    connection.close()
    with pytest.raises(SessionError, match="is another program's database"):
        store.list()
    connection = sqlite3.connect(store.path)
    assert connection.execute("SELECT name FROM sqlite_master").fetchall() == [("notes",)]
    connection.close()


def test_a_file_that_is_no_database_is_said(store: SessionStore) -> None:
    store.database.folder.mkdir()
    store.path.write_bytes(b"this is a letter" * 100)
    with pytest.raises(SessionError, match=r"sessions.sqlite: file is not a database: the file is damaged"):
        store.list()
    assert store.path.read_bytes() == b"this is a letter" * 100


def test_records_are_there_for_whoever_looks_with_sql(store: SessionStore) -> None:
    told(store, "one", "x")
    with store.database.using() as connection:
        found = connection.execute(
            "SELECT number, kind FROM session_records WHERE session_id = 'one' ORDER BY number"
        ).fetchall()
    kinds = "run_start turn_start user response reply start result response reply turn_end".split()
    assert found == list(enumerate(kinds, 1))


def _count(store: SessionStore) -> int:
    with store.database.using() as connection:
        count: int = connection.execute("SELECT count(*) FROM records").fetchone()[0]
    return count
