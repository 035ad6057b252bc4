"""Totals of what a test session proved, and the size that it is to have.

Tests count what they did by name; `conftest.py` prints the totals at the end of a session in full size, as one table.
"""

import os
from collections import Counter

FULL = os.environ.get("HOOKAGENT_PROVE", "") not in ("", "0")
"""Whether this session runs at the full sizes (`tox -e prove`)."""

_totals: Counter[str] = Counter()


def count(what: str, amount: int = 1) -> None:
    """Add `amount` to the total called `what`; an amount of 0 shows the total even if nothing else is counted."""
    _totals[what] += amount


def size(usual: int, full: int) -> int:
    """The number of examples, rounds or points to use: `usual` in continuous integration, `full` in `tox -e prove`."""
    return full if FULL else usual


def summary() -> list[str]:
    """The totals as the lines of one table, in the order of their names; empty when nothing was counted."""
    if not _totals:
        return []
    widest = max(map(len, _totals))
    return [f"{what:<{widest}}  {amount:>12,}" for what, amount in sorted(_totals.items())]
