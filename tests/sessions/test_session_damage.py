"""Bytes of the file flipped, cut and overwritten: what can be read comes back valid, the rest is said, nothing else."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, Literal

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from checks.tally import size
from hookagent.limits import Limits
from hookagent.messages import UserMessage
from hookagent.sessions.errors import SessionError
from hookagent.sessions.restore import restore
from hookagent.sessions.store import SessionStore
from tests.sessions.made import journal_for, words
from tests.sessions.replaying import check_transcript

EXAMPLES = size(60, 400)


def conversation(folder: Path) -> Path:
    """The file of a store with two sessions, all of it in the one file."""
    store = SessionStore(folder)
    for name in ("one", "two"):
        journal, teller = journal_for(store, name)
        for turn in range(12):
            teller.begin(f"{name} asks {turn} " + "words " * 30)
            journal.queued(UserMessage(f"queued {turn}", via="follow_up"))
            teller.reply("", f"c{turn}", f"d{turn}")
            teller.call(f"d{turn}", "result " * 40)
            teller.call(f"c{turn}")
            teller.reply(f"answer {turn} " + "more " * 300)
            teller.end()
        journal.close()
    store.fork("one", at_turn=6, new_id="six")
    store.close()
    return store.path


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    return conversation(tmp_path_factory.mktemp("whole")).read_bytes()


FORMS: tuple[Literal["jsonl", "yaml", "markdown"], ...] = ("jsonl", "yaml", "markdown")


def look_through(folder: Path, data: bytes) -> list[str]:
    """Use everything that reads on a file with these bytes; gives all that was said."""
    path = folder / "sessions.sqlite"
    for leftover in folder.glob("sessions.sqlite*"):
        leftover.unlink()
    path.write_bytes(data)
    store = SessionStore(folder)
    said: list[str] = []

    def tried(use: Callable[[], Any]) -> Any:
        try:
            return use()
        except SessionError as error:
            said.append(str(error))
            return None

    tried(store.list)
    said += tried(store.verify) or ()
    for name in ("one", "two", "six"):
        records = tried(partial(store.read, name))
        if records is not None:
            restored = restore(records, Limits())
            check_transcript(restored.state.transcript)
            said += restored.problems
        for form in FORMS:
            tried(partial(store.export, name, form))
    store.close()
    return said


def test_a_whole_file_has_nothing_to_say(whole: bytes, tmp_path: Path) -> None:
    assert look_through(tmp_path, whole) == []


PLACES = st.integers(0, 200_000)
DAMAGES = st.one_of(
    st.tuples(st.just("flip"), PLACES, st.integers(0, 7)),
    st.tuples(st.just("noise"), PLACES, st.binary(min_size=1, max_size=64)),
    st.tuples(st.just("zero"), PLACES, st.just(300)),
    st.tuples(st.just("cut"), PLACES, st.none()),
)


@given(st.lists(DAMAGES, min_size=1, max_size=4))
@settings(
    max_examples=EXAMPLES,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@example([("noise", 3029, b"\x00\x80")])
@example([("noise", 0, b"\x00")])
@example([("cut", 0, None)])
def test_any_damage_gives_a_session_error_or_a_valid_transcript(
    whole: bytes, tmp_path: Path, damages: list[tuple[str, int, Any]]
) -> None:
    damaged = bytearray(whole)
    for kind, somewhere, what in damages:
        place = somewhere % len(damaged)
        match kind:
            case "flip":
                damaged[place] ^= 1 << what
            case "noise":
                damaged[place : place + len(what)] = what
            case "zero":
                damaged[place : place + what] = bytes(len(damaged[place : place + what]))
            case "cut":
                del damaged[max(1, place) :]
    look_through(tmp_path, bytes(damaged))


def change_rows(store: SessionStore, statement: str, *values: Any) -> None:
    with store.database.using() as connection:
        connection.execute(statement, values)


@pytest.mark.parametrize(
    ("kind", "data"),
    [
        ("user", '{"v":1,"message":{"text":"ha'),
        ("user", b"\x00" * 300),
        ("user", ""),
        ("user", "\n"),
        (b"\xff\xfe", b"\xff"),
        ("user", b'{"v":1,"message":{"text":"\xff"}}'),
        ("dream", '{"v":1}'),
        ("user", 7),
    ],
)
@pytest.mark.parametrize("number", [3, 15, 26])
def test_a_bad_record_anywhere_is_left_out_and_said(store: SessionStore, number: int, kind: Any, data: Any) -> None:
    journal, teller = journal_for(store)
    for turn in range(3):
        teller.begin(f"ask {turn}")
        for _ in range(5):
            teller.user("more")
        teller.reply("answer")
        teller.end()
    journal.close()
    change_rows(store, "UPDATE records SET kind = ?, data = ? WHERE place & 4294967295 = ?", kind, data, number)
    restored = restore(store.read("one"), Limits())
    assert [problem.split(":")[0] for problem in restored.problems] == [f"record {number}"]
    assert len(list(restored.state.transcript.messages())) == 20
    assert store.verify("one") == tuple(f"session 'one': {problem}" for problem in restored.problems)
    # Going on writes behind it, and what stood there is not touched.
    again, teller = journal_for(store)
    again.claim()
    teller.user("new")
    again.close()
    restored = restore(store.read("one"), Limits())
    assert words(restored.state.transcript)[-1] == "U new"
    assert len(restored.problems) == 1
    with store.database.using() as connection:
        found = connection.execute("SELECT kind, data FROM records WHERE place & 4294967295 = ?", (number,)).fetchone()
    assert found == (kind, str(data) if isinstance(data, int) else data)


def test_records_that_were_lost_in_the_middle_are_said(store: SessionStore) -> None:
    journal, teller = journal_for(store)
    teller.begin("a")
    for number in range(10):
        teller.user(str(number))
    journal.close()
    change_rows(store, "DELETE FROM records WHERE place & 4294967295 IN (6, 7, 11)")
    restored = restore(store.read("one"), Limits())
    texts = [text.removeprefix("U ") for text in words(restored.state.transcript)]
    assert texts == ["a", "0", "1", "4", "5", "6", "8", "9"]
    assert len(restored.problems) == 2


def test_what_lies_on_a_damaged_page_does_not_hide_the_rest(tmp_path: Path) -> None:
    path = conversation(tmp_path / "made")
    with sqlite3.connect(path) as connection:
        size = connection.execute("PRAGMA page_size").fetchone()[0]
        leaf = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = 'records'").fetchone()[0]
    connection.close()
    data = bytearray(path.read_bytes())
    pages = [number for number in range(1, len(data) // size + 1) if data[(number - 1) * size] == 13 and number != leaf]
    assert len(pages) > 6
    # A leaf of the table of records in the middle of the first session.
    hurt = next(number for number in pages[2:] if b"one asks 2" in data[(number - 1) * size : number * size])
    data[(hurt - 1) * size] = 99
    store = SessionStore(tmp_path / "hurt")
    store.database.folder.mkdir()
    store.path.write_bytes(bytes(data))
    restored = restore(store.read("one"), Limits())
    check_transcript(restored.state.transcript)
    texts = words(restored.state.transcript)
    assert texts[0].startswith("U one asks 0")
    assert any(text.startswith("A answer 11") for text in texts)
    assert any("missing" in problem for problem in restored.problems)
    assert restore(store.read("two"), Limits()).problems == ()
    assert any("one" in line for line in store.verify())
    store.close()


def test_an_ancestor_that_is_gone_or_a_circle_is_said(store: SessionStore) -> None:
    journal, teller = journal_for(store)
    teller.begin()
    journal.close()
    store.fork("one", new_id="two")
    change_rows(store, "UPDATE sessions SET forked_from = 'two', forked_at = 2 WHERE id = 'one'")
    with pytest.raises(SessionError, match="is its own ancestor"):
        store.read("two")
    change_rows(store, "UPDATE sessions SET forked_from = 'nobody', forked_at = 2 WHERE id = 'one'")
    with pytest.raises(SessionError, match="what it was forked from, 'nobody', is gone"):
        store.read("two")
    assert len(store.verify()) == 2
    change_rows(store, "UPDATE sessions SET forked_from = NULL, forked_at = NULL, agent = x'ff' WHERE id = 'one'")
    with pytest.raises(SessionError, match="its description is damaged"):
        store.read("two")
    assert any("the description of 1 sessions is damaged" in line for line in store.verify())


def test_records_of_no_session_are_said(store: SessionStore) -> None:
    journal, teller = journal_for(store)
    teller.begin()
    journal.close()
    change_rows(store, "DELETE FROM sessions")
    assert store.verify() == (f"{store.path}: 3 records belong to no session",)


def test_a_file_that_is_copied_while_it_is_written_can_be_read(store: SessionStore, tmp_path: Path) -> None:
    journal, teller = journal_for(store)
    teller.begin()
    teller.user("not in the main file yet")
    shutil.copytree(store.database.folder, tmp_path / "copy")
    journal.close()
    copy = SessionStore(tmp_path / "copy")
    assert words(restore(copy.read("one"), Limits()).state.transcript)[-1] == "U not in the main file yet"
    copy.close()
