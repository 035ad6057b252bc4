"""The chat without an editor at its edges: how it begins and ends, what is not stored, signals that are not ours."""

from __future__ import annotations

import asyncio
import errno
import io
import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from hookagent import Agent, Stop, hookimpl
from hookagent.cli.answer import Answer
from hookagent.cli.chat import command as chat_command
from hookagent.cli.chat import line_mode
from hookagent.cli.chat.conversation import Conversation, Wishes
from hookagent.cli.chat.history import FILE_NAME, History
from hookagent.cli.chat.pipe import work_through
from hookagent.cli.chat.signals import ChatSignals
from hookagent.cli.chat.view import View
from hookagent.cli.console import Console
from hookagent.cli.ending import explain
from hookagent.cli.signals import Interrupts
from hookagent.events import MessageDelta
from hookagent.limits import Limits
from hookagent.providers.scripted import ScriptedProvider
from hookagent.result import RunResult
from hookagent.session import Session, SessionState
from hookagent.usage import Usage


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def talk(
    script: list[Any], *plugins: Any, verbose: bool = False, **options: Any
) -> tuple[Conversation, io.StringIO, io.StringIO]:
    """A conversation without a terminal, and what it writes to both outputs."""
    out, err = io.StringIO(), io.StringIO()
    console = Console(out, err, {})
    agent = Agent(model=ScriptedProvider(script), quiet=True, log=False, plugins=list(plugins), **options)
    return Conversation(console, agent, View(console, live=False, calls=False), Wishes(verbose=verbose)), out, err


def result(answer: str, **fields: Any) -> RunResult:
    status = fields.pop("status", "completed")
    return RunResult(answer, status, Usage(), Session(SessionState(Limits())), **fields)


# ---- how it begins ----


class Greeted:
    """As a conversation, as far as its beginning needs one."""

    def __init__(self, console: Console, quiet: bool) -> None:
        self.console, self.wishes = console, Wishes(quiet=quiet)


@pytest.mark.parametrize("quiet", [True, False])
def test_a_history_that_cannot_be_read_is_said_and_the_rest_only_where_it_is_wanted(
    quiet: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOOKAGENT_HOME", str(tmp_path))
    (tmp_path / FILE_NAME).mkdir()
    seen: list[History] = []

    def talk_by_lines(conversation: Any, history: History, signals: ChatSignals) -> int:
        seen.append(history)
        return 7

    monkeypatch.setattr(line_mode, "talk_by_lines", talk_by_lines)
    err = io.StringIO()
    conversation: Any = Greeted(Console(None, err, {}), quiet)
    assert chat_command._read_lines(conversation, "lines") == 7
    warning, *greeting = err.getvalue().splitlines()
    assert warning == (
        f"hookagent: warning: {tmp_path / FILE_NAME}: is a directory; what is typed is kept for this chat only"
    )
    assert greeting == (
        []
        if quiet
        else ["one line at a time; for typing while it works: pip install 'hookagent[chat]'; /help lists the commands"]
    )
    seen[0].add("typed")
    assert seen[0].lines == ["typed"]


def test_a_closed_stream_is_no_terminal() -> None:
    closed = io.StringIO()
    closed.close()
    assert chat_command._is_terminal(closed) is False
    assert chat_command._is_terminal(Terminal()) is True


def test_a_history_that_can_no_longer_be_written_is_kept_for_this_chat(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = History(tmp_path, str)
    kept.add("first")

    def full(descriptor: int, data: bytes) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("hookagent.cli.chat.history.os.write", full)
    kept.add("second")
    monkeypatch.undo()
    kept.add("third")
    assert kept.problem == f"{tmp_path / FILE_NAME}: no space left on device; what is typed is kept for this chat only"
    assert kept.lines == ["first", "second", "third"]
    assert History(tmp_path, str).lines == ["first"]


def test_lines_of_earlier_chats_come_back_with_the_arrow_keys(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    readline = pytest.importorskip("readline")
    known: list[str] = []
    monkeypatch.setattr(readline, "add_history", known.append)
    kept = History(tmp_path, str)
    kept.add("one")
    kept.add("two\nlines")
    read = line_mode._reader(kept)
    assert known == ["one", "two lines"]
    monkeypatch.setattr(sys, "stdin", io.StringIO("typed\n"))
    assert read("> ") == "typed"


# ---- turns ----


def test_a_piped_command_may_be_the_end() -> None:
    chat, out, _ = talk(["One."])
    assert work_through(chat, io.StringIO("first\n/quit\nnever\n"), ChatSignals(chat)) == 0
    assert out.getvalue() == "One.\n"
    assert chat.agent.session.turn == 1


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_in_mid_turn_is_the_end_of_the_pipe(number: int, code: int) -> None:
    async def work() -> str:
        """Be interrupted."""
        os.kill(os.getpid(), number)
        await asyncio.Event().wait()
        return "never"

    chat, out, _ = talk([{"calls": [{"name": "work"}]}, "Never."], tools=[work])
    with ChatSignals(chat) as signals:
        assert work_through(chat, io.StringIO("first\nsecond\n"), signals) == code
    assert out.getvalue() == ""
    assert chat.agent.session.turn == 1


def test_what_a_plugin_kept_out_is_said_and_hooks_where_they_are_wanted() -> None:
    class Guard:
        @hookimpl
        def after_user_input(self, message: Any) -> Any:
            return Stop("no secrets") if "secret" in message.text else None

    for verbose in (True, False):
        chat, _, err = talk(["Fine."], Guard(), verbose=verbose)
        assert not chat.turn("a secret")
        assert chat.code == 1
        assert "hookagent: not stored: a secret\n" in err.getvalue()
        assert chat.turn("well?")
        hooks = [line for line in err.getvalue().splitlines() if line.startswith("hooks: ")]
        assert [line.partition(" call")[0].split()[-1] for line in hooks] == (["1", "2"] if verbose else [])


def test_a_turn_that_cannot_begin_has_no_result() -> None:
    chat, out, err = talk(["One."])
    chat.agent.close_sync()
    assert not chat.turn("first")
    assert chat.code == 2
    assert err.getvalue().startswith("hookagent: error: ")
    assert "done in" not in err.getvalue()
    assert out.getvalue() == ""


# ---- the end of a run ----


def test_an_answer_that_differs_from_what_was_shown_is_written_and_the_other_set_aside() -> None:
    out, err = Terminal(), Terminal()
    answer = Answer(Console(out, err, {"TERM": "dumb"}), live=True)
    answer(MessageDelta(1, 0.0, 1, 1, "text", "Shown"))
    answer.finish(result("Meant"))
    assert out.getvalue() == "Shown\nMeant\n"
    assert err.getvalue() == "(this was not the answer: the run went on)\n"


def test_an_error_that_was_said_already_is_not_said_again() -> None:
    err = io.StringIO()
    said = ["first fault"]
    ended = result("answer", errors=("first fault", "second fault"), warnings=("mind",))
    explain(Console(None, err, {}), ended, said, told=False)
    assert err.getvalue() == "hookagent: error: second fault\nhookagent: warning: mind\n"
    assert said == ["first fault", "second fault"]


# ---- signals ----


@contextmanager
def ignoring(number: int) -> Iterator[None]:
    before = signal.signal(number, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(number, before)


@pytest.mark.parametrize("kind", ["chat", "run"])
def test_signals_that_are_ignored_stay_so_and_other_threads_change_none(kind: str) -> None:
    chat, _, _ = talk([])

    def made() -> Any:
        return ChatSignals(chat) if kind == "chat" else Interrupts(lambda reason: None, chat.console)

    def handlers() -> list[Any]:
        return [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]

    before = handlers()
    with ignoring(signal.SIGTERM):
        with made():
            assert signal.getsignal(signal.SIGTERM) is signal.SIG_IGN
            assert signal.getsignal(signal.SIGINT) is not before[0]
            os.kill(os.getpid(), signal.SIGTERM)
        assert signal.getsignal(signal.SIGTERM) is signal.SIG_IGN
    assert handlers() == before
    inside: list[Any] = []

    def enter() -> None:
        with made() as signals:
            inside.append((handlers(), signals.code))

    thread = threading.Thread(target=enter)
    thread.start()
    thread.join()
    assert inside == [(before, None)]
