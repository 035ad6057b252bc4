"""What a list says of a session without reading all of it, and which log files belong to it."""

from __future__ import annotations

from pathlib import Path

from hookagent import Suspend
from hookagent.sessions.log_files import session_log_files
from hookagent.sessions.overview import UNFINISHED, Overview, overview
from hookagent.sessions.store import SessionStore
from hookagent.testing import Recorder
from tests.sessions.wiring import kept_agent


def test_turns_first_prompt_and_status_are_those_of_the_newest_turn(store: SessionStore) -> None:
    agent = kept_agent(store, "one", ["Yes.", {"error": "authentication"}])
    agent.run_sync("first")
    assert overview(store, "one") == Overview(1, "first", "scripted:script", "completed", 0)
    agent.run_sync("second")
    assert overview(store, "one") == Overview(2, "first", "scripted:script", "failed", 0)
    forked = store.fork("one", at_turn=1)
    assert overview(store, forked) == Overview(1, "first", "scripted:script", "completed", 0)


def test_waiting_counts_the_calls_that_have_no_answer(store: SessionStore) -> None:
    def ok(word: str) -> str:
        """Say it."""
        return word

    suspending = {"before_each_tool": lambda a: Suspend("?") if a["tool_call"].arguments["word"] != "free" else None}
    calls = [{"name": "ok", "arguments": {"word": word}} for word in ("a", "free", "b")]
    agent = kept_agent(store, "one", [{"calls": calls}], tools=[ok], plugins=[Recorder(suspending)])
    agent.run_sync("go")
    assert overview(store, "one") == Overview(1, "go", "scripted:script", "waiting", 2)


def test_a_turn_without_end_is_unfinished_and_damage_is_left_out(store: SessionStore) -> None:
    agent = kept_agent(store, "one", ["Yes.", "No."])
    agent.run_sync("first")
    agent.run_sync("second")
    key = store.row("one").key
    ends = [record.number for record in store.read("one", ("turn_end",))]
    assert len(ends) == 2
    with store.database.changing() as connection:
        connection.execute("DELETE FROM records WHERE place = ?", (key << 32 | ends[1],))
    assert overview(store, "one").status == UNFINISHED
    with store.database.changing() as connection:
        connection.execute("UPDATE records SET data = '{' WHERE kind = 'turn_start'")
    assert overview(store, "one") == Overview(0, "", "scripted:script", "completed", 0)


def test_records_of_some_kinds_are_those_of_all(store: SessionStore) -> None:
    agent = kept_agent(store, "one", ["Yes.", "No."])
    agent.run_sync("first")
    agent.run_sync("second")
    forked = store.fork("one")
    for session in ("one", forked):
        every = store.read(session)
        for kinds in (("turn_start", "turn_end"), ("user",), ("fork",), ()):
            assert store.read(session, kinds) == tuple(one for one in every if one.kind in kinds)


def test_log_files_are_found_by_the_whole_id_alone(tmp_path: Path) -> None:
    folder = tmp_path / "sessions"
    assert session_log_files(tmp_path, "1234") == []
    folder.mkdir()
    for name, text in {
        "a_1.yaml": 'agent: a\nmodel: m\nsession: "1234"\nstarted: "x"\nturns:\n',
        "a_2.yaml": 'agent: a\nmodel: m\nsession: "12345"\nstarted: "x"\nturns:\n',
        "a_3.yaml": "agent: a\nmodel: m\nsession: abc\nturns:\n" + "  - input: |2-\n" * 9 + 'session: "1234"\n',
        "a_4.yaml": 'session: "1234"\n',
        "a_5.txt": 'session: "1234"\n',
    }.items():
        (folder / name).write_text(text)
    assert [path.name for path in session_log_files(tmp_path, "1234")] == ["a_1.yaml", "a_4.yaml"]
    assert [path.name for path in session_log_files(tmp_path, "abc")] == ["a_3.yaml"]
