"""The command at its edges: streams that are closed or missing, plugins that are odd, threads that are in the way."""

from __future__ import annotations

import io
import os
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from hookagent import discovery
from hookagent.cli import held_up
from hookagent.cli import progress as progress_module
from hookagent.cli import sessions as sessions_module
from hookagent.cli import task as task_module
from hookagent.cli.closing import exit_code
from hookagent.cli.console import Console
from hookagent.cli.failure import problems_of
from hookagent.cli.held_up import Overdue, held_up_at
from hookagent.cli.json_lines import JsonLines
from hookagent.cli.progress import Progress, Ticker
from hookagent.cli.session_rows import row_json, session_rows
from hookagent.events import ToolProgress
from hookagent.limits import Limits
from hookagent.messages import ToolCall
from hookagent.private_loop import LOOP_THREAD
from hookagent.result import RunResult
from hookagent.session import Session, SessionState
from hookagent.sessions.store import SessionStore
from hookagent.usage import Usage

# ---- outputs ----


def test_nobody_else_writes_an_answer_where_there_is_no_standard_error(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    with open(1, "w", encoding="utf-8", closefd=False) as stream:
        monkeypatch.setattr(sys, "stdout", stream)
        monkeypatch.setattr(sys, "stderr", io.StringIO())
        console = Console(stream, None, {})
        with console.sole_writer():
            os.write(1, b"noise of a child process\n")
            console.write("the answer\n")
            stream.write("what a tool left in the buffer\n")
        console.write("later\n")
        monkeypatch.undo()
    assert capfd.readouterr() == ("the answer\nlater\n", "")


def test_a_console_without_outputs_says_nothing_and_is_not_broken_by_it() -> None:
    console = Console(None, None, {})
    console.write("answer\n")
    console.say("said")
    assert (console.reader_gone, console.failure, console.live) == (False, None, False)


def test_a_closed_stream_is_no_terminal() -> None:
    closed = io.StringIO()
    closed.close()
    assert sessions_module._is_terminal(closed) is False
    assert sessions_module._is_terminal(None) is False
    assert task_module._is_terminal(closed) is False


class Odd:
    def __repr__(self) -> str:
        return "<something \ud800 odd>"


@pytest.mark.parametrize(("value", "written"), [(1j, "1j"), (Odd(), "<something \\ufffd odd>")])
def test_progress_of_any_kind_is_a_text_in_json(value: Any, written: str) -> None:
    out = io.StringIO()
    call = ToolCall("c1", "look", None)
    JsonLines(Console(out, None, {}))(ToolProgress(1, 0.0, 1, 1, call, {"value": value, "share": float("nan")}))
    assert out.getvalue().endswith(f'"value":{{"value":"{written}","share":null}}}}\n')


# ---- codes and failures ----


@pytest.mark.parametrize(
    ("kind", "code"), [("configuration", 2), ("unsupported_setting", 2), ("authentication", 1), (None, 1)]
)
def test_a_model_that_is_set_up_wrongly_is_an_error_of_usage(kind: Any, code: int) -> None:
    session = Session(SessionState(Limits()))
    assert exit_code(RunResult("", "failed", Usage(), session, reason="no key", error_kind=kind)) == code


def test_what_nobody_foresaw_is_an_internal_error() -> None:
    assert problems_of(ValueError("odd")) == ["internal error: ValueError: odd; '--debug' shows where"]


# ---- plugins and commands ----


PLAIN = """\
from hookagent import hookimpl
class Plugin:
    class Options:
        {body}
    def __init__(self, options):
        self.options = options
    @hookimpl
    def before_llm(self, iteration): pass
"""
VALIDATES = "model_validate = staticmethod(dict)"


@pytest.mark.parametrize(("body", "code"), [(VALIDATES, 0), ("pass", 2)])
def test_options_that_are_no_pydantic_model_are_the_plugins_own_affair(
    body: str, code: int, command: Any, site: Any, script: Any
) -> None:
    site.plugin("plain", PLAIN.format(body=body))
    got = command("config", "check", "-p", "plain", "-t", "read_file", "-m", script("- Yes."))
    assert got.code == code
    assert ("plugin 'plain' (hookagent-plain 1.0): cannot be made: " in got.err) is (code == 2)


def test_without_any_plugin_the_list_says_so(command: Any) -> None:
    assert command("plugins", "list") == (0, "", "no plugins are installed\n")
    assert command("plugins", "list", "--json").out == "[]\n"


def test_metadata_that_cannot_be_read_costs_the_commands_of_others_and_not_the_help(
    command: Any, site: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    site.module("theirs", "import click\n@click.command()\ndef greet():\n    click.echo('hello')\n")
    site.install("theirs", "1.0", {"hookagent.commands": {"greet": "theirs:greet"}})
    assert command("greet").out == "hello\n"
    assert "greet  From theirs 1.0." in command("--help").out

    def fail(*_: Any) -> Any:
        raise OSError("metadata is gone")

    with monkeypatch.context() as patched:
        patched.setattr(discovery, "installed", fail)
        got = command("--help")
        assert got.code == 0
        assert "run" in got.out
        assert "greet" not in got.out
        assert command("greet").code == 2


# ---- what holds up a run ----


def test_a_thread_without_a_loop_holds_no_run_up(monkeypatch: pytest.MonkeyPatch) -> None:
    let_go = threading.Event()
    thread = threading.Thread(target=let_go.wait, name=LOOP_THREAD)
    thread.start()
    threads = [thread]
    monkeypatch.setattr(threading, "enumerate", lambda: threads)
    try:
        assert held_up_at() is None
        threads[:] = [threading.current_thread()]
        assert held_up_at() is None
    finally:
        let_go.set()
        thread.join()


@pytest.mark.parametrize(("places", "said"), [(["a.py:1", "a.py:2"], 1), (["a.py:1", None], 0), ([None], 0)])
def test_who_was_at_work_for_a_moment_only_is_not_named(
    places: list[str | None], said: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked = threading.Event()
    left = list(places)

    def place() -> str | None:
        found = left.pop(0)
        if not left:
            looked.set()
        return found

    monkeypatch.setattr(held_up, "held_up_at", place)
    monkeypatch.setattr(held_up, "_LOOK_AGAIN_SECONDS", 0.0)
    heard: list[object] = []
    with Overdue(heard.append, 0.0) as overdue:
        overdue.begin()
        assert looked.wait(60)
    assert left == []
    expected = "hookagent: the run has not ended: a.py:2 blocks the event loop; Ctrl-C again leaves at once"
    assert heard == [expected] * said


# ---- progress ----


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_seconds_that_pass_are_drawn_until_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress_module, "_TICK_SECONDS", 0.0)
    console = Console(None, Terminal(), {"TERM": "xterm"})
    ticked = threading.Event()

    class Counted(Progress):
        def tick(self) -> None:
            super().tick()
            ticked.set()

    progress = Counted(console, quiet=False, verbose=False, monotonic=lambda: 7.0)
    with Ticker(progress, console) as ticker:
        assert ticked.wait(60)
    assert not ticker._thread.is_alive()


# ---- the list of sessions ----


def test_a_session_that_cannot_be_read_is_a_damaged_one_in_the_list(ran: Any, home: Path) -> None:
    whole, broken = ran("first"), ran("second")
    store = SessionStore(home)
    with store.database.changing() as connection:
        connection.execute("UPDATE sessions SET created = 1e300 WHERE id = ?", (whole,))
        connection.execute("UPDATE sessions SET forked_from = 'gone', forked_at = 1 WHERE id = ?", (broken,))
    rows = {row.summary.id: row_json(row) for row in session_rows(store, None)}
    store.close()
    assert (rows[broken]["status"], rows[broken]["turns"]) == ("damaged", 0)
    assert (rows[whole]["status"], rows[whole]["created"]) == ("completed", None)
    assert rows[whole]["updated"] is not None
