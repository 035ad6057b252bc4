"""The terminal of a POSIX system. Each question has a daemon thread, and a thread never outlives its question.

The thread waits for a line and for the end of its question at once (it polls the terminal and a pipe that the asker
closes), and reads only when a line is there. So a question that was given up leaves no reader behind that could
take the next one's answer, and nothing of it blocks the event loop: not the reading, not a terminal that is paused.

The terminal keeps its modes, so that not even a process that is killed leaves it in others. Ctrl-C is therefore a
signal and no key; while a question is open it is taken as the answer to it, and comes through the same pipe.
"""

from __future__ import annotations

import asyncio
import contextlib
import locale
import os
import select
import shlex
import subprocess
import tempfile
import termios
import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TypeVar

from hookagent import take_interrupts

CONTROLLING_TERMINAL = "/dev/tty"
_DEFAULT_WIDTH = 80
_FLAGS = os.O_RDWR | os.O_NOCTTY
_LONGEST_LINE = 1_000_000
_LOOK_AGAIN_SECONDS = 0.05
_CTRL_C = b"\x03"
_T = TypeVar("_T")


def open_controlling_terminal() -> PosixTerminal | None:
    """Return this process's terminal; None when it has none, or is in the background of it."""
    try:
        descriptor = os.open(CONTROLLING_TERMINAL, _FLAGS)
    except OSError:
        return None
    try:
        if os.tcgetpgrp(descriptor) != os.getpgrp():
            return None
        width = os.get_terminal_size(descriptor).columns or _DEFAULT_WIDTH
    except OSError:
        return None
    finally:
        os.close(descriptor)
    return PosixTerminal(CONTROLLING_TERMINAL, width)


class PosixTerminal:
    """The terminal at `path`, `width` columns wide."""

    def __init__(self, path: str, width: int = _DEFAULT_WIDTH) -> None:
        self._path = path
        self.width = width

    async def ask(self, text: str) -> str | None:
        """See `Terminal.ask`. Ctrl-C is the end of file, and so is a terminal that is gone."""
        return await _in_thread(lambda given_up: _converse(self._path, text, given_up), told_of_ctrl_c=True)

    async def edit(self, text: str) -> str | None:
        """Open `text` in $EDITOR, or without one ask for a line. See `Terminal.edit`."""
        try:
            command = shlex.split(os.environ.get("EDITOR", ""))
        except ValueError as error:
            raise OSError(f"$EDITOR is not a command line: {error}") from None
        if not command:
            return await self.ask("  new arguments, as one line of JSON ($EDITOR is not set): ")
        with tempfile.TemporaryDirectory(prefix="hookagent-") as folder:
            file = Path(folder, "arguments.json")
            file.write_text(text + "\n", encoding="utf-8")
            command.append(str(file))
            # Ctrl-C is for the editor, which the terminal tells of it by itself.
            with take_interrupts(lambda: None):
                code = await _in_thread(lambda given_up: _run_editor(self._path, command, given_up))
            if code != 0:
                how = f"exit code {code}" if code > 0 else f"signal {-code}"
                raise OSError(f"$EDITOR: '{command[0]}' ended with {how}, as for giving up")
            return file.read_text(encoding="utf-8-sig", errors="replace")


async def _in_thread(job: Callable[[int], _T], *, told_of_ctrl_c: bool = False) -> _T:
    """Run `job` in a daemon thread. It is given a descriptor that becomes readable when nobody waits any more.

    With `told_of_ctrl_c`, Ctrl-C is to be read from it too, and does nothing else meanwhile.
    """
    loop = asyncio.get_running_loop()
    future: asyncio.Future[_T] = loop.create_future()
    given_up, waiting = os.pipe()

    def tell() -> None:
        if not future.done():
            with contextlib.suppress(OSError):  # the thread has just ended
                os.write(waiting, _CTRL_C)

    def interrupted() -> None:
        with contextlib.suppress(RuntimeError):  # the loop is closed
            loop.call_soon_threadsafe(tell)

    def end(deliver: Callable[[], None]) -> None:
        if not future.done():
            deliver()

    def work() -> None:
        try:
            value = job(given_up)
            deliver = partial(future.set_result, value)
        except Exception as error:
            deliver = partial(future.set_exception, error)
        finally:
            os.close(given_up)
        with contextlib.suppress(RuntimeError):  # the loop is closed, and so is the question
            loop.call_soon_threadsafe(end, deliver)

    thread = threading.Thread(target=work, name="hookagent-human-approval", daemon=True)
    try:
        # Before there is anything to be seen that somebody could answer.
        with take_interrupts(interrupted) if told_of_ctrl_c else contextlib.nullcontext():
            thread.start()
            return await future
    finally:
        os.close(waiting)


def _converse(path: str, text: str, given_up: int) -> str | None:
    encoding = locale.getencoding()
    try:
        descriptor = os.open(path, _FLAGS | os.O_NONBLOCK)
    except OSError:
        return None
    try:
        # What was typed before the question was to be seen is no answer to it.
        termios.tcflush(descriptor, termios.TCIFLUSH)
        if not _write(descriptor, text.encode(encoding, "backslashreplace"), given_up):
            return None
        line = _read_line(descriptor, given_up)
        return None if line is None else line.decode(encoding, "replace")
    except (OSError, termios.error):
        return None  # the terminal is gone
    finally:
        os.close(descriptor)


def _ready(reading: list[int], writing: list[int] | None = None, seconds: float | None = None) -> set[int]:
    """Wait for one of the descriptors; with `poll`, since `select` fails for those above 1,023."""
    poller = select.poll()
    for descriptor in reading:
        poller.register(descriptor, select.POLLIN)
    for descriptor in writing or ():
        poller.register(descriptor, select.POLLOUT)
    return {descriptor for descriptor, _ in poller.poll(None if seconds is None else seconds * 1000.0)}


def _write(descriptor: int, data: bytes, given_up: int) -> bool:
    while data:
        if given_up in _ready([given_up], [descriptor]):
            return False
        with contextlib.suppress(BlockingIOError):
            data = data[os.write(descriptor, data) :]
    return True


def _read_line(descriptor: int, given_up: int) -> bytes | None:
    line = b""
    while len(line) <= _LONGEST_LINE:
        if given_up in _ready([given_up, descriptor]):
            if os.read(given_up, 1):  # Ctrl-C, and the terminal has shown it behind the question
                _write(descriptor, b"\n", given_up)
            return None
        try:
            piece = os.read(descriptor, 65_536)
        except BlockingIOError:
            continue
        if not piece:
            # End of file leaves the cursor behind the question, where the next output would join it.
            _write(descriptor, b"\n", given_up)
            return None
        line += piece
        if _CTRL_C in line:  # where the terminal makes no signal of it
            _write(descriptor, b"\n", given_up)
            return None
        for end in (b"\n", b"\r"):  # a terminal in raw mode sends the key itself
            if end in line:
                return line.partition(end)[0]
    return None


def _run_editor(path: str, command: list[str], given_up: int) -> int:
    """Run an editor at the terminal and return its exit code; it is ended when the question is given up."""
    terminal = os.open(path, _FLAGS)
    try:
        process = subprocess.Popen(command, stdin=terminal, stdout=terminal, stderr=terminal)
    except OSError as error:
        raise OSError(f"$EDITOR: '{command[0]}' cannot be started: {(error.strerror or str(error)).lower()}") from None
    finally:
        os.close(terminal)
    while process.poll() is None:
        if given_up in _ready([given_up], seconds=_LOOK_AGAIN_SECONDS):
            process.terminate()
            break
    return process.wait()
