"""Lets every test import the `checks` package of this checkout, and keeps sessions out of the user's own folder.

The root goes last on the path, not first: where hookagent is installed as a wheel, the tests must meet the wheel.
"""

import gc
import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = str(Path(__file__).parent)
if ROOT not in sys.path:
    sys.path.append(ROOT)

# One home for all that tests leave behind, their sub-processes included; it goes with the process.
_HOME = tempfile.TemporaryDirectory(prefix="hookagent-tests-", ignore_cleanup_errors=True)
os.environ["HOOKAGENT_HOME"] = _HOME.name


@pytest.fixture(autouse=True, scope="module")
def collected() -> Iterator[None]:
    """Let go what a module's tests left behind: agents that nobody closed hold files of their sessions."""
    yield
    gc.collect()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Test terminals first: `select`, which editors wait with, knows no file number above 1,023."""
    items.sort(key=lambda item: "terminal" not in item.nodeid and "test_chat_" not in item.nodeid)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print what the session proved, in full size only (`tox -e prove`)."""
    from checks import tally

    if tally.FULL:
        terminalreporter.section("what this session proved")
        for line in tally.summary():
            terminalreporter.line(line)
