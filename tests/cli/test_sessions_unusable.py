"""Places where no session can be read or written, and sessions that are not over: what is said, and what is left."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from hookagent import Agent, tool
from hookagent.cli.chat.export import export_transcript
from hookagent.cli.failure import UsageProblem
from hookagent.cli.sessions import write_new
from hookagent.providers import ScriptedProvider
from hookagent.sessions.database import FILE_NAME

posix = pytest.mark.skipif(os.name != "posix", reason="the system has other ways there")


def test_a_home_that_is_no_folder_is_said_and_not_taken_for_an_empty_one(
    command: Any, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "file").write_text("mine")
    (folder / "home" / FILE_NAME).mkdir(parents=True)
    advice = "make it usable, or set HOOKAGENT_HOME to another folder"
    said = {"file": "file: a file stands where the folder should be", "home": f"home/{FILE_NAME}: is a directory"}
    for home, what in said.items():
        monkeypatch.setenv("HOOKAGENT_HOME", str(folder / home))
        assert command("sessions", "list") == (2, "", f"hookagent: error: {folder}/{what}; {advice}\n")
    # Once, though the file is asked more than one thing.
    assert command("sessions", "verify") == (1, f"{folder}/{said['home']}; {advice}\n", "")
    assert (folder / "file").read_text() == "mine"


@posix
@pytest.mark.parametrize("words", [["sessions", "list"], ["run", "--continue", "go"]])
def test_a_working_directory_that_is_gone_is_said(
    words: list[str], command: Any, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "gone").mkdir()
    monkeypatch.chdir(folder / "gone")
    (folder / "gone").rmdir()
    said = "working directory: it does not exist any more; change to another one"
    assert command(*words) == (2, "", f"hookagent: error: {said}\n")


@contextmanager
def hardly_any_room() -> Iterator[None]:
    """While it is entered, no file can grow beyond ten bytes."""
    import resource

    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@posix
def test_an_export_that_there_is_no_room_for_leaves_no_half_of_itself(folder: Path) -> None:
    agent = Agent(model=ScriptedProvider([]), log=False)
    with hardly_any_room(), pytest.raises(UsageProblem, match=r"^talk\.md: cannot be written: file too large"):
        write_new("talk.md", "long " * 10)
    with hardly_any_room(), pytest.raises(UsageProblem, match=r"^/export: talk\.md: cannot be written: file too large"):
        export_transcript(agent, "talk.md")
    assert list(folder.iterdir()) == []
    assert export_transcript(agent, "talk.md") == (Path("talk.md"), 0)


def test_an_export_into_no_file_is_refused(command: Any, ran: Any) -> None:
    got = command("sessions", "export", ran("Look."), "-o", "")
    assert got == (2, "", "hookagent: error: --output: names no file; write one such as talk.md\n")


def test_a_session_that_is_not_over_is_not_shown_as_one_that_was_killed(command: Any) -> None:
    seen: list[Any] = []

    @tool(effect="reads")
    def look() -> str:
        """Look at this very session."""
        words = (["show", agent.session.id], ["export", agent.session.id], ["export", agent.session.id, "-f", "jsonl"])
        seen.extend(command("sessions", *each) for each in words)
        return "seen"

    agent = Agent(model=ScriptedProvider([{"calls": [{"name": "look"}]}, "Done."]), tools=[look], quiet=True)
    result = agent.run_sync("Look.")
    assert result.status == "completed"
    session = agent.session.id
    said = f"session {session}: process {os.getpid()} on "
    for one in seen[:2]:
        assert one.code == 0
        assert "it may have run" in one.out
        assert one.err.startswith(said)
        assert one.err.endswith(" is at work on it; a call that has no result yet is shown as interrupted\n")
    assert (seen[2].code, seen[2].err) == (0, "")
    assert command("sessions", "show", session).err == ""
    agent.close_sync()


def test_one_that_was_killed_is_shown_without_a_word(command: Any, ran: Any, home: Path) -> None:
    from hookagent.sessions.store import SessionStore

    session = ran("Look.")
    store = SessionStore(home)
    with store.database.changing() as connection:
        connection.execute("DELETE FROM records WHERE kind = 'turn_end'")
    store.close()
    got = command("sessions", "show", session)
    assert (got.code, got.err) == (0, "")
    locks = home / "locks"
    (locks / f"session-{session}.lock").write_text("process 1 on nowhere\n")
    assert command("sessions", "show", session).err == ""
