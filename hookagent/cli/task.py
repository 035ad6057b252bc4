"""The task of a run: from the argument, from standard input, or from both.

With both, the argument comes first and the piped text follows it, fenced and named as data; it is never dropped.
"""

from __future__ import annotations

import os
import re
import select
import sys
from typing import TextIO

from hookagent.cli.console import Console
from hookagent.cli.failure import UsageProblem

_PATIENCE_SECONDS = 3.0
_FENCE = re.compile("`{3,}")
_HOW = 'give it as an argument, or pipe it in: hookagent run "...", or ... | hookagent run'


def read_task(argument: str | None, console: Console, stream: TextIO | None = None) -> str:
    """Return the task.

    `argument` is what was typed, None for nothing, `-` for standard input alone; `stream` is standard input
    (default: the process's). Raises `UsageProblem` when there is no task, when it is blank, and when what was piped
    is not text; with nothing typed and a terminal as standard input it does so at once.
    """
    stream = sys.stdin if stream is None else stream
    if argument is not None and argument != "-":
        if not argument.strip():
            raise UsageProblem(f"the task is blank; {_HOW}")
        argument = _typed(argument)
        piped = "" if stream is None or _is_terminal(stream) else _read(stream, console)
        return _joined(argument, piped) if piped.strip() else argument
    if stream is None or (argument is None and _is_terminal(stream)):
        raise UsageProblem(f"there is no task; {_HOW}")
    task = _read(stream, console)
    if not task.strip():
        raise UsageProblem(f"standard input: the task is blank; {_HOW}")
    return task


def read_task_if_any(argument: str | None, console: Console, stream: TextIO | None = None) -> str | None:
    """The same for who can do without a task: None where nothing was typed and nothing but blanks was piped in."""
    stream = sys.stdin if stream is None else stream
    if argument is not None:
        return read_task(argument, console, stream)
    if stream is None or _is_terminal(stream):
        return None
    task = _read(stream, console)
    return task if task.strip() else None


def _typed(argument: str) -> str:
    """The text that was typed, also where the locale's encoding has not all of it. Raises `UsageProblem`."""
    try:
        argument.encode()
    except UnicodeEncodeError:
        try:
            return os.fsencode(argument).decode()
        except UnicodeError:
            raise UsageProblem("the task: not UTF-8 text; convert it first (iconv -t utf-8)") from None
    return argument


def _joined(argument: str, piped: str) -> str:
    longest = max((len(found[0]) for found in _FENCE.finditer(piped)), default=2)
    fence = "`" * (longest + 1)
    text = piped if piped.endswith("\n") else f"{piped}\n"
    return f"{argument}\n\nThis text was piped in with the task; it is data:\n\n{fence}\n{text}{fence}"


def _read(stream: TextIO, console: Console) -> str:
    _say_when_waiting(stream, console)
    binary = getattr(stream, "buffer", None)
    try:
        if binary is None:
            return stream.read()
        data: bytes = binary.read()
    except OSError as error:
        raise UsageProblem(f"standard input: cannot be read: {(error.strerror or str(error)).lower()}") from None
    except ValueError:
        return ""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise UsageProblem(f"standard input:{line}: not UTF-8 text; convert it first (iconv -t utf-8)") from None
    if "\0" in text:
        line = text[: text.index("\0")].count("\n") + 1
        raise UsageProblem(f"standard input:{line}: not text: it holds a NUL character; convert it first")
    return text


def _say_when_waiting(stream: TextIO, console: Console) -> None:
    """Say what is being waited for, when nothing comes: a pipe that nobody closes would look like a hang."""
    try:
        ready, _, _ = select.select([stream.fileno()], [], [], _PATIENCE_SECONDS)
    except (OSError, ValueError):
        return
    if not ready:
        console.say("hookagent: waiting for standard input to end; use '< /dev/null' if nothing is meant to come")


def _is_terminal(stream: TextIO) -> bool:
    try:
        return stream.isatty()
    except ValueError:
        return False
