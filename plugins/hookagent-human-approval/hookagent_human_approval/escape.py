"""Foreign text, made safe to show: nothing in it can move the cursor, hide, or look like something else. Pure."""

from __future__ import annotations

import json
import unicodedata
from typing import Any

# Printable by Unicode's book, and yet blank on the screen: fillers, selectors, joiners.
_BLANK = frozenset(
    [
        *(0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x180B, 0x180C, 0x180D, 0x180F, 0x2800, 0x3164, 0xFFA0, 0x1D159),
        *range(0xFE00, 0xFE10),
        *range(0xE0100, 0xE01F0),
    ]
)


def safe_text(text: str) -> str:
    r"""Return `text` with everything that does not show as itself written out: `\n`, `\x1b`, `\u202e`, `\U000e0041`.

    That is every control and format character, every line and paragraph separator, every space but the plain one,
    lone surrogates, private use, unassigned characters, and characters that are printable but blank.
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(character if _shows(character) else _written_out(character) for character in text)


def safe_json(text: str) -> str:
    """Do the same for text that is JSON already; it stays JSON of the same value."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(character if _shows(character) else json.dumps(character)[1:-1] for character in text)


def json_text(value: Any, indent: int | None = None) -> str:
    """Return a JSON value as text that is safe to show; with `indent`, on several lines."""
    text = json.dumps(value, ensure_ascii=False, indent=indent)
    return "\n".join(safe_json(line) for line in text.split("\n"))


def columns(character: str) -> int:
    """Return how many columns of a terminal a character takes: 0, 1 or 2."""
    if character.isascii():
        return 1
    if unicodedata.category(character) in ("Mn", "Me"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in ("W", "F") else 1


def _shows(character: str) -> bool:
    return character.isprintable() and ord(character) not in _BLANK


def _written_out(character: str) -> str:
    code = ord(character)
    short = {0x0A: r"\n", 0x0D: r"\r", 0x09: r"\t"}.get(code)
    if short is not None:
        return short
    if code <= 0xFF:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"
