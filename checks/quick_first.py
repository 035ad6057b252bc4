"""A plugin of pytest for the runs of mutants: the quick tests go first, so that most mutants are killed at once.

How long each test takes is known from the run without a mutant, which mutmut has written down by then.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

STATS = Path("mutmut-stats.json")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Sort the tests by the time that they took without a mutant; before that is known, leave them as they are."""
    if STATS.exists():
        times: dict[str, float] = json.loads(STATS.read_text(encoding="utf-8"))["duration_by_test"]
        items.sort(key=lambda item: times.get(item.nodeid, 0.0))
