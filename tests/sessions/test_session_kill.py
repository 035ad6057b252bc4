"""A process killed at any write of a run: the session loads, continues and ends well, and nothing runs twice."""

from __future__ import annotations

import collections
import os
import subprocess
import sys
from pathlib import Path

import pytest

from hookagent.limits import Limits
from hookagent.messages import ToolResult
from hookagent.sessions.restore import restore
from hookagent.sessions.store import SessionStore
from tests.sessions.kept_run import SESSION
from tests.sessions.made import words
from tests.sessions.replaying import check_transcript

ROOT = Path(__file__).resolve().parents[2]
PROVE = bool(os.environ.get("HOOKAGENT_PROVE"))
ROUNDS = 20 if PROVE else 4
# A round is a reply, two starts, two results, and in every second one a message that is queued and taken.
WRITES = 2 + ROUNDS * 5 + (ROUNDS // 2) * 2
POINTS = [(number, when) for number in range(1, WRITES + 1) for when in ("before", "after")]
CHOSEN = POINTS if PROVE else POINTS[::5]

pytestmark = pytest.mark.skipif(os.name == "nt", reason="processes are not killed like that there")


def run(folder: Path, kill_at: int, when: str) -> subprocess.CompletedProcess[str]:
    path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH", "")]))
    return subprocess.run(
        [sys.executable, "-m", "tests.sessions.kept_run", str(folder), str(ROUNDS), str(kill_at), when],
        capture_output=True,
        text=True,
        cwd=folder,
        env={**os.environ, "PYTHONPATH": path},
        check=False,
    )


def test_the_run_that_nobody_kills_has_that_many_writes(tmp_path: Path) -> None:
    done = run(tmp_path, 10_000, "never")
    assert done.stdout.splitlines()[-1] == "answer completed all done", done.stderr
    store = SessionStore(tmp_path / "home")
    kinds = [record.kind for record in store.read(SESSION)]
    announced = kinds.count("run_start") + kinds.count("turn_start") + kinds.count("response")
    assert len(kinds) - announced == WRITES + 1
    restored = restore(store.read(SESSION), Limits())
    assert restored.problems == ()
    assert restored.queued == ()
    store.close()


@pytest.mark.parametrize(("number", "when"), CHOSEN)
def test_killed_at_any_write_it_goes_on(tmp_path: Path, number: int, when: str) -> None:
    killed = run(tmp_path, number, when)
    assert killed.returncode == -9, killed.stderr
    acknowledged = [line.split() for line in killed.stdout.splitlines()]
    store = SessionStore(tmp_path / "home")
    first = number == 1 and when == "before"
    stored = store.read(SESSION)
    # Not one acknowledged record is lost, and at most that one is there which the kill came behind.
    assert [(record.number, record.kind) for record in stored][: len(acknowledged)] == [
        (int(one), kind) for one, kind in acknowledged
    ]
    assert len(stored) == len(acknowledged)
    restored = restore(stored, Limits())
    assert restored.problems == ()
    check_transcript(restored.state.transcript)
    assert restored.state.transcript.open_round is None
    ended = {one.call_id: one.status for one in restored.state.transcript.messages() if isinstance(one, ToolResult)}
    marked = collections.Counter(_markers(tmp_path))
    for name, count in marked.items():
        assert count == 1
        # What left a mark had been started on disk before, and is not said not to have run.
        assert ended[f"call-{name}"] in ("ok", "interrupted")
    assert not set(ended.values()) - {"ok", "interrupted", "not_run"}
    if first:
        assert words(restored.state.transcript) == []
    _goes_on_well(tmp_path, store, marked)


def _goes_on_well(folder: Path, store: SessionStore, marked: collections.Counter[str]) -> None:
    before = restore(store.read(SESSION), Limits())
    went_on = run(folder, 0, "never")
    assert went_on.returncode == 0, went_on.stderr
    assert went_on.stdout.splitlines()[-1] == "answer completed back again"
    after = restore(store.read(SESSION), Limits())
    assert after.problems == ()
    assert after.repairs == ()
    said = words(after.state.transcript)
    assert said[: len(words(before.state.transcript))] == words(before.state.transcript)
    assert "U go on" in said
    # What was queued is in the conversation once, or not queued at all; nothing ran again.
    assert after.queued == ()
    steered = [text for text in said if text.startswith("U steered by")]
    assert len(set(steered)) == len(steered)
    assert {text.split()[-1] for text in steered} >= {one.message.text.split()[-1] for one in before.queued}
    assert collections.Counter(_markers(folder)) == marked
    assert store.verify() == ()
    store.close()


def _markers(folder: Path) -> list[str]:
    path = folder / "markers"
    return path.read_text().split() if path.exists() else []
