"""What hookagent costs beside a hand-written loop, as a table of ratios.

    python -m tests.benchmarks                      # every row
    python -m tests.benchmarks --rows round wire    # those whose name has one of these words
    python -m tests.benchmarks --peer PYTHON ADAPTER HARNESS   # rows of another project, through its own adapter

CPU time of this process, ours and the floor in turn, the best of several. It says nothing about pass or fail: figures
depend on the machine, ratios hardly.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator, Sequence

from tests.benchmarks import agents, many, peers, rounds, starting, wire
from tests.benchmarks.measuring import Row, heading, line

ROWS: tuple[Callable[[int], Iterator[Row]], ...] = (
    starting.rows,
    agents.rows,
    rounds.rows,
    many.rows,
    wire.rows,
)


def main(arguments: Sequence[str]) -> int:
    """Measure, and print a line for each row as soon as it is there."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks", description=__doc__.partition("\n")[0])
    parser.add_argument("--rows", nargs="*", default=[], metavar="WORD", help="only the parts with one of these words")
    parser.add_argument("--repeats", type=int, default=5, help="how often each side is measured; the best counts")
    parser.add_argument("--peer", nargs=3, action="append", default=[], metavar=("PYTHON", "ADAPTER", "HARNESS"))
    chosen = parser.parse_args(arguments)
    print(heading())
    for part in ROWS:
        name = part.__module__.rpartition(".")[2]
        if not chosen.rows or any(word in name for word in chosen.rows):
            for row in part(chosen.repeats):
                print(line(row), flush=True)
    for python, adapter, harness in chosen.peer:
        for text in peers.lines(python, adapter, harness):
            print(text, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
