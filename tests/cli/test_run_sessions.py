"""`hookagent run` with a session: going on, waiting calls, a killed process, two processes, nowhere to write."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.cli.test_cli_signals import start

SECOND = '- {text: "Two.", expect: "Two?"}\n'
WRITES = "- calls: [{name: write_file, arguments: {path: new.txt, content: hello}}]\n"
ENDLESS = """\
import asyncio
import sys

async def endless() -> str:
    '''Wait.'''
    with open("marks", "a") as file:
        file.write("ran\\n")
    print("started", file=sys.stderr, flush=True)
    await asyncio.Event().wait()
    return ""
"""
PLAIN = ["-t", "list_files", "-o", "plugins=[]"]


def session_of(command: Any, index: int = 0) -> dict[str, Any]:
    row: dict[str, Any] = json.loads(command("sessions", "list", "--json").out)[index]
    return row


@contextmanager
def in_the_middle_of_a_tool(folder: Path) -> Iterator[subprocess.Popen[str]]:
    """A process that runs a tool without end, and is killed as with `kill -9` at the end at the latest."""
    (folder / "own_tools.py").write_text(ENDLESS)
    (folder / "endless.yaml").write_text("- calls: [{name: endless}]\n- Never said.\n")
    words = ["-m", "scripted:endless.yaml", "-t", "own_tools:endless", "-o", "plugins=[]", "-p", "no:human-approval"]
    with start(folder, "run", *words, "Begin.") as process:
        assert process.stderr is not None
        lines: list[str] = []
        while lines[-1:] != ["started\n"]:
            lines.append(process.stderr.readline())
            assert lines[-1], lines
        try:
            yield process
        finally:
            process.kill()
            process.communicate()


def test_continue_takes_the_newest_session_of_the_directory_of_another_process(
    command: Any, script: Any, folder: Path
) -> None:
    (folder / "first.yaml").write_text("- One.\n")
    with start(folder, "run", "-m", "scripted:first.yaml", *PLAIN, "One?") as process:
        out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (0, "One.\n")
    session = err.rpartition(" session ")[2].strip()
    got = command("run", "-m", script(SECOND), *PLAIN, "--continue", "Two?")
    assert (got.code, got.out) == (0, "Two.\n")
    assert f"session {session} goes on: 1 turn so far\n" in got.err
    assert got.err.endswith(f"session {session}\n")
    (folder / "third.yaml").write_text("- Three.\n")
    with start(folder, "run", "-q", "-m", "scripted:third.yaml", *PLAIN, "--session", session[:7], "Three?") as process:
        assert process.communicate(timeout=60) == ("Three.\n", "")
    row = session_of(command)
    assert (row["id"], row["turns"], row["status"]) == (session, 3, "completed")


def test_continue_takes_the_one_that_was_worked_on_last_and_of_this_directory_only(
    command: Any, script: Any, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = json.loads(command("run", "--json", "-m", script("- One.\n"), *PLAIN, "x").out.splitlines()[-1])[
        "session_id"
    ]
    command("run", "-m", script("- Two.\n"), *PLAIN, "y")
    command("run", "-m", script("- Three.\n"), *PLAIN, "--session", first, "z")
    elsewhere = folder / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    command("run", "-m", "scripted:../replies.yaml", *PLAIN, "elsewhere")
    monkeypatch.chdir(folder)
    got = command("run", "-m", script("- Four.\n"), *PLAIN, "--continue", "z")
    assert f"session {first} goes on: 2 turns so far\n" in got.err


def test_what_cannot_be_gone_on_with_is_exit_2_and_says_what_to_do(
    command: Any, script: Any, folder: Path, home: Path
) -> None:
    words = ["run", "-m", script("- Yes.\n"), *PLAIN]
    assert command(*words, "--continue", "task") == (
        2,
        "",
        f"hookagent: error: --continue: there is no session of this working directory ({folder}); leave it out to "
        "begin one, or name another one with --session ('hookagent sessions list --all' shows all)\n",
    )
    assert not home.exists()
    assert command(*words, "x").code == 0
    session = session_of(command)["id"]
    assert command(*words, "--continue", "--session", session, "task") == (
        2,
        "",
        "hookagent: error: --continue and --session: they exclude each other; leave one out\n",
    )
    assert command(*words, "--session", "nope", "task") == (
        2,
        "",
        "hookagent: error: session 'nope': there is none; 'hookagent sessions list' shows those there are\n",
    )
    for stdin in (None, b"", b" \n"):
        got = command(*words, "--json", "--continue", stdin=stdin)
        assert got.code == 2
        assert got.err.splitlines()[-1] == (
            f"hookagent: error: session '{session}': ends with an answer, and nothing waits in it; give it a task, as "
            f'in: hookagent run --session {session} "..."'
        )
        assert json.loads(got.out.splitlines()[-1])["exit_code"] == 2
    assert session_of(command)["turns"] == 1


def test_a_session_that_was_taken_is_free_again_after_an_error_of_the_configuration(
    command: Any, script: Any, folder: Path
) -> None:
    model = script("- Yes.\n")
    assert command("run", "-m", model, *PLAIN, "x").code == 0
    (folder / "own_tools.py").write_text("def odd(x: 'complex') -> str:\n    'Odd.'\n    return ''\n")
    for words in (["-t", "own_tools:odd"], ["-t", "shell"], ["-t", "no_such"]):
        assert command("run", "-m", model, "-o", "plugins=[]", *words, "--continue", "y").code == 2
        assert command("run", "-m", model, *PLAIN, "--continue", "z").code == 0


def test_piped_text_is_the_task_of_a_session_that_goes_on(command: Any, script: Any) -> None:
    command("run", "-m", script("- One.\n"), *PLAIN, "One?")
    got = command("run", "-m", script(SECOND), *PLAIN, "--continue", stdin="Two?")
    assert (got.code, got.out) == (0, "Two.\n")


def test_a_failed_run_goes_on_without_a_task(command: Any, script: Any) -> None:
    failing = script("- {error: authentication, message: no key}\n")
    assert command("run", "-m", failing, *PLAIN, "One?").code == 1
    got = command("run", "-m", script("- {text: One., expect: 'One?'}\n"), *PLAIN, "--continue")
    assert (got.code, got.out) == (0, "One.\n")


@pytest.mark.parametrize("task", [[], ["And now?"]])
def test_a_waiting_session_puts_its_calls_to_whoever_answers_first(
    task: list[str], command: Any, script: Any, site: Any, folder: Path
) -> None:
    site.approval()
    words = ["-t", "write_file", "--ask", "wait"]
    assert command("run", "-m", script(WRITES), *words, "Write.").code == 4
    got = command("run", "-m", script("[]"), *words, "--continue", *task)
    assert (got.code, got.out) == (4, "")
    assert " goes on: 1 turn so far, 1 call waiting for an answer\n" in got.err
    assert session_of(command)["waiting"] == 1
    site.plugin(
        "clerk",
        "from hookagent import Approve, hookimpl\nclass Plugin:\n    @hookimpl\n"
        "    def resolve_suspended(self, pending):\n        return {one.call.id: Approve() for one in pending}\n",
    )
    # The first "And now?" was held behind the round, and came in with its result.
    model = script("- Written.\n")
    plugins = ["-o", "plugins=[clerk, human-approval]"]
    got = command("run", "-m", model, "-t", "write_file", *plugins, "--continue", *task)
    assert (got.code, got.out) == (0, "Written.\n")
    assert (folder / "new.txt").read_text() == "hello"
    row = session_of(command)
    assert (row["status"], row["waiting"]) == ("completed", 0)


def test_the_configuration_in_force_decides_and_what_an_absent_plugin_keeps_is_named(
    command: Any, script: Any, site: Any
) -> None:
    site.plugin(
        "keeper",
        "from hookagent import hookimpl\nclass Plugin:\n    @hookimpl\n    def on_complete(self, agent, session):\n"
        "        before = session.stored_state('keeper') or 0\n        agent.store_state('keeper', before + 1)\n"
        "        print('kept', before + 1)\n",
    )
    command("run", "-m", script("- One.\n"), "-p", "keeper", *PLAIN[:2], "One?")
    got = command("run", "-m", script("- Two.\n"), *PLAIN, "--continue", "Two?")
    session = session_of(command)["id"]
    told = f"hookagent: warning: session {session}: keeps the state of plugin 'keeper', which is not enabled\n"
    assert got.code == 0
    assert got.err.count(told) == 1
    got = command("run", "-q", "-m", script("- Three.\n"), *PLAIN, "--continue", "Three?")
    assert (got.out, got.err) == ("Three.\n", told)
    got = command("run", "-m", script("- Four.\n"), "-p", "keeper", *PLAIN[:2], "--continue", "Four?")
    assert "kept 2\n" in got.err


@pytest.mark.skipif(os.name == "nt", reason="processes are not killed like that there")
@pytest.mark.parametrize("task", [[], ["What became of it?"]])
def test_a_run_that_was_killed_in_a_tool_goes_on_and_the_tool_does_not_run_again(
    task: list[str], command: Any, script: Any, folder: Path
) -> None:
    with in_the_middle_of_a_tool(folder) as process:
        os.kill(process.pid, signal.SIGKILL)
        assert process.wait(timeout=60) == -9
    assert session_of(command)["status"] == "unfinished"
    assert command("sessions", "verify").code == 0
    words = ["-t", "own_tools:endless", "-o", "plugins=[]", "-p", "no:human-approval"]
    got = command("run", "-m", script("- It may have run.\n"), *words, "--continue", *task)
    assert (got.code, got.out) == (0, "It may have run.\n")
    told = "the tool 'endless' (call_1_1) was running when the process ended; it may have run, and is not run again"
    assert got.err.count(f"hookagent: warning: session {session_of(command)['id']}: {told}\n") == 1
    assert (folder / "marks").read_text() == "ran\n"
    row = session_of(command)
    assert (row["status"], row["turns"]) == ("completed", 2)
    messages = yaml.safe_load(command("sessions", "export", row["id"], "--format", "yaml").out)["messages"]
    (result,) = [message for message in messages if message["role"] == "tool"]
    assert (result["status"], result["text"]) == (
        "interrupted",
        "interrupted: the process ended while it ran; it may have run",
    )
    assert [message["text"] for message in messages if message["role"] == "user"] == ["Begin.", *task]


@pytest.mark.skipif(os.name == "nt", reason="processes are not killed like that there")
def test_a_session_that_another_process_works_on_is_left_alone(command: Any, script: Any, folder: Path) -> None:
    model = script("- Mine.\n")
    with in_the_middle_of_a_tool(folder) as process:
        row = session_of(command)
        session = row["id"]
        assert row["status"] == "unfinished"
        busy = f"hookagent: error: session '{session}': is in use by process {process.pid} on "
        advice = "wait until that ends, begin a new session, or fork this one\n"
        for words in (["--continue"], ["--session", session[:6]]):
            got = command("run", "-m", model, *PLAIN, *words, "Mine?")
            assert (got.code, got.out) == (2, "")
            assert got.err.startswith(busy)
            assert got.err.endswith(advice)
        got = command("sessions", "rm", "--yes", session)
        assert (got.code, got.err.startswith(busy)) == (2, True)
        forked = command("sessions", "fork", session).out.strip()
        got = command("run", "-m", model, *PLAIN, "--session", forked, "Mine?")
        assert (got.code, got.out) == (0, "Mine.\n")
        # The other one is not disturbed by all this, and ends in order.
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=60) == 143
    assert command("sessions", "verify").code == 0
    got = command("run", "-m", model, *PLAIN, "--session", session, "Mine?")
    assert (got.code, got.out) == (0, "Mine.\n")


def test_a_folder_that_cannot_be_written_is_said_and_the_run_goes_on(command: Any, script: Any, home: Path) -> None:
    home.write_text("a file where the folder should be")
    got = command("run", "-m", script("- calls: [{name: list_files}]\n- Yes.\n"), *PLAIN, "x")
    assert (got.code, got.out) == (0, "Yes.\n")
    warnings = [line for line in got.err.splitlines() if line.startswith("hookagent: warning: ")]
    (unsaved,) = warnings
    why = f"cannot be locked: {home}: a file stands where the folder should be"
    session = unsaved.split("'")[1]
    assert unsaved == (
        f"hookagent: warning: session '{session}': cannot be saved: {why}; the run goes on, and what is unsaved is "
        "tried again with each new record"
    )
    # At once, and not when the run has ended.
    assert got.err.index(unsaved) < got.err.index("iteration 1 of 10")
    assert home.read_text() == "a file where the folder should be"
    got = command("run", "-q", "-m", script("- Yes.\n"), *PLAIN, "x")
    assert (got.code, got.out) == (0, "Yes.\n")
    assert "cannot be saved" in got.err
    assert command("run", "-m", script("- Yes.\n"), *PLAIN, "--continue", "x").code == 2
