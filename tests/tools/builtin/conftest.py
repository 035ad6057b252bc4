import os
from pathlib import Path

import pytest

from hookagent.tools.builtin.confined import Root
from hookagent.tools.builtin.reading import ReadingTools
from hookagent.tools.builtin.writing import WritingTools


@pytest.fixture
def root(tmp_path: Path) -> Path:
    inside = tmp_path / "inside"
    (inside / "src" / "deep").mkdir(parents=True)
    (inside / "notes.txt").write_text("one two\nthree\n")
    (inside / "src" / "a.py").write_bytes(b"x = 1\r\ny = 2\r\n")
    (inside / "src" / "deep" / "b.py").write_text("needle = 'Hay'\n")
    (inside / ".git").mkdir()
    (inside / ".git" / "config").write_text("needle")
    (inside / "data.bin").write_bytes(b"\x00\x01needle")
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "secret.txt").write_text("secret")
    (tmp_path / "inside-too").mkdir()
    (inside / "link-in").symlink_to("notes.txt")
    (inside / "link-out").symlink_to(tmp_path / "outside" / "secret.txt")
    (inside / "dir-out").symlink_to(tmp_path / "outside")
    (inside / "dangling").symlink_to(tmp_path / "outside" / "new.txt")
    (inside / "loop").symlink_to("loop")
    os.mkfifo(inside / "pipe")
    return inside


@pytest.fixture
def reading(root: Path) -> ReadingTools:
    return ReadingTools(Root(root))


@pytest.fixture
def writing(root: Path) -> WritingTools:
    return WritingTools(Root(root))
