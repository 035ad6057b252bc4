"""What a signal handler has to say, said by a thread of its own.

A handler comes in the middle of whatever the main thread does. A stream refuses a write in the middle of another one,
and where nobody reads it, or another thread is writing, the handler would wait and no further signal would be heard.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from queue import SimpleQueue
from typing import Self

_PATIENCE_SECONDS = 1.0


class Aside:
    """Passes lines to `write`, in order, from a thread that lives as long as the `with` block."""

    def __init__(self, write: Callable[[str], object]) -> None:
        self._write = write
        # The one queue that may be filled in the middle of filling it.
        self._lines: SimpleQueue[tuple[str, threading.Event] | None] = SimpleQueue()
        self._thread = threading.Thread(target=self._work, name="hookagent-aside", daemon=True)

    def say(self, line: str) -> None:
        """Have a line written, and give it a moment to come before what is done next; for signal handlers."""
        written = threading.Event()
        self._lines.put((line, written))
        written.wait(_PATIENCE_SECONDS)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._lines.put(None)
        self._thread.join()

    def _work(self) -> None:
        while (item := self._lines.get()) is not None:
            line, written = item
            self._write(line)
            written.set()
