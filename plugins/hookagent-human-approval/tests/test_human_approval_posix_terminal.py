from __future__ import annotations

import asyncio
import sys
import threading
import tty
from pathlib import Path
from typing import Any

import pytest

from hookagent import pass_interrupt
from hookagent_human_approval import posix_terminal
from hookagent_human_approval.posix_terminal import PosixTerminal, open_controlling_terminal

Person = Any
PATIENCE_SECONDS = 60  # only ever used up by a test that fails


@pytest.fixture
def person(at_terminal: Person) -> Person:
    return at_terminal


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


def test_a_terminal_that_hangs_up_is_end_of_file(person: Person) -> None:
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
    with pytest.raises(OSError, match=r"^\$EDITOR: '.*' ended with exit code 1, as for giving up$"):
        asyncio.run(terminal.edit('{"n": 1}'))
    monkeypatch.setenv("EDITOR", "no-such-editor-anywhere")
    with pytest.raises(OSError, match=r"^\$EDITOR: 'no-such-editor-anywhere' cannot be started: no such file"):
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


def test_an_interrupt_that_comes_as_a_key_is_a_no(person: Person) -> None:
    tty.setraw(person.terminal)

    async def main() -> str | None:
        return await answered(PosixTerminal(person.path), person, "sure?", "y\x03")

    assert asyncio.run(main()) is None


def test_an_interrupt_just_after_the_answer_hurts_nobody(person: Person) -> None:
    async def main() -> str | None:
        question = asyncio.ensure_future(PosixTerminal(person.path).ask("sure?"))
        await asyncio.to_thread(person.waits_for, "sure?")
        person.types("y\n")
        while not question.done():
            pass_interrupt()
            await asyncio.sleep(0)
        return await question

    assert asyncio.run(main()) in ("y", None)
