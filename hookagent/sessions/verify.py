"""Looking through the file of sessions for whatever is wrong with it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from hookagent.limits import Limits
from hookagent.sessions.errors import SessionError
from hookagent.sessions.lineage import LAST
from hookagent.sessions.restore import restore

if TYPE_CHECKING:
    from hookagent.sessions.store import SessionStore


def verify(store: SessionStore, session_id: str | None = None) -> tuple[str, ...]:
    """Check the file, and one session or all: each record can be read, none is missing, the transcript comes back.

    Gives a line for each thing that is wrong. Raises `SessionError` for a session that does not exist.
    """
    if session_id is not None:
        store.row(session_id)
    if not store.database.exists:
        return ()
    lines = [f"{store.path}: {text}" for text in _file_problems(store)]
    try:
        ids = [session_id] if session_id is not None else _ids(store)
    except SessionError as error:
        return tuple(dict.fromkeys((*lines, str(error))))
    for one in ids:
        try:
            restored = restore(store.read(one), Limits())
        except SessionError as error:
            lines.append(str(error))
            continue
        lines += [f"session '{one}': {problem}" for problem in restored.problems]
    return tuple(lines)


def _file_problems(store: SessionStore) -> Iterator[str]:
    """What SQLite says of the file, and what belongs to nobody; a file so damaged that it cannot say is said to be."""
    checks = (
        ("PRAGMA integrity_check(20)", "{}"),
        (
            "SELECT count(*) FROM records WHERE place >> 32 NOT IN (SELECT key FROM sessions)",
            "{} records belong to no session",
        ),
        (
            "SELECT count(*) FROM sessions WHERE typeof(id) != 'text' OR typeof(agent) != 'text' "
            f"OR forked_at NOT BETWEEN 1 AND {LAST}",
            "the description of {} sessions is damaged",
        ),
    )
    for statement, said in checks:
        try:
            with store.database.using() as connection:
                found = [row[0] for row in connection.execute(statement).fetchall()]
        except SessionError as error:
            yield str(error).removeprefix(f"{store.path}: ")
            return
        yield from (said.format(value) for value in found if value not in ("ok", 0))


def _ids(store: SessionStore) -> list[str]:
    with store.database.using() as connection:
        return [row[0] for row in connection.execute("SELECT id FROM sessions ORDER BY key") if isinstance(row[0], str)]
