"""Names and ids that cannot leave their folder, and files that are their owner's alone."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hookagent.sessions.errors import SessionError
from hookagent.sessions.locking import SessionLock
from hookagent.sessions.places import check_session_id, home_folder, safe_name
from hookagent.sessions.store import SessionStore
from hookagent.sessions.writer import NewSession
from tests.sessions.made import journal_for

BAD_IDS = [
    *("../../x", "a/b", "..", ".", "", "a\x00b", "x" * 300, "x" * 65, "a b", "a\n", "é", "C:x", "a\\b", "~", "a.b"),
    "\u0663",
]
USES: dict[str, Callable[[SessionStore, str], Any]] = {
    "row": lambda store, one: store.row(one),
    "read": lambda store, one: store.read(one),
    "find": lambda store, one: store.find(one),
    "writer": lambda store, one: store.writer(one),
    "create": lambda store, one: store.writer(one, NewSession("a", "m", "/")),
    "fork": lambda store, one: store.fork(one),
    "fork to": lambda store, one: store.fork("ok-1_A", new_id=one),
    "remove": lambda store, one: store.remove(one),
    "verify": lambda store, one: store.verify(one),
    "export": lambda store, one: store.export(one, "jsonl"),
    "lock": lambda store, one: SessionLock(store.database.folder, one),
}


def files_under(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*")}


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("bad", BAD_IDS)
def test_an_id_that_is_none_is_refused_everywhere(store: SessionStore, tmp_path: Path, use: str, bad: str) -> None:
    journal, teller = journal_for(store, "ok-1_A")
    teller.begin()
    journal.close()
    before = files_under(tmp_path)
    with pytest.raises(SessionError, match="session id"):
        USES[use](store, bad)
    assert files_under(tmp_path) == before


@pytest.mark.parametrize("good", ["ok-1_A", "con", "NUL", "a", "x" * 64, "-", "_"])
def test_an_id_of_letters_digits_and_dashes_works_everywhere(store: SessionStore, tmp_path: Path, good: str) -> None:
    assert check_session_id(good) == good
    journal, teller = journal_for(store, good)
    teller.begin()
    locks = [path.name for path in (tmp_path / "home" / "locks").iterdir()]
    assert locks == [f"session-{good}.lock"]
    journal.close()
    assert store.find(good) == good
    assert len(store.read(good)) == 3
    store.remove(good)
    assert store.list() == ()
    assert {path.name.split("-")[0] for path in (tmp_path / "home").rglob("*")} <= {"sessions.sqlite", "locks"}


@given(st.text(st.characters(codec=None)) | st.sampled_from(["../evil", "con", "AUX", "", "a/../../b", ".", "~root"]))
def test_no_name_of_an_agent_leaves_the_folder(name: str) -> None:
    safe = safe_name(name)
    path = Path("/folder") / f"{safe}.log"
    assert path.parent == Path("/folder")
    assert os.path.normpath(path) == str(path)
    assert safe.isascii()
    assert 0 < len(safe) <= 80
    assert safe.lower() not in {"con", "aux", "nul", "prn", "com1", "lpt1"}


def test_different_names_have_different_files() -> None:
    names = ["a/b", "a_b", "a b", "a:b", "", "agent", "con", "CON", "x" * 70, "x" * 71, "é", "è"]
    assert len({safe_name(name) for name in names}) == len(names)
    assert safe_name("my-agent_2") == "my-agent_2"


def test_the_home_is_named_or_the_platforms(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert home_folder({"HOOKAGENT_HOME": str(tmp_path)}) == tmp_path
    assert home_folder({"HOOKAGENT_HOME": "~/agents"}) == Path.home() / "agents"
    assert home_folder({"HOOKAGENT_HOME": "  "}).name == "hookagent"
    monkeypatch.setenv("HOOKAGENT_HOME", str(tmp_path / "named"))
    assert SessionStore().path == tmp_path / "named" / "sessions.sqlite"
    assert not (tmp_path / "named").exists()


@pytest.mark.skipif(os.name == "nt", reason="rights are written differently there")
def test_everything_is_its_owners_alone(store: SessionStore, tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        journal, teller = journal_for(store)
        teller.begin()
    finally:
        os.umask(before)
    found = {path: stat.S_IMODE(path.stat().st_mode) for path in [tmp_path / "home", *(tmp_path / "home").rglob("*")]}
    assert {path.name for path in found} >= {"home", "sessions.sqlite", "sessions.sqlite-wal", "session-one.lock"}
    assert {mode for path, mode in found.items() if path.is_dir()} == {0o700}
    assert {mode for path, mode in found.items() if path.is_file()} == {0o600}
    journal.close()


@pytest.mark.skipif(os.name == "nt", reason="rights are written differently there")
def test_a_file_that_stood_open_to_others_is_closed_to_them(store: SessionStore) -> None:
    journal, teller = journal_for(store)
    teller.begin()
    journal.close()
    store.close()
    store.path.chmod(0o644)
    store.list()
    assert stat.S_IMODE(store.path.stat().st_mode) == 0o600
