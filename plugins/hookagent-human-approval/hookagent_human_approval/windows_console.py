"""The console of Windows. A thread looks for keys until the line is whole or the question is given up."""

from __future__ import annotations

import asyncio
import contextlib
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

from hookagent import take_interrupts

_LOOK_AGAIN_SECONDS = 0.05
_DEFAULT_WIDTH = 80

if sys.platform == "win32":
    import msvcrt

    def open_console() -> WindowsConsole | None:
        """Return this process's console, or None when it has none."""
        try:
            with open("CONIN$", "rb"), open("CONOUT$", "wb"):
                return WindowsConsole()
        except OSError:
            return None

    class WindowsConsole:
        """The console, by its own names: standard input and output may be anything."""

        def __init__(self) -> None:
            self.width = shutil.get_terminal_size((_DEFAULT_WIDTH, 24)).columns

        async def ask(self, text: str) -> str | None:
            """See `Terminal.ask`."""
            loop = asyncio.get_running_loop()
            future: asyncio.Future[str | None] = loop.create_future()
            given_up = threading.Event()

            def deliver(line: str | None) -> None:
                if not future.done():
                    future.set_result(line)

            def interrupted() -> None:
                # Between two looks at the keys, Ctrl-C is a signal and no key.
                with contextlib.suppress(RuntimeError):
                    loop.call_soon_threadsafe(deliver, None)

            def work() -> None:
                line = _converse(text, given_up)
                with contextlib.suppress(RuntimeError):  # the loop is closed, and so is the question
                    loop.call_soon_threadsafe(deliver, line)

            thread = threading.Thread(target=work, name="hookagent-human-approval", daemon=True)
            try:
                with take_interrupts(interrupted):
                    thread.start()
                    return await future
            finally:
                given_up.set()

        async def edit(self, text: str) -> str | None:
            """See `Terminal.edit`."""
            editor = os.environ.get("EDITOR", "")
            if not editor:
                return await self.ask("  new arguments, as one line of JSON (%EDITOR% is not set): ")
            with tempfile.TemporaryDirectory(prefix="hookagent-") as folder:
                file = Path(folder, "arguments.json")
                file.write_text(text + "\n", encoding="utf-8")
                with open("CONIN$", "rb") as keys, open("CONOUT$", "wb") as screen:
                    command = [*shlex.split(editor, posix=False), str(file)]
                    process = subprocess.Popen(command, stdin=keys, stdout=screen, stderr=screen)
                    try:
                        # Ctrl-C is for the editor, which the console tells of it by itself.
                        with take_interrupts(lambda: None):
                            while process.poll() is None:
                                await asyncio.sleep(_LOOK_AGAIN_SECONDS)
                    except asyncio.CancelledError:
                        process.terminate()
                        raise
                if process.returncode != 0:
                    return None
                return file.read_text(encoding="utf-8-sig", errors="replace")

    def _converse(text: str, given_up: threading.Event) -> str | None:
        while msvcrt.kbhit():
            msvcrt.getwch()
        try:
            with open("CONOUT$", "w", encoding="utf-8", errors="backslashreplace") as screen:
                screen.write(text)
        except OSError:
            return None
        line = ""
        while not given_up.is_set():
            if not msvcrt.kbhit():
                given_up.wait(_LOOK_AGAIN_SECONDS)
                continue
            key = msvcrt.getwch()
            if key in "\r\n":
                msvcrt.putwch("\n")
                # The console gives a character outside of the first 65,536 as two.
                return line.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
            if key in "\x03\x1a":
                return None
            if key in "\x00\xe0":
                msvcrt.getwch()  # the second half of a function key
            elif key == "\b":
                if line:
                    line = line[:-1]
                    for character in "\b \b":
                        msvcrt.putwch(character)
            else:
                line += key
                msvcrt.putwch(key)
        return None
