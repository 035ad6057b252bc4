"""How the chat reads its lines, and what it loads for that."""

from __future__ import annotations

import importlib.util
import io
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from hookagent.cli.chat import command as chat_command

PROBE = """\
import json, sys
from hookagent.cli import main
code = main(json.loads(sys.argv[1]))
print(json.dumps([code, sorted(sys.modules)]), file=sys.stderr)
"""


class Stream(io.StringIO):
    def __init__(self, terminal: bool) -> None:
        super().__init__()
        self._terminal = terminal

    def isatty(self) -> bool:
        return self._terminal


@pytest.mark.parametrize(
    ("stdin", "stderr", "term", "installed", "mode"),
    [
        (True, True, "xterm", True, "editor"),
        (True, True, "xterm", False, "lines"),
        (True, True, "dumb", True, "lines"),
        (False, True, "xterm", True, "pipe"),
        (True, False, "xterm", True, "pipe"),
        (None, True, "xterm", True, "pipe"),
    ],
)
def test_lines_are_read_as_the_terminal_and_what_is_installed_allow(
    stdin: bool | None, stderr: bool, term: str, installed: bool, mode: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", None if stdin is None else Stream(stdin))
    monkeypatch.setattr(sys, "stderr", Stream(stderr))
    monkeypatch.setenv("TERM", term)
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: object() if installed else None)
    assert chat_command._mode() == mode


def loaded(words: list[str], folder: Path, piped: str = "") -> tuple[int, set[str]]:
    # A measured process would have loaded what coverage needs.
    environment = {name: value for name, value in os.environ.items() if not name.startswith("COVERAGE_")}
    environment["PYTHONPATH"] = os.pathsep.join(path for path in sys.path if path)
    done = subprocess.run(
        [sys.executable, "-c", PROBE, json.dumps(words)],
        cwd=folder,
        env=environment,
        input=piped,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    code, modules = json.loads(done.stderr.splitlines()[-1])
    return code, set(modules)


def test_help_loads_next_to_nothing(tmp_path: Path) -> None:
    code, modules = loaded(["chat", "--help"], tmp_path)
    assert code == 0
    assert not modules & {"prompt_toolkit", "pydantic", "yaml", "asyncio", "hookagent.agent", "sqlite3"}


def test_without_a_terminal_there_is_no_editor(tmp_path: Path) -> None:
    (tmp_path / "replies.yaml").write_text("- Yes.\n")
    words = ["chat", "-m", "scripted:replies.yaml", "-t", "read_file", "-o", "plugins=[]"]
    code, modules = loaded(words, tmp_path, "hello\n")
    assert code == 0
    assert not modules & {"prompt_toolkit", "readline", "anthropic", "openai"}


def test_a_configuration_with_errors_is_said_before_anything_is_read(command: Any) -> None:
    got = command("chat", "-o", "limits.max_iteratons=3", stdin="hello\n")
    assert (got.code, got.out) == (2, "")
    assert "did you mean 'max_iterations'?" in got.err
