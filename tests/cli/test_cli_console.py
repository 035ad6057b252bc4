"""What is written, and how: escaped, masked, replaced where the encoding fails, quiet where nobody reads."""

from __future__ import annotations

import io
import sys
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hookagent.cli.console import Console
from hookagent.cli.escaping import one_line, paragraphs
from hookagent.cli.masking import masked_value
from hookagent.cli.table import table
from hookagent.masking import Masker


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_every_control_and_format_character_is_escaped() -> None:
    unsafe = [
        chr(point)
        for point in range(sys.maxunicode + 1)
        if unicodedata.category(chr(point)) in ("Cc", "Cf", "Zl", "Zp", "Co", "Cs") and not chr(point).isspace()
    ]
    assert len(unsafe) > 200
    for character in unsafe:
        shown = one_line(f"a{character}b")
        assert character not in shown
        assert shown.startswith("a\\")


@pytest.mark.parametrize("character", "\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0\ufe0f\U000e0100")
def test_blank_but_printable_characters_are_escaped(character: str) -> None:
    assert character not in one_line(f"a{character}b")


@given(st.text())
def test_a_line_is_one_line_and_printable(text: str) -> None:
    shown = one_line(text)
    assert shown.isprintable()
    assert len(shown.splitlines()) <= 1


def test_a_long_line_is_cut() -> None:
    assert one_line("x" * 5_000, 10) == "xxxxxxxxxx…"


def test_an_answer_keeps_lines_tabs_and_joined_emoji() -> None:
    assert paragraphs("a\tb\r\nc 👩\u200d💻 \u05d0\u200f") == "a\tb\nc 👩\u200d💻 \u05d0\u200f"
    assert paragraphs("\x1b[2J\x9b1m\u202e\ud800\x08") == "\\x1b[2J\\x9b1m\\u202e\\ud800\\x08"


def test_secrets_of_the_environment_are_masked() -> None:
    mask = Masker({"MY_TOKEN": "abcdef-longer", "X_PASSWORD": "abcdef", "USE_KEYS": "1", "PATH": "/usr/bin"})
    assert mask("abcdef-longer abcdef /usr/bin 1") == "*** *** /usr/bin 1"


@pytest.mark.parametrize("text", ["sk-ant-REDACTED", "Authorization: Bearer abcdefghijkl", "ghp_abcdefghijklmnopqrst"])
def test_what_is_shaped_like_a_key_is_masked(text: str) -> None:
    assert Masker({})(text).endswith("***")


def test_values_under_secret_names_are_masked_at_any_depth() -> None:
    value = {"headers": [{"authorization": "x y"}], "n": 1, "max_tokens": 3, "passwords": {"a": "b"}}
    assert masked_value(value) == {
        "headers": [{"authorization": "***"}],
        "n": 1,
        "max_tokens": 3,
        "passwords": {"a": "***"},
    }


def test_say_masks_and_escapes() -> None:
    err = io.StringIO()
    console = Console(io.StringIO(), err, {"A_KEY": "secret-value"})
    console.say("x\x1b[0m\nsecret-value")
    console.say("first\n\x1b\tsecret-value", whole=True)
    assert err.getvalue() == "x\\x1b[0m ***\nfirst\n\\x1b\t***\n"


def test_the_status_line_is_drawn_on_a_terminal_only() -> None:
    elsewhere, terminal, plain = io.StringIO(), Terminal(), Terminal()
    Console(None, elsewhere, {}).status("working")
    Console(None, Terminal(), {"TERM": "dumb"}).status("working")
    console = Console(None, terminal, {})
    console.status("working")
    console.say("done")
    Console(None, plain, {"NO_COLOR": "1"}).status("working")
    assert elsewhere.getvalue() == ""
    assert terminal.getvalue() == "\r\x1b[K\x1b[2mworking\x1b[0m\r\x1b[Kdone\n"
    assert plain.getvalue() == "\r\x1b[Kworking"


@pytest.mark.parametrize("environment", [{"TERM": "dumb"}, {"CI": "true"}])
def test_where_lines_cannot_be_redrawn(environment: dict[str, str]) -> None:
    assert not Console(None, Terminal(), environment).redraws


def test_a_line_of_the_answer_is_ended_before_anything_else() -> None:
    out, err = Terminal(), Terminal()
    console = Console(out, err, {})
    console.write("half a line")
    console.say("a note")
    assert out.getvalue() == "half a line\n"
    out2 = io.StringIO()
    console = Console(out2, err, {})
    console.write("half a line")
    console.say("a note")
    assert out2.getvalue() == "half a line"


def test_a_line_that_is_not_ours_is_ended_on_a_terminal_only() -> None:
    terminal, elsewhere = Terminal(), io.StringIO()
    for stream in (terminal, elsewhere):
        Console(None, stream, {}).break_line()
    assert (terminal.getvalue(), elsewhere.getvalue()) == ("\n", "")


def test_an_encoding_without_a_character_never_raises() -> None:
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding="ascii")
    Console(stream, None, {}).write("café \ud800\n")
    assert raw.getvalue() == b"caf\\xe9 \\ud800\n"


def test_closed_and_missing_outputs_are_quiet() -> None:
    closed = io.StringIO()
    closed.close()
    for stream in (closed, None):
        console = Console(stream, stream, {})
        console.write("x")
        console.say("x")
        console.status("x")


def test_a_table_is_aligned_and_escaped() -> None:
    assert table(("A", "B"), [("x\x1b", "long"), ("yy", "")]) == "A      B\nx\\x1b  long\nyy\n"
    assert table(("A",), []) == ""
