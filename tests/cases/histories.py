"""Conversations that another process left behind, damaged ones included: records on disk, to be gone on from by id."""

from __future__ import annotations

import os
import secrets
from collections.abc import Sequence
from typing import Any

from hookagent import AssistantMessage, TextPart, ToolCall, ToolResult, UserMessage, freeze
from hookagent.sessions.record_kinds import Record, ReplyRecord, ResultRecord, StartRecord, UserRecord
from hookagent.sessions.records import StoredRecord, encode_record
from hookagent.sessions.store import SessionStore
from hookagent.sessions.writer import NewSession


def user(text: str) -> Record:
    """A user message."""
    return UserRecord(UserMessage(text))


def reply(text: str, *call_ids: str, **fields: Any) -> Record:
    """A reply with text, and with calls of the tool `t`."""
    parts: tuple[Any, ...] = (TextPart(text),) if text else ()
    return ReplyRecord(AssistantMessage(parts + tuple(map(_call, call_ids)), **fields))


def started(call_id: str) -> Record:
    """A call of the tool `t` was about to run."""
    return StartRecord(_call(call_id))


def result(call_id: str, content: str) -> Record:
    """A result."""
    return ResultRecord(ToolResult(content, call_id=call_id))


def kept(records: Sequence[Record]) -> str:
    """Put records on disk, where sessions are kept, as a session of its own; gives its id for `Agent(session=...)`."""
    session_id = secrets.token_hex(8)
    writer = SessionStore().writer(session_id, NewSession("case", "scripted:case", os.getcwd()))
    try:
        writer.append([(1.0, *encode_record(record)) for record in records])
    finally:
        writer.close()
    return session_id


def on_disk(session_id: str) -> tuple[StoredRecord, ...]:
    """What is kept of a session."""
    return SessionStore().read(session_id)


def _call(call_id: str) -> ToolCall:
    return ToolCall(call_id, "t", freeze({}))
