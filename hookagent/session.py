"""One conversation: what the loop keeps of it, and the read-only view that hooks and users get."""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, overload

from hookagent.abort import AbortSignal
from hookagent.events import Event
from hookagent.frozen import JsonValue
from hookagent.limits import Limits
from hookagent.messages import UserMessage
from hookagent.trace import Trace
from hookagent.transcript import ToolRound, Transcript
from hookagent.usage import NO_USAGE, Usage

if TYPE_CHECKING:
    from hookagent.loop.calls import CallState


class SessionState:
    """Everything a session is, changed by the loop alone.

    `abort` is the signal of the active run, or of the last one; `first_task` and `newest_user` are transcript
    indexes of what cannot be dropped from a request; `pending` are the calls of a round that waits;
    `tools_called` the names called in this turn.
    """

    __slots__ = (
        "abort",
        "charges",
        "disabled",
        "ended",
        "first_task",
        "id",
        "iteration",
        "last_reply_tokens",
        "lowered_window",
        "limits",
        "newest_user",
        "number",
        "parent_id",
        "pending",
        "plugin_state",
        "plugin_usage",
        "protected",
        "shapes",
        "started",
        "streaming",
        "tools_called",
        "trace",
        "transcript",
        "turn",
        "turn_usage",
        "usage",
        "used_ids",
        "user_prompt",
        "window",
    )

    def __init__(self, limits: Limits, parent_id: str | None = None) -> None:
        self.id = secrets.token_hex(8)
        self.parent_id = parent_id
        self.abort = AbortSignal()
        self.transcript = Transcript()
        self.trace = Trace()
        self.number = 0
        self.turn = 0
        self.iteration = 0
        self.user_prompt = ""
        self.usage = NO_USAGE
        self.turn_usage = NO_USAGE
        self.limits = limits
        self.charges: dict[str, list[float]] = {}
        self.disabled: set[str] = set()
        self.shapes: dict[str, tuple[int, str | None]] = {}
        self.plugin_state: dict[str, JsonValue] = {}
        self.plugin_usage: dict[str, Usage] = {}
        self.used_ids: set[str] = set()
        self.first_task: int | None = None
        self.newest_user: int | None = None
        self.protected: tuple[int, ...] = ()
        """The transcript indexes that no request may leave out, ascending."""
        self.pending: list[CallState] = []
        self.tools_called: list[str] = []
        self.last_reply_tokens: int | None = None
        self.window: int | None = None
        self.lowered_window: int | None = None
        self.streaming: list[str] | None = None
        self.started = False
        self.ended = False

    def grow(self, transcript: Transcript) -> None:
        """Take the grown transcript, and note where the protected messages of its new blocks stand."""
        for index in range(len(self.transcript), len(transcript)):
            block = transcript[index]
            if type(block) is not ToolRound and isinstance(block, UserMessage):
                if self.first_task is None:
                    self.first_task = index
                if block.origin is None or self.newest_user is None:
                    self.newest_user = index
                first, newest = self.first_task, self.newest_user
                self.protected = (first,) if first == newest else (first, newest)
        self.transcript = transcript

    def know_window(self, window: int | None) -> None:
        """Take the model's window, unless a vendor's refusal has shown it to be smaller."""
        lowered = self.lowered_window
        self.window = window if lowered is None else lowered if window is None else min(window, lowered)

    def lower_window(self, window: int | None) -> None:
        """A request was too long: believe in the window that the refusal named, else in nine tenths of what was."""
        if window is None:
            known = self.window or self.last_reply_tokens
            window = known * 9 // 10 if known else None
        if window is not None and (self.lowered_window is None or window < self.lowered_window):
            self.lowered_window = window
        self.know_window(self.window)


class TraceView(Sequence[Event]):
    """The trace, read-only; it grows as the session goes on."""

    __slots__ = ("_trace",)

    def __init__(self, trace: Trace) -> None:
        self._trace = trace

    def __len__(self) -> int:
        return len(self._trace.events())

    @overload
    def __getitem__(self, index: int) -> Event: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Event]: ...
    def __getitem__(self, index: int | slice) -> Event | Sequence[Event]:
        return self._trace.events()[index]

    def __iter__(self) -> Iterator[Event]:
        return iter(self._trace.events())


class Session:
    """A read-only view of a session: always what it is now."""

    __slots__ = ("_state",)
    _state: SessionState

    def __init__(self, state: SessionState) -> None:
        object.__setattr__(self, "_state", state)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a session is read-only; '{name}' cannot be set (plugins return what they want)")

    @property
    def id(self) -> str:
        """The session's id: 16 hexadecimal digits."""
        return self._state.id

    @property
    def parent_id(self) -> str | None:
        """The id of the session whose tool started this one, or None."""
        return self._state.parent_id

    @property
    def transcript(self) -> Transcript:
        """The transcript as it is now: a snapshot that never changes."""
        return self._state.transcript

    @property
    def trace(self) -> Sequence[Event]:
        """Every event so far, but deltas, progress and plain hook calls."""
        return TraceView(self._state.trace)

    @property
    def turn(self) -> int:
        """The number of the current or last turn, from 1; 0 before the first."""
        return self._state.turn

    @property
    def iteration(self) -> int:
        """The number of the current iteration in its turn, from 1; 0 before its first model call."""
        return self._state.iteration

    @property
    def user_prompt(self) -> str:
        """The text of the prompt that began the current turn."""
        return self._state.user_prompt

    @property
    def usage(self) -> Usage:
        """What the session used so far, what plugins booked included."""
        return self._state.usage

    @property
    def turn_usage(self) -> Usage:
        """What the current or last turn used."""
        return self._state.turn_usage

    @property
    def context_window(self) -> int | None:
        """The model's window in tokens, or None where it is unknown."""
        return self._state.window

    @property
    def context_percent(self) -> float | None:
        """How full the window was with the last reply, as reported; None where either is unknown."""
        tokens, window = self._state.last_reply_tokens, self._state.window
        return None if tokens is None or not window else 100.0 * tokens / window

    @property
    def limits(self) -> Limits:
        """The limits in force."""
        return self._state.limits

    @property
    def abort_signal(self) -> AbortSignal:
        """The abort signal of the run that is active, or of the last one: `session.abort_signal.aborted`."""
        return self._state.abort

    @property
    def waiting(self) -> bool:
        """Whether calls wait for an answer."""
        return any(one.suspended and one.result is None for one in self._state.pending)

    @property
    def hook_calls(self) -> Mapping[str, tuple[int, float]]:
        """Per plugin, how many hook calls it got and how many seconds it took."""
        return {plugin: (int(calls), seconds) for plugin, (calls, seconds) in self._state.charges.items() if calls}

    @property
    def plugin_usage(self) -> Mapping[str, Usage]:
        """What plugins' own model calls used, by plugin; part of `usage`."""
        return dict(self._state.plugin_usage)

    def stored_state(self, plugin: str) -> JsonValue:
        """What a plugin last kept in the session with `agent.store_state`, frozen; None where it kept nothing."""
        return self._state.plugin_state.get(plugin)

    def __repr__(self) -> str:
        return f"Session({self.id}, turn {self.turn}, {len(self.transcript)} blocks)"
