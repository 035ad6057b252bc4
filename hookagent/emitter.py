"""Announcing events: numbered, kept in the trace, given to hooks and listeners before anything goes on."""

from __future__ import annotations

import collections
from collections.abc import Callable
from typing import Any

from hookagent.errors import describe_error
from hookagent.events import UNTRACED, ErrorEvent, Event, MessageDelta, ToolProgress
from hookagent.session import SessionState
from hookagent.trace import Asked

Listener = Callable[[Event], object]
_FAULTS_ALLOWED = 3
_made: Any = tuple.__new__


class Emitter:
    """The one place where events are made.

    A listener that raises is reported by name and dropped after three faults; it never changes the run.
    `hook` is called with each event too and may raise only what the run must hear of.
    """

    __slots__ = (
        "_faults",
        "_hook",
        "_listeners",
        "_journal",
        "_relays",
        "_untold",
        "heard",
        "listened",
        "monotonic",
        "on_fault",
        "on_interrupt",
        "state",
        "told",
    )

    def __init__(self, state: SessionState, monotonic: Callable[[], float]) -> None:
        self.state = state
        self.monotonic = monotonic
        self._hook: Callable[[Event], None] | None = None
        self.on_fault: Callable[[str], object] | None = None
        self.on_interrupt: Callable[[KeyboardInterrupt], object] | None = None
        """What hears of an interrupt that came while a listener was told, and raises it where it can be raised."""
        self._listeners: tuple[Listener, ...] = ()
        self._journal: Listener | None = None
        self.told = False
        """Whether there is anybody to be told of events as they happen."""
        self.listened = False
        """Whether there are listeners: they may be in other tasks, which have to get their turn to act."""
        self.heard = False
        """Whether anybody hears what the trace does not keep (deltas, progress)."""
        self._faults: dict[int, int] = {}
        self._untold: collections.deque[Event] = collections.deque()
        self._relays: tuple[Listener, ...] = ()

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        """Call `listener` with every event from now on; returns what ends it."""
        self._listen((*self._listeners, listener))

        subscribed = True

        def unsubscribe() -> None:
            nonlocal subscribed
            # One of them: the same listener may be subscribed twice, and hears everything twice then.
            place = next((place for place, one in enumerate(self._listeners) if one is listener), None)
            if subscribed and place is not None:
                self._listen((*self._listeners[:place], *self._listeners[place + 1 :]))
            subscribed = False

        return unsubscribe

    def relay(self, listener: Listener) -> Callable[[], None]:
        """Call `listener` with every event from now on but deltas and progress, whoever hears; returns what ends it.

        Unlike one that subscribes it does not count as hearing, so that nothing is announced for it alone.
        """
        self._relays = (*self._relays, listener)
        self._listen(self._listeners)

        def end() -> None:
            self._relays = tuple(one for one in self._relays if one is not listener)
            self._listen(self._listeners)

        return end

    @property
    def relayed(self) -> bool:
        """Whether events are relayed."""
        return bool(self._relays)

    @property
    def journal(self) -> Listener | None:
        """What hears each event before the plugins and listeners do, so that it is on disk before anything goes on."""
        return self._journal

    @journal.setter
    def journal(self, journal: Listener | None) -> None:
        self._journal = journal
        self._listen(self._listeners)

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
        self.listened = bool(listeners)
        self.heard = self.listened or self._hook is not None
        self.told = self.heard or self._journal is not None or bool(self._relays)

    def emit(self, kind: type[Any], *fields: Any) -> None:
        """Make an event of `kind` with its own `fields`, all of them, keep it, and tell everybody.

        What is emitted while an event is being told is told after it, so that everybody hears the same order.
        """
        state = self.state
        number = state.number = state.number + 1
        # The tuple that it is, made directly: a named tuple's own way is a function in Python, seven times a round.
        event: Event = _made(kind, (number, self.monotonic(), state.turn, state.iteration, *fields))
        if kind not in UNTRACED:
            state.trace.append(event)
        if self.told:
            self._spread(event)

    def note_asked(self, maximum: int | None, blocks: int, tools: int, shaped_by: str | None) -> None:
        """Keep at once that an iteration began, its request left and its reply begins, where nobody is to be told."""
        state = self.state
        number = state.number + 1
        state.number += 3
        fields = (number, self.monotonic(), state.turn, state.iteration, maximum, blocks, tools, shaped_by)
        state.trace.append(_made(Asked, fields))

    def _spread(self, event: Event) -> None:
        untold = self._untold
        untold.append(event)
        if len(untold) > 1:
            return
        try:
            while untold:
                told = untold[0]
                if self._journal is not None:
                    self._journal(told)
                if self._hook is not None:
                    self._hook(told)
                if self._listeners or self._relays:
                    self._tell(told)
                untold.popleft()
        except BaseException:
            untold.clear()
            raise

    def _tell(self, event: Event) -> None:
        for listener in self._listeners:
            try:
                listener(event)
            except KeyboardInterrupt as interrupt:
                # Raised here it could leave a round open, or end the event loop.
                if self.on_interrupt is None:
                    raise
                self.on_interrupt(interrupt)
            except BaseException as error:
                self._fault(listener, error)
        if self._relays and type(event) is not MessageDelta and type(event) is not ToolProgress:
            for relay in self._relays:
                relay(event)

    def _fault(self, listener: Listener, error: BaseException) -> None:
        name = getattr(listener, "__qualname__", type(listener).__name__)
        count = self._faults[id(listener)] = self._faults.get(id(listener), 0) + 1
        dropped = count >= _FAULTS_ALLOWED
        if dropped:
            self._listen(tuple(one for one in self._listeners if one is not listener))
        text = f"listener '{name}' raised {describe_error(error)}" + ("; it is dropped" if dropped else "")
        if self.on_fault is not None:
            self.on_fault(text)
        self.emit(ErrorEvent, "listener", name, text)
