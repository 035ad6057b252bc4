"""The words of a model that has none: answers made of tool results, and honest ones where no tool fits."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

from hookagent import Tool, ToolCall, ToolResult, ToolRound

WAYS_ON = (
    "For a model that answers in its own words, set ANTHROPIC_API_KEY or OPENAI_API_KEY and name it "
    "('anthropic:claude-sonnet-5', 'openai:gpt-5'), or point OPENAI_BASE_URL at a server of your own and name "
    "'openai-chat:NAME'."
)
_ENDED = {
    "ok": "gave",
    "error": "failed",
    "denied": "was denied",
    "not_run": "was not run",
    "interrupted": "was interrupted",
}
_LONGEST_ARGUMENT = 60


def answer_from_results(rounds: Iterable[ToolRound]) -> str:
    """Tell what the calls of these rounds gave: one that went well is its result, several are told apart by call."""
    pairs = [(call, result) for one in rounds for call, result in zip(one.calls, one.results, strict=True) if result]
    if len(pairs) == 1 and not _went_wrong(pairs[0][1]):
        return pairs[0][1].content
    return "\n".join(_told(call, result) for call, result in pairs)


def no_tool_answer(tools: Sequence[Tool], guesses: Sequence[tuple[str, Any]]) -> str:
    """Say that nothing was called, what there is to call, what came nearest, and how to get a full model."""
    if not tools:
        return f"The embedded model cannot do this: all it does is pick tools, and it was offered none.\n{WAYS_ON}"
    lines = [
        "The embedded model found no tool for this. It is tiny: it picks a tool and fills in its arguments, and cannot "
        "answer in its own words.",
        f"The tools here: {', '.join(tool.name for tool in tools)}.",
    ]
    if guesses:
        calls = ", ".join(_shown(name, arguments) for name, arguments in guesses)
        lines.append(f"Its nearest guess, which it was not sure enough of to run: {calls}.")
    lines.append(WAYS_ON)
    return "\n".join(lines)


def _went_wrong(result: ToolResult) -> bool:
    return result.is_error or result.status != "ok"


def _told(call: ToolCall, result: ToolResult) -> str:
    status = "error" if result.is_error and result.status == "ok" else result.status
    between = "\n" if "\n" in result.content.strip() else " "
    return f"{_shown(call.name, call.arguments)} {_ENDED[status]}:{between}{result.content}"


def _shown(name: str, arguments: Any) -> str:
    if not isinstance(arguments, dict):
        return name
    return f"{name}({', '.join(f'{key}={_short(value)}' for key, value in arguments.items())})"


def _short(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    text = " ".join(text.split())
    return text if len(text) <= _LONGEST_ARGUMENT else text[: _LONGEST_ARGUMENT - 1] + "…"
