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

    __slots__ = ("_faults", "_listeners", "_untold", "hook", "monotonic", "on_fault", "state")

    def __init__(self, state: SessionState, monotonic: Callable[[], float]) -> None:
        self.state = state
        self.monotonic = monotonic
        self.hook: Callable[[Event], None] | None = None
        self.on_fault: Callable[[str], object] | None = None
        self._listeners: tuple[Listener, ...] = ()
        self._faults: dict[int, int] = {}
        self._untold: collections.deque[Event] = collections.deque()

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        """Call `listener` with every event from now on; returns what ends it."""
        self._listeners = (*self._listeners, listener)

        def unsubscribe() -> None:
            self._listeners = tuple(one for one in self._listeners if one is not listener)

        return unsubscribe

    @property
    def heard(self) -> bool:
        """Whether anybody hears what the trace does not keep (deltas, progress)."""
        return bool(self._listeners) or self.hook is not None

    def emit(self, kind: Callable[..., Any], *fields: Any) -> None:
        """Make an event of `kind` with its own `fields`, keep it, and tell everybody.

        What is emitted while an event is being told is told after it, so that everybody hears the same order.
        """
        state = self.state
        state.number += 1
        event: Event = kind(state.number, self.monotonic(), state.turn, state.iteration, *fields)
        if kind is not MessageDelta and kind is not ToolProgress:
            state.trace.append(event)
        if not self.heard:
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
        if self.hook is not None:
            self.hook(event)
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
            self._listeners = tuple(one for one in self._listeners if one is not listener)
        text = f"listener '{name}' raised {type(error).__name__}: {error}" + ("; it is dropped" if dropped else "")
        if self.on_fault is not None:
            self.on_fault(text)
        self.emit(ErrorEvent, "listener", name, text)
