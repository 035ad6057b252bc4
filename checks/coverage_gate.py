"""Hold how much of the core its tests reach: statements, and branches by themselves.

    coverage json -o REPORT && python -m checks.coverage_gate REPORT [ARGUMENT OF PYTEST ...]

coverage's own `fail_under` mixes both into one figure, in which the many statements hide the few branches. When
arguments of pytest are named, only a part of the tests was run: then the figures are shown, and nothing fails.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

LOWEST_STATEMENTS = 98.0
LOWEST_BRANCHES = 98.0
# The test kit of authors and all else in the package counts; the plugins have folders and tests of their own.
PACKAGE = "hookagent"


@dataclass(frozen=True, slots=True)
class Reached:
    """How many statements or branches there are, and how many of them were run."""

    total: int
    run: int

    @property
    def percent(self) -> float:
        """The share that was run, in percent; 100 where there is nothing to run."""
        return 100.0 * self.run / self.total if self.total else 100.0


def core_files(report: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """The part of a report of `coverage json` that is about the core, by path."""
    return {path: file for path, file in report["files"].items() if PACKAGE in Path(path).parts}


def statements(report: dict[str, Any]) -> Reached:
    """How many statements of the core were run."""
    summaries = [file["summary"] for file in core_files(report).values()]
    return Reached(sum(one["num_statements"] for one in summaries), sum(one["covered_lines"] for one in summaries))


def branches(report: dict[str, Any]) -> Reached:
    """How many branches of the core were taken; raises KeyError for a report without branches."""
    summaries = [file["summary"] for file in core_files(report).values()]
    return Reached(sum(one["num_branches"] for one in summaries), sum(one["covered_branches"] for one in summaries))


def missing(report: dict[str, Any]) -> Iterator[str]:
    """What was not run, a line per file: statements by line, branches as from->to (to the exit without a line)."""
    for path, file in sorted(core_files(report).items()):
        never = {int(line) for line in file["missing_lines"]}
        # A branch out of a statement that was never run says nothing new.
        ways = [
            f"{start}->{'exit' if end < 0 else end}" for start, end in file["missing_branches"] if start not in never
        ]
        if never or ways:
            yield f"{path}: {', '.join([*_ranges(sorted(never)), *ways])}"


def main(arguments: list[str]) -> int:
    """Print both figures, and where they are too low what is missing; return 1 then."""
    if not arguments:
        sys.exit("coverage_gate: takes the report of `coverage json`, and the arguments that pytest was given")
    report = json.loads(Path(arguments[0]).read_text(encoding="utf-8"))
    if not core_files(report):
        sys.exit(f"coverage_gate: {arguments[0]} says nothing about {PACKAGE}; was it run under coverage?")
    figures = {
        "statements": (statements(report), LOWEST_STATEMENTS),
        "branches": (branches(report), LOWEST_BRANCHES),
    }
    low = False
    for what, (reached, lowest) in figures.items():
        enough = reached.percent >= lowest
        low = low or not enough
        verdict = "" if enough else f", less than {lowest:g} %"
        print(f"coverage: {reached.percent:.2f} % of {reached.total:,} {what}{verdict}")
    if low:
        print("coverage: not run, file by file:")
        for line in missing(report):
            print(f"  {line}")
    if len(arguments) > 1:
        print("coverage: only a part of the tests was run, so nothing is held to its limit")
        return 0
    return 1 if low else 0


def _ranges(lines: list[int]) -> Iterator[str]:
    start = previous = None
    for line in lines:
        if previous is not None and line == previous + 1:
            previous = line
            continue
        if start is not None:
            yield f"{start}-{previous}" if previous != start else f"{start}"
        start = previous = line
    if start is not None:
        yield f"{start}-{previous}" if previous != start else f"{start}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
