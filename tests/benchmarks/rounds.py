"""What one round costs, without plugins and with four, short and long, in time and in memory."""

from __future__ import annotations

import asyncio
import gc
import os
import tempfile
import time
import tracemalloc
from collections.abc import Coroutine, Iterator
from typing import Any

from tests.benchmarks.measuring import Job, Row, cpu, in_turn
from tests.benchmarks.parts import AnsweringModel, FloorLoop, FloorModel, agent, answered, echo, plain_echo, plugins

ROUNDS = 1000
_SHORT, _LONG = 100, 5000
_MIB = 1024 * 1024


def ours(rounds: int, tool: str = "echo", **options: Any) -> Job:
    """An agent of ours through `rounds` rounds."""

    async def job() -> None:
        made = agent(AnsweringModel(rounds, tool), **options)
        await answered(made)
        await made.close()

    return job


def floor(rounds: int) -> Job:
    """The hand-written loop through as many."""

    def job() -> Coroutine[Any, Any, object]:
        return FloorLoop([echo], FloorModel(rounds)).run("go")

    return job


def rows(repeats: int) -> Iterator[Row]:
    """See the module's first line."""
    per_round = 1e6 / ROUNDS
    four, four_plain = plugins(4), plugins(4, around=False)
    plain, bare, all_hooks, plain_hooks = (
        best * per_round
        for best in in_turn(
            repeats, ours(ROUNDS), floor(ROUNDS), ours(ROUNDS, plugins=four), ours(ROUNDS, plugins=four_plain)
        )
    )
    yield Row("one round, async tool, no plugins", "µs", plain, bare, 6.0)
    yield Row("one round, four plugins with every plain hook", "µs", plain_hooks, bare, 10.0)
    yield Row("one round, four plugins with every hook", "µs", all_hooks, bare, 14.3)
    threaded, hopping = (best * per_round for best in in_turn(repeats, ours(ROUNDS, "plain_echo"), _hopping(ROUNDS)))
    yield Row("one round, plain tool", "µs", threaded, hopping, 1.3, "hand-written loop + a thread hop")
    yield _growth(repeats)
    yield _on_disk(repeats, bare)
    yield from _big_result(repeats)
    yield _memory()


def _hopping(rounds: int) -> Job:
    async def hop(text: str, n: int) -> str:
        return await asyncio.get_running_loop().run_in_executor(None, plain_echo, text, n)

    hop.__name__ = "echo"

    def job() -> Coroutine[Any, Any, object]:
        return FloorLoop([hop], FloorModel(rounds)).run("go")

    return job


def _growth(repeats: int) -> Row:
    """The median of windows of one long run, so that what a run costs once is not in it."""
    best = float("inf"), float("inf")
    at: list[float] = []

    class Timed(AnsweringModel):
        async def stream(self, request: Any) -> Any:
            at.append(time.process_time())
            async for item in super().stream(request):
                yield item

    for _ in range(max(1, repeats // 2)):
        at.clear()
        cpu(lambda: answered(agent(Timed(_LONG + _SHORT))))
        early, late = at[2 * _SHORT] - at[_SHORT], at[_LONG + _SHORT] - at[_LONG]
        best = min(best[0], early), min(best[1], late)
    early, late = (one / _SHORT * 1e6 for one in best)
    return Row("a round after 5,000 over one after 100", "µs", late, early, 1.15, "our own round after 100")


def _on_disk(repeats: int, bare: float) -> Row:
    with tempfile.TemporaryDirectory() as folder:
        before = os.environ.get("HOOKAGENT_HOME")
        os.environ["HOOKAGENT_HOME"] = folder
        try:
            kept, unkept = (best * 1e6 / ROUNDS for best in in_turn(repeats, ours(ROUNDS, log=True), ours(ROUNDS)))
        finally:
            if before is None:
                del os.environ["HOOKAGENT_HOME"]
            else:
                os.environ["HOOKAGENT_HOME"] = before
    return Row("what the session on disk adds to a round", "µs", kept - unkept, bare, 35.7)


def _big_result(repeats: int) -> Iterator[Row]:
    blob = "x" * (10 * _MIB)
    state = {"big": True}

    async def big(text: str, n: int) -> str:
        """Give a large text once."""
        first, state["big"] = state["big"], False
        return blob if first else "ok"

    async def mine() -> None:
        state["big"] = True
        await answered(agent(AnsweringModel(21, "big"), [big], tool_result_limit=len(blob)))

    async def bare() -> None:
        state["big"] = True
        await FloorLoop([big], FloorModel(21, "big")).run("go")

    one, two = (best * 1e3 for best in in_turn(repeats, mine, bare))
    yield Row("a result of 10 MiB, then 20 rounds", "ms", one, two, 37.5)


def _memory() -> Row:
    async def held(made: Any) -> None:
        await made

    figures = []
    for build in (lambda: agent(AnsweringModel(_LONG)), lambda: FloorLoop([echo], FloorModel(_LONG))):
        kept = build()
        asyncio.run(held(build().run("go")))
        gc.collect()
        tracemalloc.start()
        asyncio.run(held(kept.run("go")))
        gc.collect()
        figures.append(tracemalloc.get_traced_memory()[0] / _MIB)
        tracemalloc.stop()
    return Row("memory of 5,000 rounds", "MiB", figures[0], figures[1], 2.0)
