"""Where files of sessions lie, and names that cannot leave those folders."""

from __future__ import annotations

import errno
import hashlib
import os
import re
from collections.abc import Mapping
from pathlib import Path

from hookagent.sessions.errors import SessionError

HOME_VARIABLE = "HOOKAGENT_HOME"
PRIVATE_FOLDER = 0o700
PRIVATE_FILE = 0o600
_LONGEST_NAME = 64
_SESSION_ID = re.compile(rf"[A-Za-z0-9_-]{{1,{_LONGEST_NAME}}}")
# Names that Windows keeps for devices, with any ending.
_DEVICES = frozenset({"con", "prn", "aux", "nul", *(f"{port}{n}" for port in ("com", "lpt") for n in range(10))})


def home_folder(environment: Mapping[str, str] = os.environ) -> Path:
    """The folder of everything that hookagent keeps: HOOKAGENT_HOME, else the platform's state folder."""
    named = environment.get(HOME_VARIABLE, "").strip()
    if named:
        return Path(named).expanduser()
    import platformdirs

    return platformdirs.user_state_path("hookagent", appauthor=False)


def private_folder(folder: Path) -> Path:
    """Make `folder`, and what is missing above it, for its owner alone. Raises OSError."""
    if not folder.is_dir():
        if folder.parent != folder:  # pragma: no branch - a drive that is not there, on Windows alone
            private_folder(folder.parent)
        try:
            folder.mkdir(mode=PRIVATE_FOLDER, exist_ok=True)
        except FileExistsError:
            raise NotADirectoryError(errno.ENOTDIR, "a file stands where the folder should be", str(folder)) from None
    return folder


def private_file(path: Path, flags: int) -> int:
    """Open `path` with `flags` of `os.open`, and give the file descriptor; a new file is its owner's alone.

    Whoever finds an older file open to others closes it to them, where it is ours to do so. Raises OSError.
    """
    # On Windows a file is text unless it is said not to be, and grows by a byte a line.
    flags |= getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
    descriptor = os.open(path, flags, PRIVATE_FILE)
    if hasattr(os, "geteuid"):
        status = os.fstat(descriptor)
        if status.st_mode & 0o077 and status.st_uid == os.geteuid():
            os.fchmod(descriptor, PRIVATE_FILE)
    return descriptor


def check_session_id(session_id: str) -> str:
    """Return `session_id` where it can be one: 1 to 64 letters, digits, '-' and '_'. Raises `SessionError`."""
    if not isinstance(session_id, str) or _SESSION_ID.fullmatch(session_id) is None:
        shown = repr(session_id)
        shown = f"{shown[:_LONGEST_NAME]}…" if len(shown) > _LONGEST_NAME + 2 else shown
        raise SessionError(f"session id {shown}: expected 1 to {_LONGEST_NAME} letters, digits, '-' or '_'")
    return session_id


def safe_name(name: str) -> str:
    """A file name without ending for an agent's `name`; what had to be changed gets a mark that tells it apart."""
    safe = re.sub(r"[^A-Za-z0-9_-]+", "_", name)[:_LONGEST_NAME].strip("_")
    if safe and safe == name and safe.lower() not in _DEVICES:
        return safe
    mark = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return f"{safe or 'agent'}_{mark}"
