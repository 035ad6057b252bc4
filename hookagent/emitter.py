"""Announcing events: numbered, kept in the trace, given to hooks and listeners before anything goes on."""

from __future__ import annotations

import collections
from collections.abc import Callable
from typing import Any

from hookagent.events import ErrorEvent, Event, MessageDelta, ToolProgress
from hookagent.session import SessionState

Listener = Callable[[Event], object]
_FAULTS_ALLOWED = 3


class Emitter:
    """The one place where events are made.

    A listener that raises is reported by name and dropped after three faults; it never changes the run.
    `hook` is called with each event too and may raise only what the run must hear of.
    """

    __slots__ = ("_faults", "_hook", "journal", "_listeners", "_untold", "heard", "monotonic", "on_fault", "state")

    def __init__(self, state: SessionState, monotonic: Callable[[], float]) -> None:
        self.state = state
        self.monotonic = monotonic
        self._hook: Callable[[Event], None] | None = None
        self.on_fault: Callable[[str], object] | None = None
        self._listeners: tuple[Listener, ...] = ()
        self.journal: Listener | None = None
        """What hears each event before the plugins and listeners do, so that it is on disk before anything goes on."""
        self.heard = False
        """Whether anybody hears what the trace does not keep (deltas, progress)."""
        self._faults: dict[int, int] = {}
        self._untold: collections.deque[Event] = collections.deque()

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        """Call `listener` with every event from now on; returns what ends it."""
        self._listen((*self._listeners, listener))

        def unsubscribe() -> None:
            self._listen(tuple(one for one in self._listeners if one is not listener))

        return unsubscribe

    @property
    def hook(self) -> Callable[[Event], None] | None:
        """What gives each event to the plugins, or None where no plugin wants them."""
        return self._hook

    @hook.setter
    def hook(self, hook: Callable[[Event], None] | None) -> None:
        self._hook = hook
        self._listen(self._listeners)

    def _listen(self, listeners: tuple[Listener, ...]) -> None:
        self._listeners = listeners
        self.heard = bool(listeners) or self._hook is not None

    def emit(self, kind: Callable[..., Any], *fields: Any) -> None:
        """Make an event of `kind` with its own `fields`, keep it, and tell everybody.

        What is emitted while an event is being told is told after it, so that everybody hears the same order.
        """
        state = self.state
        number = state.number = state.number + 1
        event: Event = kind(number, self.monotonic(), state.turn, state.iteration, *fields)
        if kind is not MessageDelta and kind is not ToolProgress:
            state.trace.append(event)
        if not self.heard and self.journal is None:
            return
        untold = self._untold
        untold.append(event)
        if len(untold) > 1:
            return
        try:
            while untold:
                self._tell(untold[0])
                untold.popleft()
        except BaseException:
            untold.clear()
            raise

    def _tell(self, event: Event) -> None:
        if self.journal is not None:
            self.journal(event)
        if self._hook is not None:
            self._hook(event)
        for listener in self._listeners:
            try:
                listener(event)
            except KeyboardInterrupt:
                raise
            except BaseException as error:
                self._fault(listener, error)

    def _fault(self, listener: Listener, error: BaseException) -> None:
        name = getattr(listener, "__qualname__", type(listener).__name__)
        count = self._faults[id(listener)] = self._faults.get(id(listener), 0) + 1
        dropped = count >= _FAULTS_ALLOWED
        if dropped:
            self._listen(tuple(one for one in self._listeners if one is not listener))
        text = f"listener '{name}' raised {type(error).__name__}: {error}" + ("; it is dropped" if dropped else "")
        if self.on_fault is not None:
            self.on_fault(text)
        self.emit(ErrorEvent, "listener", name, text)
