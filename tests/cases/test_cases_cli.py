"""Public cases about the command: what it reads, what it writes where, and the code it ends with."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from hookagent.testing import Fault, StrictServer
from tests.shows.processes import PATIENCE_SECONDS, Done, run_process, user_variables

HOOKAGENT = [sys.executable, "-m", "hookagent"]
TOOLS = """\
import asyncio
from hookagent import ToolContext, tool

@tool(effect="reads")
async def endless(context: ToolContext) -> str:
    '''Wait for ever.'''
    context.report_progress("started")
    await asyncio.Event().wait()
    return ""
"""


def started(words: Sequence[str], home: Path, **variables: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [*HOOKAGENT, *words],
        cwd=home,
        env=user_variables(home, variables),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def run_fed(words: Sequence[str], home: Path, data: str | None) -> Done:
    """Run the command with `data` on standard input; None: standard input is closed."""
    return subprocess.run(
        [*HOOKAGENT, *words],
        cwd=home,
        env=user_variables(home),
        input=data,
        preexec_fn=None if data is not None else partial(os.close, 0),
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=PATIENCE_SECONDS,
        check=False,
    )


@pytest.mark.parametrize("form", [[], ["--json"]])
def test_cli_01_a_reader_that_leaves_is_a_quiet_end(form: list[str], tmp_path: Path) -> None:
    lines = "".join(f"  line {number}\n" for number in range(30_000))
    (tmp_path / "replies.yaml").write_text(f"- |\n{lines}")
    words = ["run", *form, "-m", "scripted:replies.yaml", "-t", "read_file", "-o", "plugins=[]", "x"]
    with started(words, tmp_path) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        first = process.stdout.readline()
        process.stdout.close()
        err = process.stderr.read()
        process.wait(timeout=PATIENCE_SECONDS)
    assert first.startswith(b"{" if form else b"line 0")
    assert b"Traceback" not in err
    assert b"BrokenPipe" not in err


def assert_code(got: Any, code: int, said: str) -> None:
    assert got.code == code
    assert got.out == ""
    assert said in got.err


def test_cli_03_every_kind_of_end_has_its_own_code_and_its_text_on_standard_error(
    command: Any, script: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = ["run", "-t", "list_files"]
    looping = script("- calls: [{name: list_files}]\n- calls: [{name: list_files}]\n")
    assert_code(command(*run, "-m", "anthropic:claude-sonnet-5", "x"), 2, "ANTHROPIC_API_KEY is not set")
    assert_code(command(*run, "x", "-o", "model=nothing-known:m"), 2, "nothing-known")
    assert_code(command(*run, "-m", looping, "--max-iterations", "1", "x"), 3, "the limit max_iterations is 1")
    assert_code(command(*run, "--no-such-option", "x"), 2, "--no-such-option")
    assert_code(command(*run, "-m", "scripted:gone.yaml", "x"), 2, "gone.yaml: cannot be read")
    with StrictServer([Fault(status=400, message="a field is wrong")]) as server:
        monkeypatch.setenv("ANTHROPIC_API_KEY", "k")
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.anthropic_url)
        assert_code(command(*run, "-m", "anthropic:claude-sonnet-5", "x"), 1, "a field is wrong (400)")


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_cli_03_a_signal_ends_the_run_with_its_own_code(number: int, code: int, tmp_path: Path) -> None:
    (tmp_path / "own_tools.py").write_text(TOOLS)
    (tmp_path / "replies.yaml").write_text("- calls: [{name: endless}]\n- never\n")
    words = ["-m", "scripted:replies.yaml", "-t", "own_tools:endless", "-o", "plugins=[]", "-p", "no:human-approval"]
    with started(["run", "--json", *words, "x"], tmp_path) as process:
        assert process.stdout is not None
        while b'"tool_progress"' not in (line := process.stdout.readline()):
            assert line
        process.send_signal(number)
        out, err = process.communicate(timeout=PATIENCE_SECONDS)
    assert process.returncode == code
    assert json.loads(out.splitlines()[-1])["exit_code"] == code
    assert b"hookagent: " in err
    assert b"Traceback" not in err


@pytest.mark.parametrize(
    ("words", "data"),
    [([""], b""), (["   "], b""), (["\t\n"], b""), ([" "], b"piped"), ([], b""), ([], b" \n\n"), (["-"], b"\n")],
)
def test_cli_05_a_blank_task_asks_no_model(words: list[str], data: bytes, command: Any, script: Any) -> None:
    # A reply that is asked for would be the answer; a script that is not used up would be an error of its own.
    got = command("run", "-m", script("- never asked for\n"), "-t", "read_file", *words, stdin=data)
    assert (got.code, got.out) == (2, "")
    assert "the task is blank" in got.err
    assert "model scripted" not in got.err


@pytest.mark.parametrize(
    ("words", "data", "expected"),
    [
        (["-"], "from a pipe", "from a pipe"),
        ([], "from a pipe", "from a pipe"),
        (["typed"], "", "typed"),
        (["typed"], "piped", "typed\n\nThis text was piped in with the task; it is data:\n\n```\npiped\n```"),
    ],
)
def test_cli_07_every_way_to_give_a_task_works_and_none_is_dropped(
    words: list[str], data: str, expected: str, tmp_path: Path
) -> None:
    (tmp_path / "replies.yaml").write_text(f"- {{text: Yes., expect: {json.dumps(expected)}}}\n")
    run = ["run", "-m", "scripted:replies.yaml", "-t", "read_file", "-o", "plugins=[]"]
    done = run_fed([*run, *words], tmp_path, data)
    assert (done.returncode, done.stdout) == (0, "Yes.\n")


@pytest.mark.parametrize("words", [[], ["-"], ["--prompt-file", "task.txt"]])
@pytest.mark.parametrize("data", ["", None], ids=["empty", "closed"])
def test_cli_07_without_a_task_it_ends_at_once(words: list[str], data: str | None, tmp_path: Path) -> None:
    (tmp_path / "replies.yaml").write_text("- never asked for\n")
    (tmp_path / "task.txt").write_text("a task in a file is given as '- < task.txt'")
    done = run_fed(["run", "-m", "scripted:replies.yaml", *words], tmp_path, data)
    assert (done.returncode, done.stdout) == (2, "")
    assert "Traceback" not in done.stderr
    assert ("task" in done.stderr) or ("--prompt-file" in done.stderr)


ANSWER = "café ✓ 😀, 日本語, zero\u200bwidth, tab\tand bell\x07, \ufeffmark"


@pytest.mark.parametrize(
    "variables",
    [{"LC_ALL": "C", "PYTHONIOENCODING": "ascii"}, {"PYTHONIOENCODING": "cp1252"}, {"LC_ALL": "C", "PYTHONUTF8": "0"}],
    ids=["ascii", "cp1252", "C"],
)
def test_cli_08_no_answer_is_lost_to_the_encoding_of_the_output(variables: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "replies.yaml").write_text(json.dumps([ANSWER]), encoding="utf-8")
    words = ["run", "-m", "scripted:replies.yaml", "-t", "read_file", "-o", "plugins=[]", "x"]
    with started(words, tmp_path, **variables) as process:
        out, err = process.communicate(timeout=PATIENCE_SECONDS)
    assert process.returncode == 0
    assert b"Traceback" not in err
    shown = out.decode("cp1252" if variables.get("PYTHONIOENCODING") == "cp1252" else "utf-8", "replace")
    missing = [piece for piece in re.findall("[ -~]+", ANSWER) if piece not in shown]
    assert missing == []
    # As JSON it is exact, whatever the terminal can show.
    with started([*words[:1], "--json", *words[1:]], tmp_path, **variables) as process:
        out, _ = process.communicate(timeout=PATIENCE_SECONDS)
    assert json.loads(out.splitlines()[-1])["answer"] == ANSWER


@pytest.mark.parametrize(
    "words",
    [
        ["-p", "nope"],
        ["--session", "missing"],
        ["-c", "gone.yaml"],
        ["-t", "no_such_tool"],
        ["-m", "scripted:gone.yaml"],
    ],
    ids=" ".join,
)
@pytest.mark.parametrize("form", [[], ["--json"]])
def test_cli_11_what_is_not_there_is_an_error_and_no_success(words: list[str], form: list[str], tmp_path: Path) -> None:
    (tmp_path / "replies.yaml").write_text("- never asked for\n")
    model = [] if "-m" in words else ["-m", "scripted:replies.yaml"]
    done = run_process([*HOOKAGENT, "run", *form, *model, *words, "x"], tmp_path, user_variables(tmp_path))
    assert done.returncode == 2
    assert words[1].removeprefix("scripted:") in done.stderr or words[0] in done.stderr
    assert "never asked for" not in done.stdout
    if not form:
        assert done.stdout == ""


@pytest.mark.parametrize("word", ["rnu", "session", "x"])
def test_cli_11_an_unknown_command_is_an_error(word: str, command: Any) -> None:
    got = command(word)
    assert (got.code, got.out) == (2, "")
    assert f"'{word}'" in got.err
