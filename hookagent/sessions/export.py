"""A session as text, to be kept, sent or read elsewhere."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Literal

from hookagent.limits import Limits
from hookagent.sessions.errors import SessionError
from hookagent.sessions.json_text import json_value
from hookagent.sessions.lineage import Row
from hookagent.sessions.markdown import markdown_lines
from hookagent.sessions.plain import plain_call, plain_cost, plain_message, plain_tokens
from hookagent.sessions.records import StoredRecord
from hookagent.sessions.restore import Restored, restore
from hookagent.sessions.yaml_text import yaml_lines

if TYPE_CHECKING:
    from hookagent.sessions.store import SessionStore


def export(store: SessionStore, session_id: str, form: Literal["jsonl", "yaml", "markdown"]) -> str:
    """See `SessionStore.export`. Raises `SessionError` for an unknown form too."""
    row, records = store.row(session_id), store.read(session_id)
    if form == "jsonl":
        return "".join(_json_lines(row, records))
    restored = restore(records, Limits(), session_id=session_id)
    if form == "yaml":
        return yaml_lines({**_head(row), **_body(restored)})
    if form == "markdown":
        return "\n".join(markdown_lines(_head(row), restored.state.transcript.messages(), restored.problems))
    raise SessionError(f"export form '{form}': expected 'jsonl', 'yaml' or 'markdown'")


def _head(row: Row) -> dict[str, Any]:
    try:
        started = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(row.created))
    except (OverflowError, OSError, ValueError):
        started = "unknown"
    head = {"session": row.id, "agent": row.agent, "model": row.model, "cwd": row.cwd, "started": started}
    if row.forked_from is not None:
        head["forked_from"] = f"{row.forked_from}, record {row.forked_at}"
    return head


def _json_lines(row: Row, records: tuple[StoredRecord, ...]) -> Iterator[str]:
    yield json.dumps({"kind": "session", **_head(row)}) + "\n"
    for record in records:
        line: dict[str, Any] = {"number": record.number, "time": record.time, "kind": record.kind}
        try:
            json_value(record.data)
            # Strict JSON already; in ASCII no character of it can be taken for the end of a line.
            text = record.data if record.data.isascii() else json.dumps(json.loads(record.data))
        except SessionError as error:
            line["damaged"] = str(error)
            text = "null"
        yield f'{json.dumps(line)[:-1]}, "data": {text}}}\n'


def _body(restored: Restored) -> dict[str, Any]:
    state = restored.state
    body: dict[str, Any] = {
        "tokens": plain_tokens(state.usage),
        "cost": plain_cost(state.usage),
        "messages": [plain_message(message) for message in state.transcript.messages()],
    }
    if restored.pending:
        body["waiting"] = [plain_call(one.call) for one in restored.pending if one.result is None]
    if restored.queued:
        body["queued"] = [plain_message(one.message) for one in restored.queued]
    if restored.problems:
        body["problems"] = list(restored.problems)
    return body
