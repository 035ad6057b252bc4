"""The tools of the scenarios; those of a round end in an order that events decide, never the clock."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, Protocol

from hookagent import Agent, current_call, tool
from hookagent.testing import FakeClock, ScriptedProvider


class Played(Protocol):
    """What tools need of the stage."""

    clock: FakeClock
    counted: int

    def abort(self) -> None: ...
    def steer(self, text: str) -> None: ...
    def follow_up(self, text: str) -> None: ...
    def later(self, seconds: float) -> None: ...
    async def end_of(self, call_id: str) -> None: ...
    async def result_of(self, call_id: str) -> None: ...


def make_tools(stage: Played) -> list[Callable[..., Any]]:
    """All tools, for one stage."""
    return [*_plain_tools(stage), *_meanwhile_tools(stage)]


def _plain_tools(stage: Played) -> list[Callable[..., Any]]:
    async def look(n: int = 0, after: str = "") -> str:
        """Look at something, perhaps when another call has ended."""
        if after:
            await stage.end_of(after)
        return f"seen {n}"

    async def fail(after: str = "") -> str:
        """Fail, perhaps when another call has ended."""
        if after:
            await stage.end_of(after)
        raise ValueError("broken")

    def read() -> str:
        """Read something, in a thread, and say how far it is."""
        current_call().report_progress("half")
        return "read"

    async def count() -> int:
        """Give another number each time."""
        stage.counted += 1
        return stage.counted

    async def take(seconds: float) -> str:
        """Take some time."""
        stage.clock.advance(seconds)
        return "taken"

    async def ask() -> str:
        """Ask another agent."""
        inner = Agent("inner", model=ScriptedProvider(["inner answer"]), clock=stage.clock, log=False, quiet=True)
        result = await inner.run("inner task")
        await inner.close()
        return result.answer

    @tool(time_limit=30)
    async def overrun() -> str:
        """Take longer than it may."""
        stage.later(31)
        await asyncio.Event().wait()
        return "never"

    return [look, fail, read, count, take, ask, overrun]


def _meanwhile_tools(stage: Played) -> list[Callable[..., Any]]:
    async def steer(*, text: str) -> str:
        """Steer, as a person would meanwhile."""
        stage.steer(text)
        return "steered"

    async def follow(*, text: str) -> str:
        """Queue a follow-up message, as a person would meanwhile."""
        stage.follow_up(text)
        return "queued"

    async def abort(*, heeds: bool = True, after: str = "") -> str:
        """Abort the run, as a person would meanwhile, and wait; perhaps also when it is told to end."""
        if after:
            await stage.end_of(after)
        stage.abort()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            if heeds:
                raise
            stage.later(10)  # more than the grace time
            await stage.result_of(current_call().call_id)
        return "never"

    return [steer, follow, abort]
