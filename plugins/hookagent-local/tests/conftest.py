import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

README = "The embedded model counts words.\nIt does so offline, and says what it did.\n" * 7

RunScript = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory with a few files in it."""
    (tmp_path / "README.md").write_text(README)
    (tmp_path / "CHANGELOG.md").write_text("one two three\n")
    (tmp_path / "LICENSE").write_text("free as in air\n")
    (tmp_path / "pyproject.toml").write_text('[project]\nname = "thing"\n')
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "guide.md").write_text("how to\n")
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "main.py").write_text("a = 1  # TODO: more\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def run_script(folder: Path) -> RunScript:
    """Run a Python text in a process of its own, in the working directory, with a home of its own."""

    def run(text: str, *before: str, **variables: str) -> "subprocess.CompletedProcess[str]":
        script = folder / "script.py"
        script.write_text(text)
        environment = {name: value for name, value in os.environ.items() if name != "CI"}
        environment.update({"HOME": str(folder / "home"), **variables})
        command = [*before, sys.executable, str(script)]
        return subprocess.run(
            command, cwd=folder, env=environment, capture_output=True, text=True, timeout=300, check=False
        )

    return run
