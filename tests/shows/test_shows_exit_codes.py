"""Every exit code of the command, from real processes: what they print where, and what two signals make of a run."""

from __future__ import annotations

import contextlib
import json
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.shows.processes import PATIENCE_SECONDS, Done, run_process, user_variables

HOOKAGENT = [sys.executable, "-m", "hookagent"]
TOOLS = '''\
"""Tools that say when they have begun, and then wait."""

import asyncio
import threading

from hookagent import ToolContext, tool


@tool(effect="reads")
def look() -> str:
    """Look around."""
    return "nothing unusual"


@tool(effect="reads")
async def wait(context: ToolContext) -> str:
    """Wait, and end when the run is aborted."""
    context.report_progress("started")
    await asyncio.Event().wait()
    return "never"


@tool(effect="reads")
def wait_in_a_thread(context: ToolContext) -> str:
    """Wait in a thread, and end when asked to."""
    context.report_progress("started")
    context.abort.wait()
    return "ended in order"


@tool(effect="reads")
async def shout() -> str:
    """Print more than anybody reads."""
    print("x" * 1_000_000)
    return "done"


@tool(effect="reads")
async def block(context: ToolContext) -> str:
    """Wait for ever, whatever anybody asks; not even the event loop gets to run."""
    context.report_progress("started")
    threading.Event().wait()
    return "never"
'''
GATE = """\
from hookagent import Deny, Stop, Suspend, hookimpl

VERDICTS = {"ask": Suspend("needs an answer"), "refuse": Deny("nobody can be asked", unanswered=True)}


@hookimpl
def before_llm(session):
    return Stop("enough of this") if session.user_prompt == "stop" else None


@hookimpl
def before_each_tool(session):
    return VERDICTS.get(session.user_prompt)
"""
SLOW_END = """\
import asyncio
import sys

from hookagent import hookimpl


@hookimpl
async def on_session_end():
    print("still at it", file=sys.stderr, flush=True)
    await asyncio.Event().wait()
"""
LOOK = "- calls: [{name: look}]\n"
ANSWER = "- All is well.\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A working directory with a module of tools and a package that holds a plugin."""
    here = tmp_path / "here"
    (here / "house").mkdir(parents=True)
    (here / "waiting.py").write_text(TOOLS)
    (here / "house" / "__init__.py").write_text("")
    (here / "house" / "gate.py").write_text(GATE)
    (here / "house" / "slow_end.py").write_text(SLOW_END)
    return here


def run_words(folder: Path, script: str, *options: str, tool: str = "look") -> list[str]:
    """A `hookagent run` with scripted replies, one of the tools, and the gate as the only one to decide on calls."""
    (folder / "replies.yaml").write_text(script)
    plugins = ["-p", "no:human-approval", "-p", "house.gate"]
    return [*HOOKAGENT, "run", "-m", "scripted:replies.yaml", "-t", f"waiting:{tool}", *plugins, *options]


# Name: exit code, script, options and task, standard output, what standard error says.
ENDINGS: dict[str, tuple[int, str, Sequence[str], str, str]] = {
    "completed": (0, LOOK + ANSWER, ["go"], "All is well.\n", "done in 2 iterations, 1 tool call, "),
    "failed": (1, "- {error: authentication, message: no such key}\n", ["go"], "", "error: scripted: no such key"),
    "stopped by a plugin": (1, "[]", ["stop"], "", "stopped: 'house.gate' stopped the run: enough of this"),
    "a script not used up": (1, ANSWER + ANSWER, ["go"], "All is well.\n", "replies.yaml:2: step 2: not used"),
    "unknown option": (2, ANSWER, ["--max-iteratons", "3", "go"], "", "did you mean '--max-iterations'?"),
    "unknown plugin": (2, ANSWER, ["-p", "nowhere", "go"], "", "plugin 'nowhere': no such plugin"),
    "no task": (2, ANSWER, [], "", "standard input: the task is blank"),
    "a limit": (3, LOOK + ANSWER, ["--max-iterations", "1", "go"], "", "raise it with --max-iterations"),
    "waiting": (4, LOOK + ANSWER, ["ask"], "", "waiting"),
    "refused": (4, LOOK + ANSWER, ["refuse"], "All is well.\n", "refused"),
}


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_run_ends_with_the_code_for_what_happened(ending: str, folder: Path) -> None:
    code, script, options, out, said = ENDINGS[ending]
    done = run_process(run_words(folder, script, *options), folder, user_variables(folder))
    assert (done.returncode, done.stdout) == (code, out), done.stderr
    assert said in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("ending", ["a script not used up", "unknown option", "a limit", "waiting"])
def test_the_last_line_of_json_says_the_same_code(ending: str, folder: Path) -> None:
    code, script, options, *_ = ENDINGS[ending]
    done = run_process(run_words(folder, script, "--json", *options), folder, user_variables(folder))
    assert (done.returncode, last_line(done.stdout)["exit_code"]) == (code, code), done.stderr


def test_help_and_version_give_0_and_no_words_at_all_give_2(folder: Path) -> None:
    def run(*words: str) -> Done:
        return run_process([*HOOKAGENT, *words], folder, user_variables(folder))

    assert (run("--help").returncode, run("--version").returncode) == (0, 0)
    bare = run()
    assert (bare.returncode, bare.stdout) == (2, "")
    assert "Usage: hookagent" in bare.stderr


# ---- signals ----

SIGNALS = {signal.SIGINT: (130, "interrupted"), signal.SIGTERM: (143, "terminated")}


@contextmanager
def started(command: Sequence[str], folder: Path) -> Iterator[subprocess.Popen[str]]:
    """Start a command in a session of its own, as a group that only the tests signal; it never outlives the block."""
    process = subprocess.Popen(
        command,
        cwd=folder,
        env=user_variables(folder),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
        start_new_session=True,
    )
    # A process that hangs is killed, so that who reads its output comes to the end of it.
    watchdog = threading.Timer(PATIENCE_SECONDS, process.kill)
    watchdog.start()
    try:
        with process:
            try:
                yield process
            finally:
                process.kill()
    finally:
        watchdog.cancel()


def read_until(process: subprocess.Popen[str], text: str) -> list[str]:
    """Read lines of standard error up to the one that holds `text`."""
    assert process.stderr is not None
    lines = []
    for line in process.stderr:
        lines.append(line)
        if text in line:
            return lines
    raise AssertionError(f"{text!r} was never said: {''.join(lines)}")


def read_to_the_end(process: subprocess.Popen[str]) -> tuple[str, str]:
    """Wait for the end; give what standard output holds, and standard error from where it was read up to."""
    assert process.stdout is not None
    assert process.stderr is not None
    # One after the other: what is left in either is far less than a pipe holds.
    err, out = process.stderr.read(), process.stdout.read()
    process.wait()
    return out, err


def last_line(text: str) -> Any:
    line = json.loads(text.splitlines()[-1])
    assert line["type"] == "result"
    return line


def waiting_run(folder: Path, tool: str, *options: str) -> list[str]:
    return run_words(folder, f"- calls: [{{name: {tool}}}]\n{ANSWER}", "-v", *options, "go", tool=tool)


# A tool that ends by itself when asked to keeps the result that it gave.
@pytest.mark.parametrize(("tool", "status"), [("wait", "interrupted"), ("wait_in_a_thread", "ok")])
@pytest.mark.parametrize("number", SIGNALS)
def test_a_signal_ends_the_run_in_order(number: signal.Signals, tool: str, status: str, folder: Path) -> None:
    code, word = SIGNALS[number]
    with started(waiting_run(folder, tool), folder) as process:
        read_until(process, f"tool {tool}: started")
        process.send_signal(number)
        out, err = read_to_the_end(process)
    assert (process.returncode, out) == (code, ""), err
    lines = err.splitlines()
    assert lines[0].startswith(f"hookagent: {word}")
    assert any(line.startswith(f"tool {tool}(): {status}") for line in lines), err
    assert lines[-1].startswith("interrupted after 1 iteration, 1 tool call, ")
    assert "Traceback" not in err


@pytest.mark.parametrize("number", SIGNALS)
def test_a_signal_costs_no_line_of_json_and_closes_the_round(number: signal.Signals, folder: Path) -> None:
    code, word = SIGNALS[number]
    with started(waiting_run(folder, "wait", "--json"), folder) as process:
        read_until(process, "tool wait: started")
        process.send_signal(number)
        out, err = read_to_the_end(process)
    assert process.returncode == code, err
    events = [json.loads(line) for line in out.splitlines()]
    (ended,) = [event for event in events if event["type"] == "tool_end"]
    result = last_line(out)
    assert ended["result"]["status"] == "interrupted"
    assert (result["status"], result["exit_code"], result["reason"]) == ("aborted", code, word)
    assert sum(event["type"] == "agent_end" for event in events) == 1


@pytest.mark.parametrize("second", SIGNALS)
def test_a_second_signal_leaves_at_once_with_the_code_of_the_first(second: signal.Signals, folder: Path) -> None:
    code, _ = SIGNALS[signal.SIGINT]
    with started(waiting_run(folder, "block"), folder) as process:
        read_until(process, "tool block: started")
        process.send_signal(signal.SIGINT)
        read_until(process, "interrupted; ending the run (Ctrl-C again leaves at once)")
        # The tool holds the event loop: this run could not end in any other way.
        assert process.poll() is None
        process.send_signal(second)
        out, err = read_to_the_end(process)
    assert (process.returncode, out) == (code, ""), err
    assert err == ""


@pytest.mark.parametrize("number", SIGNALS)
def test_a_signal_cuts_the_end_of_the_session_short_and_keeps_the_answer(number: signal.Signals, folder: Path) -> None:
    code, word = SIGNALS[number]
    with started(run_words(folder, ANSWER, "-p", "house.slow_end", "go"), folder) as process:
        read_until(process, "still at it")
        process.send_signal(number)
        out, err = read_to_the_end(process)
    assert (process.returncode, out) == (code, "All is well.\n"), err
    assert err.startswith(f"hookagent: {word}")
    assert "Traceback" not in err


# One more may come when the command has ended, and the interpreter that ran it has not.
LEFT = (130, -signal.SIGINT)


def leave_by_signals(process: subprocess.Popen[str]) -> None:
    """Press Ctrl-C again and again, which the caller's watchdog bounds."""
    while process.poll() is None:
        process.send_signal(signal.SIGINT)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(0.1)


@pytest.mark.parametrize("options", [(), ("--json",)])
def test_signals_end_a_run_whose_answer_nobody_reads(options: Sequence[str], folder: Path) -> None:
    with started(run_words(folder, f"- {'x' * 1_000_000}\n", *options, "go"), folder) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        # More than what is written before the answer, so that the rest of the answer now waits for a reader.
        process.stdout.read(100_000)
        leave_by_signals(process)
        err = process.stderr.read()
    assert process.returncode in LEFT, err
    assert "internal error" not in err


def test_signals_end_a_run_whose_standard_error_nobody_reads(folder: Path) -> None:
    script = f"- calls: [{{name: shout}}]\n{ANSWER}"
    with started(run_words(folder, script, "go", tool="shout"), folder) as process:
        assert process.stderr is not None
        process.stderr.read(100_000)
        leave_by_signals(process)
        err = process.stderr.read()
    assert process.returncode in LEFT
    assert "internal error" not in err
