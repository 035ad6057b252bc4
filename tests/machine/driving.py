"""Running the agent to the end of a run without ever waiting: time moves only when nothing else does."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any

from hookagent import Agent
from tests.machine.world import Mark, World

IDLE_CYCLES = 25
"""So many turns of the event loop without anything happening mean that all wait for the clock."""
MOST_STALLS = 80


class HangsError(AssertionError):
    """A run did not end, whatever time passed."""


class Driver:
    """Drives one run; `cancel` asks it to cancel the caller of the run in the event loop's next turn."""

    def __init__(self, world: World, agent: Agent) -> None:
        self.world = world
        self.agent = agent
        self.cancel = False
        self.cancelled = False

    async def drive(self, work: Coroutine[Any, Any, Any]) -> tuple[Any, BaseException | None]:
        """The result of `work`, or what it raised."""
        task = asyncio.ensure_future(work)
        seen, idle, stalls = -1, 0, 0
        while not task.done():
            await asyncio.sleep(0)
            if self.cancel:
                self.cancel, self.cancelled = False, True
                self.world.note(Mark("cancel"))
                task.cancel()
            if self.world.progress != seen:
                seen, idle = self.world.progress, 0
                continue
            idle += 1
            if idle < IDLE_CYCLES:
                continue
            idle, stalls = 0, stalls + 1
            if stalls > MOST_STALLS:
                raise HangsError("the run does not end, whatever time passes")
            if not self.world.clock.step():
                self.world.abort(self.agent, "nobody waits any longer")
        try:
            return task.result(), None
        except BaseException as error:
            return None, error
