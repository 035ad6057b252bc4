"""What an agent keeps on disk: the journal of its session, the text log and the session log."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from hookagent.events import Event
from hookagent.session import SessionState

if TYPE_CHECKING:
    from hookagent.frozen import JsonValue
    from hookagent.limits import Limits
    from hookagent.queues import MessageQueue
    from hookagent.sessions.restore import Restored
    from hookagent.sessions.store import SessionStore
    from hookagent.usage import Usage

_stores: dict[str, SessionStore] = {}


def session_store() -> SessionStore:
    """The store of this process for the home folder in force; one for all agents, made when first asked for."""
    from hookagent.sessions.places import home_folder
    from hookagent.sessions.store import SessionStore

    home = home_folder()
    return _stores.setdefault(str(home), SessionStore(home))


class Keeper:
    """Hears every event of a session before anybody else and writes what must survive; never raises into the run.

    `warn` is told at once what cannot be written; the run goes on in memory.
    """

    def __init__(self, agent: str, state: SessionState, wall: Callable[[], float]) -> None:
        from hookagent.sessions.journal import Journal
        from hookagent.sessions.logs import SessionLog, TextLog

        store = session_store()
        home = store.path.parent
        self.warnings: list[str] = []
        self._state = state
        self.journal = Journal(
            store,
            state.id,
            parent_id=state.parent_id,
            pending=lambda: self._state.pending,
            warn=self._warn,
            wall=wall,
        )
        text_log = TextLog(home, agent, state.id, warn=self._warn, wall=wall)
        session_log = SessionLog(home, agent, state.id, warn=self._warn, wall=wall)
        self._logs = (text_log, session_log)

    def __call__(self, event: Event) -> None:
        """Write what an event tells of."""
        self.journal(event)
        for log in self._logs:
            log(event)

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
        restored = restore(session_store().read(state.id), limits, session_id=state.id)
        for problem in restored.problems:
            self._warn(f"session {state.id}: {problem}")
        return restored

    def follow(self, state: SessionState) -> None:
        """The state that came back is the session's from now on."""
        self._state = state

    def resumed(self, restored: Restored, *queues: MessageQueue) -> None:
        """Go on writing a session that came back, its queues watched."""
        self.journal.resumed(restored)
        for queue in queues:
            queue.watcher = self.journal

    def name_absent(self, restored: Restored, plugins: Iterable[str]) -> None:
        """Say what the session keeps for plugins that are not there."""
        for plugin in sorted(restored.plugin_state.keys() - set(plugins)):
            self._warn(f"session {self._state.id}: keeps the state of plugin '{plugin}', which is not enabled")

    def booked(self, plugin: str, usage: Usage) -> None:
        """A plugin's own model call used this much."""
        self.journal.booked(plugin, usage)

    def store_state(self, plugin: str, value: JsonValue) -> None:
        """A plugin keeps `value`. Raises `SessionError` when it is no JSON."""
        self.journal.plugin_state(plugin, value)

    def close(self) -> None:
        """Write what is left and let others have the session."""
        self.journal.close()
        for log in self._logs:
            log.close()

    def _warn(self, text: str) -> None:
        self.warnings.append(text)
        logging.getLogger("hookagent").warning("%s", text)
