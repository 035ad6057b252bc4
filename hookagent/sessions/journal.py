"""The journal of a session: a listener that writes what must survive, before anything goes on.

It never raises into the run. What cannot be written (a full disk, a folder without write access, a file that another
program locks) is said at once, kept in order, and written with the next record that can be.
"""

from __future__ import annotations

import contextlib
import functools
import itertools
import os
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING

from hookagent.events import (
    AgentStart,
    ErrorEvent,
    HookReport,
    MessageDelta,
    ResolveStart,
    ResponseReceived,
    ToolProgress,
    TurnEnd,
    TurnStart,
)
from hookagent.frozen import JsonValue, freeze
from hookagent.masking import Masker
from hookagent.messages import UserMessage
from hookagent.sessions.entries import journaled
from hookagent.sessions.errors import SessionError
from hookagent.sessions.open_calls import open_calls
from hookagent.sessions.outbox import Outbox
from hookagent.sessions.quick_text import QUICK, QuickText
from hookagent.sessions.record_kinds import (
    BookedRecord,
    PluginStateRecord,
    QueuedRecord,
    ResultRecord,
    TakenRecord,
    UserRecord,
    WaitingRecord,
)
from hookagent.sessions.writer import NewSession

if TYPE_CHECKING:
    from hookagent.events import Event
    from hookagent.loop.calls import CallState
    from hookagent.sessions.restore import Restored
    from hookagent.sessions.store import SessionStore
    from hookagent.usage import Usage


class Journal:
    """Writes one session into `store`, as a listener of its events and by the methods below, from any thread.

    A new session is made with its first `AgentStart`, in the working directory `cwd`; for one that exists, call
    `claim` and `resumed` first. `pending` gives the calls of the open round; what is not answered yet is written before
    anybody is asked, and when a turn ends `waiting`.
    `warn` is told, once each time it begins, that nothing can be saved. Texts about failures are written without the
    secrets of `environment`. `wall` gives seconds since the epoch.
    """

    def __init__(
        self,
        store: SessionStore,
        session_id: str,
        *,
        cwd: str | None = None,
        parent_id: str | None = None,
        pending: Callable[[], Iterable[CallState]] | None = None,
        warn: Callable[[str], object] | None = None,
        wall: Callable[[], float] = time.time,
        environment: Mapping[str, str] = os.environ,
    ) -> None:
        self.session_id = session_id
        self._store = store
        self._cwd = cwd
        self._parent_id = parent_id
        self._pending = pending
        self._saying = _Saying(warn, environment)
        self._quick = QuickText()
        self._outbox = Outbox(session_id, self._saying, wall)
        self._turn_started = 0.0
        self._entries: dict[int, tuple[UserMessage, list[int]]] = {}
        self._numbers = itertools.count(1)
        self._entry_lock = threading.RLock()

    # ---- sessions that exist ----

    def claim(self) -> None:
        """Take an existing session for writing. Raises `SessionBusyError` and `SessionError`."""
        self._outbox.opens_with(functools.partial(self._store.writer, self.session_id))
        self._outbox.open_now()

    def resumed(self, restored: Restored) -> None:
        """Go on from what `restore` gave: its queue entries keep their numbers, and what it made up is written."""
        with self._entry_lock:
            self._numbers = itertools.count(max(next(self._numbers), restored.next_entry))
            for entry, message in restored.queued:
                self._entries[id(message)] = (message, [entry])
        for result in restored.repairs:
            self._outbox.put(ResultRecord(result))
        self._outbox.write()

    # ---- what happens ----

    def __call__(self, event: Event) -> None:
        """Write what an event tells of; it is on disk, or its failure said, when this returns."""
        kind = type(event)
        if kind is MessageDelta or kind is ToolProgress:
            return
        outbox = self._outbox
        quick = QUICK.get(kind)
        if quick is not None:
            try:
                ready = quick(self._quick, event)
            except Exception:  # a value that is not plain, or none of JSON: the long way says so
                ready = None
            if ready is not None:
                outbox.put_text(*ready)
                outbox.hold(None)
                if kind is not ResponseReceived:
                    outbox.write()
                return
        if isinstance(event, AgentStart):
            self._begin(event)
        elif isinstance(event, TurnStart):
            self._turn_started = event.seconds
        elif _waits(event) and self._pending is not None:
            outbox.put(WaitingRecord(open_calls(self._pending())), event.number)
            outbox.hold(None)
            outbox.write()
        found = journaled(event, self._turn_started, self._saying.masked)
        if found is None:
            return
        record, at_once = found
        item = outbox.put(record, event.number)
        if isinstance(record, UserRecord) and self._entries and _from_queue(record.message):
            # Stored and taken out of its queue are one record, so that no end of the process comes in between.
            outbox.hold(item)
        elif kind is not HookReport and kind is not ErrorEvent:
            # Only hooks that hear of the message come before it is taken.
            outbox.hold(None)
        if at_once:
            outbox.write()

    def queued(self, message: UserMessage) -> None:
        """A message was queued; its `via` says in which queue."""
        with self._entry_lock:
            entry = next(self._numbers)
            self._entries.setdefault(id(message), (message, []))[1].append(entry)
            self._outbox.put(QueuedRecord(entry, message))
        self._outbox.write()

    def taken(self, message: UserMessage) -> None:
        """A message left its queue: it was stored just now, or taken back, cleared, or refused."""
        outbox = self._outbox
        with self._entry_lock:
            _, entries = self._entries.pop(id(message), (message, []))
        arriving = outbox.held
        if arriving is not None and entries and isinstance(arriving.record, UserRecord):
            arriving.record = UserRecord(arriving.record.message, entries[0])
            entries = entries[1:]
        outbox.hold(None)
        for entry in entries:
            outbox.put(TakenRecord(entry))
        outbox.write()

    def waiting(self, calls: Iterable[CallState]) -> None:
        """The open round is about to wait for an answer to its calls, or waits."""
        self._outbox.put(WaitingRecord(open_calls(calls)))
        self._outbox.write()

    def plugin_state(self, plugin: str, value: JsonValue) -> None:
        """A plugin keeps `value` in the session. Raises `SessionError` when that is no JSON."""
        try:
            kept = freeze(value)
        except (TypeError, RecursionError) as error:
            raise SessionError(f"plugin '{plugin}': its state cannot be saved: {error}") from error
        self._outbox.put(PluginStateRecord(plugin, kept))
        self._outbox.write()

    def booked(self, plugin: str, usage: Usage) -> None:
        """A plugin's own model call used this much."""
        self._outbox.put(BookedRecord(plugin, usage))
        self._outbox.write()

    @property
    def unsaved(self) -> int:
        """How many records are in memory only, because they could not be written."""
        return self._outbox.unsaved

    @property
    def works(self) -> bool | None:
        """Whether the last record could be written; None as long as nothing was tried."""
        return self._outbox.works

    def close(self) -> None:
        """Write what is left, and let others have the session; what is missing in it then is said."""
        self._outbox.close()

    # ---- inside ----

    def _begin(self, event: AgentStart) -> None:
        cwd = self._cwd if self._cwd is not None else _working_directory()
        new = NewSession(event.agent, event.model, cwd, self._parent_id)
        self._outbox.opens_with(functools.partial(self._store.writer, self.session_id, new))


class _Saying:
    """Tells `warn` of a failure, without secrets. It does not know the journal, so that no circle keeps that alive."""

    __slots__ = ("_environment", "_masker", "_warn")

    def __init__(self, warn: Callable[[str], object] | None, environment: Mapping[str, str]) -> None:
        self._warn = warn
        self._environment = environment
        self._masker: Masker | None = None

    def __call__(self, text: str) -> None:
        if self._warn is not None:
            with contextlib.suppress(Exception):
                self._warn(self.masked(text))

    def masked(self, text: str) -> str:
        if self._masker is None:
            self._masker = Masker(self._environment)
        return self._masker(text)


def _waits(event: Event) -> bool:
    """Whether the open round is about to wait for an answer, or its turn ends without one."""
    return isinstance(event, ResolveStart) or (isinstance(event, TurnEnd) and event.status == "waiting")


def _from_queue(message: UserMessage) -> bool:
    return message.origin is None and message.via in ("steer", "follow_up")


def _working_directory() -> str:
    try:
        return os.getcwd()
    except OSError:  # it was removed
        return ""
