from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from hookagent.sessions.store import SessionStore


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SessionStore]:
    """A store in a folder of its own."""
    made = SessionStore(tmp_path / "home")
    yield made
    made.close()
