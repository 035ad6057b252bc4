"""The one writer of a session: it holds the session's lock and knows the next number, so nothing is looked up."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from types import TracebackType
from typing import NamedTuple

from hookagent.sessions.database import BUSY_MILLISECONDS, Database
from hookagent.sessions.errors import SessionError
from hookagent.sessions.lineage import place
from hookagent.sessions.locking import SessionLock

_INSERT = "INSERT INTO records (place, time, kind, data) VALUES (?, ?, ?, ?)"
# A statement is a transaction of its own: the few records of one event need no other.
_INSERTS = ("", *(_INSERT + ", (?, ?, ?, ?)" * more for more in range(8)))

Entry = tuple[float, str, str]
"""A record to be written: its time in seconds since the epoch, its kind, its JSON text."""


class NewSession(NamedTuple):
    """What a session begins with; `parent_id` is the session whose tool started it."""

    agent: str
    model: str
    cwd: str
    parent_id: str | None = None
    forked_from: str | None = None
    forked_at: int | None = None


class SessionWriter:
    """Appends records to one session. Made by `SessionStore.writer`; used by one thread at a time."""

    __slots__ = ("_database", "_lock", "_next", "key")

    def __init__(self, database: Database, lock: SessionLock, key: int, next_number: int) -> None:
        self._database = database
        self._lock = lock
        self.key = key
        self._next = next_number

    @property
    def next_number(self) -> int:
        """The number of the record that is written next."""
        return self._next

    def append(self, entries: Sequence[Entry], *, patient: bool = True) -> None:
        """Write `entries` in order, all or none, durably against the death of the process when it returns.

        Raises `SessionError` when that is not possible; `patient` waits for other programs that write just now.
        """
        if not self._lock.held:
            raise SessionError(
                f"session '{self._lock.session_id}': is not open for writing here: "
                "it was closed, or belongs to the process that this one was forked from"
            )
        if not patient:
            self._wait_for_others(0)
        try:
            self._insert(entries)
        finally:
            if not patient:
                self._wait_for_others(BUSY_MILLISECONDS)

    def _insert(self, entries: Sequence[Entry]) -> None:
        first = self._next
        try:
            if len(entries) < len(_INSERTS):
                values: list[object] = []
                for number, entry in enumerate(entries, first):
                    values += (place(self.key, number), *entry)
                self._database.execute(_INSERTS[len(entries)], values)
            else:
                with self._database.changing() as connection:
                    connection.executemany(
                        _INSERT,
                        [(place(self.key, number), *entry) for number, entry in enumerate(entries, first)],
                    )
        except SessionError as error:
            if not isinstance(error.__cause__, sqlite3.IntegrityError):
                raise
            self._catch_up(entries, error)
            return
        self._next = first + len(entries)

    def _catch_up(self, entries: Sequence[Entry], error: SessionError) -> None:
        """An interrupt came between a commit and our counting it: what stands there already is ours, and the same."""
        with self._database.using() as connection:
            written = connection.execute(
                "SELECT place, time, kind, data FROM records WHERE place BETWEEN ? AND ? ORDER BY place",
                (place(self.key, self._next), place(self.key)),
            ).fetchall()
        ours = [(place(self.key, number), *entry) for number, entry in enumerate(entries, self._next)]
        if not written or written != ours[: len(written)]:
            raise error
        self._next += len(written)
        if len(entries) > len(written):
            self._insert(entries[len(written) :])

    def _wait_for_others(self, milliseconds: int) -> None:
        with self._database.using() as connection:
            connection.execute(f"PRAGMA busy_timeout = {milliseconds}")

    def close(self) -> None:
        """Let others write into the session; a second call does nothing."""
        self._lock.release()

    def __enter__(self) -> SessionWriter:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()
