"""All sessions of a user, in one SQLite file: found, listed, read, forked, removed; written by a `SessionWriter`."""

from __future__ import annotations

import os
import secrets
import sqlite3
import time
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import Literal, NamedTuple

from hookagent.sessions.database import Database
from hookagent.sessions.errors import SessionError
from hookagent.sessions.lineage import LAST, Ancestry, Row, bequeath, place, row_of
from hookagent.sessions.locking import SessionLock
from hookagent.sessions.places import check_session_id, home_folder
from hookagent.sessions.reading import read_rows
from hookagent.sessions.record_kinds import ForkRecord, TurnStartRecord
from hookagent.sessions.records import StoredRecord, decode_record, encode_record
from hookagent.sessions.writer import NewSession, SessionWriter

_SHOWN_AT_MOST = 5
_CLOCK_ERROR_SECONDS = 86_400.0
_INSERT_SESSION = (
    "INSERT INTO sessions (id, agent, model, cwd, parent_id, forked_from, forked_at, created) "
    "VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
)


class SessionSummary(NamedTuple):
    """One line of a list: `created` and `updated` in seconds since the epoch, `records` with those before a fork."""

    id: str
    agent: str
    model: str
    cwd: str
    parent_id: str | None
    forked_from: str | None
    created: float
    updated: float
    records: int


class SessionStore:
    """The sessions in `folder` (None: see `home_folder`). Nothing is opened or made before it is needed.

    Every method raises `SessionError` for what cannot be found, read or written. Safe from any thread.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self.database = Database(home_folder() if folder is None else folder)

    @property
    def path(self) -> Path:
        """The database file, whether or not it is there yet."""
        return self.database.path

    # ---- finding ----

    def list(self, cwd: str | Path | None = None) -> tuple[SessionSummary, ...]:
        """All sessions, or those of one working directory; the one that was worked on last comes first.

        Behind all others stand those from more than a day in the future: a clock was wrong then, and they would come
        first for ever.
        """
        if not self.database.exists:
            return ()
        where, values = ("", ()) if cwd is None else ("WHERE cwd = ?", (os.path.realpath(cwd),))
        latest = time.time() + _CLOCK_ERROR_SECONDS
        newest = f"(SELECT max(place) FROM records WHERE place BETWEEN key << 32 AND (key << 32) + {LAST})"
        with self.database.using() as connection:
            found = connection.execute(
                "SELECT id, agent, model, cwd, parent_id, forked_from, created, "
                "coalesce(time, created) AS updated, coalesce(place & 4294967295, forked_at, 0) "
                f"FROM sessions LEFT JOIN records ON place = {newest} {where} "
                "ORDER BY updated > ?, updated DESC, key DESC",
                (*values, latest),
            ).fetchall()
        return tuple(SessionSummary(*row) for row in found if all(isinstance(text, str) for text in row[:4]))

    def newest(self, cwd: str | Path) -> str | None:
        """The id of the session that was worked on last in a working directory, sessions of nested agents left out."""
        return next((one.id for one in self.list(cwd) if one.parent_id is None), None)

    def find(self, beginning: str) -> str:
        """The id that begins so; an id itself always finds its session."""
        check_session_id(beginning)
        found: list[str] = []
        if self.database.exists:
            with self.database.using() as connection:
                if row_of(connection, beginning) is not None:
                    return beginning
                found = [
                    row[0]
                    for row in connection.execute(
                        "SELECT id FROM sessions WHERE substr(id, 1, ?) = ? ORDER BY key DESC",
                        (len(beginning), beginning),
                    )
                ]
        if len(found) == 1:
            return found[0]
        if not found:
            raise SessionError(f"session '{beginning}': there is none; 'hookagent sessions list' shows those there are")
        shown = ", ".join(found[:_SHOWN_AT_MOST]) + (", …" if len(found) > _SHOWN_AT_MOST else "")
        raise SessionError(f"session '{beginning}': {len(found)} sessions begin so: {shown}; give more of the id")

    def row(self, session_id: str) -> Row:
        """What is known of one session besides its records."""
        check_session_id(session_id)
        found = None
        if self.database.exists:
            with self.database.using() as connection:
                found = row_of(connection, session_id)
        if found is None:
            raise SessionError(
                f"session '{session_id}': there is none; 'hookagent sessions list' shows those there are"
            )
        return found

    def read(self, session_id: str, kinds: Collection[str] | None = None) -> tuple[StoredRecord, ...]:
        """All records of a session in order, or those of some kinds, what stands before a fork included.

        What cannot be read any more is left out where the rest can be; `restore` and `verify` say so by the numbers.
        """
        self.row(session_id)
        records: list[StoredRecord] = []
        with self.database.using() as connection:
            for stretch in Ancestry(connection, session_id).stretches():
                records.extend(read_rows(connection, stretch, kinds))
        return tuple(records)

    # ---- writing ----

    def writer(self, session_id: str, new: NewSession | None = None) -> SessionWriter:
        """The one writer of a session, `new` or existing, which nobody else can write into until it is closed.

        Raises `SessionBusyError` when somebody else has it.
        """
        check_session_id(session_id)
        if new is None:
            self.row(session_id)
        lock = SessionLock(self.database.folder, session_id)
        lock.acquire()
        try:
            with self.database.changing() as connection:
                if new is not None:
                    _create(connection, session_id, new)
                row = row_of(connection, session_id)
                if row is None:
                    raise SessionError(f"session '{session_id}': was removed meanwhile")
                newest = connection.execute(
                    "SELECT max(place) FROM records WHERE place BETWEEN ? AND ?", (place(row.key, 0), place(row.key))
                ).fetchone()[0]
            last = row.forked_at or 0 if newest is None else newest & LAST
            return SessionWriter(self.database, lock, row.key, last + 1)
        except BaseException:
            lock.release()
            raise

    def fork(
        self, session_id: str, *, at_record: int | None = None, at_turn: int | None = None, new_id: str | None = None
    ) -> str:
        """Begin a session that shares the history of another up to a record, the end of a turn, or its present end.

        Nothing is copied. Raises `SessionError` when there is no such record or turn.
        """
        records = self.read(session_id)
        last = records[-1].number if records else 0
        if at_turn is not None:
            at_record = _end_of_turn(session_id, records, at_turn)
        number = last if at_record is None else at_record
        if not 0 < number <= last:
            raise SessionError(f"session '{session_id}': has no record {number}; its records are 1 to {last}")
        row = self.row(session_id)
        made = secrets.token_hex(8) if new_id is None else new_id
        new = NewSession(row.agent, row.model, row.cwd, row.parent_id, row.id, number)
        with self.writer(made, new) as writer:
            writer.append([(time.time(), *encode_record(ForkRecord(row.id, number)))])
        return made

    def holder(self, session_id: str) -> str | None:
        """Who works on a session just now, in words; None where nobody does."""
        return SessionLock(self.database.folder, session_id).holder()

    def remove(self, session_id: str) -> None:
        """Delete a session with all its records; forks of it keep what they share. Refused while it is in use."""
        with self.writer(session_id) as writer, self.database.changing() as connection:
            bequeath(connection, Ancestry(connection, session_id))
            connection.execute(
                "DELETE FROM records WHERE place BETWEEN ? AND ?", (place(writer.key, 0), place(writer.key))
            )
            connection.execute("DELETE FROM sessions WHERE key = ?", (writer.key,))
        with self.database.using() as connection:
            # What was deleted shall not lie on in the side file.
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def close(self) -> None:
        """Close the file; the next use opens it again."""
        self.database.close()

    # ---- looking ----

    def verify(self, session_id: str | None = None) -> tuple[str, ...]:
        """Check one session or all, and the file itself; a line for each thing that is wrong, none if all is well."""
        from hookagent.sessions.verify import verify

        return verify(self, session_id)

    def export(self, session_id: str, form: Literal["jsonl", "yaml", "markdown"]) -> str:
        """The session as text: every record as a line of JSON, or what was said as YAML or Markdown."""
        from hookagent.sessions.export import export

        return export(self, session_id, form)


def _create(connection: sqlite3.Connection, session_id: str, new: NewSession) -> None:
    if row_of(connection, session_id) is not None:
        raise SessionError(f"session '{session_id}': exists already; give another id")
    cwd = os.path.realpath(new.cwd) if new.cwd else ""
    values = (session_id, new.agent, new.model, cwd, new.parent_id, new.forked_from, new.forked_at, time.time())
    connection.execute(_INSERT_SESSION, values)


def _end_of_turn(session_id: str, records: Iterable[StoredRecord], turn: int) -> int:
    """The number of the last record of a turn: that before the next turn begins, or the last of all."""
    turns: dict[int, int] = {}
    current = 0
    for record in records:
        if record.kind == "turn_start":
            found, _ = decode_record(record.kind, record.data)
            if isinstance(found, TurnStartRecord):
                current = found.turn
        # Who started a run belongs to the turn behind it.
        if record.kind != "run_start":
            turns[current] = record.number
    if turn not in turns or turn < 1:
        known = f"its turns are 1 to {max(turns)}" if any(turns) else "it has no turns"
        raise SessionError(f"session '{session_id}': has no turn {turn}; {known}")
    return turns[turn]
