"""The records of a session: what is written of each thing that happened. None is changed once it is written.

Of requests, deltas and progress there are no records.
"""

from __future__ import annotations

from dataclasses import dataclass

from hookagent.frozen import JsonValue
from hookagent.messages import AssistantMessage, ToolCall, ToolResult, UserMessage
from hookagent.sessions.open_calls import OpenCall
from hookagent.usage import Usage


@dataclass(frozen=True, slots=True)
class RunStartRecord:
    """A `run` began, with this model."""

    agent: str
    model: str


@dataclass(frozen=True, slots=True)
class TurnStartRecord:
    """A turn began; `prompt` is empty when a waiting session is resumed."""

    turn: int
    prompt: str


@dataclass(frozen=True, slots=True)
class UserRecord:
    """A user message was stored; `entry` is the queue entry that it was, if any, which it takes out of the queue."""

    message: UserMessage
    entry: int | None = None


@dataclass(frozen=True, slots=True)
class ResponseRecord:
    """A model call ended; `usage` is this call's alone, whether or not its reply was stored."""

    usage: Usage
    stop_reason: str
    milliseconds: float


@dataclass(frozen=True, slots=True)
class ReplyRecord:
    """A reply was stored."""

    message: AssistantMessage


@dataclass(frozen=True, slots=True)
class StartRecord:
    """A call is about to run with these arguments; written before it does."""

    call: ToolCall


@dataclass(frozen=True, slots=True)
class ResultRecord:
    """A call has its result."""

    result: ToolResult


@dataclass(frozen=True, slots=True)
class WaitingRecord:
    """The open round waits for an answer: all its calls that have no result yet."""

    calls: tuple[OpenCall, ...]


@dataclass(frozen=True, slots=True)
class HookRecord:
    """A hook that may give a verdict returned something, or a hook failed or overran."""

    plugin: str
    hook: str
    outcome: str
    detail: str
    milliseconds: float


@dataclass(frozen=True, slots=True)
class CompactionRecord:
    """What is sent was made shorter; the transcript was not. From block `first_kept` on, all is sent."""

    plugin: str
    blocks_before: int
    blocks_after: int
    summary: bool
    first_kept: int = 0
    summary_text: str | None = None


@dataclass(frozen=True, slots=True)
class ErrorRecord:
    """Something failed; secrets are masked in `message`."""

    kind: str
    source: str
    message: str


@dataclass(frozen=True, slots=True)
class TurnEndRecord:
    """A turn ended; `usage` is this turn's alone."""

    turn: int
    status: str
    answer: str
    usage: Usage
    milliseconds: float


@dataclass(frozen=True, slots=True)
class QueuedRecord:
    """A message was queued as entry number `entry`; its `via` says in which queue."""

    entry: int
    message: UserMessage


@dataclass(frozen=True, slots=True)
class TakenRecord:
    """A queue entry left its queue without being stored: taken back, cleared, or refused."""

    entry: int


@dataclass(frozen=True, slots=True)
class PluginStateRecord:
    """What a plugin keeps in the session; the newest one of a plugin holds."""

    plugin: str
    value: JsonValue


@dataclass(frozen=True, slots=True)
class BookedRecord:
    """What a plugin's own model call used."""

    plugin: str
    usage: Usage


@dataclass(frozen=True, slots=True)
class ForkRecord:
    """The session begins here; what stands before is that of `session_id` up to record `number`."""

    session_id: str
    number: int


@dataclass(frozen=True, slots=True)
class UnknownRecord:
    """A record of a later version: kept as it is, and skipped."""

    kind: str
    data: str


Record = (
    RunStartRecord
    | TurnStartRecord
    | UserRecord
    | ResponseRecord
    | ReplyRecord
    | StartRecord
    | ResultRecord
    | WaitingRecord
    | HookRecord
    | CompactionRecord
    | ErrorRecord
    | TurnEndRecord
    | QueuedRecord
    | TakenRecord
    | PluginStateRecord
    | BookedRecord
    | ForkRecord
    | UnknownRecord
)
