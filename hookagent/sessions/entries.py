"""Which event becomes which record. Deltas, progress and what leaves for the model become none."""

from __future__ import annotations

from collections.abc import Callable

from hookagent.events import (
    AgentStart,
    Compaction,
    ErrorEvent,
    Event,
    HookReport,
    MessageEnd,
    ResponseReceived,
    ToolEnd,
    ToolStart,
    TurnEnd,
    TurnStart,
)
from hookagent.messages import UserMessage
from hookagent.sessions.record_kinds import (
    CompactionRecord,
    ErrorRecord,
    HookRecord,
    Record,
    ReplyRecord,
    ResponseRecord,
    ResultRecord,
    RunStartRecord,
    StartRecord,
    TurnEndRecord,
    TurnStartRecord,
    UserRecord,
)

_GATES = frozenset(
    {"after_user_input", "before_llm", "before_tools", "before_each_tool", "resolve_suspended", "after_tools"}
)
"""The hooks whose return may be a verdict."""


def journaled(event: Event, turn_started: float, mask: Callable[[str], str]) -> tuple[Record, bool] | None:
    """The record that an event becomes, and whether it is to be written at once; None: it becomes none.

    What only announces something goes out together with what it announces. `turn_started` is the `seconds` of the
    turn's first event; `mask` takes the secrets out of texts about failures.
    """
    match event:
        case MessageEnd():
            message = event.message
            return (UserRecord(message) if isinstance(message, UserMessage) else ReplyRecord(message)), True
        case ToolStart():
            return StartRecord(event.call), True
        case ToolEnd():
            return ResultRecord(event.result), True
        case ResponseReceived():
            return ResponseRecord(event.usage, event.stop_reason, event.milliseconds), False
        case TurnStart():
            return TurnStartRecord(event.turn, event.prompt), False
        case TurnEnd():
            milliseconds = (event.seconds - turn_started) * 1000.0
            answer = mask(event.answer) if event.status == "failed" else event.answer
            return TurnEndRecord(event.turn, event.status, answer, event.usage, milliseconds), True
        case AgentStart():
            return RunStartRecord(event.agent, event.model), False
        case HookReport():
            if event.outcome not in ("failed", "overran") and not (
                event.outcome == "returned" and event.hook in _GATES
            ):
                return None
            return HookRecord(event.plugin, event.hook, event.outcome, mask(event.detail), event.milliseconds), True
        case Compaction():
            # Its own fields are those of the record, in the same order.
            return CompactionRecord(*event[4:]), True
        case ErrorEvent():
            return ErrorRecord(event.kind, event.source, mask(event.message)), True
    return None
