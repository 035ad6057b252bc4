"""A session as text, to be kept, sent or read elsewhere."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Literal

from hookagent.limits import Limits
from hookagent.messages import AssistantMessage, Message, ToolResult, UserMessage
from hookagent.sessions.errors import SessionError
from hookagent.sessions.json_text import json_value
from hookagent.sessions.lineage import Row
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
        return "\n".join(_markdown(row, restored))
    raise SessionError(f"export form '{form}': expected 'jsonl', 'yaml' or 'markdown'")


def _head(row: Row) -> dict[str, Any]:
    started = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(row.created))
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


def _markdown(row: Row, restored: Restored) -> Iterator[str]:
    yield f"# Session {row.id}\n"
    for name, value in _head(row).items():
        if name != "session":
            yield f"- {name}: {_code(str(value))}"
    yield ""
    for message in restored.state.transcript.messages():
        yield from _markdown_message(message)
    if restored.problems:
        yield "## Problems\n"
        yield from (f"- {_code(problem)}" for problem in restored.problems)


def _markdown_message(message: Message) -> Iterator[str]:
    if isinstance(message, UserMessage):
        yield f"## User{f' ({_code(message.origin)})' if message.origin else ''}\n"
        yield _fenced(message.text)
        if message.images:
            yield f"{len(message.images)} image(s)\n"
    elif isinstance(message, ToolResult):
        yield f"### Result {_code(message.call_id)}: {message.status}\n"
        yield _fenced(message.content)
    elif isinstance(message, AssistantMessage):
        yield "## Assistant\n"
        if message.text.strip():
            yield _fenced(message.text)
        for call in message.tool_calls:
            yield f"### Call {_code(call.name)} ({_code(call.id)})\n"
            shown = json.dumps(call.arguments, indent=2) if call.arguments is not None else call.raw or ""
            yield _fenced(shown, "json" if call.arguments is not None else "")


def _fenced(text: str, language: str = "") -> str:
    """A text as it is, whatever Markdown it holds: behind a fence that is longer than any in it."""
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{text}\n{fence}\n"


def _code(text: str) -> str:
    joined = " ".join(text.split())
    longest = max((len(run) for run in re.findall("`+", joined)), default=0)
    fence = "`" * (longest + 1)
    return f"{fence} {joined} {fence}" if "`" in joined else f"`{joined}`"
