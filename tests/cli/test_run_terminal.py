"""`hookagent run` at a real terminal: Ctrl-C at a question, and elsewhere."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.cli.chat_person import Person

TOOLS = """\
import asyncio

async def endless() -> str:
    '''Wait.'''
    print("endless began", flush=True)
    await asyncio.Event().wait()
    return ""
"""
WORDS = ["-m", "scripted:replies.yaml", "-t", "write_file", "-t", "own_tools:endless", "-p", "human-approval"]
WORDS += ["--allow", "endless"]
TWO_CALLS = """\
- calls:
  - {name: write_file, arguments: {path: a.txt, content: x}}
  - {name: write_file, arguments: {path: b.txt, content: x}}
"""

Start = Callable[..., Person]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Starts `hookagent run` at a terminal; `replies` is the script of the model."""
    people: list[Person] = []

    def begin(replies: str) -> Person:
        (tmp_path / "replies.yaml").write_text(replies)
        (tmp_path / "own_tools.py").write_text(TOOLS)
        person = Person(tmp_path, *WORDS, "Write.", command="run")
        people.append(person)
        return person

    yield begin
    for person in people:
        person.close()


def test_ctrl_c_at_an_approval_is_a_no_and_the_run_goes_on(start: Start, tmp_path: Path) -> None:
    person = start(f"{TWO_CALLS}- text: Half of it.\n  expect: a person said no\n")
    person.sees("[1 of 2] write_file: run it?")
    person.sees("n no (as are Enter and Ctrl-C)")
    person.sees("[n]")
    person.types("\x03")
    person.sees("\n[2 of 2] write_file: run it?")
    person.sees("[n]")
    person.types("y\r")
    person.sees("Half of it.")
    person.sees("2 tool calls (1 denied)")
    assert person.leaves() == 0
    assert [path.name for path in tmp_path.glob("?.txt")] == ["b.txt"]


def test_behind_the_question_ctrl_c_ends_the_run(start: Start, tmp_path: Path) -> None:
    person = start(f"{TWO_CALLS}- calls: [{{name: endless}}]\n")
    for number in (1, 2):
        person.sees(f"[{number} of 2] write_file: run it?")
        person.sees("[n]")
        person.types("\x03")
    person.sees("endless began")
    person.types("\x03")
    person.sees("hookagent: interrupted; ending the run (Ctrl-C again leaves at once)")
    assert person.leaves() == 130
    assert not list(tmp_path.glob("?.txt"))


def test_quit_at_the_question_ends_the_run(start: Start, tmp_path: Path) -> None:
    person = start(TWO_CALLS)
    person.sees("[1 of 2] write_file: run it?")
    person.sees("[n]")
    person.types("q\r")
    assert person.leaves() == 4
    assert not list(tmp_path.glob("?.txt"))


def test_sigterm_at_the_question_ends_the_run_in_order(start: Start, tmp_path: Path) -> None:
    person = start(TWO_CALLS)
    person.sees("[1 of 2] write_file: run it?")
    person.sees("[n]")
    person.kills(signal.SIGTERM)
    person.sees("hookagent: terminated")
    assert person.leaves() == 143
    assert not list(tmp_path.glob("?.txt"))
