"""Reading records out of a file in which anything may stand: what is damaged is left out, the rest is given."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterator
from typing import Any

from hookagent.sessions.database import BROKEN
from hookagent.sessions.lineage import LAST, Stretch, place
from hookagent.sessions.records import StoredRecord

# Texts as bytes: one that is no text any more must not keep the others from being read.
_SELECT = "SELECT place, time, CAST(kind AS BLOB), CAST(data AS BLOB) FROM records WHERE place"
_LOOKED_FOR_AT_MOST = 100_000


def read_rows(
    connection: sqlite3.Connection, stretch: Stretch, kinds: Collection[str] | None = None
) -> list[StoredRecord]:
    """The records of a stretch in order, or those of some kinds; those that cannot be read are left out.

    Raises no `sqlite3.Error`.
    """
    wanted = "" if kinds is None else f"AND kind IN ({', '.join('?' * len(kinds))})"
    records: list[StoredRecord] = []
    first, last = place(stretch.key, stretch.first), place(stretch.key, stretch.last)
    try:
        for row in connection.execute(
            f"{_SELECT} BETWEEN ? AND ? {wanted} ORDER BY place", (first, last, *(kinds or ()))
        ):
            records.append(_record(row))
    except BROKEN:
        after = records[-1].number + 1 if records else stretch.first
        found = _one_by_one(connection, stretch.key, after, stretch.last)
        records.extend(one for one in found if kinds is None or one.kind in kinds)
    return records


def _one_by_one(connection: sqlite3.Connection, key: int, first: int, last: int) -> Iterator[StoredRecord]:
    """A damaged page ends a walk through the table, but not a look at a row on another page."""
    try:
        newest = connection.execute(
            "SELECT place FROM records WHERE place BETWEEN ? AND ? ORDER BY place DESC LIMIT 1",
            (place(key, first), place(key, last)),
        ).fetchone()
        last = newest[0] & LAST if newest is not None else first - 1
    except BROKEN:
        pass
    misses = 0
    for number in range(first, min(last, first + _LOOKED_FOR_AT_MOST) + 1):
        try:
            row = connection.execute(f"{_SELECT} = ?", (place(key, number),)).fetchone()
        except BROKEN:
            row = None
        if row is not None:
            misses = 0
            yield _record(row)
        else:
            misses += 1
            if misses > 2_000:
                return


def _record(row: tuple[Any, ...]) -> StoredRecord:
    where, time, kind, data = row
    return StoredRecord(where & LAST, time if isinstance(time, float | int) else 0.0, _text(kind), _text(data))


def _text(value: Any) -> str:
    """The text of a column, or none where it is no valid text any more: half a record is not taken for one."""
    try:
        return value.decode() if isinstance(value, bytes) else ""
    except UnicodeDecodeError:
        return ""
