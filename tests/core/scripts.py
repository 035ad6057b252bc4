"""What the tests of the core share: small tools, short scripts, and a transcript as words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hookagent import Agent
from hookagent.messages import AssistantMessage, ToolResult, UserMessage
from hookagent.providers.scripted import ScriptedProvider
from hookagent.transcript import Transcript


def ok(n: int = 0) -> str:
    """Give a number back."""
    return f"ok {n}"


async def quick(n: int = 0) -> str:
    """Give a number back, asynchronously."""
    return f"quick {n}"


def bad() -> str:
    """Always fail."""
    raise ValueError("no")


def calls(*names: str, ids: Sequence[str] | None = None, **arguments: Any) -> dict[str, Any]:
    """A scripted reply with calls; ids are c1, c2, ... unless given."""
    ids = ids or [f"c{number}" for number in range(1, len(names) + 1)]
    return {"calls": [{"name": name, "arguments": arguments, "id": one} for name, one in zip(names, ids, strict=True)]}


def make_agent(script: list[Any], *plugins: Any, tools: Sequence[Any] = (ok, quick, bad), **options: Any) -> Agent:
    """An agent with the small tools and a scripted model."""
    return Agent("tested", tools=tools, model=ScriptedProvider(script), plugins=plugins, **options)


def words(transcript: Transcript) -> list[str]:
    """The flat list of messages, one short text each."""
    out = []
    for message in transcript.messages():
        if isinstance(message, UserMessage):
            out.append(f"U {message.text}" + (f" <{message.origin}>" if message.origin else ""))
        elif isinstance(message, ToolResult):
            out.append(f"R {message.call_id} {message.status}")
        elif isinstance(message, AssistantMessage):
            out.append("A " + " ".join([*(one.id for one in message.tool_calls), message.text]).strip())
    return out
