"""Which line an event becomes in the text log, if any."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from hookagent.counting import counted
from hookagent.escaping import LONGEST_LINE
from hookagent.events import (
    AgentEnd,
    AgentStart,
    Compaction,
    ErrorEvent,
    HookReport,
    MessageEnd,
    ResolveStart,
    Retry,
    ToolEnd,
    ToolStart,
    TurnEnd,
    TurnStart,
)
from hookagent.frozen import JsonValue
from hookagent.messages import UserMessage
from hookagent.tools.text import to_text

_LONGEST_ARGUMENTS = 500
_ENCODE = json.JSONEncoder(ensure_ascii=False, check_circular=False).encode

Line = Callable[[Any, Callable[[str], str]], str | None]
"""Makes a line of an event; the second argument takes secrets out of texts about failures."""


def _agent_start(event: AgentStart, mask: Callable[[str], str]) -> str:
    return f"run of '{event.agent}' with {event.model}"


def _turn_start(event: TurnStart, mask: Callable[[str], str]) -> str:
    return "turn begins" if event.prompt else "turn begins without a prompt"


def _message_end(event: MessageEnd, mask: Callable[[str], str]) -> str:
    message = event.message
    if isinstance(message, UserMessage):
        return f"user ({message.origin or message.via}): {_beginning(message.text)}"
    calls = ", ".join([call.name for call in message.tool_calls])
    said = f"assistant: {_beginning(message.text)}"
    return f"{said} [calls {calls}]" if calls else said


def _tool_start(event: ToolStart, mask: Callable[[str], str]) -> str:
    call = event.call
    return f"start {call.name} ({call.id}) {_arguments(call.arguments)}"


def _tool_end(event: ToolEnd, mask: Callable[[str], str]) -> str:
    call, result = event.call, event.result
    took = result.milliseconds
    spent = "" if took is None else f" in {took:.1f} ms"
    return f"end {call.name} ({call.id}) {result.status}{spent}: {_beginning(result.content)}"


def _compaction(event: Compaction, mask: Callable[[str], str]) -> str:
    return f"'{event.plugin}' sent {event.blocks_after} of {counted(event.blocks_before, 'block')}"


def _retry(event: Retry, mask: Callable[[str], str]) -> str:
    return mask(f"retry {event.attempt} in {event.wait_seconds:g} s: {event.error}")


def _error(event: ErrorEvent, mask: Callable[[str], str]) -> str:
    return mask(f"error ({event.kind}, {event.source}): {event.message}")


def _hook(event: HookReport, mask: Callable[[str], str]) -> str | None:
    if event.outcome not in ("failed", "overran", "slow"):
        return None
    return mask(f"hook '{event.hook}' of '{event.plugin}' {event.outcome}: {event.detail}")


def _turn_end(event: TurnEnd, mask: Callable[[str], str]) -> str:
    usage = event.usage
    cost = "price unknown" if usage.cost_usd is None else f"${usage.cost_usd:.6f}"
    calls, tokens = counted(usage.requests, "model call"), counted(usage.total_tokens, "token")
    return f"turn ends {event.status}: {calls}, {tokens}, {cost}"


LINES: dict[type, Line] = {
    AgentStart: _agent_start,
    TurnStart: _turn_start,
    MessageEnd: _message_end,
    ToolStart: _tool_start,
    ToolEnd: _tool_end,
    Compaction: _compaction,
    Retry: _retry,
    ErrorEvent: _error,
    HookReport: _hook,
    TurnEnd: _turn_end,
}
"""The line of each kind of event that has one."""

GIVES_CONTROL = frozenset({AgentEnd, ResolveStart, TurnEnd})
"""The events behind which somebody else acts, and may want to look at the log."""


def _beginning(text: str) -> str:
    # Cut before it is put into a line, so that a long text is not copied whole.
    return text if len(text) <= LONGEST_LINE else text[: LONGEST_LINE + 1]


def _arguments(arguments: JsonValue) -> str:
    try:
        text = _ENCODE(arguments)
    except (TypeError, ValueError, RecursionError):
        return to_text(arguments, _LONGEST_ARGUMENTS)
    return text if len(text) <= _LONGEST_ARGUMENTS else to_text(arguments, _LONGEST_ARGUMENTS)
