"""The chat at a real terminal: with the editor, and a line at a time."""

from __future__ import annotations

import signal
import stat
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.cli.chat_person import Person

TOOLS = """\
import asyncio
import subprocess
import sys

async def endless() -> str:
    '''Wait.'''
    print("endless began", flush=True)
    await asyncio.Event().wait()
    return ""
"""
WORDS = ["-m", "scripted:replies.yaml", "-t", "own_tools:endless", "-o", "plugins=[]", "-p", "no:human-approval"]
MODES = pytest.mark.parametrize("terminal", ["xterm", "dumb"], ids=["editor", "lines"])

Sit = Callable[..., Person]


@pytest.fixture
def sit(tmp_path: Path) -> Iterator[Sit]:
    """Sits a person down at a chat; `replies` is the script of the model."""
    pytest.importorskip("prompt_toolkit")
    people: list[Person] = []

    def down(replies: str, *words: str, **variables: str) -> Person:
        (tmp_path / "replies.yaml").write_text(replies)
        (tmp_path / "own_tools.py").write_text(TOOLS)
        person = Person(tmp_path, *(words or WORDS), **variables)
        people.append(person)
        return person

    yield down
    for person in people:
        person.close()


@MODES
def test_ctrl_c_stops_the_turn_and_not_the_session(terminal: str, sit: Sit) -> None:
    person = sit("- calls: [{name: endless}]\n- text: Still here.\n  expect: second\n", TERM=terminal)
    person.sees("/help lists the commands")
    person.types("first\r")
    person.sees("endless began")
    person.types("\x03")
    person.sees("hookagent: interrupted; ending the turn")
    person.sees("interrupted after 1 iteration")
    person.types("second\r")
    person.sees("Still here.")
    person.sees("done in 1 iteration")
    person.sees(">")
    person.types("\x04")
    assert person.leaves() == 0
    assert "Traceback" not in person.all_seen


def test_ctrl_c_twice_at_the_prompt_leaves(sit: Sit) -> None:
    # With the editor only: readline itself may miss a signal that comes just before it begins to wait for a key.
    person = sit("[]\n")
    person.sees("/help lists the commands")
    person.sees(">")
    person.types("\x03")
    person.sees("(Ctrl-C again, or Ctrl-D, leaves)")
    person.sees(">")
    person.types("\x03")
    assert person.leaves() == 130


@MODES
def test_a_turn_is_shown_with_its_calls(terminal: str, sit: Sit, tmp_path: Path) -> None:
    (tmp_path / "seen.txt").write_text("one two three")
    person = sit(
        "- {text: Let me look., calls: [{name: count_words, arguments: {path: seen.txt}}]}\n- Three.\n",
        *("-m", "scripted:replies.yaml", "-t", "count_words", "-o", "plugins=[]"),
        TERM=terminal,
    )
    person.sees("/help lists the commands")
    person.types("How many?\r")
    person.sees("Let me look.\r\n")
    person.sees('tool count_words(path="seen.txt"): ok')
    person.sees("Three.\r\n")
    person.types("/quit\r")
    assert person.leaves() == 0
    history = tmp_path / "home" / "chat_history.jsonl"
    assert history.read_text() == '"How many?"\n"/quit"\n'
    assert stat.S_IMODE(history.stat().st_mode) == 0o600


@MODES
def test_sigterm_ends_the_turn_and_the_chat(terminal: str, sit: Sit) -> None:
    person = sit("- calls: [{name: endless}]\n", TERM=terminal)
    person.sees("/help lists the commands")
    person.types("first\r")
    person.sees("endless began")
    person.kills(signal.SIGTERM)
    assert person.leaves() == 143
    assert "Traceback" not in person.all_seen


def test_the_line_mode_says_what_it_cannot_do(sit: Sit) -> None:
    person = sit("[]\n", TERM="dumb")
    person.sees("one line at a time, since TERM says that this terminal is a dumb one; /help lists the commands")
    person.sees(">")
    person.types("\x04")
    assert person.leaves() == 0


def test_what_is_typed_while_it_works_steers_it(sit: Sit) -> None:
    person = sit("- calls: [{name: endless}]\n")
    person.sees("/help lists the commands")
    person.types("first\r")
    person.sees("endless began")
    person.types("hurry\r")
    person.sees("> hurry")
    person.types("\x03")
    person.sees("interrupted after 1 iteration")
    # What was queued stands in the line again.
    person.sees("> hurry")
    person.types("\x03")
    person.types("\x04")
    assert person.leaves() == 0


@MODES
def test_an_approval_is_answered_at_the_same_terminal(terminal: str, sit: Sit, tmp_path: Path) -> None:
    person = sit(
        "- calls: [{name: write_file, arguments: {path: a.txt, content: hello}}]\n- Written.\n",
        *("-m", "scripted:replies.yaml", "-t", "write_file", "-p", "human-approval"),
        TERM=terminal,
    )
    person.sees("/help lists the commands")
    person.types("Write.\r")
    person.sees("1 call of this round needs your answer.")
    person.sees("[n]")
    person.types("y\r")
    person.sees("Written.\r\n")
    person.sees("done in 2 iterations")
    person.sees(">")
    person.types("\x04")
    assert person.leaves() == 0
    assert (tmp_path / "a.txt").read_text() == "hello"


@MODES
def test_ctrl_c_at_an_approval_is_a_no_and_behind_it_stops_the_turn(terminal: str, sit: Sit, tmp_path: Path) -> None:
    calls = ", ".join(f"{{name: write_file, arguments: {{path: {name}, content: x}}}}" for name in ("a.txt", "b.txt"))
    person = sit(
        f"- calls: [{calls}]\n- calls: [{{name: endless}}]\n",
        *("-m", "scripted:replies.yaml", "-t", "write_file", "-t", "own_tools:endless", "-p", "human-approval"),
        *("--allow", "endless"),
        TERM=terminal,
    )
    person.sees("/help lists the commands")
    person.types("Write.\r")
    person.sees("[1 of 2] write_file: run it?")
    person.sees("[n]")
    person.types("\x03")
    person.sees("[2 of 2] write_file: run it?")
    person.sees("[n]")
    person.types("\x03")
    person.sees("endless began")
    person.types("\x03")
    person.sees("hookagent: interrupted; ending the turn")
    person.sees("(2 denied)")
    person.sees(">")
    person.types("\x04")
    assert person.leaves() == 0
    assert "Traceback" not in person.all_seen
    assert not list(tmp_path.glob("?.txt"))
