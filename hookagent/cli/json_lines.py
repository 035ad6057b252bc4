"""`run --json`: one event a line on standard output, the last of type `result`.

Strict JSON in ASCII, so that no terminal, encoding or line splitter can spoil a line. Each event line has `type`,
`number`, `seconds` (since the run's first event), `turn`, `iteration`, and the event's own fields. What a model, a
tool or a person said is exact; in texts about failures secrets are masked.
"""

from __future__ import annotations

import contextlib
import json
import math
from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hookagent.cli.console import Console
    from hookagent.events import Event
    from hookagent.result import RunResult

_COMMON = ("number", "seconds", "turn", "iteration")
_ABOUT_FAILURES = frozenset({"error", "reason", "detail"})
_NO_USAGE = {
    "input_tokens": 0,
    "cache_read_tokens": 0,
    "cache_write_tokens": 0,
    "output_tokens": 0,
    "cost_usd": None,
    "requests": 0,
}


class JsonLines:
    """A listener that prints each event on `console`."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._start: float | None = None

    def __call__(self, event: Event) -> None:
        """Print one event."""
        if self._start is None:
            self._start = event.seconds
        # The console keeps the failure, and the command ends the run for it.
        with contextlib.suppress(OSError):
            self._console.write(_line(self._fields(event, self._start)))

    def _fields(self, event: Event, start: float) -> dict[str, Any]:
        fields: dict[str, Any] = {
            "type": event.type,
            "number": event.number,
            "seconds": round(event.seconds - start, 6),
            "turn": event.turn,
            "iteration": event.iteration,
        }
        failure = event.type == "error"
        for name in event._fields:
            if name in _COMMON:
                continue
            if event.type == "nested" and name == "event":
                fields[name] = self._fields(event.event, start)
                continue
            value = _plain(getattr(event, name))
            if isinstance(value, str) and (name in _ABOUT_FAILURES or (failure and name == "message")):
                value = self._console.mask(value)
            fields[name] = value
        return fields


def result_line(console: Console, result: RunResult, code: int, errors: list[str]) -> str:
    """The last line of a run that has a result; `errors` are all that is to be said of failures."""
    return _line(
        {
            "type": "result",
            "status": result.status,
            "answer": result.answer,
            "reason": console.mask(result.reason),
            "limit": result.limit,
            "exit_code": code,
            "session_id": result.session.id,
            "usage": asdict(result.usage),
            "iterations": result.iterations,
            "tool_calls": result.tool_calls,
            "seconds": round(result.seconds, 6),
            "not_stored": [message.text for message in result.not_stored],
            "errors": errors,
            "warnings": [console.mask(warning) for warning in result.warnings],
        }
    )


def failure_line(code: int, errors: list[str]) -> str:
    """The last line of a command that failed before there was a run."""
    return _line(
        {
            "type": "result",
            "status": "failed",
            "answer": "",
            "reason": "; ".join(errors),
            "limit": None,
            "exit_code": code,
            "session_id": None,
            "usage": _NO_USAGE,
            "iterations": 0,
            "tool_calls": 0,
            "seconds": 0.0,
            "not_stored": [],
            "errors": errors,
            "warnings": [],
        }
    )


def _line(value: Mapping[str, Any]) -> str:
    return json.dumps(_plain(value), ensure_ascii=True, allow_nan=False, separators=(",", ":")) + "\n"


def _plain(value: Any) -> Any:
    """Return any value of an event as strict JSON values."""
    from hookagent.messages import AssistantMessage, ToolCall, ToolResult, UserMessage
    from hookagent.tools.text import clean_text, to_text
    from hookagent.usage import Usage

    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, str):
        return clean_text(value)
    if isinstance(value, Mapping):
        return {clean_text(str(key)): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, Usage | ToolResult):
        return _plain(asdict(value))
    if isinstance(value, ToolCall):
        call = {"id": value.id, "name": value.name, "arguments": value.arguments}
        broken = {"raw": value.raw, "problem": value.problem} if value.problem is not None else {}
        return _plain(call | broken)
    if isinstance(value, UserMessage):
        said = {"role": "user", "text": value.text, "origin": value.origin, "via": value.via}
        return _plain(said | {"images": [image.media_type for image in value.images]})
    if isinstance(value, AssistantMessage):
        return _plain(
            {
                "role": "assistant",
                "text": value.text,
                "tool_calls": value.tool_calls,
                "stop_reason": value.stop_reason,
                "usage": value.usage,
                "model": value.model,
                "provider": value.provider,
            }
        )
    # What a tool reported as progress may be anything.
    return to_text(value)
