"""A file that only grows, for its owner alone: written in blocks and closed in between, nothing is raised.

What waits for its block is lost when the process is killed: this is for logs, and not for what must survive.
"""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Callable
from pathlib import Path

from hookagent.sessions.places import private_file, private_folder

_BLOCK = 65_536
_KEPT_AT_MOST = 1_000_000
_FLAGS = os.O_RDWR | os.O_APPEND | getattr(os, "O_NOFOLLOW", 0)


class AppendFile:
    """Appends to `path`, which is made with the first block; `warn` hears of a failure, once until it works again.

    What could not be written is kept, up to a size, and written first next time. With `alone`, nobody else writes into
    the file: it must not be there yet, and half a block that a full disk left is taken off again.
    """

    __slots__ = ("_alone", "_failing", "_identity", "_length", "_lock", "_pieces", "_size", "_warn", "path")

    def __init__(self, path: Path, warn: Callable[[str], object] | None = None, *, alone: bool = False) -> None:
        self.path = path
        self._warn = warn
        self._alone = alone
        self._pieces: list[str] = []
        self._length = 0
        self._failing = False
        self._identity: tuple[int, int] | None = None
        self._size = 0
        self._lock = threading.RLock()

    def add(self, piece: str) -> None:
        """Let a piece wait for the next `write`; when many wait they are written at once. Never raises."""
        self._pieces.append(piece)
        self._length += len(piece)
        if self._length >= _BLOCK:
            self.write()

    def append(self, piece: str) -> None:
        """Write a piece, with all that waits. Never raises."""
        self._pieces.append(piece)
        self.write()

    def write(self) -> None:
        """Write all that waits, in one block, or keep it. Never raises."""
        with self._lock:
            self._length = 0
            if not self._pieces:
                return
            try:
                self._write(self._pieces)
                self._failing = False
            except OSError as error:
                self._drop_oldest()
                failing, self._failing = self._failing, True
                if not failing:
                    self._say(f"{self.path}: cannot be written: {_reason(error)}; the run goes on without it")

    def close(self) -> None:
        """Write what waits; what cannot be written now is given up."""
        self.write()
        with self._lock:
            self._pieces.clear()

    def _write(self, pieces: list[str]) -> None:
        count = len(pieces)
        private_folder(self.path.parent)
        descriptor = self._opened()
        try:
            before = self._mended(descriptor)
            data = "".join(pieces[:count]).encode("utf-8", "replace")
            written = os.write(descriptor, before + data)
            if written < len(before) + len(data):
                self._mended(descriptor)
                raise OSError(None, "the disk is full")
        finally:
            os.close(descriptor)
        self._size += written
        del pieces[:count]

    def _opened(self) -> int:
        if not self._alone:
            return private_file(self.path, _FLAGS | os.O_CREAT)
        if self._identity is not None:
            return private_file(self.path, _FLAGS)
        stem, number = self.path.stem, 1
        while True:
            try:
                return private_file(self.path, _FLAGS | os.O_CREAT | os.O_EXCL)
            except FileExistsError:
                number += 1
                self.path = self.path.with_name(f"{stem}-{number}{self.path.suffix}")

    def _mended(self, descriptor: int) -> bytes:
        """Where half a block stands at the end: take it off, or, where others write too, give what ends its line."""
        status = os.fstat(descriptor)
        if self._alone:
            identity = status.st_dev, status.st_ino
            if self._identity not in (None, identity):
                raise OSError(None, "another file stands in its place")
            self._identity = identity
            if status.st_size != self._size:
                os.ftruncate(descriptor, self._size)
        elif status.st_size:
            os.lseek(descriptor, -1, os.SEEK_END)
            if os.read(descriptor, 1) != b"\n":
                return b"\n"
        return b""

    def _drop_oldest(self) -> None:
        # The first piece of a file of one's own is its head, which the others cannot do without.
        first = 1 if self._alone and not self._size else 0
        sizes = [len(piece) for piece in self._pieces]
        total, drop = sum(sizes), first
        while total > _KEPT_AT_MOST and drop < len(sizes) - 1:
            total -= sizes[drop]
            drop += 1
        del self._pieces[first:drop]

    def _say(self, text: str) -> None:
        if self._warn is not None:
            with contextlib.suppress(Exception):
                self._warn(text)


def _reason(error: OSError) -> str:
    return (error.strerror or str(error)).lower()
