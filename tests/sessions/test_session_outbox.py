"""What cannot be written is said, kept in order and never raised; and records may come from anywhere at once."""

from __future__ import annotations

import os
import signal
import sqlite3
import threading
from typing import Any

import pytest

from hookagent.events import (
    MessageEnd,
)
from hookagent.limits import Limits
from hookagent.messages import AssistantMessage, ProviderPart, TextPart, UserMessage
from hookagent.sessions import writer as writer_module
from hookagent.sessions.record_kinds import (
    QueuedRecord,
)
from hookagent.sessions.restore import restore
from hookagent.sessions.store import SessionStore
from tests.sessions.looking import Failing, kinds, of_kind
from tests.sessions.made import journal_for, words


@pytest.mark.parametrize("first", range(1, 9))
@pytest.mark.parametrize("length", [1, 3, 20])
@pytest.mark.parametrize("text", ["database or disk is full", "database is locked", "attempt to write a readonly"])
def test_the_kth_write_fails_and_all_records_are_there_in_the_end(
    store: SessionStore, monkeypatch: pytest.MonkeyPatch, first: int, length: int, text: str
) -> None:
    said: list[str] = []
    failing = Failing(monkeypatch, *range(first, first + length), text=text)
    journal, teller = journal_for(store, warn=said.append)
    teller.begin()
    for number in range(8):
        teller.user(f"message {number}")
    failing.numbers.clear()
    assert len(said) == 1
    assert f"session 'one': cannot be saved: sessions.sqlite: {text}" in said[0]
    assert "the run goes on" in said[0]
    journal.close()
    assert len(said) == 1
    assert [one.number for one in store.read("one")] == list(range(1, 12))
    texts = words(restore(store.read("one"), Limits()).state.transcript)
    assert texts == ["U go", *(f"U message {number}" for number in range(8))]


def test_each_outage_is_said_once_and_counted(store: SessionStore, monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []
    failing = Failing(monkeypatch, 2, 3, 6)
    journal, teller = journal_for(store, warn=said.append)
    teller.begin()
    teller.user("a")
    assert (len(said), journal.unsaved) == (1, 1)
    teller.user("b")
    assert (len(said), journal.unsaved) == (1, 2)
    teller.user("c")
    assert (len(said), journal.unsaved) == (1, 0)
    teller.user("d")
    assert (len(said), journal.unsaved) == (2, 1)
    failing.numbers = set(range(1000))
    journal.close()
    assert said[-1] == "session 'one': 1 record could not be saved"


def test_a_disk_that_is_really_full(store: SessionStore) -> None:
    said: list[str] = []
    journal, teller = journal_for(store, warn=said.append)
    teller.begin()
    with store.database.using() as connection:
        pages = connection.execute("PRAGMA page_count").fetchone()[0]
        connection.execute(f"PRAGMA max_page_count = {pages + 2}")
    for number in range(20):
        teller.user(f"{number} " + "x" * 1_000)
    assert len(said) == 1
    assert "database or disk is full" in said[0]
    assert 0 < journal.unsaved < 20
    assert store.verify() == ()
    with store.database.using() as connection:
        connection.execute("PRAGMA max_page_count = 1000000")
    teller.user("at last")
    assert journal.unsaved == 0
    journal.close()
    texts = words(restore(store.read("one"), Limits()).state.transcript)
    assert [text.split()[1] for text in texts] == ["go", *map(str, range(20)), "at"]
    assert store.verify() == ()


def test_a_folder_that_cannot_be_used_is_said_and_used_when_it_can(store: SessionStore) -> None:
    said: list[str] = []
    folder = store.database.folder
    folder.write_text("a file stands here")
    journal, teller = journal_for(store, warn=said.append)
    teller.begin()
    teller.user("a")
    assert len(said) == 1
    assert "session 'one': cannot be " in said[0]
    folder.unlink()
    teller.user("b")
    journal.close()
    assert words(restore(store.read("one"), Limits()).state.transcript) == ["U go", "U a", "U b"]


def test_a_database_that_another_program_locks_is_waited_for_once(
    store: SessionStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[str] = []
    journal, teller = journal_for(store, warn=said.append)
    teller.begin()
    with store.database.using() as connection:
        connection.execute("PRAGMA busy_timeout = 1")
    other = sqlite3.connect(store.path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    waits: list[int] = []
    wait_for_others = writer_module.SessionWriter._wait_for_others

    def noted(writer: Any, milliseconds: int) -> None:
        waits.append(milliseconds)
        wait_for_others(writer, milliseconds)

    monkeypatch.setattr(writer_module.SessionWriter, "_wait_for_others", noted)
    for number in range(3):
        teller.user(str(number))
        if not number:
            assert waits == []
    assert waits[0] == 0
    assert len(said) == 1
    assert "another program keeps it busy" in said[0]
    other.execute("COMMIT")
    other.close()
    teller.user("3")
    journal.close()
    assert words(restore(store.read("one"), Limits()).state.transcript) == ["U go", "U 0", "U 1", "U 2", "U 3"]
    assert waits[-1] > 0


def test_an_interrupt_behind_a_commit_writes_nothing_twice(
    store: SessionStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal, teller = journal_for(store)
    teller.begin()
    original = writer_module.SessionWriter._insert

    def interrupted(writer: Any, entries: Any) -> None:
        before = writer._next
        original(writer, entries)
        writer._next = before
        raise KeyboardInterrupt

    for _ in range(2):
        monkeypatch.setattr(writer_module.SessionWriter, "_insert", interrupted)
        with pytest.raises(KeyboardInterrupt):
            teller.user("written")
        monkeypatch.setattr(writer_module.SessionWriter, "_insert", original)
        teller.user("behind it")
    journal.close()
    texts = words(restore(store.read("one"), Limits()).state.transcript)
    assert texts == ["U go", "U written", "U behind it", "U written", "U behind it"]


def test_a_value_that_is_no_json_costs_its_vendors_parts_or_its_record(store: SessionStore) -> None:
    said: list[str] = []
    journal, teller = journal_for(store, warn=said.append)
    teller.begin()
    odd = ProviderPart("foreign", "thinking", {"a": object()})
    teller.tell(MessageEnd, AssistantMessage((odd, TextPart("text"))))
    assert said == []
    teller.user("on")
    teller.tell(MessageEnd, AssistantMessage((TextPart(object()),)))  # type: ignore[arg-type]
    teller.user("and on")
    journal.close()
    assert len(said) == 1
    assert "session 'one': a record of kind 'reply' cannot be saved" in said[0]
    texts = words(restore(store.read("one"), Limits()).state.transcript)
    assert texts == ["U go", "A text", "U on", "U and on"]


def test_a_warning_that_raises_changes_nothing(store: SessionStore, monkeypatch: pytest.MonkeyPatch) -> None:
    Failing(monkeypatch, 2)

    def warn(text: str) -> None:
        raise ValueError(text)

    journal, teller = journal_for(store, warn=warn)
    teller.begin()
    teller.user("a")
    teller.user("b")
    journal.close()
    assert words(restore(store.read("one"), Limits()).state.transcript) == ["U go", "U a", "U b"]


def test_a_closed_journal_writes_no_more(store: SessionStore) -> None:
    journal, teller = journal_for(store)
    teller.begin()
    journal.close()
    before = kinds(store)
    teller.user("late")
    journal.queued(UserMessage("late", via="steer"))
    journal.close()
    assert kinds(store) == before


def test_many_threads_queue_at_once_and_nothing_is_lost(store: SessionStore) -> None:
    journal, teller = journal_for(store)
    teller.begin()
    barrier = threading.Barrier(9)

    def queue(name: int) -> None:
        barrier.wait()
        for number in range(50):
            message = UserMessage(f"{name} {number}", via="steer")
            journal.queued(message)
            if number % 2:
                journal.taken(message)

    threads = [threading.Thread(target=queue, args=(name,)) for name in range(8)]
    for thread in threads:
        thread.start()
    barrier.wait()
    for number in range(100):
        teller.user(f"main {number}")
    for thread in threads:
        thread.join()
    journal.close()
    restored = restore(store.read("one"), Limits())
    assert restored.problems == ()
    assert len(restored.queued) == 200
    assert len({one.entry for one in of_kind(store, QueuedRecord)}) == 400
    for name in range(8):
        mine = [one.text for one in restored.steering if one.text.startswith(f"{name} ")]
        assert mine == [f"{name} {number}" for number in range(0, 50, 2)]
    assert words(restored.state.transcript)[1:] == [f"U main {number}" for number in range(100)]


@pytest.mark.skipif(not hasattr(signal, "raise_signal") or os.name == "nt", reason="no such signal")
def test_a_signal_handler_may_queue_in_the_middle_of_a_write(
    store: SessionStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal, teller = journal_for(store)
    teller.begin()
    original = writer_module.SessionWriter._insert
    waiting = ["in the middle"]

    def insert(writer: Any, entries: Any) -> None:
        if waiting:
            signal.raise_signal(signal.SIGUSR1)
        original(writer, entries)

    monkeypatch.setattr(writer_module.SessionWriter, "_insert", insert)
    before = signal.signal(signal.SIGUSR1, lambda *_: journal.queued(UserMessage(waiting.pop(), via="steer")))
    try:
        teller.user("a")
    finally:
        signal.signal(signal.SIGUSR1, before)
    assert kinds(store)[-2:] == ["user", "queued"]
    journal.close()
