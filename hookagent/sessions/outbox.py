"""Records on their way into the file: in order, from any thread, never raising, kept in memory while there is no way.

Who brings a record has it on disk, or its failure said, on return. What comes from a signal handler in the middle of
a write, or behind a record that is held, is written by whoever writes at that time.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from dataclasses import replace

from hookagent.counting import counted
from hookagent.sessions.errors import SessionError
from hookagent.sessions.record_kinds import Record, ReplyRecord
from hookagent.sessions.records import encode_record
from hookagent.sessions.writer import Entry, SessionWriter

_WRITTEN_AT_ONCE = 500


class Item:
    """A record on its way; `record` may be replaced as long as it is held. `time` in seconds since the epoch."""

    __slots__ = ("event", "record", "time")

    def __init__(self, record: Record, event: int, time: float) -> None:
        self.record = record
        self.event = event
        self.time = time


class Outbox:
    """Writes the records of a session; `say` is told, once each time it begins, that nothing can be saved."""

    __slots__ = (
        "_closed",
        "_failing",
        "_held",
        "_incoming",
        "_lock",
        "_open",
        "_say",
        "_unwritten",
        "_wall",
        "_writer",
        "_writing",
        "session_id",
    )

    def __init__(self, session_id: str, say: Callable[[str], object], wall: Callable[[], float]) -> None:
        self.session_id = session_id
        self._say = say
        self._wall = wall
        self._open: Callable[[], SessionWriter] | None = None
        self._writer: SessionWriter | None = None
        self._closed = False
        # No lock around what comes in: a signal handler may bring a record while this thread writes another.
        self._incoming: deque[Item | Entry] = deque()
        self._unwritten: list[Entry] = []
        self._held: Item | None = None
        self._lock = threading.RLock()
        self._writing = False
        self._failing = False

    def opens_with(self, open_writer: Callable[[], SessionWriter]) -> None:
        """Say how a writer is got when the first record is written; until then all are kept."""
        if self._open is None:
            self._open = open_writer

    def open_now(self) -> None:
        """Get the writer now. Raises what that raises."""
        if self._writer is None and self._open is not None:
            self._writer = self._open()
            self._closed = False

    @property
    def unsaved(self) -> int:
        """How many records are in memory only: they could not be written, or wait for the next `write`."""
        return len(self._unwritten) + len(self._incoming)

    @property
    def works(self) -> bool | None:
        """Whether the last record could be written; None as long as nothing was tried."""
        return False if self._failing else None if self._writer is None else True

    def put(self, record: Record, event: int = 0) -> Item:
        """Add a record at the end; it is written with the next `write`."""
        item = Item(record, event, self._wall())
        if not self._closed:
            self._incoming.append(item)
        return item

    def put_text(self, kind: str, text: str) -> None:
        """Add a record that is text already."""
        if not self._closed:
            self._incoming.append((self._wall(), kind, text))

    def hold(self, item: Item | None) -> None:
        """Write nothing from `item` on until something else is held, or nothing."""
        self._held = item

    @property
    def held(self) -> Item | None:
        """The record that is held, if there is one."""
        return self._held

    def write(self) -> None:
        """Write all that came in, up to what is held. Never raises, but for an interrupt."""
        if self._open is None:
            return  # nothing has begun yet
        while self._incoming and self._incoming[0] is not self._held:
            with self._lock:
                if self._writing:
                    return
                self._writing = True
                try:
                    said = self._encode_incoming()
                    error = self._write_unwritten()
                    if error is not None and not self._failing:
                        said.append(
                            f"cannot be saved: {self._reason(error)}; the run goes on, and what is unsaved is tried "
                            "again with each new record"
                        )
                    self._failing = error is not None
                finally:
                    self._writing = False
            for text in said:
                self._say(f"session '{self.session_id}': {text}")

    def close(self) -> None:
        """Write what is left and let others have the session; what is missing in it then is said."""
        self._held = None
        self.write()
        with self._lock:
            if self._failing and self._unwritten:
                self._failing = self._write_unwritten() is not None
            # Where nothing could be saved from the beginning, all has been said.
            if self._unwritten and self._writer is not None:
                lost = counted(len(self._unwritten), "record")
                self._say(f"session '{self.session_id}': {lost} could not be saved")
            writer, self._writer = self._writer, None
            self._closed = True
            if writer is not None:
                writer.close()

    def _reason(self, error: Exception) -> str:
        # Whose session it is stands before it already.
        return str(error).removeprefix(f"session '{self.session_id}': ")

    def _encode_incoming(self) -> list[str]:
        """Turn what came in into what can be written; gives what is to be said of it."""
        said: list[str] = []
        incoming = self._incoming
        while incoming and incoming[0] is not self._held:
            item = incoming[0]
            if not isinstance(item, Item):
                self._unwritten.append(item)
            else:
                try:
                    self._unwritten.append((item.time, *_encoded(item)))
                except Exception as error:  # a value of a foreign tool or provider, which may be anything
                    name = type(item.record).__name__.removesuffix("Record").lower()
                    said.append(f"a record of kind '{name}' cannot be saved: {error}")
            incoming.popleft()
        return said

    def _write_unwritten(self) -> Exception | None:
        """Write in order; after a failure one record first, so that a disk that is still full costs little."""
        try:
            if self._writer is None:
                assert self._open is not None
                self._writer = self._open()
            patient = not self._failing
            count = _WRITTEN_AT_ONCE if patient else 1
            while self._unwritten:
                self._writer.append(self._unwritten[:count], patient=patient)
                del self._unwritten[:count]
                patient, count = True, _WRITTEN_AT_ONCE
        except Exception as error:  # whatever it is, the run goes on
            return error
        return None


def _encoded(item: Item) -> tuple[str, str]:
    try:
        return encode_record(item.record, item.event)
    except SessionError:
        if not isinstance(item.record, ReplyRecord):
            raise
        # What only its vendor understands is kept whole, or not at all.
        plain = replace(item.record, message=item.record.message.without_provider_parts())
        return encode_record(plain, item.event)
