"""The files of sessions at their edges: what another program does to them, and what a system can refuse."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from hookagent.events import ToolStart
from hookagent.frozen import FrozenDict
from hookagent.messages import ToolCall
from hookagent.sessions import database as database_module
from hookagent.sessions import locking as locking_module
from hookagent.sessions.database import Database
from hookagent.sessions.errors import SessionBusyError, SessionError
from hookagent.sessions.lineage import Stretch, place
from hookagent.sessions.locking import SessionLock
from hookagent.sessions.log_files import session_log_files
from hookagent.sessions.logs import SessionLog, TextLog
from hookagent.sessions.reading import read_rows
from hookagent.sessions.store import SessionStore
from tests.sessions.made import Teller, journal_for

# ---- the database ----


def test_what_cannot_be_committed_is_rolled_back(tmp_path: Path) -> None:
    database = Database(tmp_path)
    with database.changing() as connection:
        connection.execute("CREATE TABLE parents (id INTEGER PRIMARY KEY)")
        connection.execute("CREATE TABLE children (id INTEGER REFERENCES parents DEFERRABLE INITIALLY DEFERRED)")
    with database.using() as connection:
        connection.execute("PRAGMA foreign_keys = ON")

    def change(statement: str) -> None:
        with database.changing() as connection:
            connection.execute(statement)

    with pytest.raises(SessionError, match=r"sessions\.sqlite: FOREIGN KEY constraint failed"):
        change("INSERT INTO children VALUES (1)")
    with database.using() as connection:
        assert not connection.in_transaction
        assert connection.execute("SELECT count(*) FROM children").fetchone() == (0,)
    database.close()


def test_a_transaction_that_has_ended_already_is_not_rolled_back(tmp_path: Path) -> None:
    database = Database(tmp_path)

    def commit_too_early() -> None:
        with database.changing() as connection:
            connection.execute("CREATE TABLE kept (id INTEGER)")
            connection.execute("COMMIT")

    with pytest.raises(SessionError, match="no transaction is active"):
        commit_too_early()
    with database.using() as connection:
        assert connection.execute("SELECT count(*) FROM kept").fetchone() == (0,)
    database.close()


def test_at_the_end_of_the_process_a_connection_is_left_alone(tmp_path: Path) -> None:
    database = Database(tmp_path)
    with database.using() as connection:
        database.__del__(lambda: True)
        assert connection.execute("PRAGMA user_version").fetchone() == (1,)
        database.__del__(lambda: False)
        with pytest.raises(sqlite3.ProgrammingError, match="closed"):
            connection.execute("PRAGMA user_version")


class Refusing:
    """As a connection that cannot switch to WAL, the first times that it is asked to."""

    def __init__(self, text: str, times: int) -> None:
        self.text, self.times, self.asked = text, times, 0

    def execute(self, statement: str) -> None:
        assert statement == "PRAGMA journal_mode = WAL"
        self.asked += 1
        if self.asked <= self.times:
            raise sqlite3.OperationalError(self.text)


def test_a_file_that_others_make_at_the_same_time_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    pauses: list[float] = []
    seconds = iter(range(100))
    clock = SimpleNamespace(sleep=pauses.append, monotonic=lambda: float(next(seconds)))
    monkeypatch.setattr(database_module, "time", clock)
    busy: Any = Refusing("database is locked", 3)
    database_module._switch_to_wal(busy)
    assert (busy.asked, len(pauses)) == (4, 3)
    for_ever: Any = Refusing("database is locked", 1_000)
    with pytest.raises(sqlite3.OperationalError, match="locked"):
        database_module._switch_to_wal(for_ever)
    # The patience is five seconds, and this clock goes on by one each time that it is looked at.
    assert for_ever.asked == 6
    broken: Any = Refusing("disk I/O error", 1)
    with pytest.raises(sqlite3.OperationalError, match="disk I/O error"):
        database_module._switch_to_wal(broken)
    assert broken.asked == 1


def test_tables_that_another_process_made_meanwhile_are_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    look: Callable[[sqlite3.Connection], int] = database_module._version

    def look_before_another_makes_them(connection: sqlite3.Connection) -> int:
        found = look(connection)
        monkeypatch.setattr(database_module, "_version", look)
        other = Database(tmp_path)
        with other.changing() as theirs:
            theirs.execute("INSERT INTO sessions VALUES (7, 'theirs', 'a', 'm', '', NULL, NULL, NULL, 1.0)")
        other.close()
        return found

    monkeypatch.setattr(database_module, "_version", look_before_another_makes_them)
    with (database := Database(tmp_path)).using() as connection:
        assert connection.execute("SELECT key, id FROM sessions").fetchall() == [(7, "theirs")]
    database.close()


# ---- reading what is damaged ----


class Damaged:
    """A connection whose pages from a place on cannot be walked through, and some of which cannot be read at all."""

    def __init__(self, connection: sqlite3.Connection, unreadable: set[int], *, end_is_known: bool = False) -> None:
        self.connection, self.unreadable, self.end_is_known = connection, unreadable, end_is_known
        self.looked_for = 0

    def execute(self, statement: str, values: Any = ()) -> Any:
        walks = "ORDER BY place" in statement
        if walks and not ("DESC" in statement and self.end_is_known):
            raise sqlite3.DatabaseError("database disk image is malformed")
        if not walks:
            self.looked_for += 1
            if values[0] in self.unreadable:
                raise sqlite3.DatabaseError("database disk image is malformed")
        return self.connection.execute(statement, values)


def test_of_a_damaged_file_each_record_is_looked_for_by_itself(store: SessionStore) -> None:
    journal, teller = journal_for(store)
    teller.begin()
    teller.reply("hello")
    teller.end()
    journal.close()
    whole = store.read("one")
    key = store.row("one").key
    with store.database.using() as connection:
        for end_is_known in (True, False):
            damaged: Any = Damaged(connection, {place(key, 3)}, end_is_known=end_is_known)
            found = read_rows(damaged, Stretch(key, 1, 0xFFFF_FFFF))
            assert found == [one for one in whole if one.number != 3]
            # Where the end is not known, the search ends once nothing was found for long.
            assert damaged.looked_for == (len(whole) if end_is_known else len(whole) + 2_001)
        turns = read_rows(damaged, Stretch(key, 1, 0xFFFF_FFFF), ("turn_start", "turn_end"))
        assert [one.kind for one in turns] == ["turn_start", "turn_end"]


# ---- locks ----


def test_a_lock_that_is_forgotten_twice_stays_so(tmp_path: Path) -> None:
    lock = SessionLock(tmp_path, "one")
    lock.acquire()
    lock.forget()
    lock.forget()
    assert not lock.held
    other = SessionLock(tmp_path, "one")
    other.acquire()
    other.release()


@pytest.mark.parametrize("replaced", [True, False])
def test_a_lock_file_that_was_removed_in_between_is_made_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, replaced: bool
) -> None:
    original: Callable[[int], None] = locking_module._lock
    taken: list[int] = []

    def lock_after_the_holder_left(descriptor: int) -> None:
        original(descriptor)
        path = tmp_path / "locks" / "session-one.lock"
        if not taken:
            path.unlink()
            if replaced:
                path.touch()
        taken.append(os.fstat(descriptor).st_ino)

    monkeypatch.setattr(locking_module, "_lock", lock_after_the_holder_left)
    lock = SessionLock(tmp_path, "one")
    lock.acquire()
    assert len(taken) == 2
    monkeypatch.undo()
    # It holds the file that stands there now, which is what others try.
    with pytest.raises(SessionBusyError):
        SessionLock(tmp_path, "one").acquire()
    lock.release()


@pytest.mark.parametrize("text", [b"", b"  \n", b"process \x1b[31m 5", b"\xff\x00"])
def test_a_holder_that_does_not_say_who_it_is_is_another_process(tmp_path: Path, text: bytes) -> None:
    lock = SessionLock(tmp_path, "one")
    lock.acquire()
    (tmp_path / "locks" / "session-one.lock").write_bytes(text)
    with pytest.raises(SessionBusyError, match="another process"):
        SessionLock(tmp_path, "one").acquire()
    lock.release()


# ---- logs ----


def test_a_log_that_cannot_be_read_belongs_to_no_session(tmp_path: Path) -> None:
    log = SessionLog(tmp_path, "tested", "one", environment={})
    teller = Teller(log)
    teller.begin()
    teller.end()
    log.close()
    (tmp_path / "sessions" / "a_folder.yaml").mkdir()
    assert [path.name[:7] for path in session_log_files(tmp_path, "one")] == ["tested_"]
    assert session_log_files(tmp_path, "two") == []


def test_a_turn_outside_of_a_run_makes_no_log_and_an_empty_one_says_so(tmp_path: Path) -> None:
    log = SessionLog(tmp_path, "tested", "one", environment={})
    teller = Teller(log)
    teller.end()
    assert log.file is None
    assert not (tmp_path / "sessions").exists()
    teller.begin("")
    teller.end("stopped", "")
    log.close()
    assert log.file is not None
    assert log.file.path.read_text("utf-8").endswith("    messages: []\n")


def test_arguments_that_no_json_can_carry_are_logged_for_what_they_are(tmp_path: Path) -> None:
    log = TextLog(tmp_path, "tested", "one", environment={}, wall=lambda: 0.0)
    log(ToolStart(1, 0.0, 1, 1, ToolCall("c1", "look", FrozenDict({"turns": 1j}))))
    log.close()
    (line,) = log.file.path.read_text("utf-8").splitlines()
    assert line == '1970-01-01T00:00:00Z one turn 1 start look (c1) {"turns": "1j"}'


@pytest.mark.parametrize(
    ("text", "advice"),
    [
        ("disk I/O error", ": the disk may be full, or the folder read-only"),
        ("unable to open database file", "; make it usable, or set HOOKAGENT_HOME to another folder"),
        ("database or disk is full", ""),
    ],
)
def test_what_sqlite_says_in_few_words_comes_with_what_to_do(text: str, advice: str, tmp_path: Path) -> None:
    database = Database(tmp_path)
    with pytest.raises(SessionError) as refused, database.using():
        raise sqlite3.OperationalError(text)
    assert str(refused.value) == f"{database.path}: {text}{advice}"
    database.close()
