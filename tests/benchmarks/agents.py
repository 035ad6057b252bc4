"""What it costs to make an agent, in time and in memory."""

from __future__ import annotations

import gc
import tracemalloc
from collections.abc import Callable, Iterator
from typing import Any

from tests.benchmarks.measuring import Row, plain_in_turn
from tests.benchmarks.parts import AnsweringModel, FloorLoop, FloorModel, agent

_TIMES = 200
_KIB = 1024


def five() -> list[Callable[..., Any]]:
    """Five functions that nobody has seen before."""

    def read(path: str, start: int = 0) -> str:
        """Read a text.

        Args:
            path: where
            start: from which line on
        """
        return path

    def add(a: int, b: int) -> int:
        """Add two numbers.

        Args:
            a: the first
            b: the second
        """
        return a + b

    def find(words: str, most: int = 10, exact: bool = False) -> list[str]:
        """Look for words.

        Args:
            words: what to look for
            most: how many hits
            exact: these words only
        """
        return [words]

    def write(path: str, text: str, mode: str = "w") -> bool:
        """Write a text.

        Args:
            path: where
            text: what
            mode: how
        """
        return True

    def mean(values: list[float], names: dict[str, str] | None = None) -> dict[str, float]:
        """Give the mean of numbers.

        Args:
            values: the numbers
            names: what they are called
        """
        return {"mean": 0.0}

    return [read, add, find, write, mean]


def rows(repeats: int) -> Iterator[Row]:
    """See the module's first line."""
    seen, model, floor_model = five(), AnsweringModel(0), FloorModel(0)
    new, known, bare = plain_in_turn(
        repeats,
        _TIMES,
        lambda: agent(model, five()),
        lambda: agent(model, seen),
        lambda: FloorLoop(five(), floor_model),
    )
    yield Row("an agent of five new functions", "µs", new * 1e6, bare * 1e6, 3.0)
    yield Row(
        "an agent of tools seen before", "µs", known * 1e6, bare * 1e6, 20 / 82, "hand-written, five new functions"
    )
    yield Row("memory of one agent", "KiB", _memory(lambda: agent(model, seen)), _memory(_floor(floor_model)), 2.0)


def _floor(model: FloorModel) -> Callable[[], object]:
    return lambda: FloorLoop(five(), model)


def _memory(make: Callable[[], object]) -> float:
    make()
    gc.collect()
    tracemalloc.start()
    kept = [make() for _ in range(_TIMES)]
    gc.collect()
    used = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    return used / len(kept) / _KIB
