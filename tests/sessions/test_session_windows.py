"""The lock as it is taken on Windows, with a stand-in for `msvcrt`: the system itself is not tested."""

from __future__ import annotations

import errno
import fcntl
import importlib.util
import os
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from hookagent.errors import ConfigurationError
from hookagent.sessions import locking, places
from hookagent.sessions.errors import SessionBusyError
from hookagent.tools.builtin import builtin_tools, confined


class StandIn(ModuleType):
    """`msvcrt.locking` as its documentation has it: from the file's position on, and refused where it is taken."""

    LK_UNLCK, LK_LOCK, LK_NBLCK = 0, 1, 2

    def __init__(self) -> None:
        super().__init__("msvcrt")
        self.calls: list[tuple[int, int, int]] = []

    def locking(self, descriptor: int, mode: int, count: int) -> None:
        self.calls.append((mode, os.lseek(descriptor, 0, os.SEEK_CUR), count))
        how = {self.LK_UNLCK: fcntl.LOCK_UN, self.LK_NBLCK: fcntl.LOCK_EX | fcntl.LOCK_NB}[mode]
        try:
            fcntl.flock(descriptor, how)
        except OSError:
            raise PermissionError(errno.EACCES, "Permission denied") from None


def loaded(monkeypatch: pytest.MonkeyPatch, stand_in: StandIn) -> Any:
    """The module as Windows would load it, beside the one that this system has."""
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setitem(sys.modules, "msvcrt", stand_in)
    spec = importlib.util.spec_from_file_location("locking_on_windows", locking.__file__)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_one_has_the_lock_and_the_other_hears_who_does(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stand_in = StandIn()
    windows = loaded(monkeypatch, stand_in)
    first, second = windows.SessionLock(tmp_path, "one"), windows.SessionLock(tmp_path, "one")
    first.acquire()
    with pytest.raises(SessionBusyError, match=f"process {os.getpid()}"):
        second.acquire()
    first.release()
    second.acquire()
    assert (first.held, second.held) == (False, True)
    second.release()
    # Far behind the text that says who has it, which others must be able to read.
    far = 1 << 30
    assert stand_in.calls == [(2, far, 1), (2, far, 1), (0, far, 1), (2, far, 1), (0, far, 1)]


def test_a_lock_file_that_cannot_be_removed_while_it_is_open_is_used_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    windows = loaded(monkeypatch, StandIn())

    def refuse(path: Path, missing_ok: bool = False) -> None:
        raise PermissionError(errno.EACCES, "it is in use", str(path))

    monkeypatch.setattr(Path, "unlink", refuse)
    # Not every version numbers a file alike by name and by descriptor.
    monkeypatch.setattr(os.path, "samestat", lambda first, second: False)
    for _ in range(2):
        lock = windows.SessionLock(tmp_path, "one")
        lock.acquire()
        lock.release()
    assert [one.name for one in (tmp_path / "locks").iterdir()] == ["session-one.lock"]


def test_files_are_opened_as_bytes_and_without_rights_that_the_system_does_not_have(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[int] = []
    real_open = os.open
    binary = 1 << 27

    def noting(path: Path, flags: int, mode: int) -> int:
        opened.append(flags)
        return real_open(path, flags & ~binary, mode)

    monkeypatch.setattr(os, "O_BINARY", binary, raising=False)
    monkeypatch.setattr(os, "open", noting)
    monkeypatch.delattr(os, "geteuid")
    os.close(places.private_file(tmp_path / "file", os.O_RDWR | os.O_CREAT))
    assert opened[0] & binary


def test_the_built_in_tools_say_that_they_cannot_work(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(confined, "SUPPORTED", False)
    for name in ("files", "shell"):
        with pytest.raises(ConfigurationError, match="need a POSIX system"):
            builtin_tools(name, tmp_path / "elsewhere")
