"""How a row is measured: CPU time of this process, ours and the floor in turn, the best of each."""

from __future__ import annotations

import asyncio
import gc
import time
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any

Job = Callable[[], Coroutine[Any, Any, object]]


@dataclass(frozen=True)
class Row:
    """One line of the table: what was measured, ours and the floor in `unit`, and the most that their ratio may be."""

    what: str
    unit: str
    ours: float
    floor: float
    goal: float
    floor_is: str = "hand-written loop"

    @property
    def ratio(self) -> float:
        """Ours over the floor."""
        return self.ours / self.floor

    @property
    def reached(self) -> bool:
        """Whether the ratio is what was aimed at."""
        return self.ratio <= self.goal


def heading() -> str:
    """The head of the table."""
    return (
        f"{'what':58} {'ours':>10} {'floor':>10} {'ratio':>8} {'goal':>8}      the floor\n"
        f"{'-' * 58} {'-' * 10} {'-' * 10} {'-' * 8} {'-' * 8} {'-' * 30}"
    )


def line(row: Row) -> str:
    """One line of the table."""
    mark = "    " if row.reached else "over"
    return (
        f"{f'{row.what} ({row.unit})':58} {_figure(row.ours):>10} {_figure(row.floor):>10} {row.ratio:8.2f} "
        f"{row.goal:8.2f} {mark} {row.floor_is}"
    )


def _figure(value: float) -> str:
    return f"{value:,.0f}" if value >= 1000 else f"{value:.1f}" if value >= 10 else f"{value:.3f}"


def cpu(job: Job) -> float:
    """CPU seconds of this process, all threads, for one run of `job` in an event loop of its own."""
    gc.collect()
    with asyncio.Runner() as runner:
        runner.get_loop()
        start = time.process_time()
        runner.run(job())
        return time.process_time() - start


def wall(job: Job) -> float:
    """Seconds by the clock for one run of `job`."""
    gc.collect()
    with asyncio.Runner() as runner:
        runner.get_loop()
        start = time.perf_counter()
        runner.run(job())
        return time.perf_counter() - start


def in_turn(repeats: int, *jobs: Job, measure: Callable[[Job], float] = cpu) -> list[float]:
    """The best of `repeats` for each job, measured one after the other so that a busy moment meets them alike."""
    best = [float("inf")] * len(jobs)
    for job in jobs:
        measure(job)  # imports, caches, and the interpreter's own warming up
    for _ in range(max(1, repeats)):
        for place, job in enumerate(jobs):
            best[place] = min(best[place], measure(job))
    return best


def plain_in_turn(repeats: int, times: int, *functions: Callable[[], object]) -> list[float]:
    """The best CPU seconds of one call of each plain function, out of `repeats` turns of `times` calls."""
    best = [float("inf")] * len(functions)
    for _ in range(max(1, repeats)):
        for place, function in enumerate(functions):
            gc.collect()
            start = time.process_time()
            for _ in range(times):
                function()
            best[place] = min(best[place], (time.process_time() - start) / times)
    return best
