"""What a long session costs: each record is written once, and the last one costs what the first did."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from hookagent.limits import Limits
from hookagent.sessions.restore import restore
from hookagent.sessions.store import SessionStore
from tests.sessions.made import journal_for

MESSAGES = 2_000


def test_two_thousand_messages_are_written_once_each(store: SessionStore) -> None:
    journal, teller = journal_for(store)
    statements: list[str] = []
    teller.begin("x" * 1_000)
    with store.database.using() as connection:
        connection.set_trace_callback(statements.append)
    costs = []
    for number in range(MESSAGES):
        statements.clear()
        teller.user(f"{number:04} " + "x" * 1_000)
        costs.append((len(statements), sum(map(len, statements))))
    with store.database.using() as connection:
        connection.set_trace_callback(None)
    # One statement for each, of the size of its record: nothing is read, nothing is written again.
    assert {count for count, _ in costs} == {1}
    assert max(size for _, size in costs) - min(size for _, size in costs) <= 12
    journal.close()
    store.close()
    size = store.path.stat().st_size
    assert sum(size for _, size in costs) < 2 * size
    assert size < 2 * MESSAGES * 1_100


@pytest.mark.skipif(not os.path.exists("/proc/self/io"), reason="the kernel counts nothing there")
def test_what_reaches_the_disk_grows_with_the_records_and_not_with_the_session(store: SessionStore) -> None:
    script = f"""\
from pathlib import Path
from hookagent.events import AgentStart, MessageEnd
from hookagent.messages import UserMessage
from hookagent.sessions.journal import Journal
from hookagent.sessions.store import SessionStore
def written():
    with open("/proc/self/io") as lines:
        return next(int(line.split()[1]) for line in lines if line.startswith("wchar"))
store = SessionStore(Path({str(store.database.folder)!r}))
journal = Journal(store, "one")
journal(AgentStart(1, 0.0, 0, 0, "a", "m"))
for part in range(4):
    before = written()
    for number in range(500):
        journal(MessageEnd(2, 0.0, 1, 1, UserMessage("x" * 1000)))
    print(written() - before)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    parts = [int(line) for line in done.stdout.split()]
    assert max(parts[1:]) < 1.5 * min(parts[1:])
    assert len(restore(store.read("one"), Limits()).state.transcript) == MESSAGES


def test_deltas_of_the_longest_reply_cost_nothing(store: SessionStore) -> None:
    from hookagent.events import MessageDelta

    journal, teller = journal_for(store)
    teller.begin()
    statements: list[str] = []
    with store.database.using() as connection:
        connection.set_trace_callback(statements.append)
    for _ in range(1_000):
        teller.tell(MessageDelta, "text", "piece")
    assert statements == []
    journal.close()


def test_records_that_belong_together_share_one_commit(store: SessionStore) -> None:
    journal, teller = journal_for(store)
    teller.begin()
    statements: list[str] = []
    with store.database.using() as connection:
        connection.set_trace_callback(statements.append)
    teller.reply("answer")
    # A statement is a transaction of its own.
    assert [statement.split()[0] for statement in statements] == ["INSERT"]
    assert [one.kind for one in store.read("one")][-2:] == ["response", "reply"]
    journal.close()
