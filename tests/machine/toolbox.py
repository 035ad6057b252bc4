"""The tools of the machine's agents: each notes that its body was entered, and with which arguments."""

from __future__ import annotations

import asyncio
import collections
import weakref
from collections.abc import Awaitable, Iterator
from contextlib import contextmanager
from typing import Any

from hookagent import current_call, tool
from tests.machine.world import Ran, World

BIG = 1_600
"""How many characters the tool `big` gives."""


class Toolbox:
    """What the tools of one agent note. `most` ran at once; `beside`: something ran beside `alone`."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.running: collections.Counter[str] = collections.Counter()
        self.most = 0
        self.beside = False

    @contextmanager
    def within(self, name: str, n: int) -> Iterator[None]:
        """The body of a tool is entered, and left at the end."""
        call = current_call()
        self.running[name] += 1
        self.most = max(self.most, self.running.total())
        self.beside = self.beside or (self.running["alone"] > 0 and self.running.total() > 1)
        ran: Ran = self.world.note(Ran(call.call_id, name, {"n": n}))
        try:
            yield
            ran.done = True
        finally:
            self.running[name] -= 1


BOXES: weakref.WeakKeyDictionary[Any, Toolbox] = weakref.WeakKeyDictionary()
"""The toolbox of each agent; the tools themselves are shared, so that their schemas are made once."""


async def _some_time(name: str, n: int, cycles: int) -> str:
    box = BOXES[current_call().agent]
    with box.within(name, n):
        for _ in range(cycles):
            await asyncio.sleep(0)
        return f"{box.world.token('result')} of {name} {n}"


def _for_ever(name: str, n: int) -> Awaitable[str]:
    async def wait() -> str:
        with BOXES[current_call().agent].within(name, n):
            await asyncio.get_running_loop().create_future()
        return "never"

    return wait()


async def ok(n: int = 0) -> str:
    """Give a number back."""
    return await _some_time("ok", n, 0)


async def slow(n: int = 0) -> str:
    """Give a number back, later."""
    return await _some_time("slow", n, 4)


async def risky(n: int = 0) -> str:
    """Do something that somebody wants to look at."""
    return await _some_time("risky", n, 1)


@tool(alone=True)
async def alone(n: int = 0) -> str:
    """Run with nothing beside it."""
    return await _some_time("alone", n, 3)


async def bad(n: int = 0) -> str:
    """Fail."""
    await _some_time("bad", n, 0)
    raise ValueError("no")


async def hangs(n: int = 0) -> str:
    """Wait for ever."""
    return await _for_ever("hangs", n)


@tool(time_limit=20)
async def limited(n: int = 0) -> str:
    """Wait for ever, with a limit."""
    return await _for_ever("limited", n)


async def stubborn(n: int = 0) -> str:
    """Take some time to end when asked to."""
    box = BOXES[current_call().agent]
    with box.within("stubborn", n):
        try:
            for _ in range(3):
                await asyncio.sleep(0)
            return f"{box.world.token('result')} of stubborn {n}"
        except asyncio.CancelledError:
            await asyncio.sleep(0)
            return "ended late"


async def steers(n: int = 0) -> str:
    """Queue a message."""
    agent = current_call().agent
    BOXES[agent].world.steer(agent)
    return await _some_time("steers", n, 0)


async def stops(n: int = 0) -> str:
    """Abort the run."""
    agent = current_call().agent
    BOXES[agent].world.abort(agent, "a tool aborts")
    return await _some_time("stops", n, 0)


async def big(n: int = 0) -> str:
    """Give a long text."""
    return (await _some_time("big", n, 0)).ljust(BIG, ".")


TOOLS: tuple[Any, ...] = (ok, slow, bad, hangs, stubborn, steers, stops, risky, big, limited, alone)
