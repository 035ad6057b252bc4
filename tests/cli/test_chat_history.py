"""What was typed in earlier chats: private, without secrets, and never worth a chat."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from hookagent.cli.chat.history import FILE_NAME, History
from hookagent.masking import Masker


def history(folder: Path, **environment: str) -> History:
    return History(folder, Masker(environment))


def test_what_was_typed_is_there_in_the_next_chat(tmp_path: Path) -> None:
    first = history(tmp_path / "home")
    for text in ("one", "two\nlines", "ü \udcff", "  ", "", "ü \udcff"):
        first.add(text)
    assert history(tmp_path / "home").lines == first.lines == ["one", "two\nlines", "ü \udcff"]


def test_folder_and_file_are_the_owner_s_alone(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        history(tmp_path / "deep" / "home").add("one")
    finally:
        os.umask(before)
    home = tmp_path / "deep" / "home"
    assert [stat.S_IMODE(path.stat().st_mode) for path in (home, home / FILE_NAME)] == [0o700, 0o600]


def test_secrets_stay_out_of_the_file_and_in_memory(tmp_path: Path) -> None:
    kept = history(tmp_path, OWN_API_KEY="very-secret")
    kept.add("my key is very-secret")
    assert kept.lines == ["my key is very-secret"]
    assert history(tmp_path).lines == ["my key is ***"]


def test_what_is_no_line_of_ours_is_passed_over(tmp_path: Path) -> None:
    (tmp_path / FILE_NAME).write_bytes(b'"one"\n{"a": 1}\nbroken\n\xff\n"two"\n"half')
    assert history(tmp_path).lines == ["one", "two"]


def test_only_the_newest_are_read(tmp_path: Path) -> None:
    (tmp_path / FILE_NAME).write_text("".join(f'"{number}"\n' for number in range(5_000)))
    lines = history(tmp_path).lines
    assert (len(lines), lines[0], lines[-1]) == (1_000, "4000", "4999")


def test_a_folder_that_cannot_be_written_costs_the_file_only(tmp_path: Path) -> None:
    (tmp_path / "home").write_text("a file")
    kept = history(tmp_path / "home")
    kept.add("one")
    kept.add("two")
    assert kept.lines == ["one", "two"]
    assert kept.problem is not None
    assert kept.problem.endswith("; what is typed is kept for this chat only")


def test_the_home_folder_is_that_of_everything_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = History.of_user(Masker({}), {"HOOKAGENT_HOME": str(tmp_path / "own")})
    assert kept.path == tmp_path / "own" / FILE_NAME
