"""Hooks, events and messages as short words, so that a trace can be read, and compared line by line."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from hookagent.abort import Aborted
from hookagent.events import Event
from hookagent.messages import AssistantMessage, ToolCall, ToolResult, UserMessage
from hookagent.requests import Request
from hookagent.transcript import ToolRound, Transcript


def hook_words(hook: str, given: Mapping[str, Any]) -> str:
    """What a hook was called with, in a few words."""
    words = _HOOKS.get(hook)
    return words(given) if words is not None else ""


def end_words(result: object) -> str:
    """What an around hook got from `call_next`, and gave back."""
    if isinstance(result, Aborted):
        return "aborted"
    if isinstance(result, ToolResult):
        return f"{result.call_id} {result.status}"
    return "with the reply" if isinstance(result, AssistantMessage) else f"raises {type(result).__name__}"


def event_words(event: Event) -> str:
    """An event in brackets: its type, and what tells it from others of its type."""
    words = _EVENTS.get(event.type)
    detail = words(event) if words is not None else ""
    return f"[{event.type} {detail}]" if detail else f"[{event.type}]"


def message_words(message: object) -> str:
    """One message or result."""
    if isinstance(message, UserMessage):
        return f"user{f' ({message.origin})' if message.origin else ''}: {message.text}"
    if isinstance(message, AssistantMessage):
        parts = ([f"calls {_ids(message.tool_calls)}"] if message.tool_calls else []) + [message.text]
        return f"assistant: {', '.join(part for part in parts if part)}"
    assert isinstance(message, ToolResult)
    return f"result of {message.call_id}: {message.status}"


def transcript_lines(transcript: Transcript) -> list[str]:
    """All messages, one a line; a round that waits says so, and so does what is held behind it."""
    messages = list(transcript.messages())
    open_round, held = transcript.open_round, transcript.held
    lines = [message_words(message) for message in messages[: len(messages) - len(held)]]
    if open_round is not None:
        lines += [f"waiting: {_ids(open_round.open_calls)}"]
        lines += [f"held: {message_words(message)}" for message in held]
    return lines


def _ids(calls: Any) -> str:
    return " ".join(call.id for call in calls)


def _call(call: ToolCall) -> str:
    """A call with its arguments, but not `after`, which only says in which order calls are to end."""
    shown = {name: value for name, value in (call.arguments or {}).items() if name != "after"}
    arguments = ", ".join(f"{name}={json.dumps(value)}" for name, value in shown.items())
    return f"{call.id}({arguments})" if arguments else call.id


def _request(request: Request) -> str:
    words = [f"{len(request.blocks)} block{'s' if len(request.blocks) != 1 else ''}"]
    words += [f"summary {request.summary!r}"] if request.summary is not None else []
    return ", ".join([*words, *(["tools off"] if request.tool_choice == "none" else [])])


def _round(tool_round: ToolRound) -> str:
    return ", ".join(f"{result.call_id} {result.status}" for result in tool_round.results if result is not None)


def _error(given: Mapping[str, Any]) -> str:
    call = given["tool_call"]
    return type(given["error"]).__name__ + (f" of {call.id}" if call is not None else "")


def _outcome(given: Mapping[str, Any]) -> str:
    outcome = given["outcome"]
    return f"{outcome.status} {outcome.limit}" if outcome.limit else str(outcome.status)


_HOOKS: Mapping[str, Any] = {
    "after_user_input": lambda given: f"{given['message'].text!r} by {given['message'].via}",
    "before_llm": lambda given: str(given["iteration"]),
    "shape_request": lambda given: _request(given["request"]),
    "wrap_model_call": lambda given: _request(given["request"]),
    "after_llm": lambda given: message_words(given["response"]).removeprefix("assistant: "),
    "before_tools": lambda given: " ".join(map(_call, given["tool_calls"])),
    "before_each_tool": lambda given: _call(given["tool_call"]),
    "resolve_suspended": lambda given: " ".join(_call(one.call) for one in given["pending"]),
    "wrap_tool_call": lambda given: _call(given["tool_call"]),
    "after_each_tool": lambda given: f"{given['result'].call_id} {given['result'].status}",
    "on_error": _error,
    "after_tools": lambda given: _round(given["tool_round"]),
    "before_complete": lambda given: repr(given["answer"]),
    "on_complete": _outcome,
}
_EVENTS: Mapping[str, Any] = {
    "turn_start": lambda event: str(event.turn),
    "iteration_start": lambda event: str(event.iteration),
    "request": lambda event: f"{event.blocks} block{'s' if event.blocks != 1 else ''}",
    "response": lambda event: event.stop_reason,
    "message_start": lambda event: event.role,
    "message_delta": lambda event: event.kind,
    "message_end": lambda event: message_words(event.message),
    "message_replaced": lambda event: event.reason,
    "tool_start": lambda event: _call(event.call),
    "tool_progress": lambda event: f"{event.call.id} {event.value}",
    "tool_end": lambda event: f"{event.call.id} {event.result.status}",
    "resolve_start": lambda event: " ".join(map(_call, event.calls)),
    "resolve_end": lambda event: f"open: {' '.join(event.open) or 'none'}",
    "nested": lambda event: f"{event.call_id} {event.event.type}",
    "hook": lambda event: (
        f"{event.plugin} {event.hook} {event.outcome}" + (f" {event.detail}" if event.outcome == "returned" else "")
    ),
    "compaction": lambda event: f"{event.plugin} {event.blocks_before} to {event.blocks_after} blocks",
    "retry": lambda event: f"{event.attempt}",
    "error": lambda event: f"{event.kind} {event.source}",
    "turn_end": lambda event: event.status,
    "agent_end": lambda event: event.status,
}
