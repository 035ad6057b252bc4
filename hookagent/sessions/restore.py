"""A session as it was when its process ended: its state, its queues, its plugins' notes, from its records alone."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from hookagent.frozen import JsonValue
from hookagent.limits import Limits
from hookagent.messages import ToolResult, UserMessage
from hookagent.session import SessionState
from hookagent.sessions.errors import SessionError
from hookagent.sessions.open_calls import OpenCall
from hookagent.sessions.record_kinds import (
    BookedRecord,
    CompactionRecord,
    ForkRecord,
    PluginStateRecord,
    QueuedRecord,
    Record,
    ReplyRecord,
    ResponseRecord,
    ResultRecord,
    RunStartRecord,
    StartRecord,
    TakenRecord,
    TurnEndRecord,
    TurnStartRecord,
    UnknownRecord,
    UserRecord,
    WaitingRecord,
)
from hookagent.sessions.records import StoredRecord, decode_record
from hookagent.sessions.replay import Replay
from hookagent.usage import Usage


class QueuedMessage(NamedTuple):
    """A message that still waits in its queue, and the number of its entry."""

    entry: int
    message: UserMessage


@dataclass(slots=True)
class Restored:
    """What comes back of a session.

    `state` has the transcript, ids, usage and counts; `pending` are all calls of the round that waits, in call
    order, empty where none does; `queued` what was not taken; `plugin_state` each plugin's newest value;
    `compactions` what was told of them; `repairs` the results made up for calls that the process left open at the end;
    `agent` and `model` those of the newest run; `status` that of the newest turn that ended, "" for none;
    `problems` says, a line each, what is damaged, missing, of a later version, or was repaired.
    """

    state: SessionState
    pending: tuple[OpenCall, ...] = ()
    queued: tuple[QueuedMessage, ...] = ()
    next_entry: int = 1
    plugin_state: dict[str, JsonValue] = field(default_factory=dict)
    compactions: tuple[CompactionRecord, ...] = ()
    repairs: tuple[ToolResult, ...] = ()
    agent: str = ""
    model: str = ""
    status: str = ""
    problems: tuple[str, ...] = ()

    @property
    def steering(self) -> tuple[UserMessage, ...]:
        """What waits in the steering queue, in order."""
        return tuple(one.message for one in self.queued if one.message.via == "steer")

    @property
    def follow_ups(self) -> tuple[UserMessage, ...]:
        """What waits in the follow-up queue, in order."""
        return tuple(one.message for one in self.queued if one.message.via == "follow_up")


def restore(
    records: Iterable[StoredRecord], limits: Limits, *, session_id: str | None = None, parent_id: str | None = None
) -> Restored:
    """Rebuild a session from its records, in order, as `SessionStore.read` gives them.

    Raises nothing for what stands in them: the transcript is valid, and `problems` says what could not be used.
    A round that waited goes on waiting; a call that was started and has no result is "interrupted" and never run
    again; one that was never started is "not_run".
    """
    state = SessionState(limits, parent_id)
    if session_id is not None:
        state.id = session_id
    restoring = _Restoring(state)
    for record in records:
        restoring.take(record)
    return restoring.finish()


class _Restoring:
    def __init__(self, state: SessionState) -> None:
        self._state = state
        self._replay = Replay(state)
        self._queue: dict[int, UserMessage] = {}
        self._entries: set[int] = set()
        self._compactions: list[CompactionRecord] = []
        self._restored = Restored(state)
        self._last_number = 0

    def take(self, stored: StoredRecord) -> None:
        """Take the next record in."""
        replay, expected = self._replay, self._last_number + 1
        replay.number = stored.number
        if stored.number < expected:
            replay.problem("stands there twice, or out of order; it was left out")
            return
        if stored.number > expected:
            missing = f"record {expected} is" if stored.number == expected + 1 else f"records from {expected} on are"
            replay.problem(f"{missing} missing before it")
        self._last_number = stored.number
        try:
            record, event = decode_record(stored.kind, stored.data)
        except SessionError as error:
            replay.problem(f"cannot be read and was left out: {error}")
            return
        self._state.number = max(self._state.number, event)
        self._apply(record)

    def _apply(self, record: Record) -> None:
        state, replay = self._state, self._replay
        match record:
            case UserRecord():
                if replay.user(record.message) and record.message.origin is None and record.message.via == "prompt":
                    state.user_prompt = record.message.text
                if record.entry is not None:
                    self._queue.pop(record.entry, None)
            case ReplyRecord():
                replay.reply(record.message)
            case StartRecord():
                replay.started(record.call)
            case ResultRecord():
                replay.result(record.result)
            case WaitingRecord():
                replay.waiting(record.calls)
            case ForkRecord():
                replay.forked()
            case ResponseRecord():
                self._used(record.usage if record.usage.requests else replace(record.usage, requests=1))
                state.iteration += 1
                state.last_reply_tokens = record.usage.total_tokens or state.last_reply_tokens
            case BookedRecord():
                self._used(record.usage)
                state.plugin_usage[record.plugin] = state.plugin_usage.get(record.plugin, Usage()) + record.usage
            case TurnStartRecord():
                state.turn, state.iteration, state.turn_usage = record.turn, 0, Usage()
                state.tools_called = []
                state.user_prompt = record.prompt or state.user_prompt
            case TurnEndRecord():
                self._restored.status = record.status
            case RunStartRecord():
                self._restored.agent, self._restored.model = record.agent, record.model
            case CompactionRecord():
                self._compactions.append(record)
                state.shapes[record.plugin] = (record.first_kept, record.summary_text)
            case PluginStateRecord():
                self._restored.plugin_state[record.plugin] = record.value
            case UnknownRecord():
                replay.problem(f"kind '{record.kind}' is of a later version; it is kept and not used")
            case _:
                self._queues(record)

    def _queues(self, record: Record) -> None:
        if isinstance(record, TakenRecord):
            self._queue.pop(record.entry, None)
        elif isinstance(record, QueuedRecord):
            if record.entry in self._entries:
                self._replay.problem(f"queue entry {record.entry} stands there twice; it was left out")
            elif record.message.blank or record.message.via not in ("steer", "follow_up"):
                self._replay.problem(f"queue entry {record.entry} is blank or in no queue; it was left out")
            else:
                self._queue[record.entry] = record.message
            self._entries.add(record.entry)

    def _used(self, usage: Usage) -> None:
        self._state.usage = self._state.usage + usage
        self._state.turn_usage = self._state.turn_usage + usage

    def finish(self) -> Restored:
        """Close what is open, and give all of it."""
        restored = self._restored
        restored.pending, restored.repairs = self._replay.finish()
        restored.queued = tuple(QueuedMessage(entry, self._queue[entry]) for entry in sorted(self._queue))
        restored.next_entry = max(self._entries, default=0) + 1
        restored.compactions = tuple(self._compactions)
        restored.problems = tuple(self._replay.problems)
        return restored
