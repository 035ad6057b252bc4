"""What an agent keeps on disk: the journal of its session, the text log and the session log."""

from __future__ import annotations

import logging
import weakref
from collections.abc import Callable, Container, Iterable, Iterator
from typing import TYPE_CHECKING

from hookagent.events import (
    Event,
    IterationStart,
    MessageDelta,
    MessageReplaced,
    MessageStart,
    Nested,
    RequestSent,
    ResolveEnd,
    ToolProgress,
)
from hookagent.session import SessionState
from hookagent.transcript import ToolRound

if TYPE_CHECKING:
    from hookagent.frozen import JsonValue
    from hookagent.limits import Limits
    from hookagent.loop.calls import CallState
    from hookagent.messages import ToolCall
    from hookagent.queues import MessageQueue
    from hookagent.sessions.restore import Restored
    from hookagent.sessions.store import SessionStore
    from hookagent.usage import Usage

# Weak: a store of another folder than the newest one goes with the last session that is open in it.
_stores: weakref.WeakValueDictionary[str, SessionStore] = weakref.WeakValueDictionary()
_newest: SessionStore | None = None

# Announcements, and what comes too often: neither the journal nor a log says a word of them.
_UNWRITTEN = frozenset(
    {IterationStart, MessageDelta, MessageReplaced, MessageStart, Nested, RequestSent, ResolveEnd, ToolProgress}
)


def session_store() -> SessionStore:
    """The store of this process for the home folder in force; one for all agents, made when first asked for."""
    from hookagent.sessions.places import home_folder
    from hookagent.sessions.store import SessionStore

    global _newest
    home = home_folder()
    store = _newest = _stores.get(str(home)) or _stores.setdefault(str(home), SessionStore(home))
    return store


class _Kept:
    """The state of the session that is kept, and what is to be said; what writes knows it, and not the keeper."""

    __slots__ = ("of_logs", "state", "warnings")

    def __init__(self, state: SessionState) -> None:
        self.state = state
        self.warnings: list[str] = []
        self.of_logs: list[str] = []

    def warn_of_log(self, text: str) -> None:
        self.of_logs.append(text)

    def pending(self) -> Iterable[CallState]:
        return self.state.pending

    def warn(self, text: str) -> None:
        self.warnings.append(text)
        logging.getLogger("hookagent").warning("%s", text)


class Keeper:
    """Hears every event of a session before anybody else and writes what must survive; never raises into the run.

    What cannot be written is logged at once, and said again with the run's warnings; the run goes on in memory.
    """

    def __init__(self, agent: str, state: SessionState, wall: Callable[[], float]) -> None:
        from hookagent.sessions.journal import Journal
        from hookagent.sessions.logs import SessionLog, TextLog

        store = session_store()
        home = store.path.parent
        kept = self._kept = _Kept(state)
        self.journal = Journal(
            store, state.id, parent_id=state.parent_id, pending=kept.pending, warn=kept.warn, wall=wall
        )
        self._text_log = TextLog(home, agent, state.id, warn=kept.warn_of_log, wall=wall)
        self._session_log = SessionLog(home, agent, state.id, warn=kept.warn_of_log, wall=wall)

    def __call__(self, event: Event) -> None:
        """Write what an event tells of."""
        if type(event) not in _UNWRITTEN:
            self.journal(event)
            self._text_log(event)
            self._session_log(event)
            if self._kept.of_logs:
                self._say_of_logs(self.journal.works)

    def watch(self, *queues: MessageQueue) -> None:
        """Write what enters and leaves the queues from now on, and what waits in them already."""
        for queue in queues:
            queue.watcher = self.journal
            for message in queue.peek():
                self.journal.queued(message)

    def resume(self, state: SessionState, limits: Limits) -> Restored:
        """Bring an existing session back. Raises `SessionError`, and `SessionBusyError` where another has it."""
        from hookagent.sessions.restore import restore

        self.journal.claim()
        store = session_store()
        parent_id = store.row(state.id).parent_id
        restored = restore(store.read(state.id), limits, session_id=state.id, parent_id=parent_id)
        for problem in restored.problems:
            self._kept.warn(f"session {state.id}: {problem}")
        interrupted = {result.call_id for result in restored.repairs if result.status == "interrupted"}
        for call in _calls(restored, interrupted):
            self._kept.warn(
                f"session {state.id}: the tool '{call.name}' ({call.id}) was running when the process ended; "
                "it may have run, and is not run again"
            )
        return restored

    def follow(self, state: SessionState) -> None:
        """The state that came back is the session's from now on."""
        self._kept.state = state

    def resumed(self, restored: Restored, *queues: MessageQueue) -> None:
        """Go on writing a session that came back, its queues watched."""
        self.journal.resumed(restored)
        for queue in queues:
            queue.watcher = self.journal

    def name_absent(self, restored: Restored, plugins: Iterable[str]) -> None:
        """Say what the session keeps for plugins that are not there."""
        for plugin in sorted(restored.plugin_state.keys() - set(plugins)):
            self._kept.warn(
                f"session {self._kept.state.id}: keeps the state of plugin '{plugin}', which is not enabled"
            )

    def booked(self, plugin: str, usage: Usage) -> None:
        """A plugin's own model call used this much."""
        self.journal.booked(plugin, usage)

    def store_state(self, plugin: str, value: JsonValue) -> None:
        """A plugin keeps `value`. Raises `SessionError` when it is no JSON."""
        self.journal.plugin_state(plugin, value)

    def take_warnings(self) -> list[str]:
        """What could not be written since this was last asked."""
        warnings, self._kept.warnings = self._kept.warnings, []
        return warnings

    @property
    def unsaved(self) -> int:
        """How many records are in memory only, because they could not be written."""
        return self.journal.unsaved

    def close(self) -> None:
        """Write what is left and let others have the session."""
        self.journal.close()
        self._text_log.close()
        self._session_log.close()
        self._say_of_logs(not self.journal.unsaved)

    def _say_of_logs(self, saves: bool | None) -> None:
        """Say that a log cannot be written, unless the journal cannot either: it has said so then, of one cause.

        `saves` says whether it can; None that it is not known yet.
        """
        if saves is not None:
            texts, self._kept.of_logs = self._kept.of_logs, []
            for text in texts if saves else ():
                self._kept.warn(text)


def _calls(restored: Restored, call_ids: Container[str]) -> Iterator[ToolCall]:
    transcript = restored.state.transcript
    for block in (*transcript, transcript.open_round):  # a round that goes on waiting had calls that ran, too
        for call in block.calls if isinstance(block, ToolRound) else ():
            if call.id in call_ids:
                yield call
