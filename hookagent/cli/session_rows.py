"""The list of sessions: what stands in a row, as text and as JSON."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from hookagent.cli.console import Console
from hookagent.cli.session_text import moment
from hookagent.cli.table import table
from hookagent.escaping import one_line

if TYPE_CHECKING:
    from hookagent.sessions.overview import Overview
    from hookagent.sessions.store import SessionStore, SessionSummary

_SHORTEST_BEGINNING = 8
_LONGEST_PROMPT = 50
_DAMAGED = "damaged"


class SessionRow(NamedTuple):
    """One session of the list: a beginning of its id that no other one has, and what is known of it."""

    beginning: str
    summary: SessionSummary
    overview: Overview


def session_rows(store: SessionStore, cwd: str | None) -> list[SessionRow]:
    """The sessions of a working directory without those of nested agents, or (None) all; the newest first.

    Raises `SessionError` when the file of sessions cannot be read; a single session that cannot is called damaged.
    """
    from hookagent.sessions.errors import SessionError
    from hookagent.sessions.overview import Overview, overview

    ids = sorted(one.id for one in store.list())
    near = {one: (before, after) for before, one, after in zip(["", *ids], ids, [*ids[1:], ""], strict=False)}
    rows = []
    for summary in store.list(cwd):
        if cwd is not None and summary.parent_id is not None:
            continue
        try:
            found = overview(store, summary.id)
        except SessionError:
            found = Overview(0, "", summary.model, _DAMAGED, 0)
        rows.append(SessionRow(_beginning(summary.id, near.get(summary.id, ())), summary, found))
    return rows


def rows_text(console: Console, rows: Sequence[SessionRow], *, directories: bool) -> str:
    """The list as a table, with the working directory of each where `directories`."""
    head = ("ID", "WHEN", "TURNS", "STATUS", "MODEL", *(("DIRECTORY",) if directories else ()), "FIRST PROMPT")
    cells = []
    for row in rows:
        found = row.overview
        status = f"{found.status} ({found.waiting})" if found.waiting else found.status or "-"
        where = (row.summary.cwd or "-",) if directories else ()
        prompt = one_line(console.mask(found.first_prompt), _LONGEST_PROMPT)
        cells.append(
            (row.beginning, moment(row.summary.updated), str(found.turns), status, found.model, *where, prompt)
        )
    return table(head, cells)


def row_json(row: SessionRow) -> dict[str, Any]:
    """A session as a JSON object; times are in UTC."""
    summary, found = row.summary, row.overview
    return {
        "id": summary.id,
        "agent": summary.agent,
        "model": found.model,
        "cwd": summary.cwd,
        "parent_id": summary.parent_id,
        "forked_from": summary.forked_from,
        "created": _utc(summary.created),
        "updated": _utc(summary.updated),
        "turns": found.turns,
        "status": found.status,
        "waiting": found.waiting,
        "first_prompt": found.first_prompt,
        "records": summary.records,
    }


def _beginning(session_id: str, near: Sequence[str]) -> str:
    """The shortest beginning that none of its neighbours in the order of all ids has."""
    for length in range(_SHORTEST_BEGINNING, len(session_id)):
        if not any(one.startswith(session_id[:length]) for one in near):
            return session_id[:length]
    return session_id


def _utc(seconds: float) -> str | None:
    try:
        return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))
    except (OverflowError, OSError, ValueError):
        return None
