"""A file that only grows, for its owner alone: each piece is one write, a failure is said once, nothing is raised."""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Callable
from pathlib import Path

from hookagent.sessions.places import private_file, private_folder

_KEPT_AT_MOST = 1_000_000
_FLAGS = os.O_RDWR | os.O_APPEND | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0)


class AppendFile:
    """Appends to `path`, which is made with the first piece; `warn` hears of a failure, once until it works again.

    What could not be written is kept, up to a size, and written first next time. With `alone`, nobody else writes into
    the file: it must not be there yet, and half a piece that a full disk left is taken off again.
    """

    __slots__ = ("_alone", "_descriptor", "_failing", "_lock", "_size", "_unwritten", "_warn", "path")

    def __init__(self, path: Path, warn: Callable[[str], object] | None = None, *, alone: bool = False) -> None:
        self.path = path
        self._warn = warn
        self._alone = alone
        self._descriptor: int | None = None
        self._unwritten: list[bytes] = []
        self._failing = False
        self._size = 0
        self._lock = threading.RLock()

    def append(self, text: str) -> None:
        """Write a piece, whole. Never raises."""
        try:
            with self._lock:
                self._unwritten.append(text.encode("utf-8", "replace"))
                self._write()
            self._failing = False
        except OSError as error:
            self._drop_oldest()
            if not self._failing:
                self._failing = True
                self._say(f"{self.path}: cannot be written: {error.strerror or error}; the run goes on without it")

    def close(self) -> None:
        """Close the file; what could not be written is given up."""
        with self._lock:
            descriptor, self._descriptor = self._descriptor, None
            if descriptor is not None:
                os.close(descriptor)

    def _write(self) -> None:
        if self._descriptor is None:
            private_folder(self.path.parent)
            self._descriptor = self._opened()
            self._torn(self._descriptor)
        while self._unwritten:
            if self._alone and os.fstat(self._descriptor).st_size != self._size:
                os.ftruncate(self._descriptor, self._size)
            data = self._unwritten[0]
            written = os.write(self._descriptor, data)
            if written < len(data):
                self._torn(self._descriptor)
                raise OSError(None, "the disk is full")
            self._size += written
            del self._unwritten[0]

    def _opened(self) -> int:
        if not self._alone:
            return private_file(self.path, _FLAGS)
        stem, number = self.path.stem, 1
        while True:
            try:
                return private_file(self.path, _FLAGS | os.O_EXCL)
            except FileExistsError:
                number += 1
                self.path = self.path.with_name(f"{stem}-{number}{self.path.suffix}")

    def _torn(self, descriptor: int) -> None:
        """Where half a piece stands at the end: take it off, or, where others write too, end its line."""
        size = os.fstat(descriptor).st_size
        if self._alone:
            if size != self._size:
                os.ftruncate(descriptor, self._size)
        elif size:
            os.lseek(descriptor, -1, os.SEEK_END)
            if os.read(descriptor, 1) != b"\n" and not self._unwritten[0].startswith(b"\n"):
                self._unwritten[0] = b"\n" + self._unwritten[0]

    def _drop_oldest(self) -> None:
        # The first piece of a file of one's own is its head, which the others cannot do without.
        first = 1 if self._alone else 0
        while len(self._unwritten) > first + 1 and sum(map(len, self._unwritten)) > _KEPT_AT_MOST:
            del self._unwritten[first]

    def _say(self, text: str) -> None:
        if self._warn is not None:
            with contextlib.suppress(Exception):
                self._warn(text)
