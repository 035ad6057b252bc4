"""What the tests of calls beside each other share: tools that wait, each in its own way, and what came of them."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

from hookagent import ToolContext
from hookagent.testing import FakeClock
from hookagent.transcript import ToolRound
from tests.core.scripts import ok, quick

STOPPED = "interrupted: aborted by user (enough) while it ran; it may have run"
CANCELLED = "interrupted: it was cancelled, by itself or because the run failed, while it ran; it may have run"
OUTLASTED = "the tool did not stop in the grace time; it may still be running, and may have run"


def results(agent: Any) -> list[Any]:
    return [one for block in agent.transcript if isinstance(block, ToolRound) for one in block.results]


def seen(agent: Any) -> list[tuple[str, str, bool]]:
    return [(one.content, one.status, one.is_error) for one in results(agent)]


def ends(agent: Any) -> list[str]:
    """The starts and ends of calls, in the order they were announced."""
    signs = {"tool_start": "+", "tool_end": "-"}
    return [signs[one.type] + one.call.id for one in agent.session.trace if one.type in signs]


async def turns(count: int = 10) -> None:
    for _ in range(count):
        await asyncio.sleep(0)


async def until(reached: Any) -> None:
    """Give others the loop until something is so, or they had it often enough for it to come."""
    for _ in range(10_000):
        if reached():
            return
        await asyncio.sleep(0)


class Tools:
    """Tools that wait, each in its own way, until the run is to end or the test lets them go."""

    def __init__(self) -> None:
        self.log: list[str] = []
        self.free = threading.Event()
        self.running = self.most = 0

    def all(self) -> list[Any]:
        return [self.waits, self.stubborn, self.patient, self.deaf, self.counted, quick, ok]

    async def waits(self, context: ToolContext) -> str:
        """Wait for ever."""
        try:
            await asyncio.Event().wait()
        finally:
            self.log.append(f"{context.call_id} told")
        return "never"

    async def stubborn(self, context: ToolContext) -> str:
        """Wait, whatever comes."""
        while not self.free.is_set():
            try:
                await asyncio.sleep(0)
            except asyncio.CancelledError:
                self.log.append(f"{context.call_id} told")
        return "late"

    def patient(self, context: ToolContext) -> str:
        """Wait for the abort in a thread."""
        context.abort.wait()
        return f"heeded: {context.abort.reason}"

    def deaf(self) -> str:
        """Wait in a thread, whatever comes."""
        self.free.wait()
        return "late"

    async def counted(self) -> str:
        """Count how many of these run at once."""
        self.running += 1
        self.most = max(self.most, self.running)
        await turns(3)
        self.running -= 1
        return "counted"


async def ended_by(agent: Any, clock: FakeClock, begin: Any, seconds: float = 0.0) -> Any:
    """Run an agent, let `begin` do what ends it once both calls run; what has not ended then has `seconds`."""
    task = asyncio.ensure_future(agent.run("go"))
    await until(lambda: "+c2" in ends(agent))
    await turns()
    begin()
    await until(task.done)
    if not task.done():
        clock.advance(seconds)
    return await task
