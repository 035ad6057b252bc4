"""A session in the hands of an agent: its state, the view of it, its events, and what is kept of it on disk."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from hookagent.clock import Clock
from hookagent.emitter import Emitter, Listener
from hookagent.frozen import JsonValue, freeze
from hookagent.limits import Limits
from hookagent.loop.calls import CallState
from hookagent.queues import MessageQueue
from hookagent.session import Session, SessionState
from hookagent.tools.context import calling_context
from hookagent.usage import Usage

if TYPE_CHECKING:
    from hookagent.host import LoadedPlugin
    from hookagent.keeping import Keeper


class SessionBox:
    """One session, new or brought back. `log` says whether it is kept on disk; nothing is written before it runs."""

    __slots__ = ("_agent", "_clock", "_keeper", "_log", "_queues", "emitter", "session", "state")

    def __init__(
        self,
        agent: str,
        limits: Limits,
        clock: Clock,
        queues: tuple[MessageQueue, ...],
        listeners: Iterable[Listener],
        log: bool,
    ) -> None:
        parent = calling_context()
        self.state = SessionState(limits, parent.session.id if parent is not None and parent.session else None)
        self.session = Session(self.state)
        self.emitter = Emitter(self.state, clock.monotonic)
        for listener in listeners:
            self.emitter.subscribe(listener)
        self._agent = agent
        self._clock = clock
        self._queues = queues
        self._log = log
        self._keeper: Keeper | None = None

    def resume(self, session: str, plugins: Iterable[LoadedPlugin] = ()) -> None:
        """Go on from a session on disk, named by its id or a unique beginning of it.

        What a plugin keeps in it that is not among `plugins` stays there, and is named.

        Raises `SessionError` when there is none, and `SessionBusyError` while another process has it.
        """
        from hookagent.keeping import Keeper, session_store

        self.state.id = session_store().find(session)
        keeper = Keeper(self._agent, self.state, self._clock.wall)
        try:
            restored = keeper.resume(self.state, self.state.limits)
        except BaseException:
            keeper.close()
            raise
        self.state = restored.state
        self.state.pending = [CallState.restored(one) for one in restored.pending]
        self.state.plugin_state = dict(restored.plugin_state)
        keeper.follow(self.state)
        self.session = Session(self.state)
        self.emitter.state = self.state
        steering, follow_ups = self._queues
        for message in restored.steering:
            steering.put(message)
        for message in restored.follow_ups:
            follow_ups.put(message)
        keeper.resumed(restored, *self._queues)
        keeper.name_absent(restored, (one.name for one in plugins))
        self._keep(keeper)

    def keep(self, parent_id: str | None = None) -> None:
        """Begin to write the session, its queues included, unless that was begun or is not wanted.

        `parent_id` is the session whose tool it runs in; the first one stays.
        """
        if not self.state.started and self.state.parent_id is None:
            self.state.parent_id = parent_id
        if self._keeper is None and self._log:
            from hookagent.keeping import Keeper

            keeper = Keeper(self._agent, self.state, self._clock.wall)
            keeper.watch(*self._queues)
            self._keep(keeper)

    def _keep(self, keeper: Keeper) -> None:
        self._keeper = keeper
        self.emitter.journal = keeper

    def book(self, usage: Usage, plugin: str) -> None:
        """Add what a plugin's own model call used."""
        state = self.state
        state.usage = state.usage + usage
        state.turn_usage = state.turn_usage + usage
        state.plugin_usage[plugin] = state.plugin_usage.get(plugin, Usage()) + usage
        if self._keeper is not None:
            self._keeper.booked(plugin, usage)

    def store_state(self, plugin: str, value: JsonValue) -> None:
        """Keep a plugin's state. Raises TypeError when it is no JSON."""
        try:
            self.state.plugin_state[plugin] = freeze(value)
        except RecursionError:
            raise TypeError(f"the state of '{plugin}' is nested too deeply, or in itself") from None
        if self._keeper is not None:
            self._keeper.store_state(plugin, value)

    def take_warnings(self) -> list[str]:
        """What could not be written since this was last asked."""
        return [] if self._keeper is None else self._keeper.take_warnings()

    @property
    def unsaved(self) -> int:
        """How many records could not be written yet."""
        return 0 if self._keeper is None else self._keeper.unsaved

    def close(self) -> None:
        """Write what is left, and let other processes have the session."""
        keeper, self._keeper = self._keeper, None
        if keeper is not None:
            self.emitter.journal = None
            for queue in self._queues:
                queue.watcher = None
            keeper.close()
