"""Where a run hangs that should have ended: a tool or a hook that blocks the event loop, which nothing can cancel."""

from __future__ import annotations

import asyncio
import selectors
import sys
import threading
from collections.abc import Callable
from pathlib import Path

from hookagent.private_loop import LOOP_THREAD

_OURS = str(Path(__file__).resolve().parent.parent)
_LOOP = (str(Path(asyncio.__file__).parent), selectors.__file__)
_LOOK_AGAIN_SECONDS = 0.2


def held_up_at() -> str | None:
    """Where others' code holds up the private loop just now, as file:line; None when the loop goes on by itself."""
    thread = next((one for one in threading.enumerate() if one.name == LOOP_THREAD), None)
    frame = sys._current_frames().get(thread.ident or 0) if thread is not None else None
    place = None
    while frame is not None:
        file = frame.f_code.co_filename
        if file.startswith((_OURS, *_LOOP)):
            # The outermost frame inside of the loop and of ours: the tool or the hook itself, wherever it is by now.
            return place
        place = f"{file}:{frame.f_lineno}"
        frame = frame.f_back
    return None


class Overdue:
    """Waits in a thread of its own until `begin` was called and `seconds` have passed; then tells `say` what hangs.

    `begin` may be called in a signal handler. Nothing is said once the `with` block has ended, or where nothing hangs.
    """

    def __init__(self, say: Callable[[str], object], seconds: float) -> None:
        self._say, self._seconds = say, seconds
        self._begun, self._over = threading.Event(), threading.Event()
        self._thread = threading.Thread(target=self._watch, name="hookagent-overdue", daemon=True)

    def begin(self) -> None:
        """Count from now on."""
        self._begun.set()

    def __enter__(self) -> Overdue:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._begun.set()
        self._thread.join()

    def _watch(self) -> None:
        self._begun.wait()
        # Twice, since it may be at work for a moment only.
        if not self._over.wait(self._seconds) and held_up_at() and not self._over.wait(_LOOK_AGAIN_SECONDS):
            place = held_up_at()
            if place is not None:
                self._say(
                    f"hookagent: the run has not ended: {place} blocks the event loop; Ctrl-C again leaves at once"
                )
