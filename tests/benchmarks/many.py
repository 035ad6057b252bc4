"""Many at once: tools of one round, agents of one process, plugins that have nothing to do."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from typing import Any

from tests.benchmarks.measuring import Row, cpu, in_turn, wall
from tests.benchmarks.parts import AnsweringModel, FloorLoop, FloorModel, agent, answered, echo, plugins

_TOOLS, _NAP = 64, 0.05
_AGENTS, _ROUNDS, _LATENCY = 200, 10, 0.02


def nap(text: str, n: int) -> str:
    """Sleep for 50 ms in a thread.

    Args:
        text: a text
        n: a number
    """
    time.sleep(_NAP)
    return "ok"


def rows(repeats: int) -> Iterator[Row]:
    """See the module's first line."""
    ideal = "the 50 ms themselves"
    (slept,) = in_turn(repeats, lambda: answered(_napping()), measure=wall)
    yield Row(f"{_TOOLS} plain tools of 50 ms, run", "ms", slept * 1e3, _NAP * 1e3, 1.6, ideal)
    yield Row(f"{_TOOLS} plain tools of 50 ms, run_sync", "ms", _sync(repeats) * 1e3, _NAP * 1e3, 1.6, ideal)
    yield from _many_agents(repeats)
    idle, none = _ten_calls(repeats, plugins(10, around=False)), _ten_calls(repeats, [])
    yield Row("ten idle plugins on a run of ten tools, added", "ms", (idle - none) * 1e3, 1.0, 1.0, "one millisecond")


def _napping() -> Any:
    return agent(AnsweringModel(1, "nap", _TOOLS), [nap])


def _sync(repeats: int) -> float:
    best = float("inf")
    for _ in range(repeats):
        made = _napping()
        start = time.perf_counter()
        made.run_sync("go")
        best = min(best, time.perf_counter() - start)
    return best


def _many_agents(repeats: int) -> Iterator[Row]:
    async def ours() -> None:
        await asyncio.gather(*(answered(agent(AnsweringModel(_ROUNDS, latency=_LATENCY))) for _ in range(_AGENTS)))

    async def floor() -> None:
        loops = [FloorLoop([echo], FloorModel(_ROUNDS, latency=_LATENCY)) for _ in range(_AGENTS)]
        await asyncio.gather(*(one.run("go") for one in loops))

    ideal = (_ROUNDS + 1) * _LATENCY
    what = f"{_AGENTS} agents at once, {_ROUNDS} rounds, model of 20 ms"
    (taken,) = in_turn(repeats, ours, measure=wall)
    yield Row(what, "ms", taken * 1e3, ideal * 1e3, 1.25, "the model's own time")
    used, bare = (best * 1e6 / _AGENTS / _ROUNDS for best in in_turn(repeats, ours, floor, measure=cpu))
    yield Row(f"{what}, CPU a round", "µs", used, bare, 5.0)


def _ten_calls(repeats: int, idle: list[Any]) -> float:
    """The best CPU seconds of a run with one round of ten calls; making the agent is not part of it."""
    best = float("inf")
    for _ in range(max(1, repeats) * 3):
        made = agent(AnsweringModel(1, calls=10), plugins=idle)

        async def job(made: Any = made) -> None:
            await answered(made)

        best = min(best, cpu(job))
    return best
