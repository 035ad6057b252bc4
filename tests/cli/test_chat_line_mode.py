"""One line at a time at a terminal."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from hookagent import AbortSignal, ToolContext
from hookagent.cli.chat.line_mode import talk_by_lines
from hookagent.cli.chat.signals import ChatSignals
from hookagent.cli.console import Console
from tests.cli.chat_person import conversation_with


def typing(*typed: str | type[BaseException]) -> Callable[[str], str]:
    """A person who types these lines, or presses what raises these, and then leaves."""
    keys = iter([*typed, EOFError])

    def read(prompt: str) -> str:
        key = next(keys)
        if isinstance(key, str):
            return key
        raise key

    return read


def test_lines_are_turns_until_the_person_leaves(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    conversation, history = conversation_with(["One.", "Two."], tmp_path, console=Console.of_process())
    assert talk_by_lines(conversation, history, ChatSignals(conversation), typing("a", "", "b")) == 0
    assert capsys.readouterr().out == "One.Two."
    assert history.lines == ["a", "b"]


@pytest.mark.parametrize(
    ("typed", "code"),
    [
        ((KeyboardInterrupt, KeyboardInterrupt), 130),
        ((KeyboardInterrupt, "a", KeyboardInterrupt), 0),
        ((KeyboardInterrupt, "", KeyboardInterrupt, KeyboardInterrupt), 130),
        ((KeyboardInterrupt,), 0),
        (("/quit", "never read"), 0),
        (("/nope",), 0),
    ],
)
def test_ctrl_c_leaves_when_it_comes_twice_in_a_row(
    typed: tuple[str | type[BaseException], ...], code: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    conversation, history = conversation_with(["One."], tmp_path, console=Console.of_process())
    assert talk_by_lines(conversation, history, ChatSignals(conversation), typing(*typed)) == code
    assert ("(Ctrl-C again, or Ctrl-D, leaves)" in capsys.readouterr().err) == (KeyboardInterrupt in typed)


def raising(*numbers: int) -> Callable[[ToolContext], str]:
    """A tool in whose run these signals come."""

    def wait(context: ToolContext) -> str:
        """Wait for the end."""
        stop: AbortSignal = context.abort
        for number in numbers:
            os.kill(os.getpid(), number)
        stop.wait()
        return "stopped"

    return wait


def test_a_signal_in_mid_turn_ends_the_turn(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    replies = [{"calls": [{"name": "wait"}]}, "Still here."]
    conversation, history = conversation_with(
        replies, tmp_path, console=Console.of_process(), tools=[raising(signal.SIGINT)]
    )
    with ChatSignals(conversation) as signals:
        assert talk_by_lines(conversation, history, signals, typing("a", "b")) == 0
    got = capsys.readouterr()
    assert "hookagent: interrupted; ending the turn\n" in got.err
    assert got.out.endswith("Still here.")


def test_sigterm_in_mid_turn_ends_the_chat(tmp_path: Path) -> None:
    replies = [{"calls": [{"name": "wait"}]}]
    conversation, history = conversation_with(replies, tmp_path, tools=[raising(signal.SIGTERM)])
    with ChatSignals(conversation) as signals:
        assert talk_by_lines(conversation, history, signals, typing("a", "never")) == 143
    assert conversation.code == 143


def test_the_third_ctrl_c_in_a_turn_leaves_at_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    left: list[int] = []
    conversation, _ = conversation_with(["One."], tmp_path, console=Console.of_process())
    before = signal.getsignal(signal.SIGINT)
    with ChatSignals(conversation, left.append):
        conversation.running = True
        for expected in ([], [], [130]):
            os.kill(os.getpid(), signal.SIGINT)
            assert left == expected
        conversation.running = False
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGINT)
        with pytest.raises(SystemExit) as leaving:
            os.kill(os.getpid(), signal.SIGTERM)
        assert leaving.value.code == 143
    assert signal.getsignal(signal.SIGINT) is before
    assert "Ctrl-C again leaves at once" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("numbers", "code"),
    [
        ((signal.SIGINT, signal.SIGINT, signal.SIGTERM), 143),
        ((signal.SIGTERM, signal.SIGINT, signal.SIGINT), 143),
        ((signal.SIGINT, signal.SIGTERM, signal.SIGINT), 143),
    ],
)
def test_ctrl_c_ends_a_turn_and_sigterm_the_chat_whichever_comes_first(
    numbers: tuple[int, ...], code: int, tmp_path: Path
) -> None:
    left: list[int] = []
    conversation, _ = conversation_with(["One."], tmp_path)
    with ChatSignals(conversation, left.append) as signals:
        conversation.running = True
        for number in numbers:
            os.kill(os.getpid(), number)
        assert left == [code]
        assert signals.code == code
        conversation.running = False
