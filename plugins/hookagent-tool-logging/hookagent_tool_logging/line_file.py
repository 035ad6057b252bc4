"""A file of JSON lines that is only appended to: one write per line, readable by its owner alone."""

from __future__ import annotations

import json
import os
import threading
from typing import Any

from hookagent import visible_text

_FLAGS = (
    os.O_WRONLY
    | os.O_APPEND
    | os.O_CREAT
    | getattr(os, "O_BINARY", 0)
    # A named pipe that nobody reads is an error at once, not a wait for ever. For a file it changes nothing.
    | getattr(os, "O_NONBLOCK", 0)
)


def one_line(value: Any) -> str:
    """Write a JSON value as strict JSON in one line of printable characters; others than ASCII stay as they are.

    Raises ValueError for what is not JSON.
    """
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(", ", ": "))
    return visible_text(text, in_json=True)


class LineFile:
    """Appends to the file at `path`, which is made (mode 0600) with the first line. From any thread."""

    def __init__(self, path: str) -> None:
        self.path = os.path.abspath(os.path.expanduser(path))
        self._lock = threading.Lock()
        self._descriptor: int | None = None
        self._broken = False

    def write(self, value: Any) -> None:
        """Append `value` as one line. Raises OSError when it cannot be stored whole, ValueError for no JSON value."""
        data = f"{one_line(value)}\n".encode()
        with self._lock:
            if self._descriptor is None:
                self._descriptor = os.open(self.path, _FLAGS, 0o600)
            if self._broken:  # half a line stands there; this one begins behind it
                data = b"\n" + data
            written = os.write(self._descriptor, data)
            self._broken = written < len(data)
        if self._broken:
            raise OSError(f"only {written} of {len(data)} bytes were written")

    def close(self) -> None:
        """Close the file; a later line opens it again."""
        with self._lock:
            descriptor, self._descriptor = self._descriptor, None
            if descriptor is not None:
                os.close(descriptor)
