"""A plugin of pytest for the runs of mutants: the quick tests go first, and none of them hangs.

How long each test takes is known from the run without a mutant, which mutmut has written down by then. A mutant that
makes a test wait for ever is found after a few seconds, and not only when the time for all of its tests is over.
"""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

STATS = Path("mutmut-stats.json")
_AT_LEAST_SECONDS, _TIMES_AS_LONG = 3.0, 10.0
_FAILED = 1
_times: dict[str, float] = {}


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Sort the tests by the time that they took without a mutant; before that is known, leave them as they are."""
    if STATS.exists():
        _times.update(json.loads(STATS.read_text(encoding="utf-8"))["duration_by_test"])
        items.sort(key=lambda item: _times.get(item.nodeid, 0.0))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """End the process, as after a failed test, when a test takes much longer than it did without a mutant."""
    if not os.environ.get("MUTANT_UNDER_TEST") or not _times:
        return (yield)
    signal.signal(signal.SIGALRM, lambda number, frame: os._exit(_FAILED))
    signal.setitimer(signal.ITIMER_REAL, _AT_LEAST_SECONDS + _TIMES_AS_LONG * _times.get(item.nodeid, 0.0))
    try:
        return (yield)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
