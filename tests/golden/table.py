"""The table: all scenarios in the order in which they are published, and the ways each is run."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from tests.golden.interruptions import ABORTS, FAILURES, REACHING_ALL
from tests.golden.rounds import GATES, ROUNDS
from tests.golden.stage import Cell, Entry, Mode, Scenario
from tests.golden.turns import LIMITS, TURNS

SCENARIOS: tuple[Scenario, ...] = (*ROUNDS, *GATES, REACHING_ALL, *TURNS, *LIMITS, *ABORTS, *FAILURES)
MODES: tuple[Mode, ...] = ("parallel", "sequential")
ENTRIES: tuple[Entry, ...] = ("run_sync", "run", "stream")


def cells(*, every: bool) -> Iterator[Cell]:
    """Ways to run a scenario; of what a cell is made of only the mode makes a difference to what is noted.

    Without `every`: all of mode x (`run_sync`, `run`) x streaming, each with one of the two forms of hooks, and
    `stream` once in each mode.
    """
    for mode, entry, streamed, is_async in product(MODES, ENTRIES, (True, False), (False, True)):
        usual = (streamed and is_async) if entry == "stream" else (is_async != (streamed == (entry == "run")))
        if every or usual:
            yield Cell(mode, entry, streamed, is_async)


def plainest(mode: Mode) -> Cell:
    """The cell from which golden files are renewed: in it everything is noted that can be."""
    return Cell(mode, "run", streamed=True, is_async=False)
