"""Ctrl-C, SIGTERM and a reader that leaves, on the real process; the second signal on a process that is not ended."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from hookagent.cli import aside
from hookagent.cli.console import Console
from hookagent.cli.signals import Interrupts

TOOLS = """\
import asyncio
import sys

async def endless() -> str:
    '''Wait.'''
    print("started", file=sys.stderr, flush=True)
    await asyncio.Event().wait()
    return ""
"""
START = "import sys\nfrom hookagent.cli import main\nsys.exit(main())"


def start(folder: Path, *words: str, stdout: int = subprocess.PIPE) -> subprocess.Popen[str]:
    environment = {name: value for name, value in os.environ.items() if not name.endswith("_API_KEY")}
    environment["PYTHONPATH"] = os.pathsep.join(path for path in sys.path if path)
    return subprocess.Popen(
        [sys.executable, "-c", START, *words],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=stdout,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.mark.parametrize(
    ("number", "code", "said"),
    [
        (signal.SIGINT, 130, "hookagent: interrupted; ending the run (Ctrl-C again leaves at once)"),
        (signal.SIGTERM, 143, "hookagent: terminated"),
    ],
)
def test_a_signal_aborts_the_run_in_order(number: int, code: int, said: str, tmp_path: Path) -> None:
    (tmp_path / "own_tools.py").write_text(TOOLS)
    (tmp_path / "replies.yaml").write_text("- calls: [{name: endless}]\n- Done.\n")
    words = ["-m", "scripted:replies.yaml", "-t", "own_tools:endless", "-o", "plugins=[]", "-p", "no:human-approval"]
    with start(tmp_path, "run", "--json", *words, "task") as process:
        assert process.stderr is not None
        lines: list[str] = []
        while lines[-1:] != ["started\n"]:
            lines.append(process.stderr.readline())
            assert lines[-1], lines
        process.send_signal(number)
        out, err = process.communicate(timeout=60)
    assert process.returncode == code
    assert said in err.splitlines()
    assert "Traceback" not in err
    events = [json.loads(line) for line in out.splitlines()]
    (ended,) = (event for event in events if event["type"] == "tool_end")
    assert ended["result"]["status"] == "interrupted"
    assert (events[-1]["status"], events[-1]["exit_code"]) == ("aborted", code)


def test_a_reader_that_leaves_is_a_quiet_end(tmp_path: Path) -> None:
    answer = "".join(f"  line {number}\n" for number in range(20_000))
    (tmp_path / "replies.yaml").write_text(f"- |\n{answer}")
    words = ["run", "-m", "scripted:replies.yaml", "-t", "read_file", "-o", "plugins=[]", "task"]
    with start(tmp_path, *words) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline() == "line 0\n"
        process.stdout.close()
        err = process.stderr.read()
        assert process.wait(timeout=60) == 0
    assert "Traceback" not in err
    assert "error" not in err.lower()
    assert err.splitlines()[-1].startswith("done in 1 iteration")


@pytest.mark.parametrize("form", [[], ["--json"]])
def test_a_full_disk_is_said(form: list[str], tmp_path: Path) -> None:
    if not os.path.exists("/dev/full"):
        pytest.skip("this system has no /dev/full")
    (tmp_path / "replies.yaml").write_text("- Yes.\n")
    words = ["run", "-q", "-m", "scripted:replies.yaml", "-t", "read_file", "-o", "plugins=[]", *form, "task"]
    with open("/dev/full", "w") as full, start(tmp_path, *words, stdout=full.fileno()) as process:
        _, err = process.communicate(timeout=60)
    assert process.returncode == 1
    assert err == (
        "hookagent: error: standard output cannot be written: no space left on device; free some, and run it again\n"
    )


def test_an_ascii_terminal_gets_a_readable_replacement(tmp_path: Path) -> None:
    (tmp_path / "replies.yaml").write_text("- café ✓\n", encoding="utf-8")
    words = ["run", "-q", "-m", "scripted:replies.yaml", "-t", "read_file", "-o", "plugins=[]", "task"]
    environment = {
        "LC_ALL": "C",
        "PYTHONUTF8": "0",
        "PYTHONCOERCECLOCALE": "0",
        "PYTHONPATH": os.pathsep.join(sys.path),
    }
    done = subprocess.run(
        [sys.executable, "-c", START, *words],
        cwd=tmp_path,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, b"caf\\xe9 \\u2713\n", b"")


@pytest.mark.parametrize(
    ("first", "second", "reason", "code"),
    [
        (signal.SIGINT, signal.SIGINT, "interrupted", 130),
        (signal.SIGINT, signal.SIGTERM, "interrupted", 130),
        (signal.SIGTERM, signal.SIGINT, "terminated", 143),
        (signal.SIGTERM, signal.SIGTERM, "terminated", 143),
    ],
)
def test_the_second_signal_leaves_at_once_with_the_code_of_the_first(
    first: int, second: int, reason: str, code: int
) -> None:
    left: list[int] = []
    reasons: list[str] = []
    before = signal.getsignal(signal.SIGINT)
    with Interrupts(reasons.append, Console(None, None, {}), left.append) as interrupts:
        os.kill(os.getpid(), first)
        assert (reasons, left, interrupts.code) == ([reason], [], code)
        os.kill(os.getpid(), second)
        assert (reasons, left, interrupts.code) == ([reason], [code], code)
    assert signal.getsignal(signal.SIGINT) is before


def test_a_signal_before_the_run_is_not_lost() -> None:
    reasons: list[str] = []
    with Interrupts(reasons.append, Console(None, None, {}), lambda code: None) as interrupts:
        interrupts.abort_again()
        assert reasons == []
        os.kill(os.getpid(), signal.SIGTERM)
        interrupts.abort_again()
    assert reasons == ["terminated", "terminated"]


def test_signals_in_the_middle_of_a_write_are_heard_and_answered(monkeypatch: pytest.MonkeyPatch) -> None:
    class Interrupting(io.BytesIO):
        signals = 2

        def write(self, data: Any) -> int:
            # The stream above is in the middle of a write now, and refuses another one of the same thread.
            while self.signals and threading.current_thread() is threading.main_thread():
                self.signals -= 1
                os.kill(os.getpid(), signal.SIGINT)
            return super().write(data)

    monkeypatch.setattr(aside, "_PATIENCE_SECONDS", 0.0)
    written = Interrupting()
    console = Console(None, io.TextIOWrapper(io.BufferedWriter(written), line_buffering=True), {})
    heard: list[Any] = []
    with Interrupts(heard.append, console, heard.append):
        console.say("under way")
    assert heard == ["interrupted", 130]
    assert written.getvalue() == b"under way\nhookagent: interrupted; ending the run (Ctrl-C again leaves at once)\n"


def test_an_ignored_signal_stays_ignored() -> None:
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with Interrupts(lambda reason: None, Console(None, None, {})) as interrupts:
            os.kill(os.getpid(), signal.SIGINT)
            assert interrupts.received is None
            assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)


def test_the_reader_of_json_that_leaves_ends_the_run(
    command: Any, script: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    written: list[str] = []

    def write(console: Console, text: str) -> None:
        written.append(text)
        console.reader_gone = len(written) > 5

    monkeypatch.setattr(Console, "write", write)
    model = script("- calls: [{name: list_files}]\n" * 5)
    got = command("run", "--json", "-m", model, "-t", "list_files", "task")
    assert got.code == 1
    assert "hookagent:" not in got.err
    assert "interrupted after 1 iteration" in got.err
