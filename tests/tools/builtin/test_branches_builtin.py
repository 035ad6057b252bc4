"""Built-in tools at their edges: what may not be read or written, what is too large, and commands that end half-way."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hookagent.testing import FakeClock
from hookagent.tools.builtin import reading as reading_module
from hookagent.tools.builtin import writing as writing_module
from hookagent.tools.builtin.confined import Root
from hookagent.tools.builtin.reading import ReadingTools
from hookagent.tools.builtin.shell import ShellTools
from hookagent.tools.builtin.writing import WritingTools


def refusing(function: Callable[..., Any], when: Callable[..., bool]) -> Callable[..., Any]:
    """The function of the system, but one that may not be used where `when` says so (the tests may run as root)."""

    def called(*arguments: Any, **named: Any) -> Any:
        if when(*arguments, **named):
            raise PermissionError(13, "Permission denied")
        return function(*arguments, **named)

    return called


def test_a_path_that_no_system_can_have_is_told(reading: ReadingTools) -> None:
    with pytest.raises(ValueError, match="the path cannot be resolved") as caught:
        reading.read_file("notes\udcff\ud83d.txt")
    assert not isinstance(caught.value, UnicodeError)


def test_a_file_that_may_not_be_read_is_told(
    root: Path, reading: ReadingTools, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "open", refusing(os.open, lambda name, *_, **__: name == "notes.txt"))
    with pytest.raises(PermissionError, match=r"^'notes\.txt' may not be read: permission denied by the system$"):
        reading.read_file("notes.txt")


def test_a_file_that_may_not_be_written_stays_as_it_is(
    root: Path, writing: WritingTools, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = sorted(os.listdir(root))
    monkeypatch.setattr(os, "access", lambda *_, **__: False)
    with pytest.raises(PermissionError, match=r"^'notes\.txt' may not be written: it is read-only$"):
        writing.write_file("notes.txt", "new")
    assert (root / "notes.txt").read_text() == "one two\nthree\n"
    assert sorted(os.listdir(root)) == before


def test_no_name_is_proposed_from_a_directory_that_may_not_be_listed(
    reading: ReadingTools, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(FileNotFoundError, match=r"did you mean 'notes\.txt'"):
        reading.read_file("note.txt")
    monkeypatch.setattr(os, "listdir", refusing(os.listdir, lambda *_: True))
    with pytest.raises(FileNotFoundError, match=r"^'note\.txt' does not exist$"):
        reading.read_file("note.txt")


def test_a_directory_that_may_not_be_listed_is_passed_over_below_the_one_that_was_named(
    root: Path, reading: ReadingTools, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "src/deep/b.py:1: needle = 'Hay'" in reading.search_text("needle")
    deep = os.stat(root / "src" / "deep").st_ino
    monkeypatch.setattr(os, "scandir", refusing(os.scandir, lambda at: os.fstat(at).st_ino == deep))
    assert reading.search_text("needle").startswith("(no match in 2 files)")
    with pytest.raises(PermissionError):
        reading.search_text("needle", "src/deep")


def test_what_is_too_large_is_neither_searched_nor_edited(root: Path, writing: WritingTools) -> None:
    with (root / "large.txt").open("wb") as stream:
        stream.truncate(max(reading_module._LARGEST_SEARCHED, writing_module._LARGEST_EDITED) + 1)
    found = ReadingTools(Root(root)).search_text("one", pattern="*.txt")
    assert found.splitlines() == [
        "notes.txt:1: one two",
        "[not searched, since too large, unreadable or not text: 1 file]",
    ]
    with pytest.raises(ValueError, match=r"^'large\.txt' is too large to edit \(20,000,001 bytes\)$"):
        writing.edit_file("large.txt", "one", "two")
    assert (root / "large.txt").stat().st_size == 20_000_001


def test_only_so_many_files_are_looked_at(root: Path, reading: ReadingTools, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading_module, "_MOST_FILES", 3)
    for number in range(5):
        (root / "src" / f"{number}.txt").write_text("needle")
    assert reading.search_text("needle", "src").splitlines() == [
        "src/0.txt:1: needle",
        "src/1.txt:1: needle",
        "src/2.txt:1: needle",
    ]


class Slowly:
    """Starts commands as asyncio does, but says so only once it is let go on."""

    def __init__(self, *, fails: bool = False) -> None:
        self.process: asyncio.subprocess.Process | None = None
        self.go_on = asyncio.Event()
        self.begun = asyncio.Event()
        self._start = asyncio.create_subprocess_shell
        self._fails = fails

    async def __call__(self, *arguments: Any, **options: Any) -> asyncio.subprocess.Process:
        if not self._fails:
            self.process = await self._start(*arguments, **options)
        self.begun.set()
        await self.go_on.wait()
        if self.process is None:
            raise OSError("no more processes")
        return self.process


async def cancelled_while_it_starts(directory: Path, slowly: Slowly, monkeypatch: pytest.MonkeyPatch) -> None:
    """Cancel a command that begins, and let its start go on only then."""
    monkeypatch.setattr(asyncio, "create_subprocess_shell", slowly)
    task = asyncio.create_task(ShellTools(Root(directory)).shell("sleep 600"))
    await slowly.begun.wait()
    task.cancel()
    await asyncio.sleep(0)
    slowly.go_on.set()
    with pytest.raises(asyncio.CancelledError):
        await task


def test_a_command_that_is_cancelled_while_it_starts_has_ended_before_the_cancellation_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def main() -> int | None:
        slowly = Slowly()
        await cancelled_while_it_starts(tmp_path, slowly, monkeypatch)
        assert slowly.process is not None
        return slowly.process.returncode

    assert asyncio.run(main()) == -signal.SIGKILL


def test_a_command_that_is_cancelled_and_then_cannot_be_started_is_cancelled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    killed: list[int] = []
    monkeypatch.setattr(os, "killpg", lambda group, _: killed.append(group))

    async def main() -> list[Any]:
        told: list[Any] = []
        asyncio.get_running_loop().set_exception_handler(lambda _, context: told.append(context))
        await cancelled_while_it_starts(tmp_path, Slowly(fails=True), monkeypatch)
        return told

    assert asyncio.run(main()) == []
    assert killed == []


def test_a_command_whose_time_runs_out_while_it_is_cancelled_is_cancelled(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "ready")
    clock = FakeClock()

    async def main() -> list[Any]:
        told: list[Any] = []
        asyncio.get_running_loop().set_exception_handler(lambda _, context: told.append(context))
        task = asyncio.create_task(ShellTools(Root(tmp_path), clock).shell("echo > ready; sleep 600", 5))
        await asyncio.to_thread((tmp_path / "ready").read_text)
        while not clock.waiting:
            await asyncio.sleep(0)
        task.cancel()
        clock.advance(5)
        with pytest.raises(asyncio.CancelledError):
            await task
        return told

    assert asyncio.run(main()) == []
    assert clock.waiting == 0
