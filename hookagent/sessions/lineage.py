"""Which records make up a session: its own, and those of the sessions that it was forked from.

A fork copies nothing: it names the session before it and the number of the last record that they share, and its own
records are numbered on from there.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from typing import NamedTuple

from hookagent.sessions.errors import SessionError

LAST = 0xFFFF_FFFF
"""The highest number of a record in its session; a record's place in the table holds it in the lower 32 bits."""


class Row(NamedTuple):
    """A session as the table of sessions has it; `created` in seconds since the epoch."""

    key: int
    id: str
    agent: str
    model: str
    cwd: str
    parent_id: str | None
    forked_from: str | None
    forked_at: int | None
    created: float


class Stretch(NamedTuple):
    """Records of one session, by number, both ends included."""

    key: int
    first: int
    last: int


def place(key: int, number: int = LAST) -> int:
    """Where a record stands in the table of records."""
    return key << 32 | number


def row_of(connection: sqlite3.Connection, session_id: str) -> Row | None:
    """The row of one session, or None. Raises `sqlite3.Error`, and `SessionError` where it is damaged."""
    columns = ", ".join(Row._fields)
    found = connection.execute(f"SELECT {columns} FROM sessions WHERE id = ?", (session_id,)).fetchone()
    if found is None:
        return None
    row = Row(*found)
    texts = (row.id, row.agent, row.model, row.cwd, row.parent_id or "", row.forked_from or "")
    numbers = (row.created, row.key, row.forked_at or 0)
    if not all(isinstance(one, str) for one in texts) or not all(isinstance(one, float | int) for one in numbers):
        raise SessionError(f"session '{session_id}': its description is damaged")
    return row


class Ancestry:
    """A session and those before it, from the oldest; raises `SessionError` where the file does not hang together."""

    def __init__(self, connection: sqlite3.Connection, session_id: str) -> None:
        self.rows: list[Row] = []
        wanted: str | None = session_id
        while wanted is not None:
            row = row_of(connection, wanted)
            if row is None:
                raise SessionError(f"session '{session_id}': what it was forked from, '{wanted}', is gone")
            if any(row.key == known.key for known in self.rows):
                raise SessionError(f"session '{session_id}': is its own ancestor; the file is damaged")
            self.rows.insert(0, row)
            wanted = row.forked_from

    def stretches(self) -> Iterator[Stretch]:
        """The stretches of records that the session is made of, in order."""
        ends = [row.forked_at or 0 for row in self.rows[1:]] + [LAST]
        first = 1
        for index, row in enumerate(self.rows):
            # A fork of a fork may lie before the point where that one began.
            last = min(ends[index:])
            if first <= last:
                yield Stretch(row.key, first, last)
            first = max(first, last + 1)


def bequeath(connection: sqlite3.Connection, ancestry: Ancestry) -> None:
    """Before a session is removed: give each fork of it what they share, so that it stays whole."""
    row = ancestry.rows[-1]
    begun = row.forked_at or 0
    children = connection.execute(
        "SELECT key, forked_at FROM sessions WHERE forked_from = ? ORDER BY key", (row.id,)
    ).fetchall()
    for key, forked_at in children:
        connection.execute(
            "INSERT INTO records SELECT ? | (place & ?), time, kind, data FROM records WHERE place BETWEEN ? AND ?",
            (key << 32, LAST, place(row.key, begun + 1), place(row.key, forked_at)),
        )
        connection.execute(
            "UPDATE sessions SET forked_from = ?, forked_at = ? WHERE key = ?",
            (row.forked_from, None if row.forked_from is None else min(begun, forked_at), key),
        )
