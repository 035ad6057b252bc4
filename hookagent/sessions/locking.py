"""One process at a time works on a session: a lock of the operating system, which ends with the process.

The lock is held on a file of its own beside the database; what is written in it is only for the message to others.
A killed process leaves the file behind but not the lock.
"""

from __future__ import annotations

import contextlib
import os
import socket
import sys
import weakref
from pathlib import Path

from hookagent.errors import describe_os_error
from hookagent.sessions.errors import SessionBusyError, SessionError
from hookagent.sessions.places import check_session_id, private_file, private_folder

if sys.platform == "win32":  # pragma: no cover - Windows alone
    import msvcrt

    # Far behind the text, so that others can read who it is.
    _LOCKED_BYTE = 1 << 30

    def _lock(descriptor: int) -> None:
        os.lseek(descriptor, _LOCKED_BYTE, os.SEEK_SET)
        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)

    def _unlock(descriptor: int) -> None:
        # Closing the file would do it too, but nobody says when.
        with contextlib.suppress(OSError):
            os.lseek(descriptor, _LOCKED_BYTE, os.SEEK_SET)
            msvcrt.locking(descriptor, msvcrt.LK_UNLCK, 1)

    def _stands(descriptor: int, path: Path) -> bool:
        # A file that somebody has open cannot be removed.
        return True

else:
    import fcntl

    def _lock(descriptor: int) -> None:
        # Bound to the open file and not to the process: two stores in one process exclude each other too.
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def _unlock(descriptor: int) -> None:
        """Closing the file does it."""

    def _stands(descriptor: int, path: Path) -> bool:
        """Whether the file that was opened is still the one of that name."""
        return os.path.samestat(os.fstat(descriptor), os.stat(path))


_held: weakref.WeakSet[SessionLock] = weakref.WeakSet()


class SessionLock:
    """The right to write into one session, from `acquire` until `release` or the end of the process."""

    __slots__ = ("__weakref__", "_descriptor", "_path", "session_id")

    def __init__(self, folder: Path, session_id: str) -> None:
        self.session_id = check_session_id(session_id)
        # A name that begins with ours is no device anywhere, whatever the id is.
        self._path = folder / "locks" / f"session-{session_id}.lock"
        self._descriptor: int | None = None

    @property
    def held(self) -> bool:
        """Whether this process has it; a process that was forked off has not."""
        return self._descriptor is not None

    def acquire(self) -> None:
        """Take the lock. Raises `SessionBusyError` when somebody has it, `SessionError` when there can be none."""
        try:
            private_folder(self._path.parent)
            while self._descriptor is None:
                self._descriptor = self._try()
        except OSError as error:
            raise SessionError(f"session '{self.session_id}': cannot be locked: {describe_os_error(error)}") from error
        _held.add(self)
        with contextlib.suppress(OSError):
            os.ftruncate(self._descriptor, 0)
            os.lseek(self._descriptor, 0, os.SEEK_SET)
            os.write(self._descriptor, f"process {os.getpid()} on {socket.gethostname()}\n".encode())

    def holder(self) -> str | None:
        """Who has the lock, in words; None where nobody has."""
        try:
            descriptor = os.open(self._path, os.O_RDWR)
        except OSError:
            return None
        try:
            _lock(descriptor)
        except OSError:
            return _holder(descriptor)
        else:
            _unlock(descriptor)
            return None
        finally:
            os.close(descriptor)

    def release(self) -> None:
        """Give the lock back; a second call does nothing."""
        descriptor, self._descriptor = self._descriptor, None
        if descriptor is None:
            return
        _held.discard(self)
        with contextlib.suppress(OSError):
            # While it is still held: whoever opened the file before looks at what stands there now, and tries again.
            self._path.unlink(missing_ok=True)
        _unlock(descriptor)
        os.close(descriptor)

    def forget(self) -> None:
        """In a process that was forked off: leave the lock to the parent."""
        descriptor, self._descriptor = self._descriptor, None
        if descriptor is not None:
            os.close(descriptor)

    def _try(self) -> int | None:
        """The locked file, or None when it was removed meanwhile."""
        descriptor = private_file(self._path, os.O_RDWR | os.O_CREAT)
        try:
            try:
                _lock(descriptor)
            except OSError:
                raise SessionBusyError(self.session_id, _holder(descriptor)) from None
            with contextlib.suppress(FileNotFoundError):
                if _stands(descriptor, self._path):
                    locked, descriptor = descriptor, -1
                    return locked
            return None
        finally:
            if descriptor >= 0:
                os.close(descriptor)


def _holder(descriptor: int) -> str:
    with contextlib.suppress(OSError):
        os.lseek(descriptor, 0, os.SEEK_SET)
        text = os.read(descriptor, 200).decode("utf-8", "replace").strip()
        if text.isprintable() and text:
            return text
    return "another process"


def _forget_all() -> None:
    for lock in tuple(_held):
        lock.forget()
    _held.clear()


if hasattr(os, "register_at_fork"):  # pragma: no branch - Windows cannot fork
    os.register_at_fork(after_in_child=_forget_all)
