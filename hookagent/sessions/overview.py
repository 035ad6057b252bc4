"""What a list says of a session beyond its row: how far it came, how it ended, what waits in it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from hookagent.limits import Limits
from hookagent.sessions.errors import SessionError
from hookagent.sessions.record_kinds import RunStartRecord, TurnEndRecord, TurnStartRecord
from hookagent.sessions.records import decode_record
from hookagent.sessions.restore import restore

if TYPE_CHECKING:
    from hookagent.sessions.store import SessionStore

_KINDS = ("run_start", "turn_start", "turn_end")
UNFINISHED = "unfinished"
"""The status of a session whose last turn has no end: it is at work, or its process ended in the middle."""


class Overview(NamedTuple):
    """How many turns a session has, its first prompt, the model of its newest run, and where it stands.

    `status` is that of the newest turn (design, "Raising"), `UNFINISHED`, or empty before the first turn; `waiting`
    counts the calls that wait for an answer.
    """

    turns: int
    first_prompt: str
    model: str
    status: str
    waiting: int


def overview(store: SessionStore, session_id: str) -> Overview:
    """Look at one session; of its records only few are read. Raises `SessionError` where it cannot be read."""
    turns, first_prompt, model, status = 0, "", store.row(session_id).model, ""
    for stored in store.read(session_id, _KINDS):
        try:
            record, _ = decode_record(stored.kind, stored.data)
        except SessionError:
            # What is damaged is for `verify` to say.
            continue
        if isinstance(record, RunStartRecord):
            model = record.model
        elif isinstance(record, TurnStartRecord):
            turns, status = record.turn, UNFINISHED
            first_prompt = first_prompt or record.prompt
        elif isinstance(record, TurnEndRecord):
            status = record.status
    waiting = 0
    if status in (UNFINISHED, "waiting"):
        pending = restore(store.read(session_id), Limits()).pending
        waiting = sum(one.result is None for one in pending)
        status = "waiting" if waiting else UNFINISHED
    return Overview(turns, first_prompt, model, status, waiting)
