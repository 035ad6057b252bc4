"""What was typed in earlier chats, in one file that is its owner's alone: one JSON text a line, the newest last."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path

from hookagent.sessions.places import home_folder, private_file, private_folder

FILE_NAME = "chat_history.jsonl"
_MOST_BYTES = 1_000_000
_MOST_ENTRIES = 1_000


class History:
    """The lines that were typed, the oldest first; `mask` takes secrets out of what goes to the file.

    `problem` says why there is no file, and everything is kept in memory only. Nothing here raises: losing the history
    must not cost the chat.
    """

    def __init__(self, folder: Path, mask: Callable[[str], str]) -> None:
        self.path = folder / FILE_NAME
        self.problem: str | None = None
        self._mask = mask
        self.lines: list[str] = self._read()

    @classmethod
    def of_user(cls, mask: Callable[[str], str], environment: Mapping[str, str] = os.environ) -> History:
        """The history in the folder of all that hookagent keeps (HOOKAGENT_HOME)."""
        return cls(home_folder(environment), mask)

    def add(self, text: str) -> None:
        """Keep a line; one that repeats the line before is kept once."""
        if not text.strip() or text == (self.lines[-1] if self.lines else None):
            return
        self.lines.append(text)
        if self.problem is not None:
            return
        line = json.dumps(self._mask(text)) + "\n"
        try:
            private_folder(self.path.parent)
            descriptor = private_file(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
            try:
                # One write, so that two chats do not mix their lines.
                os.write(descriptor, line.encode("ascii"))
            finally:
                os.close(descriptor)
        except OSError as error:
            self._fail(error)

    def _read(self) -> list[str]:
        """The newest lines; what cannot be read as one is passed over."""
        try:
            with open(private_file(self.path, os.O_RDONLY), "rb") as file:
                size = file.seek(0, os.SEEK_END)
                file.seek(max(0, size - _MOST_BYTES))
                data = file.read()
        except FileNotFoundError:
            return []
        except OSError as error:
            self._fail(error)
            return []
        found = []
        for line in data.split(b"\n"):
            try:
                text = json.loads(line)
            except ValueError:
                continue
            if isinstance(text, str):
                found.append(text)
        return found[-_MOST_ENTRIES:]

    def _fail(self, error: OSError) -> None:
        reason = (error.strerror or str(error)).lower()
        self.problem = f"{self.path}: {reason}; what is typed is kept for this chat only"
