from __future__ import annotations

import asyncio
import os
import pty
import select
import subprocess
import sys
import textwrap
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from hookagent_human_approval import posix_terminal
from hookagent_human_approval.posix_terminal import PosixTerminal, open_controlling_terminal

PATIENCE_SECONDS = 60  # only ever used up by a test that fails


class Person:
    """The other end of a terminal: reads what is shown, types what is answered."""

    def __init__(self) -> None:
        self.end, self.terminal = pty.openpty()
        self.path = os.ttyname(self.terminal)
        self.seen = ""

    def types(self, text: str) -> None:
        os.write(self.end, text.encode())

    def waits_for(self, text: str) -> str:
        """Read until `text` is on the screen; return all since the last time."""
        seen = ""
        while text not in seen:
            ready, _, _ = select.select([self.end], [], [], PATIENCE_SECONDS)
            assert ready, f"not shown: {text!r}; shown: {seen!r}"
            seen += os.read(self.end, 65_536).decode()
        self.seen += seen
        return seen

    def close(self) -> None:
        for descriptor in (self.end, self.terminal):
            os.close(descriptor)


@pytest.fixture
def person() -> Iterator[Person]:
    made = Person()
    yield made
    made.close()


async def answered(terminal: PosixTerminal, person: Person, prompt: str, typed: str) -> str | None:
    """Ask, and type only when the question is to be seen."""
    question = asyncio.ensure_future(terminal.ask(prompt))
    await asyncio.to_thread(person.waits_for, prompt)
    person.types(typed)
    return await asyncio.wait_for(question, PATIENCE_SECONDS)


def readers() -> int:
    return sum(thread.name == "hookagent-human-approval" for thread in threading.enumerate())


def test_a_line_is_read_whole_and_end_of_file_is_none(person: Person) -> None:
    terminal = PosixTerminal(person.path)

    async def main() -> list[str | None]:
        typed_lines = ["yes\n", "ü\n", "\n"]
        said = [await answered(terminal, person, f"q{number}?", typed) for number, typed in enumerate(typed_lines)]
        said.append(await answered(terminal, person, "end?", "\x04"))
        said.append(await answered(terminal, person, "half?", "y\x04\x04"))
        said.append(await answered(terminal, person, "again?", "n\n"))
        return said

    assert asyncio.run(main()) == ["yes", "ü", "", None, None, "n"]


def test_end_of_file_ends_the_line_of_the_question(person: Person) -> None:
    terminal = PosixTerminal(person.path)

    async def main() -> None:
        await answered(terminal, person, "end?", "\x04")
        await answered(terminal, person, "again?", "n\n")

    asyncio.run(main())
    assert "\r\nagain?" in person.seen


@pytest.mark.parametrize("typed", ["y\n", "y\ny\n", "y"])
def test_what_was_typed_before_the_question_is_no_answer(person: Person, typed: str) -> None:
    terminal = PosixTerminal(person.path)
    for number in range(10):
        person.types(typed)
        person.waits_for(typed[-2:].strip())
        assert asyncio.run(answered(terminal, person, f"{number}?", "n\n")) == "n"


def test_a_question_that_is_given_up_ends_at_once_and_leaves_no_reader(person: Person) -> None:
    terminal = PosixTerminal(person.path)

    async def main() -> str | None:
        for number in range(20):
            question = asyncio.ensure_future(terminal.ask(f"{number}?"))
            await asyncio.to_thread(person.waits_for, f"{number}?")
            question.cancel()
            with pytest.raises(asyncio.CancelledError):
                await question
        return await answered(terminal, person, "last?", "first line\n")

    assert asyncio.run(main()) == "first line"
    for thread in threading.enumerate():
        if thread.name == "hookagent-human-approval":
            thread.join(PATIENCE_SECONDS)
    assert readers() == 0


def test_a_paused_terminal_blocks_neither_the_loop_nor_giving_up(person: Person) -> None:
    terminal = PosixTerminal(person.path)

    async def main() -> None:
        question = asyncio.ensure_future(terminal.ask("x" * 1_000_000))  # more than a terminal takes unread
        await asyncio.to_thread(person.waits_for, "xxx")
        question.cancel()
        with pytest.raises(asyncio.CancelledError):
            await question

    asyncio.run(asyncio.wait_for(main(), PATIENCE_SECONDS))


def test_a_terminal_that_is_gone_is_end_of_file(tmp_path: Path) -> None:
    assert asyncio.run(PosixTerminal(str(tmp_path / "gone")).ask("?")) is None
    (tmp_path / "file").write_text("y\n")
    assert asyncio.run(PosixTerminal(str(tmp_path / "file")).ask("?")) is None  # a file is no terminal
    assert (tmp_path / "file").read_text() == "y\n"


def test_a_terminal_that_hangs_up_is_end_of_file() -> None:
    person = Person()
    terminal = PosixTerminal(person.path)

    async def main() -> str | None:
        question = asyncio.ensure_future(terminal.ask("there?"))
        await asyncio.to_thread(person.waits_for, "there?")
        person.close()
        return await asyncio.wait_for(question, PATIENCE_SECONDS)

    assert asyncio.run(main()) is None


def test_an_answer_that_comes_when_the_loop_is_closed_hurts_nobody(
    person: Person, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("CRITICAL", "asyncio")  # the loop is closed over a question on purpose
    loop = asyncio.new_event_loop()
    question = loop.create_task(PosixTerminal(person.path).ask("there?"))
    loop.run_until_complete(asyncio.wait_for(loop.run_in_executor(None, person.waits_for, "there?"), PATIENCE_SECONDS))
    loop.run_until_complete(loop.shutdown_default_executor())
    loop.close()
    person.types("y\n")
    for thread in threading.enumerate():
        if thread.name == "hookagent-human-approval":
            thread.join(PATIENCE_SECONDS)
    assert readers() == 0
    assert not question.done()


def test_the_editor_is_the_persons_own(person: Person, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    editor = tmp_path / "an editor.py"
    editor.write_text(
        "import pathlib, sys\n"
        "file = pathlib.Path(sys.argv[-1])\n"
        "assert sys.stdin.isatty() and sys.stdout.isatty()\n"
        "assert file.stat().st_mode & 0o077 == 0 or file.parent.stat().st_mode & 0o077 == 0\n"
        "file.write_text(file.read_text().replace('1', '2'))\n"
        "sys.exit(int(sys.argv[1]))\n"
    )
    terminal = PosixTerminal(person.path)
    monkeypatch.setenv("EDITOR", f"'{sys.executable}' '{editor}' 0")
    assert asyncio.run(terminal.edit('{"n": 1}')) == '{"n": 2}\n'
    monkeypatch.setenv("EDITOR", f"'{sys.executable}' '{editor}' 1")
    assert asyncio.run(terminal.edit('{"n": 1}')) is None
    monkeypatch.setenv("EDITOR", "no-such-editor-anywhere")
    with pytest.raises(OSError, match="no-such-editor-anywhere"):
        asyncio.run(terminal.edit("{}"))
    monkeypatch.setenv("EDITOR", "'")
    with pytest.raises(OSError, match="EDITOR is not a command line"):
        asyncio.run(terminal.edit("{}"))


def test_without_an_editor_a_line_is_asked_for(person: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("EDITOR", raising=False)
    terminal = PosixTerminal(person.path)

    async def main() -> str | None:
        question = asyncio.ensure_future(terminal.edit("{}"))
        await asyncio.to_thread(person.waits_for, "one line of JSON")
        person.types('{"a": 1}\n')
        return await asyncio.wait_for(question, PATIENCE_SECONDS)

    assert asyncio.run(main()) == '{"a": 1}'


def test_an_editor_is_ended_with_its_question(person: Person, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    editor = tmp_path / "editor.py"
    editor.write_text("print('editing', flush=True)\nimport signal\nsignal.pause()\n")
    monkeypatch.setenv("EDITOR", f"'{sys.executable}' '{editor}'")

    async def main() -> None:
        editing = asyncio.ensure_future(PosixTerminal(person.path).edit("{}"))
        await asyncio.to_thread(person.waits_for, "editing")
        editing.cancel()
        with pytest.raises(asyncio.CancelledError):
            await editing

    asyncio.run(asyncio.wait_for(main(), PATIENCE_SECONDS))


def test_a_process_without_a_terminal_has_none(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, person: Person) -> None:
    monkeypatch.setattr(posix_terminal, "CONTROLLING_TERMINAL", str(tmp_path / "none"))
    assert open_controlling_terminal() is None
    # A terminal that is not this process's own: its foreground is somebody else's.
    monkeypatch.setattr(posix_terminal, "CONTROLLING_TERMINAL", person.path)
    assert open_controlling_terminal() is None


# ---- a whole process at a terminal of its own ----

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


def start(person: Person | None) -> subprocess.Popen[str]:
    """Start the program in a session of its own, with answers piped in that must not count."""
    arguments = [] if person is None else [str(person.terminal)]
    descriptors = () if person is None else (person.terminal,)
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        pass_fds=descriptors,
        start_new_session=True,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)},
    )
    assert process.stdin is not None
    process.stdin.write("y\ny\ny\n")
    process.stdin.flush()
    return process


def test_a_person_at_the_terminal_answers_yes_and_no(person: Person) -> None:
    person.types("y\ny\ny\n")  # typed ahead
    process = start(person)
    screen = person.waits_for("[1 of 3] write: run it?")
    person.types("y\n")
    screen += person.waits_for("[2 of 3] write: run it?")
    person.types("n\n")
    screen += person.waits_for("[3 of 3] write: run it?")
    person.types("\n")
    output, errors = process.communicate(timeout=PATIENCE_SECONDS)
    assert errors == ""
    assert output.splitlines() == ["ran one", "completed"]
    assert "\x1b" not in screen
    assert r"three\u001b[2K" in screen


def test_piped_answers_are_not_a_persons() -> None:
    output, errors = start(None).communicate(timeout=PATIENCE_SECONDS)
    assert (output.splitlines(), errors) == (["refused"], "")


def test_an_interrupt_at_the_question_runs_nothing(person: Person) -> None:
    process = start(person)
    person.waits_for("[1 of 3] write: run it?")
    person.types("\x03")
    output, _ = process.communicate(timeout=PATIENCE_SECONDS)
    assert "ran" not in output
    assert process.returncode != 0
