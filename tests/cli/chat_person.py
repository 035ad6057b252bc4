"""A person at a chat: at a real terminal with the real command, or at an editor without one."""

from __future__ import annotations

import asyncio
import fcntl
import io
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from hookagent import Agent
from hookagent.cli.chat.conversation import Conversation, Wishes
from hookagent.cli.chat.history import History
from hookagent.cli.chat.view import View
from hookagent.cli.console import Console
from hookagent.providers import ScriptedProvider

PATIENCE_SECONDS = 30.0  # only ever used up by a test that fails
_ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b[=>]|\x1b\][^\x07]*\x07")
# The child makes the terminal its own, so that /dev/tty and Ctrl-C mean this one.
_START = (
    "import fcntl, sys, termios\nfcntl.ioctl(0, termios.TIOCSCTTY, 0)\nfrom hookagent.cli import main\nsys.exit(main())"
)


class Person:
    """Sits at a terminal in which `hookagent chat` (or another command) runs with `words`, in `folder`."""

    def __init__(self, folder: Path, *words: str, command: str = "chat", **variables: str) -> None:
        self._end, terminal = pty.openpty()
        fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 100, 0, 0))
        environment = {name: value for name, value in os.environ.items() if not name.endswith("_API_KEY")}
        environment |= {
            "PYTHONPATH": os.pathsep.join(path for path in sys.path if path),
            "HOOKAGENT_HOME": str(folder / "home"),
            "TERM": "xterm",
            # Nobody answers where the cursor is.
            "PROMPT_TOOLKIT_NO_CPR": "1",
            **variables,
        }
        self._process = subprocess.Popen(
            [sys.executable, "-c", _START, command, *words],
            cwd=folder,
            env=environment,
            stdin=terminal,
            stdout=terminal,
            stderr=terminal,
            start_new_session=True,
        )
        os.close(terminal)
        self._seen = ""
        self.all_seen = ""

    def types(self, text: str) -> None:
        """Type."""
        os.write(self._end, text.encode())

    def kills(self, number: int) -> None:
        """Send a signal to the command."""
        self._process.send_signal(number)

    def sees(self, text: str) -> None:
        """Wait until `text` was shown, and forget what was shown up to there."""
        while text not in self._seen:
            assert self._waits(), f"not shown: {text!r}; shown: {self._seen!r}"
            assert self._read(), f"not shown before the end: {text!r}; shown: {self._seen!r}"
        self._seen = self._seen.partition(text)[2]

    def leaves(self) -> int:
        """Wait for the end of the command; give its exit code."""
        while self._waits() and self._read():
            pass
        return self._process.wait(timeout=PATIENCE_SECONDS)

    def close(self) -> None:
        """Go away, whatever still runs."""
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGKILL)
            self._process.wait()
        os.close(self._end)

    def _waits(self) -> bool:
        return bool(select.select([self._end], [], [], PATIENCE_SECONDS)[0])

    def _read(self) -> bool:
        try:
            piece = os.read(self._end, 65_536)
        except OSError:
            # How Linux says that nobody has the other side open any more.
            return False
        text = _ESCAPES.sub("", piece.decode(errors="replace"))
        self._seen += text
        self.all_seen += text
        return bool(piece)


class _Unseen(io.StringIO):
    def isatty(self) -> bool:
        return True


def conversation_with(
    replies: list[Any], folder: Path, *, console: Console | None = None, **options: Any
) -> tuple[Conversation, History]:
    """A conversation with a scripted agent; without a `console` of its own, at a terminal that nobody sees."""
    agent = Agent(model=ScriptedProvider(replies), log=False, quiet=True, **options)
    console = console or Console(_Unseen(), _Unseen(), {})
    view = View(console, live=True, calls=True)
    return Conversation(console, agent, view, Wishes(quiet=True)), History(folder, console.mask)


async def until(condition: Callable[[], object]) -> None:
    """Let others go on until something is so."""
    async with asyncio.timeout(PATIENCE_SECONDS):
        while not condition():
            await asyncio.sleep(0)


@asynccontextmanager
async def editing(
    conversation: Conversation, history: History, leave: Callable[[int], object] | None = None
) -> AsyncIterator[Any]:
    """A chat behind an editor without a terminal: gives somebody who `types`, and `shown`, `task`, `editor`."""
    from prompt_toolkit.input import create_pipe_input
    from prompt_toolkit.output import DummyOutput

    from hookagent.cli.chat.editor_mode import EditorChat

    class Shown(DummyOutput):
        text = ""

        def write(self, data: str) -> None:
            self.text += data

    class Typist:
        def __init__(self) -> None:
            self.output = Shown()
            self.chat = EditorChat(conversation, history, leave or (lambda code: None), input=pipe, output=self.output)
            self.task = asyncio.ensure_future(self.chat.run())

        @property
        def shown(self) -> str:
            return self.output.text

        @property
        def reads_keys(self) -> bool:
            editor = getattr(self.chat, "editor", None)
            return editor is not None and editor._session.app.is_running

        @property
        def line(self) -> str:
            return self.chat.editor.line

        def types(self, text: str) -> None:
            pipe.send_text(text)

        async def sees(self, text: str) -> None:
            await until(lambda: text in self.shown or self.task.done())
            assert text in self.shown

        async def leaves(self) -> int:
            async with asyncio.timeout(PATIENCE_SECONDS):
                return await self.task

    with create_pipe_input() as pipe:
        typist = Typist()
        try:
            # What is typed before the editor reads keys would be lost.
            await until(lambda: typist.reads_keys or typist.task.done())
            yield typist
        finally:
            typist.task.cancel()
            await asyncio.wait({typist.task})
