"""`hookagent sessions`: finding, reading, taking along and forking what real runs left."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path
from typing import Any

import pytest
import yaml

from hookagent import Agent
from hookagent.providers import ScriptedProvider
from hookagent.sessions.store import SessionStore
from tests.cli.conftest import listed
from tests.cli.test_cli_progress import on_a_terminal

LOOKS = """\
- text: "See\\e[2J."
  calls: [{name: list_files, arguments: {path: "a\\u202eb"}}]
- "There is\\e]0;evil\\a one file."
"""
WRITES = "- calls: [{name: write_file, arguments: {path: new.txt, content: hello}}]\n"


def test_without_a_session_there_is_nothing_to_see_and_nothing_is_made(command: Any, home: Path) -> None:
    assert command("sessions", "list") == (0, "", "no sessions of this working directory; '--all' lists all\n")
    assert command("sessions", "list", "--all") == (0, "", "no sessions\n")
    assert command("sessions", "list", "--json").out == "[]\n"
    assert command("sessions", "verify") == (0, "", "no problems\n")
    for words in (["show", "abc"], ["export", "abc"], ["fork", "abc"], ["rm", "--yes", "abc"], ["verify", "abc"]):
        got = command("sessions", *words)
        assert (got.code, got.out) == (2, "")
        assert got.err == (
            "hookagent: error: session 'abc': there is none; 'hookagent sessions list' shows those there are\n"
        )
    assert not home.exists()


def test_the_list_says_what_is_needed_to_choose(
    command: Any, ran: Any, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = ran("What \x1b[2J is here?", LOOKS)
    second = ran("x" * 80, "- {error: invalid_request, message: it broke}\n", code=1)
    command("run", "-q", "-m", "scripted:replies.yaml", "-t", "list_files", "--session", first, "More?")
    rows = listed(command)
    assert [row["id"] for row in rows] == [first, second]
    assert (rows[0]["turns"], rows[0]["status"], rows[0]["first_prompt"]) == (2, "failed", "What \x1b[2J is here?")
    assert (rows[1]["turns"], rows[1]["status"], rows[1]["waiting"]) == (1, "failed", 0)
    assert (rows[0]["agent"], rows[0]["model"], rows[0]["cwd"]) == ("hookagent", "scripted:replies.yaml", str(folder))
    text = command("sessions", "list").out.splitlines()
    assert text[0].split() == ["ID", "WHEN", "TURNS", "STATUS", "MODEL", "FIRST", "PROMPT"]
    assert text[1].startswith(f"{first[:8]}  ")
    assert text[1].endswith("  2      failed  scripted:replies.yaml  What \\x1b[2J is here?")
    assert text[2].endswith("  " + "x" * 50 + "…")
    elsewhere = folder / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    assert listed(command) == []
    assert [row["id"] for row in listed(command, "--all")] == [first, second]
    assert f"  {folder}  " in command("sessions", "list", "--all").out


def test_sessions_of_nested_agents_are_listed_with_all_only(command: Any, folder: Path) -> None:
    async def nest() -> str:
        """Run an agent of its own."""
        inner = Agent("inner", model=ScriptedProvider(["Inner."]))
        answer = (await inner.run("inner")).answer
        await inner.close()
        return answer

    outer = Agent("outer", tools=[nest], model=ScriptedProvider([{"calls": [{"name": "nest"}]}, "Outer."]))
    outer.run_sync("outer")
    outer.close_sync()
    assert [row["agent"] for row in listed(command)] == ["outer"]
    assert {row["agent"]: row["parent_id"] for row in listed(command, "--all")} == {
        "outer": None,
        "inner": outer.session.id,
    }


def test_a_waiting_session_says_how_many_calls_wait(command: Any, ran: Any, site: Any) -> None:
    site.approval()
    session = ran("Write.", WRITES, "-t", "write_file", "--ask", "wait", code=4)
    (row,) = listed(command)
    assert (row["status"], row["waiting"]) == ("waiting", 1)
    assert "  waiting (1)  " in command("sessions", "list").out
    shown = command("sessions", "show", session).out
    assert 'waiting for an answer:\n  call write_file (call_1_1) {"path": "new.txt", "content": "hello"}\n' in shown


def test_a_beginning_in_the_list_is_enough_and_one_that_two_have_is_not(command: Any, ran: Any, home: Path) -> None:
    session = ran("First.")
    store = SessionStore(home)
    for name in ("twins-of-one-kind-a", "twins-of-one-kind-b"):
        store.fork(session, new_id=name)
    store.close()
    lines = command("sessions", "list").out.splitlines()[1:]
    beginnings = [line.split()[0] for line in lines]
    assert sorted(beginnings) == sorted([session[:8], "twins-of-one-kind-a", "twins-of-one-kind-b"])
    for beginning in beginnings:
        assert command("sessions", "show", beginning).code == 0
    got = command("sessions", "show", "twins")
    assert got.code == 2
    assert "session 'twins': 2 sessions begin so: " in got.err


def test_show_is_readable_and_escaped(command: Any, ran: Any, folder: Path) -> None:
    (folder / "a\u202eb").mkdir()
    session = ran("Look\nhere.", LOOKS)
    got = command("sessions", "show", session[:5])
    assert (got.code, got.err) == (0, "")
    assert "\x1b" not in got.out
    assert "\u202e" not in got.out
    head, user, reply, result, answer = got.out.split("\n\n")
    assert head.splitlines()[:2] == [f"session {session}", "agent hookagent, model scripted:replies.yaml"]
    assert head.splitlines()[-1] == "1 turn, 0 in / 0 out, $0"
    assert user == "user:\n  Look\n  here."
    assert reply == 'assistant:\n  See\\x1b[2J.\n  call list_files (call_1_1) {"path": "a\\u202eb"}'
    assert result.startswith("result of list_files (call_1_1): ok, ")
    assert answer == "assistant:\n  There is\\x1b]0;evil\\x07 one file.\n"


def test_show_cuts_long_results_and_says_so(command: Any, ran: Any, folder: Path) -> None:
    (folder / "long.txt").write_text("word " * 2_000)
    replies = "- calls: [{name: read_file, arguments: {path: long.txt}}]\n- Long.\n"
    session = ran("Read.", replies, "-t", "read_file")
    shown = command("sessions", "show", session).out
    assert "characters; 'hookagent sessions export' has all)" in shown
    assert len(shown) < 3_000
    assert "word " * 1_900 in command("sessions", "export", session).out


def test_export_in_each_form(command: Any, ran: Any) -> None:
    session = ran("Look.", LOOKS)
    lines = [json.loads(line) for line in command("sessions", "export", session, "--format", "jsonl").out.splitlines()]
    assert lines[0]["session"] == session
    assert [line["number"] for line in lines[1:]] == list(range(1, len(lines)))
    assert [line["kind"] for line in lines[1:] if line["kind"] in ("start", "result")] == ["start", "result"]
    loaded = yaml.safe_load(command("sessions", "export", session, "--format", "yaml").out)
    assert [message["role"] for message in loaded["messages"]] == ["user", "assistant", "tool", "assistant"]
    markdown = command("sessions", "export", session).out
    assert markdown.startswith(f"# Session {session}\n")
    assert "There is\x1b]0;evil\x07 one file." in markdown  # exactly as it was, where no terminal obeys it


@pytest.mark.parametrize(
    ("name", "beginning"), [("talk.md", "# Session "), ("talk.yml", "session: "), ("talk.jsonl", '{"kind": "session"')]
)
def test_export_into_a_new_private_file(name: str, beginning: str, command: Any, ran: Any, folder: Path) -> None:
    session = ran("Look.")
    assert command("sessions", "export", session, "-o", name) == (0, "", f"{name}: written\n")
    path = folder / name
    written = path.read_text()
    assert written.startswith(beginning)
    if os.name == "posix":
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
    got = command("sessions", "export", session, "-o", name)
    assert (got.code, got.err) == (2, f"hookagent: error: {name}: there is a file already; name a new one\n")
    assert path.read_text() == written
    got = command("sessions", "export", session, "-o", "no/such/folder")
    assert (got.code, got.err) == (
        2,
        "hookagent: error: no/such/folder: cannot be written: no such file or directory; name another file\n",
    )


@pytest.mark.skipif(os.name != "posix", reason="there are no terminals of this kind elsewhere")
def test_on_a_terminal_an_export_moves_no_cursor(command: Any, ran: Any, folder: Path) -> None:
    session = ran("Look.", LOOKS)
    code, text = on_a_terminal(folder, "sessions", "export", session)
    assert code == 0
    assert "There is\\x1b]0;evil\\x07 one file." in text
    assert "\x1b" not in text


def test_a_fork_at_a_turn_goes_its_own_way(command: Any, ran: Any, script: Any) -> None:
    session = ran("One?", "- One.\n")
    assert command("run", "-m", script("- Two.\n"), "-t", "list_files", "--session", session, "Two?").code == 0
    got = command("sessions", "fork", session, "--at-turn", "1")
    assert (got.code, got.err) == (0, "")
    forked = got.out.strip()
    assert command("run", "-m", script("- Three.\n"), "-t", "list_files", "--session", forked, "Three?").code == 0
    shown = command("sessions", "show", forked).out
    assert [word in shown for word in ("One.", "Two.", "Three.")] == [True, False, True]
    assert f"forked from session {session} at record " in shown
    original = command("sessions", "show", session).out
    assert [word in original for word in ("One.", "Two.", "Three.")] == [True, True, False]
    whole = command("sessions", "fork", session[:6]).out.strip()
    assert "Two." in command("sessions", "show", whole).out
    short = command("sessions", "fork", session, "--at-record", "3").out.strip()
    assert "One.\n" not in command("sessions", "show", short).out


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--at-turn", "7"], "has no turn 7; its turns are 1 to 1"),
        (["--at-record", "700"], "has no record 700; its records are 1 to "),
        (["--at-turn", "1", "--at-record", "1"], "--at-turn and --at-record: they exclude each other; leave one out"),
        (["--at-turn", "0"], "--at-turn: 0 is not in the range x>=1"),
    ],
)
def test_a_fork_at_no_such_point_is_refused(options: list[str], said: str, command: Any, ran: Any) -> None:
    got = command("sessions", "fork", ran("One?"), *options)
    assert (got.code, got.out) == (2, "")
    assert said in got.err
    assert len(listed(command)) == 1
