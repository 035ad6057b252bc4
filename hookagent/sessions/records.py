"""Records as text: a kind and strict JSON, as they lie on disk, and back.

The JSON carries the version of this format; a kind or a version that is not known (a later hookagent wrote it)
becomes an `UnknownRecord`, which is kept as it is and skipped.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from hookagent.frozen import JsonValue
from hookagent.sessions.errors import SessionError
from hookagent.sessions.fields import Fields
from hookagent.sessions.json_text import json_text, json_value
from hookagent.sessions.open_calls import OpenCall, open_call_json, read_open_call
from hookagent.sessions.record_kinds import (
    BookedRecord,
    CompactionRecord,
    ErrorRecord,
    ForkRecord,
    HookRecord,
    PluginStateRecord,
    QueuedRecord,
    Record,
    ReplyRecord,
    ResponseRecord,
    ResultRecord,
    RunStartRecord,
    StartRecord,
    TakenRecord,
    TurnEndRecord,
    TurnStartRecord,
    UnknownRecord,
    UserRecord,
    WaitingRecord,
)
from hookagent.sessions.values import (
    call_json,
    read_call,
    read_reply,
    read_result,
    read_usage,
    read_user,
    reply_json,
    result_json,
    usage_json,
    user_json,
)

VERSION = 1


class StoredRecord(NamedTuple):
    """A record as it lies on disk: `number` from 1 within its session, `time` in seconds since the epoch."""

    number: int
    time: float
    kind: str
    data: str


Write = Callable[[Any], JsonValue]
Read = Callable[[Fields, str], Any]


def _same(value: Any) -> Any:
    return value


def _through(read: Callable[[JsonValue], Any]) -> Read:
    return lambda fields, name: read(fields.json(name))


def _calls(fields: Fields, name: str) -> tuple[OpenCall, ...]:
    return tuple(read_open_call(call) for call in fields.items(name))


_TEXT: tuple[Write, Read] = (_same, Fields.text)
_WHOLE: tuple[Write, Read] = (_same, Fields.whole)
_NUMBER: tuple[Write, Read] = (_same, Fields.number)
_USAGE: tuple[Write, Read] = (usage_json, _through(read_usage))
_USER: tuple[Write, Read] = (user_json, _through(read_user))

# The kind's name on disk, and how each of its fields is written and read.
_FORMS: dict[type, tuple[str, dict[str, tuple[Write, Read]]]] = {
    RunStartRecord: ("run_start", {"agent": _TEXT, "model": _TEXT}),
    TurnStartRecord: ("turn_start", {"turn": _WHOLE, "prompt": _TEXT}),
    UserRecord: ("user", {"message": _USER, "entry": (_same, Fields.optional_whole)}),
    ResponseRecord: ("response", {"usage": _USAGE, "stop_reason": _TEXT, "milliseconds": _NUMBER}),
    ReplyRecord: ("reply", {"message": (reply_json, _through(read_reply))}),
    StartRecord: ("start", {"call": (call_json, _through(read_call))}),
    ResultRecord: ("result", {"result": (result_json, _through(read_result))}),
    WaitingRecord: ("waiting", {"calls": (lambda calls: [open_call_json(call) for call in calls], _calls)}),
    HookRecord: (
        "hook",
        {"plugin": _TEXT, "hook": _TEXT, "outcome": _TEXT, "detail": _TEXT, "milliseconds": _NUMBER},
    ),
    CompactionRecord: (
        "compaction",
        {
            "plugin": _TEXT,
            "blocks_before": _WHOLE,
            "blocks_after": _WHOLE,
            "summary": (_same, Fields.flag),
            "first_kept": _WHOLE,
            "summary_text": (_same, Fields.optional_text),
        },
    ),
    ErrorRecord: ("error", {"kind": _TEXT, "source": _TEXT, "message": _TEXT}),
    TurnEndRecord: (
        "turn_end",
        {"turn": _WHOLE, "status": _TEXT, "answer": _TEXT, "usage": _USAGE, "milliseconds": _NUMBER},
    ),
    QueuedRecord: ("queued", {"entry": _WHOLE, "message": _USER}),
    TakenRecord: ("taken", {"entry": _WHOLE}),
    PluginStateRecord: ("plugin_state", {"plugin": _TEXT, "value": (_same, Fields.json)}),
    BookedRecord: ("booked", {"plugin": _TEXT, "usage": _USAGE}),
    ForkRecord: ("fork", {"session_id": _TEXT, "number": _WHOLE}),
}
_BY_KIND = {kind: (record_type, fields) for record_type, (kind, fields) in _FORMS.items()}


def encode_record(record: Record, event: int = 0) -> tuple[str, str]:
    """The kind and the JSON text of a record; `event` is the number of the event that it tells of, 0 for none.

    Raises `SessionError` for values that are no JSON.
    """
    if isinstance(record, UnknownRecord):
        return record.kind, record.data
    kind, forms = _FORMS[type(record)]
    data: dict[str, JsonValue] = {"v": VERSION}
    if event:
        data["event"] = event
    for name, (write, _) in forms.items():
        value = getattr(record, name)
        # A value of null has a meaning where any JSON may stand; elsewhere it is left out.
        if value is not None or name == "value":
            data[name] = write(value)
    return kind, json_text(data)


def decode_record(kind: str, data: str) -> tuple[Record, int]:
    """The record that `encode_record` wrote, and its event's number. Raises nothing but `SessionError`."""
    known = _BY_KIND.get(kind)
    fields = Fields(json_value(data), f"record of kind '{kind}'")
    if known is None or fields.whole("v", VERSION) > VERSION:
        return UnknownRecord(kind, data), 0
    record_type, forms = known
    try:
        values = {name: read(fields, name) for name, (_, read) in forms.items()}
    except RecursionError as error:
        raise SessionError(f"record of kind '{kind}': is nested too deeply") from error
    record: Record = record_type(**values)
    return record, fields.whole("event", 0)
