"""`sessions rm` and `verify`, damaged files, names that want out of the folder, and who can read what is kept."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import Any

import pytest

from hookagent.sessions.store import SessionStore
from tests.cli.conftest import listed
from tests.cli.test_cli_progress import on_a_terminal


def test_rm_takes_a_session_and_its_log_and_nothing_else(command: Any, ran: Any, home: Path) -> None:
    first, second = ran("A secret thing."), ran("Another.")
    forked = command("sessions", "fork", first).out.strip()
    assert len(list((home / "sessions").iterdir())) == 2
    got = command("sessions", "rm", first[:8], first, "--yes")
    assert got == (0, "", f"session {first}: removed\n")
    assert {row["id"] for row in listed(command)} == {second, forked}
    assert "A secret thing." in command("sessions", "show", forked).out
    (log,) = (home / "sessions").iterdir()
    assert f"session: {second}" in log.read_text().replace('"', "")
    assert command("sessions", "verify").code == 0
    command("sessions", "rm", "--yes", forked)
    store = SessionStore(home)
    with store.database.using() as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    store.close()
    assert b"A secret thing." not in (home / "sessions.sqlite").read_bytes()


def test_rm_asks_nobody_without_a_terminal_and_removes_all_or_none_of_unknown_ids(command: Any, ran: Any) -> None:
    session = ran("One?")
    got = command("sessions", "rm", session)
    assert (got.code, got.err) == (
        2,
        "hookagent: error: rm: nobody can be asked here; say --yes to remove without asking\n",
    )
    assert command("sessions", "rm", "--yes", session, "nope").code == 2
    assert command("sessions", "rm", "--yes").code == 2
    assert len(listed(command)) == 1


@pytest.mark.skipif(os.name != "posix", reason="there are no terminals of this kind elsewhere")
@pytest.mark.parametrize(
    ("typed", "code", "left"), [("y\n", 0, 0), ("yes\n", 0, 0), ("\n", 1, 1), ("no\n", 1, 1), ("\x04", 1, 1)]
)
def test_rm_on_a_terminal_asks(typed: str, code: int, left: int, command: Any, ran: Any, folder: Path) -> None:
    session = ran("Shall \x1b[2J it go?")
    got, text = on_a_terminal(folder, "sessions", "rm", session, typed=typed)
    assert got == code
    assert f"session {session}: Shall \\x1b[2J it go?\r\nremove it for good? [y/N]\r\n" in text
    assert len(listed(command)) == left


def test_rm_and_verify_of_damage(command: Any, ran: Any, home: Path) -> None:
    session, sound = ran("One?"), ran("Two?")
    store = SessionStore(home)
    key = store.row(session).key
    with store.database.changing() as connection:
        connection.execute("DELETE FROM records WHERE place = ?", (key << 32 | 3,))
        connection.execute("UPDATE records SET data = '{\x1b[2J' WHERE place = ?", (key << 32 | 2,))
    store.close()
    got = command("sessions", "verify")
    assert got.code == 1
    assert f"session '{session}': record 4: record 3 is missing before it\n" in got.out
    assert f"session '{session}': record 2: cannot be read and was left out" in got.out
    assert "\x1b" not in got.out
    assert command("sessions", "verify", session).code == 1
    assert command("sessions", "verify", sound) == (0, "", f"session {sound}: no problems\n")
    assert len(command("sessions", "list").out.splitlines()) == 3
    assert "problems:\n  record 2: cannot be read" in command("sessions", "show", session).out
    assert command("sessions", "rm", "-y", session).code == 0
    assert command("sessions", "verify").code == 0


def test_a_file_that_is_no_database_is_said_and_stays(command: Any, home: Path) -> None:
    home.mkdir()
    (home / "sessions.sqlite").write_bytes(b"no database at all" * 500)
    for words in (["list"], ["show", "abc"], ["rm", "-y", "abc"]):
        got = command("sessions", *words)
        assert (got.code, got.out) == (2, "")
        assert "the file is damaged; look at it with 'hookagent sessions verify', or move it away" in got.err
    assert command("sessions", "verify").code == 1
    assert (home / "sessions.sqlite").read_bytes() == b"no database at all" * 500


@pytest.mark.parametrize("name", ["../evil", "/etc/passwd", "a b", "", "a\nb", "x" * 65, "\x1b[2J", "%", "con."])
def test_a_name_cannot_leave_the_folder(name: str, command: Any, ran: Any, home: Path) -> None:
    ran("One?")
    before = {path for path in home.parent.rglob("*") if "here" not in path.parts}
    for words in (["sessions", "show"], ["sessions", "rm", "--yes"], ["sessions", "fork"], ["run", "--session"]):
        got = command(*words, name, *(["task"] if words[0] == "run" else []))
        assert (got.code, got.out) == (2, "")
        assert "expected 1 to 64 letters, digits, '-' or '_'" in got.err
        assert "\x1b" not in got.err
    after = {path for path in home.parent.rglob("*") if "here" not in path.parts}
    assert after == before


@pytest.mark.skipif(os.name != "posix", reason="rights are different there")
def test_everything_kept_is_private(ran: Any, home: Path) -> None:
    ran("One?")
    for path in (home, *home.rglob("*")):
        assert stat.S_IMODE(path.stat().st_mode) == (0o700 if path.is_dir() else 0o600), path
