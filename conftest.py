"""Lets every test import the `checks` package of this checkout, and keeps sessions out of the user's own folder.

The root goes last on the path, not first: where hookagent is installed as a wheel, the tests must meet the wheel.
"""

import os
import signal
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

ROOT = str(Path(__file__).parent)
if ROOT not in sys.path:
    sys.path.append(ROOT)

# One home for all that tests leave behind, their sub-processes included; it goes with the process.
_HOME = tempfile.TemporaryDirectory(prefix="hookagent-tests-", ignore_cleanup_errors=True)
os.environ["HOOKAGENT_HOME"] = _HOME.name

# A shell lets what it starts in the background ignore Ctrl-C, and so all that this starts: here it is tested.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# How long an example takes is the machine's affair, and a run under coverage takes longer.
settings.register_profile("hookagent", deadline=None)
settings.load_profile("hookagent")


@pytest.fixture(autouse=True)
def files_closed() -> Iterator[None]:
    """Close the files of the sessions that a test began and did not end: thousands of tests share one process.

    An agent that nobody has any more does so itself; but a test's agent often knows a plugin that knows the agent.
    """
    before = _locks()
    yield
    for lock in _locks() - before:
        lock.release()
    keeping = sys.modules.get("hookagent.keeping")
    for home, store in [] if keeping is None else list(keeping._stores.items()):
        if home != _HOME.name:
            store.close()


def _locks() -> set[Any]:
    """The locks of sessions that are held in this process."""
    locking = sys.modules.get("hookagent.sessions.locking")
    return set() if locking is None else set(locking._held)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print what the session proved, in full size only (`tox -e prove`)."""
    from checks import tally

    if tally.FULL:
        terminalreporter.section("what this session proved")
        for line in tally.summary():
            terminalreporter.line(line)
