"""What stands above the editor's line, and the console that writes there."""

from __future__ import annotations

import io
import threading

from hypothesis import given
from hypothesis import strategies as st

from hookagent.cli.chat.screen import Screen, ScreenStream, rows
from hookagent.cli.console import Console


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_only_whole_lines_are_given_out() -> None:
    changes: list[int] = []
    screen = Screen(lambda: changes.append(1))
    screen.write("one\ntw")
    assert (screen.take_lines(), screen.tail, screen.take_lines()) == ("one\n", "tw", "")
    screen.write("o\nthree")
    assert (screen.take_lines(), screen.take_all(), screen.tail) == ("two\n", "three\n", "")
    assert len(changes) == 2


def test_what_steers_a_terminal_is_written_out() -> None:
    screen = Screen(lambda: None)
    print("\x1b[2Jbad\u202e", file=ScreenStream(screen))
    assert screen.take_lines() == "\\x1b[2Jbad\\u202e\n"


def test_lines_of_many_threads_stay_whole() -> None:
    screen = Screen(lambda: None)

    def write() -> None:
        for _ in range(200):
            screen.write("abc\n")

    threads = [threading.Thread(target=write) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert screen.take_lines() == "abc\n" * 800


def test_a_console_writes_to_the_screen_while_it_is_lent() -> None:
    out, err = Terminal(), Terminal()
    console = Console(out, err, {})
    screen = Screen(lambda: None)
    with console.shown_by(screen):
        console.write("answ")
        console.status("working")
        assert screen.status_line == "working"
        console.say("note")
        assert (screen.status_line, screen.take_lines()) == ("", "answ\nnote\n")
        console.write("rest")
    assert screen.take_all() == "rest\n"
    assert (out.getvalue(), err.getvalue()) == ("", "")
    console.write("later\n")
    assert out.getvalue() == "later\n"


def test_an_answer_that_goes_to_a_file_still_goes_there() -> None:
    out, err = io.StringIO(), Terminal()
    console = Console(out, err, {})
    screen = Screen(lambda: None)
    with console.shown_by(screen):
        console.write("answer\n")
        console.say("note")
    assert (out.getvalue(), screen.take_all()) == ("answer\n", "note\n")


@given(st.text(alphabet="ab漢字"), st.integers(0, 7))
def test_rows_lose_nothing_and_fit(text: str, width: int) -> None:
    def columns(character: str) -> int:
        return 1 if character.isascii() else 2

    cut = rows(text, width, columns)
    assert "".join(cut) == text
    assert all(sum(map(columns, row)) <= max(width, 2) for row in cut)


def test_what_prints_takes_the_screen_for_a_terminal_that_can_be_written_to() -> None:
    screen = Screen(lambda: None)
    stream = ScreenStream(screen)
    assert (stream.writable(), stream.isatty(), stream.readable()) == (True, True, False)
    print("half", end="", file=stream)
    assert (screen.take_lines(), screen.tail) == ("", "half")
    print(" a line", file=stream)
    assert screen.take_lines() == "half a line\n"
