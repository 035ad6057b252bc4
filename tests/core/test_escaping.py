"""Nothing in a foreign text can move the cursor, hide, or look like something else."""

from __future__ import annotations

import json
import sys
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hookagent import visible_text
from hookagent.escaping import one_line, paragraphs

BLANK = "\u034f\u115f\u1160\u17b4\u17b5\u180b\u180d\u180f\u2800\u3164\uffa0\ufe00\ufe0f\U0001d159\U000e0100\U000e01ef"
NEVER_SHOWN = [
    chr(code)
    for code in range(sys.maxunicode + 1)
    if unicodedata.category(chr(code)) in ("Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp")
    or (chr(code).isspace() and code != 32)
] + list(BLANK)


def test_no_control_format_separator_or_blank_character_gets_through() -> None:
    assert len(NEVER_SHOWN) > 2_000
    for character in NEVER_SHOWN:
        for shown in (visible_text(f"a{character}b"), visible_text(f"a{character}b", in_json=True)):
            assert shown.isascii()
            assert shown.isprintable()
            assert shown.startswith("a\\")
            assert shown.endswith("b")
        assert character not in one_line(f"a{character}b")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\nb\r\tc", r"a\nb\r\tc"),
        ("\x1b[2K\x9b1A\x7f", r"\x1b[2K\x9b1A\x7f"),
        ("\u202eabc\u200b", r"\u202eabc\u200b"),
        ("\U000e0041", r"\U000e0041"),
        ("\ud800", r"\ud800"),
        ("a\u00a0b", r"a\xa0b"),
        ("a\ufe0f", r"a\ufe0f"),
        ("plain text, ünïcode, 漢字, 🙂, x > y", "plain text, ünïcode, 漢字, 🙂, x > y"),
    ],
)
def test_what_is_shown(text: str, shown: str) -> None:
    assert visible_text(text) == shown


@given(st.text(st.characters(), max_size=100))
def test_every_text_becomes_one_printable_line(text: str) -> None:
    for shown in (visible_text(text), one_line(text)):
        assert shown.isprintable()
        assert not set(shown) & set(BLANK)


@given(st.text(st.characters(), max_size=100))
def test_json_stays_json_of_the_same_value(text: str) -> None:
    assert json.loads(visible_text(json.dumps(text, ensure_ascii=False), in_json=True)) == text


def test_a_long_line_is_cut_and_white_space_joined() -> None:
    assert one_line("x" * 5_000, 10) == "xxxxxxxxxx…"
    assert one_line("x" * 10, 10) == "xxxxxxxxxx"
    assert one_line(" a\n\tb  c\r\n") == "a b c"


def test_an_answer_keeps_lines_tabs_and_joined_emoji() -> None:
    assert paragraphs("a\tb\r\nc 👩\u200d💻 \u05d0\u200f") == "a\tb\nc 👩\u200d💻 \u05d0\u200f"
    assert paragraphs("\x1b[2J\x9b1m\u202e\ud800\x08") == "\\x1b[2J\\x9b1m\\u202e\\ud800\\x08"
