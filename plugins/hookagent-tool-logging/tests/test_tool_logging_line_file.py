from __future__ import annotations

import json
import os
import stat
from pathlib import Path

import pytest

from hookagent_tool_logging.line_file import LineFile


def test_lines_are_appended_and_the_file_is_its_owners_alone(tmp_path: Path) -> None:
    path = tmp_path / "calls.jsonl"
    old = os.umask(0)
    try:
        for number in range(3):
            lines = LineFile(str(path))
            lines.write({"number": number})
            lines.close()
            lines.close()
    finally:
        os.umask(old)
    assert [json.loads(line)["number"] for line in path.read_text().splitlines()] == [0, 1, 2]
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_closed_file_is_opened_again(tmp_path: Path) -> None:
    lines = LineFile(str(tmp_path / "calls.jsonl"))
    lines.write(1)
    lines.close()
    lines.write(2)
    lines.close()
    assert (tmp_path / "calls.jsonl").read_text() == "1\n2\n"


def test_each_line_is_one_write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    writes: list[bytes] = []
    real = os.write

    def write(descriptor: int, data: bytes) -> int:
        writes.append(data)
        return real(descriptor, data)

    lines = LineFile(str(tmp_path / "calls.jsonl"))
    monkeypatch.setattr(os, "write", write)
    lines.write({"text": "x" * 100_000})
    lines.write("y")
    lines.close()
    assert len(writes) == 2
    assert all(data.count(b"\n") == 1 for data in writes)


def test_half_a_line_is_an_error_and_the_next_stands_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "calls.jsonl"
    lines = LineFile(str(path))
    real = os.write
    with monkeypatch.context() as patched:
        patched.setattr(os, "write", lambda descriptor, data: real(descriptor, data[:5]))
        with pytest.raises(OSError, match=r"only 5 of \d+ bytes"):
            lines.write({"number": 1})
    lines.write({"number": 2})
    lines.close()
    assert path.read_text().splitlines() == ['{"num', '{"number": 2}']


def test_a_pipe_that_nobody_reads_is_an_error_at_once(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OSError, match="No such device"):
        LineFile(str(tmp_path / "pipe")).write(1)


def test_the_path_may_begin_with_the_home_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    lines = LineFile("~/calls.jsonl")
    lines.write(1)
    lines.close()
    assert (tmp_path / "calls.jsonl").read_text() == "1\n"
