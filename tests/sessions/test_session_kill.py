"""A process killed at any kind of point of a run: its session loads, goes on and ends well, and nothing runs twice.

The run has 20 rounds of two calls at once, with steering in every second one; it goes through an agent, or through
the command. It is killed before or after a write, an event (so also in the middle of a reply) or what a tool does.
"""

from __future__ import annotations

import collections
import json
import os
import random
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from checks import tally
from hookagent.limits import Limits
from hookagent.messages import AssistantMessage, ToolResult
from hookagent.sessions.restore import Restored, restore
from hookagent.sessions.store import SessionStore
from hookagent.transcript import Transcript
from tests.sessions.made import words
from tests.sessions.replaying import check_transcript

ROOT = Path(__file__).resolve().parents[2]
ROUNDS = 20
NAMES = [f"{letter}{number}" for number in range(ROUNDS) for letter in "ab"]
KINDS = [(kind, when) for kind in ("write", "event", "tool") for when in ("before", "after")]
DEATHS = tally.size(50, 240)
CHAINS = tally.size(3, 20)

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are not killed like that there")


class Server:
    """The process that the others are forked off; see `kept_run`."""

    def __init__(self) -> None:
        path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH", "")]))
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.sessions.kept_run"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": path},
        )

    def do(self, **job: Any) -> int:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(f"{json.dumps(job)}\n")
        self.process.stdin.flush()
        return int(self.process.stdout.readline())


class Conversation:
    """A session in a folder of its own, worked on by one process after the other."""

    def __init__(self, server: Server, folder: Path, through: str) -> None:
        self.server, self.folder, self.through = server, folder, through
        self.store = SessionStore(folder / "home")
        self.said: list[str] = []
        self.interrupted: list[str] = []

    def work(self, prompt: str, point: tuple[str, str, int] | None) -> int:
        """Let a process do what is left; killed at a point, if it comes that far."""
        session = next((one.id for one in self.store.list()), None)
        repairs = () if session is None else self.restored.repairs
        self.interrupted = [one.call_id for one in repairs if one.status == "interrupted"]
        script = [*_rounds(self._left(session)), "all done"]
        (self.folder / "script.yaml").write_text(json.dumps(script))
        return self.server.do(
            folder=str(self.folder), through=self.through, prompt=prompt, session=session, point=point
        )

    def _left(self, session: str | None) -> list[str]:
        """What has no result yet that says that it ran, or may have."""
        if session is None:
            return NAMES
        ended = self.ended(self.restored.state.transcript)
        return [name for name in NAMES if not ended[name] & {"ok", "interrupted"}]

    @property
    def restored(self) -> Restored:
        return restore(self.store.read(self.store.list()[0].id), Limits())

    @staticmethod
    def ended(transcript: Transcript) -> dict[str, set[str]]:
        """How the calls for each name ended."""
        names: dict[str, str] = {}
        ended: dict[str, set[str]] = collections.defaultdict(set)
        for message in transcript.messages():
            if isinstance(message, AssistantMessage):
                names.update({call.id: str(dict(call.arguments or {})["name"]) for call in message.tool_calls})
            elif isinstance(message, ToolResult):
                ended[names[message.call_id]].add(message.status)
        return ended

    @property
    def markers(self) -> collections.Counter[str]:
        """How often each call ran."""
        return collections.Counter(self._lines("markers"))

    def _lines(self, name: str) -> list[str]:
        path = self.folder / name
        return path.read_text().splitlines() if path.exists() else []

    def check(self) -> None:
        """What holds whenever a process has ended."""
        assert self.store.verify() == ()
        assert max(self.markers.values(), default=0) <= 1
        acknowledged = [line.split() for line in self._lines("acknowledged")]
        if not self.store.list():
            assert acknowledged == []
            assert not self.markers
            return
        # Not one acknowledged record is lost.
        stored = [[str(one.number), one.kind] for one in self.store.read(self.store.list()[0].id)]
        assert [one for one in acknowledged if one not in stored] == []
        restored = self.restored
        assert restored.problems == ()
        transcript = restored.state.transcript
        check_transcript(transcript)
        assert transcript.open_round is None
        # Nor is what was announced: a result is that of the call, not one made up for it.
        results = {one.call_id: one for one in transcript.messages() if isinstance(one, ToolResult)}
        assert {results[call_id].status for call_id in self._lines("ended")} <= {"ok"}
        texts = [one.text for one in transcript.messages() if not isinstance(one, ToolResult)]
        assert [text for text in self._lines("said") if text not in texts] == []
        # What was said stays said, in its order.
        said = words(transcript)
        assert said[: len(self.said)] == self.said
        self.said = said
        ended = self.ended(transcript)
        assert {status for statuses in ended.values() for status in statuses} <= {"ok", "interrupted", "not_run"}
        for name in NAMES:
            # What left a mark had been started on disk before, and is never said not to have run.
            assert not self.markers[name] or ended[name] & {"ok", "interrupted"}, name
            assert "ok" not in ended[name] or self.markers[name], name
        steered = collections.Counter(one for one in said if one.startswith("U steered by"))
        steered.update(f"U {one.message.text}" for one in restored.queued)
        assert max(steered.values(), default=0) <= 1
        assert {f"U steered by {name}" for name in self.markers if _steers(name)} <= set(steered)

    def check_ended_well(self) -> None:
        """What holds when a process was not killed."""
        self.check()
        restored = self.restored
        assert (restored.status, restored.queued, restored.repairs) == ("completed", (), ())
        assert self.said[-1] == "A all done"
        ended = self.ended(restored.state.transcript)
        for name in NAMES:
            assert self.markers[name] == 1 or "interrupted" in ended[name], name
        # Both outputs together: an agent warns when it is made, the command with the result.
        lines = (self.folder / "output").read_text().splitlines()
        assert lines.count("all done") == 1
        warned = [line for line in lines if line != "all done"]
        # The person is told too of what may have run, once.
        expected = [f"({call_id}) was running when the process ended" for call_id in self.interrupted]
        assert len(warned) == len(expected)
        assert all(text in line for text, line in zip(expected, warned, strict=True))


def _steers(name: str) -> bool:
    return name.startswith("b") and int(name[1:]) % 2 == 1


def _rounds(names: list[str]) -> list[dict[str, Any]]:
    """Replies that call for each name, those of one round at once."""
    rounds: dict[str, list[dict[str, Any]]] = collections.defaultdict(list)
    for name in names:
        call = {"name": "steer_too" if _steers(name) else "mark", "arguments": {"name": name}, "id": f"call-{name}"}
        rounds[name[1:]].append(call)
    return [{"text": f"round {number}", "calls": calls} for number, calls in rounds.items()]


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    made = Server()
    yield made
    made.process.communicate()


@pytest.fixture(scope="module", params=["agent", "command"])
def through(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def counts(server: Server, through: str, tmp_path_factory: pytest.TempPathFactory) -> dict[str, int]:
    """How many points of each kind a run has that nobody kills."""
    conversation = Conversation(server, tmp_path_factory.mktemp("whole"), through)
    assert conversation.work("go through it", None) == 0, (conversation.folder / "output").read_text()
    conversation.check_ended_well()
    assert conversation.markers == collections.Counter(NAMES)
    found: dict[str, int] = json.loads((conversation.folder / "counts").read_text())
    conversation.store.close()
    return found


def test_the_run_that_nobody_kills_has_points_of_every_kind(counts: dict[str, int]) -> None:
    assert counts["tool"] == 2 * ROUNDS
    # A round is a reply, two starts and two results at the least.
    assert counts["write"] >= 5 * ROUNDS
    # And as events: the reply twice (received, stored), and each start and end of a call.
    assert counts["event"] >= 6 * ROUNDS


@pytest.mark.parametrize("seed", range(DEATHS // 2))
def test_killed_at_any_point_it_goes_on(
    server: Server, counts: dict[str, int], through: str, seed: int, tmp_path: Path
) -> None:
    conversation = Conversation(server, tmp_path, through)
    point = _point(random.Random(seed), seed, counts)
    assert conversation.work("go through it", point) == -9, point
    conversation.check()
    before = conversation.markers
    assert conversation.work("go on", None) == 0, (tmp_path / "output").read_text()
    conversation.check_ended_well()
    tally.count("kill points")
    assert "U go on" in conversation.said
    assert before <= conversation.markers
    conversation.store.close()


@pytest.mark.parametrize("seed", range(CHAINS))
def test_killed_again_and_again_it_goes_on(
    server: Server, counts: dict[str, int], through: str, seed: int, tmp_path: Path
) -> None:
    conversation = Conversation(server, tmp_path, through)
    chance = random.Random(f"again {seed}")
    deaths = 0
    for number in range(6):
        point = _point(chance, chance.randrange(6), {kind: count // 3 for kind, count in counts.items()})
        code = conversation.work(f"go on {number}", point)
        if code:
            assert code == -9, (tmp_path / "output").read_text()
            deaths += 1
        conversation.check()
    assert deaths >= 3
    tally.count("kill points", deaths)
    assert conversation.work("to the end", None) == 0, (tmp_path / "output").read_text()
    conversation.check_ended_well()
    conversation.store.close()


def _point(chance: random.Random, number: int, counts: dict[str, int]) -> tuple[str, str, int]:
    kind, when = KINDS[number % len(KINDS)]
    return kind, when, chance.randint(1, counts[kind])
