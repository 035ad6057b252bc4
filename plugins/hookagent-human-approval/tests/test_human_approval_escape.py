from __future__ import annotations

import json
import sys
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hookagent_human_approval.escape import columns, json_text, safe_json, safe_text

BLANK = "\u034f\u115f\u1160\u17b4\u17b5\u180b\u180f\u2800\u3164\uffa0\ufe00\ufe0f\U000e0100\U000e01ef"
NEVER_SHOWN = [
    chr(code)
    for code in range(sys.maxunicode + 1)
    if unicodedata.category(chr(code)) in ("Cc", "Cf", "Cs", "Zl", "Zp") or (chr(code).isspace() and code != 32)
] + list(BLANK)


def test_no_control_format_separator_or_blank_character_gets_through() -> None:
    assert len(NEVER_SHOWN) > 2_000
    for character in NEVER_SHOWN:
        for shown in (safe_text(f"a{character}b"), safe_json(f"a{character}b")):
            assert shown.isascii()
            assert shown.isprintable()
            assert shown.startswith("a\\")
            assert shown.endswith("b")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\nb\r\tc", r"a\nb\r\tc"),
        ("\x1b[2K\x9b1A\x7f", r"\x1b[2K\x9b1A\x7f"),
        ("\u202eabc\u200b", r"\u202eabc\u200b"),
        ("\U000e0041", r"\U000e0041"),
        ("\ud800", r"\ud800"),
        ("a\u00a0b", r"a\xa0b"),
        ("plain text, ünïcode, 漢字, 🙂, x > y", "plain text, ünïcode, 漢字, 🙂, x > y"),
    ],
)
def test_what_is_shown(text: str, shown: str) -> None:
    assert safe_text(text) == shown


@given(st.text(st.characters(), max_size=100))
def test_every_text_becomes_printable(text: str) -> None:
    assert safe_text(text).isprintable()
    assert not set(safe_text(text)) & set(BLANK)


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
        max_leaves=10,
    )
)
def test_json_stays_json_of_the_same_value(value: object) -> None:
    for indent in (None, 2):
        text = json_text(value, indent)
        assert json.loads(text) == value
        assert all(line.isprintable() for line in text.split("\n"))


def test_columns() -> None:
    assert [columns(character) for character in "aü漢🙂\u0301"] == [1, 1, 2, 2, 0]
