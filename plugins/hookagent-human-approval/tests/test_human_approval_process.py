"""A whole process at a terminal of its own: who answers, and what Ctrl-C means there."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

Person = Any
PATIENCE_SECONDS = 60  # only ever used up by a test that fails

PROGRAM = textwrap.dedent("""
    import fcntl, sys, termios
    from hookagent import Agent, tool
    from hookagent.testing import ScriptedProvider
    from hookagent_human_approval import HumanApproval

    @tool(effect="writes")
    def write(path: str) -> str:
        "Write."
        print(f"ran {path}", flush=True)
        return "written"

    if len(sys.argv) > 1:
        fcntl.ioctl(int(sys.argv[1]), termios.TIOCSCTTY, 0)
    calls = [{"name": "write", "arguments": {"path": path}} for path in ("one", "two", "three\\x1b[2K")]
    agent = Agent("test", tools=[write], model=ScriptedProvider([{"calls": calls}, "end"]), plugins=[HumanApproval()])
    print(agent.run_sync("go").status, flush=True)
""")


def start(at_terminal: Person | None, **variables: str) -> subprocess.Popen[str]:
    """Start the program in a session of its own, with answers piped in that must not count."""
    arguments = [] if at_terminal is None else [str(at_terminal.terminal)]
    descriptors = () if at_terminal is None else (at_terminal.terminal,)
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        pass_fds=descriptors,
        start_new_session=True,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path), **variables},
    )
    assert process.stdin is not None
    process.stdin.write("y\ny\ny\n")
    process.stdin.flush()
    return process


def test_a_person_at_the_terminal_answers_yes_and_no(at_terminal: Person) -> None:
    at_terminal.types("y\ny\ny\n")  # typed ahead
    process = start(at_terminal)
    screen = at_terminal.waits_for("[1 of 3] write: run it?")
    at_terminal.types("y\n")
    screen += at_terminal.waits_for("[2 of 3] write: run it?")
    at_terminal.types("n\n")
    screen += at_terminal.waits_for("[3 of 3] write: run it?")
    at_terminal.types("\n")
    output, errors = process.communicate(timeout=PATIENCE_SECONDS)
    assert errors == ""
    assert output.splitlines() == ["ran one", "completed"]
    assert "\x1b" not in screen
    assert r"three\u001b[2K" in screen


def test_piped_answers_are_not_a_persons() -> None:
    output, errors = start(None).communicate(timeout=PATIENCE_SECONDS)
    assert (output.splitlines(), errors) == (["refused"], "")


def test_an_interrupt_at_the_question_is_a_no_to_it_and_nothing_else(at_terminal: Person) -> None:
    process = start(at_terminal)
    at_terminal.waits_for("[1 of 3] write: run it?")
    at_terminal.types("y\x03")  # what was begun is no answer
    at_terminal.waits_for("\n[2 of 3] write: run it?")
    at_terminal.types("y\n")
    at_terminal.waits_for("[3 of 3] write: run it?")
    at_terminal.types("r\n")
    at_terminal.waits_for("the reason:")
    at_terminal.types("\x03")
    output, errors = process.communicate(timeout=PATIENCE_SECONDS)
    assert errors == ""
    assert output.splitlines() == ["ran two", "completed"]
    assert process.returncode == 0


def test_sigterm_at_the_question_ends_the_process(at_terminal: Person) -> None:
    process = start(at_terminal)
    at_terminal.waits_for("[1 of 3] write: run it?")
    process.send_signal(signal.SIGTERM)
    output, _ = process.communicate(timeout=PATIENCE_SECONDS)
    assert (output, process.returncode) == ("", -signal.SIGTERM)


def test_an_interrupt_in_the_editor_is_the_editors(at_terminal: Person, tmp_path: Path) -> None:
    editor = tmp_path / "editor.py"
    editor.write_text(
        "import pathlib, signal, sys\n"
        "signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})\n"
        "print('editing', flush=True)\n"
        "signal.sigwait({signal.SIGINT})\n"
        "print('told', flush=True)\n"
        "file = pathlib.Path(sys.argv[-1])\n"
        "file.write_text(file.read_text().replace('one', 'edited'))\n"
    )
    process = start(at_terminal, EDITOR=f"'{sys.executable}' '{editor}'")
    at_terminal.waits_for("[1 of 3] write: run it?")
    at_terminal.types("e\n")
    at_terminal.waits_for("editing")
    at_terminal.types("\x03")
    for number in (1, 2, 3):
        at_terminal.waits_for(f"[{number} of 3] write: run it?")
        at_terminal.types("y\n")
    output, errors = process.communicate(timeout=PATIENCE_SECONDS)
    assert errors == ""
    assert output.splitlines()[-1] == "completed"
    assert "told" in at_terminal.seen
    assert "ran edited" in output
