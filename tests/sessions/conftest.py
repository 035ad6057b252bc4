from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from hookagent.sessions.store import SessionStore


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[SessionStore]:
    """A store in a folder of its own, which is the home folder of agents too."""
    monkeypatch.setenv("HOOKAGENT_HOME", str(tmp_path / "home"))
    made = SessionStore(tmp_path / "home")
    yield made
    made.close()
