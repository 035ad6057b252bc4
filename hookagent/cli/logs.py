"""What libraries and plugins log, on standard error: warnings as one line each, everything with `--debug`."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager

from hookagent.cli.console import Console

_OWN = "hookagent"
"""The logger of what an agent itself has to say; some of it stands in the result of its run too."""


class _ConsoleHandler(logging.Handler):
    def __init__(self, console: Console, debug: bool) -> None:
        super().__init__()
        self._console, self._debug = console, debug

    def emit(self, record: logging.LogRecord) -> None:
        """Write one record; a record that cannot be formatted is said to be so."""
        try:
            text = record.getMessage()
        except Exception as error:
            text = f"a message that cannot be formatted ({type(error).__name__}): {record.msg!r}"
        level = record.levelname.lower()
        if record.name == _OWN and record.levelno == logging.WARNING:
            self._console.tell(text)
        elif not self._debug:
            self._console.say(f"hookagent: {level}: {record.name}: {text}")
        else:
            self._console.say(f"{level}: {record.name}: {text}")
        if self._debug and record.exc_info and record.exc_info[0] is not None:
            self._console.say(logging.Formatter().formatException(record.exc_info), whole=True)


@contextmanager
def logging_to(console: Console, *, debug: bool, quiet: bool) -> Iterator[None]:
    """Send log records to `console` for as long as the block lasts: all with `debug`, only errors with `quiet`."""
    root, event_loop = logging.getLogger(), logging.getLogger("asyncio")
    levels = root.level, event_loop.level
    handler = _ConsoleHandler(console, debug)
    handler.setLevel(logging.DEBUG if debug else logging.ERROR if quiet else logging.WARNING)
    root.addHandler(handler)
    if debug:
        root.setLevel(logging.DEBUG)
    else:
        # The event loop complains of tasks that were left behind on purpose, when an abort had to be short.
        event_loop.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        root.removeHandler(handler)
        root.setLevel(levels[0])
        event_loop.setLevel(levels[1])
