"""Log files that cannot be written for a while: said once, whole pieces only, nothing raised."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
import yaml

from hookagent.sessions.append_file import AppendFile
from hookagent.sessions.logs import SessionLog, TextLog
from hookagent.usage import Usage
from tests.sessions.made import Teller

NOON = 1_764_757_800.0
SECRET = "sk-test-SECRET123"


def session_log(home: Path, agent: str = "tested", **options: Any) -> tuple[SessionLog, Teller]:
    options.setdefault("environment", {"VENDOR_API_KEY": SECRET})
    log = SessionLog(home, agent, "one", wall=lambda: NOON, **options)
    return log, Teller(log)


def text_log(home: Path, agent: str = "tested", session: str = "one", **options: Any) -> tuple[TextLog, Teller]:
    options.setdefault("environment", {"VENDOR_API_KEY": SECRET})
    log = TextLog(home, agent, session, wall=lambda: NOON, **options)
    return log, Teller(log)


def the_yaml(home: Path) -> dict[str, Any]:
    (path,) = (home / "sessions").iterdir()
    loaded: dict[str, Any] = yaml.safe_load(path.read_text("utf-8"))
    return loaded


def usage(tokens: int) -> Usage:
    return Usage(tokens, 1, 2, 3, 0.01 * tokens, 1)


class FullDisk:
    """Lets `os.write` of log files fail or write half, for chosen writes."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *numbers: int, half: bool) -> None:
        self.count = 0
        original = os.write

        def write(descriptor: int, data: bytes) -> int:
            self.count += 1
            if self.count not in numbers:
                return original(descriptor, data)
            if half:
                return original(descriptor, data[: len(data) // 2])
            raise OSError(28, "No space left on device")

        monkeypatch.setattr("hookagent.sessions.append_file.os.write", write)


@pytest.mark.parametrize("half", [False, True])
@pytest.mark.parametrize("first", [1, 2, 3])
def test_a_full_disk_is_said_once_and_the_yaml_stays_valid(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, first: int, half: bool
) -> None:
    said: list[str] = []
    log, teller = session_log(tmp_path, warn=said.append)
    with monkeypatch.context() as patch:
        FullDisk(patch, first, first + 1, half=half)
        for number in range(5):
            teller.begin(f"question {number}")
            teller.end()
            (path,) = (tmp_path / "sessions").iterdir()
            loaded = yaml.safe_load(path.read_text())
            assert loaded is None or set(loaded) == {"agent", "model", "session", "started", "turns"}
    log.close()
    assert len(said) == 1
    assert "cannot be written: " in said[0]
    assert ("no space left on device" in said[0]) != half
    assert [turn["input"] for turn in the_yaml(tmp_path)["turns"]] == [f"question {number}" for number in range(5)]


@pytest.mark.parametrize("half", [False, True])
def test_a_full_disk_leaves_whole_lines_in_the_text_log(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, half: bool
) -> None:
    said: list[str] = []
    log, teller = text_log(tmp_path, warn=said.append)
    with monkeypatch.context() as patch:
        FullDisk(patch, 2, 3, half=half)
        for number in range(4):
            teller.user(f"message number {number}")
            teller.end()
    log.close()
    assert len(said) == 1
    lines = (tmp_path / "logs" / "tested.log").read_text().splitlines()
    whole = [line for line in lines if "message number" in line and line[-1].isdigit()]
    assert [line[-1] for line in whole] == ["0", "1", "2", "3"]


def test_a_torn_line_of_a_dead_process_stays_on_a_line_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs" / "tested.log").write_bytes(b"a whole line\na torn li")
    log, teller = text_log(tmp_path)
    teller.user("new")
    log.close()
    lines = (tmp_path / "logs" / "tested.log").read_text().splitlines()
    assert lines[:2] == ["a whole line", "a torn li"]
    assert lines[2].endswith("user (prompt): new")


def test_a_folder_that_cannot_be_used_is_said_once(tmp_path: Path) -> None:
    said: list[str] = []
    (tmp_path / "logs").write_text("a file stands here")
    (tmp_path / "sessions").write_text("and here")
    text, yaml_log = TextLog(tmp_path, "a", "one", warn=said.append), SessionLog(tmp_path, "a", "one", warn=said.append)
    teller = Teller(text, yaml_log)
    for _ in range(3):
        teller.begin()
        teller.end()
    text.close()
    yaml_log.close()
    assert len(said) == 2
    assert all("the run goes on without it" in one for one in said)


@pytest.mark.skipif(not hasattr(os, "O_NOFOLLOW"), reason="links are followed there")
def test_a_link_in_the_place_of_a_log_is_not_followed(tmp_path: Path) -> None:
    said: list[str] = []
    target = tmp_path / "precious"
    target.write_text("untouched")
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs" / "tested.log").symlink_to(target)
    log, teller = text_log(tmp_path, warn=said.append)
    teller.begin()
    log.close()
    assert target.read_text() == "untouched"
    assert len(said) == 1


def test_what_cannot_be_written_is_kept_only_up_to_a_size(tmp_path: Path) -> None:
    blocked = tmp_path / "blocked"
    blocked.write_text("a file stands here")
    file = AppendFile(blocked / "x.yaml", alone=True)
    file.append("head\n")
    for number in range(40):
        file.append(f"{number} " + "x" * 100_000 + "\n")
    blocked.unlink()
    file.append("last\n")
    file.close()
    lines = (blocked / "x.yaml").read_text().splitlines()
    assert lines[0] == "head"
    assert lines[-1] == "last"
    assert lines[-2].startswith("39 ")
    assert 5 < len(lines) < 15


def test_a_warning_that_raises_changes_nothing(tmp_path: Path) -> None:
    def warn(text: str) -> None:
        raise ValueError(text)

    (tmp_path / "logs").write_text("a file stands here")
    log, teller = text_log(tmp_path, warn=warn)
    teller.begin()
    log.close()


def test_pieces_wait_for_their_block(tmp_path: Path) -> None:
    file = AppendFile(tmp_path / "a.log")
    file.add("one\n")
    file.add("two\n")
    assert not file.path.exists()
    file.write()
    assert file.path.read_text() == "one\ntwo\n"
    file.add("three\n")
    file.add("x" * 100_000 + "\n")
    assert file.path.read_text().startswith("one\ntwo\nthree\nxxx")
    file.add("last\n")
    file.close()
    assert file.path.read_text().endswith("xxx\nlast\n")


@pytest.mark.parametrize("alone", [False, True])
def test_a_file_that_goes_away_meanwhile_is_made_again_or_said(tmp_path: Path, alone: bool) -> None:
    said: list[str] = []
    file = AppendFile(tmp_path / "a.log", said.append, alone=alone)
    file.append("one\n")
    file.path.unlink()
    file.append("two\n")
    file.append("three\n")
    if alone:
        # Without its head it would be of no use.
        assert said == [f"{file.path}: cannot be written: no such file or directory; the run goes on without it"]
        assert not file.path.exists()
    else:
        assert said == []
        assert file.path.read_text() == "two\nthree\n"


def test_another_file_in_its_place_is_left_alone(tmp_path: Path) -> None:
    said: list[str] = []
    file = AppendFile(tmp_path / "a.yaml", said.append, alone=True)
    file.append("one\n")
    file.path.rename(tmp_path / "moved.yaml")
    file.path.write_text("somebody else's\n")
    file.append("two\n")
    file.close()
    assert file.path.read_text() == "somebody else's\n"
    assert said == [f"{file.path}: cannot be written: another file stands in its place; the run goes on without it"]
