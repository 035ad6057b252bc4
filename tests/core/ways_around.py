"""A call bare, with a hook around it that passes it on, and with one that does so in a task of its own making."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from hookagent.transcript import ToolRound
from tests.core.plugin_making import Around

WAYS = pytest.mark.parametrize("way", ["bare", "around", "around, in a task"])


def around(way: str, what: str) -> list[Around]:
    """The plugins for one of the ways; `what` is "tool" or "model"."""
    if way == "bare":
        return []

    async def passes(given: Any, call_next: Any) -> Any:
        below = call_next(given) if what == "model" else call_next()
        return await (asyncio.create_task(below) if "task" in way else below)

    return [Around("around", **{what: passes})]


def results(agent: Any) -> list[Any]:
    """All results in the transcript of an agent, in call order."""
    return [one for block in agent.transcript if isinstance(block, ToolRound) for one in block.results]


async def turns(count: int = 8) -> None:
    """Give everybody else so many turns of the event loop."""
    for _ in range(count):
        await asyncio.sleep(0)
