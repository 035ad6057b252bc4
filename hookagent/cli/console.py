"""The two outputs of the command: standard output for the answer, standard error for everything else.

Writing never raises: what the encoding does not have is replaced, and a reader that has gone is a quiet end.
"""

from __future__ import annotations

import contextlib
import os
import sys
import threading
from collections.abc import Iterator, Mapping
from typing import Protocol, TextIO

from hookagent.escaping import one_line, paragraphs
from hookagent.masking import Masker

_ERASE = "\r\x1b[K"
_DIM, _PLAIN = "\x1b[2m", "\x1b[0m"
_STANDARD_OUTPUT = 1


class Screen(Protocol):
    """What shows the outputs while an editor has the terminal; from any thread."""

    def write(self, text: str) -> None:
        """Show text above the line that is being typed."""

    def status(self, text: str) -> None:
        """Show one line on what is going on, in place of the one before; empty: none."""


class Console:
    """Where the command writes, from any thread.

    `redraws` says that standard error is a terminal on which one line may be drawn again and again; `live` that both
    outputs are terminals. `reader_gone` is set when nobody reads standard output any more, `failure` when it cannot be
    written (nothing more is then), and `json_ended` when the last line of `--json` is written.
    """

    def __init__(self, out: TextIO | None, err: TextIO | None, environment: Mapping[str, str]) -> None:
        self._out, self._err = out, err
        self._lock = threading.RLock()
        self._out_terminal, err_terminal = _is_terminal(out), _is_terminal(err)
        self._err_terminal = err_terminal
        able = environment.get("TERM", "") != "dumb" and not environment.get("CI") and _knows_escapes(environment)
        self.redraws = err_terminal and able
        self.live = self._out_terminal and err_terminal
        self._dim = self.redraws and not environment.get("NO_COLOR")
        self._status = ""
        self._screen: Screen | None = None
        self._mid_line = False
        self.reader_gone = False
        self.failure: OSError | None = None
        self.json_ended = False
        self.mask = Masker(environment)
        self._told: set[str] = set()

    @classmethod
    def of_process(cls) -> Console:
        """The console of this process, as its streams and its environment are now."""
        return cls(sys.stdout, sys.stderr, os.environ)

    @property
    def out_is_terminal(self) -> bool:
        """Whether standard output is a terminal."""
        return self._out_terminal

    @contextlib.contextmanager
    def sole_writer(self) -> Iterator[None]:
        """Let nobody else write to standard output for as long as the `with` block lasts; what others say there is
        said on standard error (design, "The outside contract", CLI).

        That holds for tools and plugins that print, and for processes which they start.
        """
        own = self._out
        with contextlib.ExitStack() as stack:
            if own is not None and own is sys.stdout and _descriptor(own) == _STANDARD_OUTPUT:
                self._out = stack.enter_context(_moved(own))
            stack.enter_context(contextlib.redirect_stdout(sys.stderr))
            try:
                yield
            finally:
                self._out = own

    @contextlib.contextmanager
    def shown_by(self, screen: Screen) -> Iterator[None]:
        """Give to `screen` all that would go to the terminal, for as long as the `with` block lasts."""
        with self._lock:
            self.erase_status()
            self._screen = screen
        try:
            yield
        finally:
            with self._lock:
                self.erase_status()
                self.end_line()
                self._screen = None

    def write(self, text: str) -> None:
        """Write to standard output as it is, at once. Raises `OSError` when there is no room for it."""
        with self._lock:
            self.erase_status()
            out = self._out
            if not text or out is None or self.reader_gone or self.failure is not None:
                return
            self._mid_line = self._out_terminal and not text.endswith("\n")
            if self._screen is not None and self._out_terminal:
                self._screen.write(text)
                return
            try:
                _write(out, text)
            except (BrokenPipeError, ValueError):
                self.reader_gone = True
                _to_nowhere(out)
            except OSError as error:
                self.failure = error
                _to_nowhere(out)
                raise

    def end_line(self) -> None:
        """End the line that standard output is in the middle of, if it is a terminal."""
        with self._lock:
            if self._mid_line:
                self.write("\n")

    def say(self, text: str, *, whole: bool = False) -> None:
        """Write one line to standard error: secrets masked, foreign characters escaped, long text cut.

        `whole` keeps lines and length as they are (a traceback, a help page).
        """
        masked = self.mask(text)
        line = paragraphs(masked) if whole else one_line(masked)
        with self._lock:
            self.erase_status()
            self.end_line()
            self._write_err(line + "\n")

    def tell(self, warning: str) -> None:
        """Say a warning that the result of a run may bring again, and remember that."""
        self._told.add(warning)
        self.say(f"hookagent: warning: {warning}")

    def was_told(self, warning: str) -> bool:
        """Whether `tell` was called with this warning since this was last asked for it."""
        told = warning in self._told
        self._told.discard(warning)
        return told

    def break_line(self) -> None:
        """Begin a new line on a terminal: what stands in this one (an echoed ^C, a question) is not ours."""
        if self._err_terminal:
            self._write_err("\n")

    def status(self, text: str) -> None:
        """Draw the status line anew, where standard error is a terminal; elsewhere nothing."""
        if not self.redraws:
            return
        with self._lock:
            self.end_line()
            line = one_line(self.mask(text), max(20, _columns(self._err) - 2))
            self._status = line
            if self._screen is not None:
                self._screen.status(line)
                return
            self._write_err(_ERASE + (f"{_DIM}{line}{_PLAIN}" if self._dim else line))

    def erase_status(self) -> None:
        """Take the status line away, so that others may write."""
        with self._lock:
            if self._status:
                self._status = ""
                if self._screen is not None:
                    self._screen.status("")
                    return
                self._write_err(_ERASE)

    def _write_err(self, text: str) -> None:
        if self._screen is not None and self._err_terminal:
            self._screen.write(text)
            return
        # With nobody to read it, there is nobody to tell either.
        with contextlib.suppress(OSError, ValueError):
            _write(self._err, text)


def _write(stream: TextIO | None, text: str) -> None:
    if stream is None:
        return
    try:
        stream.write(text)
    except UnicodeEncodeError:
        encoding = stream.encoding or "ascii"
        stream.write(text.encode(encoding, "backslashreplace").decode(encoding))
    stream.flush()


def _knows_escapes(environment: Mapping[str, str]) -> bool:
    """Whether a terminal can be asked to erase a line: an old console of Windows shows the escape instead."""
    if sys.platform != "win32":
        return True
    return any(environment.get(name) for name in ("WT_SESSION", "TERM", "ANSICON")) or (
        environment.get("ConEmuANSI") == "ON"
    )


def _is_terminal(stream: TextIO | None) -> bool:
    try:
        return stream is not None and stream.isatty()
    except ValueError:
        return False


def _descriptor(stream: TextIO | None) -> int | None:
    try:
        return None if stream is None else stream.fileno()
    except (OSError, ValueError):
        return None


@contextlib.contextmanager
def _moved(stream: TextIO) -> Iterator[TextIO]:
    """Give a stream to where standard output leads; the descriptor itself leads to standard error until the end."""
    with contextlib.ExitStack() as stack:
        elsewhere = _descriptor(sys.stderr)
        if elsewhere is None:
            elsewhere = os.open(os.devnull, os.O_WRONLY)
            stack.callback(os.close, elsewhere)
        kept = os.dup(_STANDARD_OUTPUT)
        moved = stack.enter_context(open(kept, "w", encoding=stream.encoding, errors=stream.errors))
        os.dup2(elsewhere, _STANDARD_OUTPUT)
        try:
            yield moved
        finally:
            # What somebody left in the buffer must not come out at the end of the process, on standard output.
            with contextlib.suppress(OSError, ValueError):
                stream.flush()
            os.dup2(kept, _STANDARD_OUTPUT)


def _columns(stream: TextIO | None) -> int:
    try:
        return os.get_terminal_size(stream.fileno()).columns or 80 if stream is not None else 80
    except (OSError, ValueError):
        return 80


def _to_nowhere(stream: TextIO) -> None:
    """Let what is still buffered go nowhere: the interpreter flushes it at its end, and would complain."""
    with contextlib.suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)
