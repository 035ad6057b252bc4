"""A conversation as Markdown for people: every text as it is, behind a fence that nothing in it can end."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from hookagent.counting import counted
from hookagent.messages import Message, ToolResult, UserMessage


def markdown_lines(head: Mapping[str, Any], messages: Iterable[Message], problems: Iterable[str] = ()) -> Iterator[str]:
    """Give the text in pieces that are to be joined by line ends.

    `head` is what is known of the session, its id as `session`; `problems` are what could not be read of it.
    """
    yield f"# Session {head['session']}\n"
    for name, value in head.items():
        if name != "session":
            yield f"- {name}: {_code(str(value))}"
    yield ""
    for message in messages:
        yield from _markdown_message(message)
    said = [f"- {_code(problem)}" for problem in problems]
    if said:
        yield "## Problems\n"
        yield from said


def _markdown_message(message: Message) -> Iterator[str]:
    if isinstance(message, UserMessage):
        yield f"## User{f' ({_code(message.origin)})' if message.origin else ''}\n"
        yield _fenced(message.text)
        if message.images:
            yield f"{counted(len(message.images), 'image')}\n"
    elif isinstance(message, ToolResult):
        yield f"### Result {_code(message.call_id)}: {message.status}\n"
        yield _fenced(message.content)
    else:
        yield "## Assistant\n"
        if message.text.strip():
            yield _fenced(message.text)
        for call in message.tool_calls:
            yield f"### Call {_code(call.name)} ({_code(call.id)})\n"
            shown = json.dumps(call.arguments, indent=2) if call.arguments is not None else call.raw or ""
            yield _fenced(shown, "json" if call.arguments is not None else "")


def _fenced(text: str, language: str = "") -> str:
    """A text as it is, whatever Markdown it holds: behind a fence that is longer than any in it."""
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{text}\n{fence}\n"


def _code(text: str) -> str:
    joined = " ".join(text.split())
    longest = max((len(run) for run in re.findall("`+", joined)), default=0)
    fence = "`" * (longest + 1)
    return f"{fence} {joined} {fence}" if "`" in joined else f"`{joined}`"
