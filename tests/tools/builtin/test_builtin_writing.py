import os
import stat
from pathlib import Path
from typing import Any

import pytest

from hookagent.tools.builtin.reading import ReadingTools
from hookagent.tools.builtin.writing import WritingTools


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_marked_encodings_are_read_and_kept(
    encoding: str, root: Path, reading: ReadingTools, writing: WritingTools
) -> None:
    (root / "marked.txt").write_text("café one\n", encoding=encoding)
    assert reading.read_file("marked.txt") == "café one\n"
    writing.edit_file("marked.txt", "one", "two")
    assert (root / "marked.txt").read_text(encoding=encoding) == "café two\n"
    assert (root / "marked.txt").read_bytes()[:2] == "x".encode(encoding)[:2]


def test_bytes_that_are_no_text_are_shown_as_such_and_never_rewritten(
    root: Path, reading: ReadingTools, writing: WritingTools
) -> None:
    (root / "latin.txt").write_bytes(b"caf\xe9 one\n")
    text = reading.read_file("latin.txt")
    assert text.startswith("caf\ufffd one\n[bytes that are not text")
    with pytest.raises(ValueError, match=r"not valid utf-8 \(at byte 3\); it was not changed"):
        writing.edit_file("latin.txt", "one", "two")
    assert (root / "latin.txt").read_bytes() == b"caf\xe9 one\n"


def test_a_file_is_written_whole_with_its_directories(root: Path, writing: WritingTools) -> None:
    assert writing.write_file("new/er/file.txt", "héllo\n") == "created new/er/file.txt (6 characters)"
    assert (root / "new/er/file.txt").read_text() == "héllo\n"
    assert writing.write_file("new/er/file.txt", "x").startswith("replaced")
    assert os.listdir(root / "new" / "er") == ["file.txt"]


@pytest.mark.parametrize("mode", [0o755, 0o600, 0o644])
def test_the_mode_of_a_file_is_kept(mode: int, root: Path, writing: WritingTools) -> None:
    (root / "script.sh").write_text("old")
    (root / "script.sh").chmod(mode)
    writing.write_file("script.sh", "one")
    writing.edit_file("script.sh", "one", "two")
    assert stat.S_IMODE((root / "script.sh").stat().st_mode) == mode


def test_a_write_that_fails_leaves_the_old_file_and_nothing_else(
    root: Path, writing: WritingTools, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise OSError("disk full")

    before = sorted(os.listdir(root))
    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(OSError, match="disk full"):
        writing.write_file("notes.txt", "new")
    assert (root / "notes.txt").read_text() == "one two\nthree\n"
    assert sorted(os.listdir(root)) == before


def test_an_edit_needs_exactly_one_place(root: Path, writing: WritingTools) -> None:
    assert writing.edit_file("notes.txt", "two\nthree", "2\n3") == "replaced 1 place in notes.txt"
    assert (root / "notes.txt").read_text() == "one 2\n3\n"
    with pytest.raises(ValueError, match=r"does not stand in 'notes\.txt'; it was not changed"):
        writing.edit_file("notes.txt", "two", "2")
    writing.write_file("notes.txt", "a a a")
    with pytest.raises(ValueError, match=r"stands 3 times in 'notes\.txt'; it was not changed"):
        writing.edit_file("notes.txt", "a", "b")
    assert (root / "notes.txt").read_text() == "a a a"
    assert writing.edit_file("notes.txt", "a", "b", replace_all=True) == "replaced 3 places in notes.txt"
    assert (root / "notes.txt").read_text() == "b b b"
    with pytest.raises(ValueError, match="the same"):
        writing.edit_file("notes.txt", "b", "b")
    with pytest.raises(ValueError, match="empty"):
        writing.edit_file("notes.txt", "", "b")
    with pytest.raises(ValueError, match="not a text file"):
        writing.edit_file("data.bin", "needle", "b")


def test_an_edit_keeps_the_files_own_line_ends(root: Path, writing: WritingTools) -> None:
    writing.edit_file("src/a.py", "x = 1\ny", "x = 1\nz = 0\ny")
    assert (root / "src" / "a.py").read_bytes() == b"x = 1\r\nz = 0\r\ny = 2\r\n"


def test_directories_and_pipes_are_not_written(writing: WritingTools) -> None:
    for path in (".", "src", "pipe"):
        with pytest.raises(IsADirectoryError):
            writing.write_file(path, "x")
