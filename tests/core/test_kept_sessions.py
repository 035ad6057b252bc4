"""A session is kept on disk by default, comes back by its id, and goes on as if nothing had happened."""

from __future__ import annotations

import gc
import shutil
import weakref
from pathlib import Path
from typing import Any

import pytest

from hookagent import Agent, Approve, Suspend
from hookagent.providers.scripted import ScriptedProvider
from hookagent.sessions.errors import SessionBusyError, SessionError
from hookagent.testing import Recorder
from tests.core.scripts import calls, make_agent, ok, quick, words

ANSWER = {"text": "done"}


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home folder of the test's own."""
    monkeypatch.setenv("HOOKAGENT_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


def test_a_session_comes_back_by_the_beginning_of_its_id() -> None:
    first = make_agent([calls("quick", "bad"), {"text": "one"}])
    first.steer("steered")
    first.run_sync("go")
    first.close_sync()
    second = make_agent([{"text": "two"}, {"text": "three"}], session=first.session.id[:6])
    assert second.session.id == first.session.id
    assert second.transcript == first.transcript
    assert second.session.usage == first.session.usage
    second.run_sync("and now?")
    assert second.session.turn == 2
    assert words(second.transcript)[-2:] == ["U and now?", "A two"]
    second.close_sync()
    third = make_agent([], session=first.session.id)
    assert third.transcript == second.transcript


def test_a_waiting_session_comes_back_waiting_and_is_answered() -> None:
    suspending = {"before_each_tool": lambda a: Suspend("?") if a["tool_call"].name == "ok" else None}
    first = make_agent([calls("quick", "ok")], Recorder(suspending))
    assert first.run_sync("go").status == "waiting"
    first.close_sync()
    absent = make_agent([], session=first.session.id)
    assert absent.status == "waiting"
    assert absent.run_sync("still?").status == "waiting"
    absent.close_sync()
    answering = {**suspending, "resolve_suspended": lambda a: {one.call.id: Approve() for one in a["pending"]}}
    second = make_agent([ANSWER, ANSWER], Recorder(answering), session=first.session.id)
    result = second.run_sync("yes")
    assert result.status == "completed"
    assert words(second.transcript)[:6] == ["U go", "A c1 c2", "R c1 ok", "R c2 ok", "U still?", "U yes"]


def test_a_call_of_a_waiting_round_that_ran_when_the_process_ended_is_said(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    later = home.with_name("later")

    def ok() -> str:
        """Have the disk as it is now kept: as it is when the process ends here."""
        shutil.copytree(home, later)
        return "ok"

    suspending = {"before_each_tool": lambda _: Suspend("?")}
    first = make_agent([calls("ok", "quick")], Recorder(suspending), tools=[ok, quick])
    assert first.run_sync("go").status == "waiting"
    answering = {**suspending, "resolve_suspended": lambda _: {"c1": Approve()}}
    first.close_sync()
    second = make_agent([], Recorder(answering), tools=[ok, quick], session=first.session.id)
    assert second.run_sync("one of them").status == "waiting"
    second.close_sync()
    monkeypatch.setenv("HOOKAGENT_HOME", str(later))
    third = make_agent([], Recorder(suspending), session=first.session.id)
    assert [call.id for call in third.pending_calls] == ["c2"]
    told = "the tool 'ok' (c1) was running when the process ended; it may have run, and is not run again"
    assert third.run_sync("and?").warnings == (f"session {first.session.id}: {told}",)
    third.close_sync()


def test_what_was_queued_and_what_plugins_kept_comes_back_once() -> None:
    first = make_agent([{"error": "authentication"}])
    first.follow_up("later")
    first.store_state("mine", {"seen": [1, 2]})
    first.run_sync("go")
    assert first.session.stored_state("mine") == {"seen": [1, 2]}
    first.store_state("mine", {"seen": [3]})
    first.close_sync()
    second = make_agent([{"text": "1"}, {"text": "2"}], session=first.session.id)
    assert [one.text for one in second.follow_ups.peek()] == ["later"]
    assert second.session.stored_state("mine") == {"seen": [3]}
    second.run_sync("again")
    assert words(second.transcript) == ["U go", "U again", "A 1", "U later", "A 2"]
    second.close_sync()
    assert len(make_agent([], session=first.session.id).follow_ups) == 0


def test_a_session_that_is_in_use_or_not_there_is_said() -> None:
    first = make_agent([ANSWER])
    first.run_sync("go")
    with pytest.raises(SessionBusyError):
        make_agent([], session=first.session.id)
    with pytest.raises(SessionError, match="nope"):
        make_agent([], session="nope")


def test_without_log_nothing_is_written(home: Path) -> None:
    agent = make_agent([calls("quick"), ANSWER], log=False)
    assert agent.run_sync("go").status == "completed"
    agent.close_sync()
    assert not home.exists()


def test_an_unwritable_folder_is_said_at_once_and_the_run_goes_on(home: Path) -> None:
    home.parent.mkdir(exist_ok=True)
    home.write_text("a file where the folder should be")
    agent = make_agent([calls("quick"), ANSWER])
    result = agent.run_sync("go")
    assert result.status == "completed"
    assert result.warnings


def test_another_vendor_and_vanished_tools_go_on_with_the_history() -> None:
    first = make_agent([calls("quick"), ANSWER])
    first.run_sync("go")
    first.close_sync()
    second = Agent(tools=[ok], model=ScriptedProvider([{"text": "still here"}]), session=first.session.id)
    assert second.run_sync("more").answer == "still here"
    assert words(second.transcript)[2] == "R c1 ok"


def test_nested_agents_keep_sessions_of_their_own_with_the_parents_id() -> None:
    seen: list[Any] = []

    async def nest() -> str:
        """Run an agent of its own."""
        inner = make_agent([calls("quick", ids=["inner"]), ANSWER], tools=[quick])
        result = await inner.run("inner")
        seen.append((inner.session.parent_id, inner.session.id))
        await inner.close()
        return result.answer

    outer = make_agent([calls("nest"), ANSWER], tools=[nest])
    outer.run_sync("go")
    assert seen[0][0] == outer.session.id
    assert words(make_agent([], session=seen[0][1]).transcript) == ["U inner", "A inner", "R inner ok", "A done"]


def test_an_agent_that_nobody_closed_and_nobody_has_any_more_ends_its_session(home: Path) -> None:
    recorder = Recorder()
    first = make_agent([ANSWER], recorder)
    first.run_sync("go")
    kept = weakref.ref(first)
    session = first.session.id
    recorder.agent = None
    del first
    gc.collect()
    for _ in range(50):  # turns of the private loop, in which the end takes place
        if kept() is None and "on_session_end" in recorder.names:
            break
        make_agent([ANSWER], log=False).run_sync("something else")
        gc.collect()
    assert recorder.names.count("on_session_end") == 1
    assert kept() is None
    assert words(make_agent([], session=session).transcript) == ["U go", "A done"]


def test_a_plugins_state_that_contains_itself_is_no_json() -> None:
    state: dict[str, Any] = {}
    state["again"] = state
    agent = make_agent([])
    with pytest.raises(TypeError, match="the state of 'mine' is nested too deeply, or in itself"):
        agent.store_state("mine", state)
    assert agent.session.stored_state("mine") is None


def test_where_nothing_can_be_written_one_warning_says_so(home: Path, caplog: pytest.LogCaptureFixture) -> None:
    home.write_text("a file where the folder should be")
    agent = make_agent([ANSWER, ANSWER], log=True)
    (warning,) = agent.run_sync("go").warnings
    assert "cannot be saved" in warning
    assert agent.run_sync("again").warnings == ()
    agent.close_sync()
    assert [record.getMessage() for record in caplog.records] == [warning]


@pytest.mark.parametrize("folder", ["logs", "sessions"])
def test_a_log_that_cannot_be_written_is_said_though_the_session_is_saved(folder: str, home: Path) -> None:
    home.mkdir()
    (home / folder).write_text("a file where the folder should be")
    agent = make_agent([ANSWER], log=True)
    (warning,) = agent.run_sync("go").warnings
    assert warning.startswith(str(home / folder))
    assert "cannot be written: a file stands where the folder should be" in warning
    agent.close_sync()
