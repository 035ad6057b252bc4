"""Looking at what a journal wrote, and keeping it from writing."""

from __future__ import annotations

import sqlite3
from typing import Any

import pytest

from hookagent.sessions import writer as writer_module
from hookagent.sessions.errors import SessionError
from hookagent.sessions.record_kinds import (
    Record,
)
from hookagent.sessions.records import decode_record
from hookagent.sessions.store import SessionStore


def kinds(store: SessionStore, session_id: str = "one") -> list[str]:
    return [record.kind for record in store.read(session_id)]


def of_kind(store: SessionStore, kind: type[Record]) -> list[Any]:
    records = [decode_record(one.kind, one.data)[0] for one in store.read("one")]
    return [one for one in records if isinstance(one, kind)]


class Failing:
    """Lets chosen writes of `SessionWriter` fail, counted from 1, as SQLite says that it cannot."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *numbers: int, text: str = "database or disk is full") -> None:
        self.numbers, self.count, self.text = set(numbers), 0, text
        original = writer_module.SessionWriter._insert

        def insert(writer: Any, entries: Any) -> None:
            self.count += 1
            if self.count in self.numbers:
                error = sqlite3.OperationalError(self.text)
                raise SessionError(f"sessions.sqlite: {error}") from error
            original(writer, entries)

        monkeypatch.setattr(writer_module.SessionWriter, "_insert", insert)
