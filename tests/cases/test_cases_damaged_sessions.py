"""Public cases about what is on disk and damaged there: what can be read comes back, the rest is said and stays."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from hookagent import Agent
from hookagent.keeping import session_store
from tests.cases.checked_model import CheckedModel

pytestmark = pytest.mark.usefixtures("home")

ZEROS = b"\0" * 300
TORN = '{"v":1,"event":4,"message":{"text":"p'


def talk(count: int, session: str | None = None, prefix: str = "p") -> Agent:
    """Say something `count` times, in a new session or in one from disk, and leave it."""
    model = CheckedModel([f"answer to {prefix}{number}" for number in range(count)])
    agent = Agent("keeper", model=model, session=session)
    for number in range(count):
        assert agent.run_sync(f"{prefix}{number}").ok
    agent.close_sync()
    return agent


def said(agent: Agent) -> list[str]:
    return [getattr(message, "text", "") for message in agent.session.transcript.messages()]


def numbers(session: str, kind: str) -> list[int]:
    return [record.number for record in session_store().read(session) if record.kind == kind]


def raw(session: str) -> dict[int, Any]:
    """The data of all records as they lie in the file, readable or not."""
    statement = "SELECT number, CAST(data AS BLOB) FROM session_records WHERE session_id = ?"
    with session_store().database.using() as connection:
        return dict(connection.execute(statement, (session,)).fetchall())


def damage(session: str, number: int, data: str | bytes) -> None:
    key = "(SELECT key FROM sessions WHERE id = ?)"
    with session_store().database.using() as connection:
        connection.execute(f"UPDATE records SET data = ? WHERE place = ({key} << 32) + ?", (data, session, number))


def resume(session: str, prompt: str = "new") -> tuple[Agent, tuple[str, ...]]:
    """Take up a session for one turn; the agent, and what was warned of."""
    agent = Agent("keeper", model=CheckedModel([f"answer to {prompt}"]), session=session)
    result = agent.run_sync(prompt)
    agent.close_sync()
    assert result.ok
    return agent, result.warnings


KINDS = {"torn": TORN, "zeros": ZEROS, "empty": "", "blank": "\n", "no object": "[1, 2]", "binary": b"\xff\xfe\x00"}


@pytest.mark.parametrize("data", KINDS.values(), ids=KINDS)
def test_log_01_a_record_that_is_only_half_there_costs_that_record_alone(data: Any) -> None:
    session = talk(2).session.id
    last = numbers(session, "reply")[-1]
    damage(session, last, data)
    agent, warnings = resume(session)
    assert said(agent) == ["p0", "answer to p0", "p1", "new", "answer to new"]
    (warning,) = warnings
    assert f"record {last}: cannot be read and was left out" in warning
    # What could not be read is still there, byte for byte.
    assert raw(session)[last] == (data if isinstance(data, bytes) else data.encode())


@pytest.mark.parametrize("data", KINDS.values(), ids=KINDS)
def test_log_02_what_is_written_behind_a_torn_record_is_not_lost_with_it(data: Any) -> None:
    session = talk(1).session.id
    last = max(raw(session))
    damage(session, last, data)
    resume(session, "first")
    agent, _ = resume(session, "second")
    assert said(agent)[-4:] == ["first", "answer to first", "second", "answer to second"]
    assert raw(session)[last] == (data if isinstance(data, bytes) else data.encode())
    assert len(raw(session)) == max(raw(session))


@pytest.mark.parametrize("torn", [b"2026-01-01 half a li", b"\0" * 40, b"\xff"])
def test_log_02_a_line_of_the_text_log_is_never_glued_to_a_torn_one(torn: bytes, home: Path) -> None:
    session = talk(1).session.id
    (log,) = (home / "logs").iterdir()
    before = log.read_bytes()
    with log.open("ab") as file:
        file.write(torn)
    resume(session)
    lines = log.read_bytes().splitlines()
    assert lines[: len(before.splitlines()) + 1] == [*before.splitlines(), torn]
    assert len(lines) > len(before.splitlines()) + 1
    assert all(session.encode() in line for line in lines if line != torn)


@pytest.mark.parametrize("count", [1, 3])
@pytest.mark.parametrize("data", [ZEROS, TORN], ids=["zeros", "torn"])
def test_log_04_records_behind_a_bad_one_are_all_there(data: Any, count: int) -> None:
    session = talk(6).session.id
    users = numbers(session, "user")
    replies = numbers(session, "reply")
    bad = replies[2 : 2 + count]
    for number in bad:
        damage(session, number, data)
    agent, warnings = resume(session)
    assert len(numbers(session, "user")) == len(users) + 1
    lost = {f"answer to p{place}" for place in range(2, 2 + count)}
    everything = [text for number in range(6) for text in (f"p{number}", f"answer to p{number}")]
    assert said(agent) == [text for text in [*everything, "new", "answer to new"] if text not in lost]
    # Each bad one is named by its number.
    assert [any(f"record {number}: " in warning for warning in warnings) for number in bad] == [True] * count
    assert len(warnings) == count
    problems = session_store().verify(session)
    assert len(problems) == count


@pytest.mark.parametrize("last", ["", "\n", " "])
def test_log_05_it_does_not_matter_which_record_is_the_bad_one(last: str) -> None:
    session = talk(2).session.id
    end = max(raw(session))
    damage(session, end - 1, TORN)
    damage(session, end, last)
    agent, warnings = resume(session)
    assert said(agent) == ["p0", "answer to p0", "p1", "new", "answer to new"]
    assert len(warnings) == 2


def test_log_04_a_bad_record_within_a_round_leaves_no_call_without_a_result() -> None:
    def t() -> str:
        """Do something."""
        return "did"

    script = [{"calls": [{"name": "t", "id": f"c{number}"} for number in range(3)]}, "end"]
    agent = Agent("keeper", tools=[t], model=CheckedModel(script))
    agent.run_sync("go")
    agent.close_sync()
    session = agent.session.id
    damage(session, numbers(session, "result")[1], ZEROS)
    again, warnings = resume(session)
    (round_,) = [block for block in again.session.transcript if hasattr(block, "results")]
    statuses = sorted(result.status for result in round_.results if result is not None)
    assert statuses == ["interrupted", "ok", "ok"]
    assert any("cannot be read" in warning for warning in warnings)
