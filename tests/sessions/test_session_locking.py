"""One process at a time works on a session; a dead one does not count."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from hookagent.sessions.errors import SessionBusyError, SessionError
from hookagent.sessions.locking import SessionLock
from hookagent.sessions.store import SessionStore
from tests.sessions.made import journal_for

WRITER = """\
import sys
from hookagent.sessions.store import SessionStore
from hookagent.sessions.journal import Journal
from hookagent.sessions.errors import SessionBusyError
from hookagent.events import MessageEnd
from hookagent.messages import UserMessage
from pathlib import Path

folder, name = sys.argv[1:]
journal = Journal(SessionStore(Path(folder)), "one")
try:
    journal.claim()
except SessionBusyError as error:
    print("busy", error, flush=True)
    sys.exit()
print("claimed", flush=True)
sys.stdin.readline()
for number in range(200):
    journal(MessageEnd(number + 1, 0.0, 1, 1, UserMessage(f"{name} {number}")))
print("written", flush=True)
sys.stdin.readline()
"""


def begun(store: SessionStore) -> None:
    journal, teller = journal_for(store)
    teller.begin()
    journal.close()


def other_process(store: SessionStore, name: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", WRITER, str(store.database.folder), name],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def line_of(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


def tell(process: subprocess.Popen[str]) -> None:
    assert process.stdin is not None
    process.stdin.write("\n")
    process.stdin.flush()


def test_of_two_processes_the_second_is_told_who_has_the_session(store: SessionStore) -> None:
    begun(store)
    with other_process(store, "first") as first:
        assert line_of(first) == "claimed"
        with other_process(store, "second") as second:
            said = line_of(second)
        assert said.startswith(f"busy session 'one': is in use by process {first.pid} on ")
        assert "fork" in said
        tell(first)
        assert line_of(first) == "written"
        with pytest.raises(SessionBusyError) as raised:
            store.writer("one")
        assert raised.value.session_id == "one"
        assert str(first.pid) in raised.value.holder
        # Reading needs no lock, and sees what was written.
        assert len(store.read("one")) == 203
        tell(first)
    texts = [record.data for record in store.read("one")[3:]]
    assert ["first" in text for text in texts] == [True] * 200
    store.writer("one").close()


def test_processes_that_make_the_file_at_once_all_write_into_it(tmp_path: Path) -> None:
    script = """\
import sys
from pathlib import Path
from hookagent.events import AgentStart, MessageEnd
from hookagent.messages import UserMessage
from hookagent.sessions.journal import Journal
from hookagent.sessions.store import SessionStore

journal = Journal(SessionStore(Path(sys.argv[1])), sys.argv[2], warn=print)
print("ready", flush=True)
sys.stdin.readline()
journal(AgentStart(1, 0.0, 0, 0, "a", "m"))
for number in range(50):
    journal(MessageEnd(number, 0.0, 1, 1, UserMessage("x")))
journal.close()
"""
    folder = tmp_path / "home"
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", script, str(folder), f"s{number}"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for number in range(4)
    ]
    assert [line_of(process) for process in processes] == ["ready"] * 4
    for process in processes:
        tell(process)
    assert [process.communicate()[0] for process in processes] == [""] * 4
    store = SessionStore(folder)
    assert [one.records for one in store.list()] == [51] * 4
    assert store.verify() == ()
    store.close()


@pytest.mark.skipif(os.name == "nt", reason="there is no such signal")
def test_the_lock_of_a_dead_process_does_not_block(store: SessionStore) -> None:
    begun(store)
    with other_process(store, "first") as first:
        assert line_of(first) == "claimed"
        first.send_signal(signal.SIGKILL)
    left = store.database.folder / "locks" / "session-one.lock"
    assert left.exists()
    store.writer("one").close()
    assert not left.exists()


def test_two_stores_of_one_process_exclude_each_other_too(store: SessionStore) -> None:
    begun(store)
    with store.writer("one"):
        other = SessionStore(store.database.folder)
        with pytest.raises(SessionBusyError, match=f"process {os.getpid()}"):
            other.writer("one")
        with pytest.raises(SessionBusyError):
            other.remove("one")
        other.close()
    store.writer("one").close()


def test_other_sessions_are_free(store: SessionStore) -> None:
    begun(store)
    with store.writer("one"):
        journal, teller = journal_for(store, "two")
        teller.begin()
        assert len(store.read("two")) == 3
        journal.close()


def test_a_lock_is_given_back_once_and_leaves_no_file(tmp_path: Path) -> None:
    lock = SessionLock(tmp_path, "a")
    lock.acquire()
    assert lock.held
    lock.release()
    lock.release()
    assert not lock.held
    assert list((tmp_path / "locks").iterdir()) == []


def test_a_folder_that_takes_no_lock_is_said(tmp_path: Path) -> None:
    (tmp_path / "locks").write_text("a file stands here")
    with pytest.raises(SessionError, match="session 'a': cannot be locked"):
        SessionLock(tmp_path, "a").acquire()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are not forked there")
def test_a_forked_process_neither_writes_nor_keeps_the_lock(store: SessionStore) -> None:
    begun(store)
    script = f"""\
import os, sys
from pathlib import Path
from hookagent.sessions.store import SessionStore
from hookagent.sessions.errors import SessionError
store = SessionStore(Path({str(store.database.folder)!r}))
writer = store.writer("one")
child = os.fork()
if child == 0:
    try:
        writer.append([(1.0, "user", "{{}}")])
    except SessionError as error:
        print(len(store.read("one")), error, flush=True)
    sys.stdin.readline()
    os._exit(0)
sys.stdin.readline()
os._exit(0)
"""
    with subprocess.Popen(
        [sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        said = line_of(process)
        assert said.startswith("3 session 'one': is not open for writing here")
        with pytest.raises(SessionBusyError):
            store.writer("one")
        process.kill()
        process.wait()
        # Its child lives on, waiting for a line.
        store.writer("one").close()
        tell_end(process)


def tell_end(process: subprocess.Popen[str]) -> None:
    assert process.stdin is not None
    process.stdin.close()
