"""The words of plain YAML scalars: what is a number, a boolean, nothing, or text.

The rules are those of the YAML 1.2 core schema, narrowed: only `true` and `false` are booleans. So `yes`,
`off`, `12:30:45` and `2026-01-01` stay text, as their writers meant them.
"""

from __future__ import annotations

import re

Scalar = str | int | float | bool | None

_BOOLEANS = {"true": True, "false": False}
_NOTHING = frozenset({"", "~", "null", "Null", "NULL"})
_DECIMAL = re.compile(r"[-+]?[0-9]+")
_OCTAL = re.compile(r"0o[0-7]+")
_HEXADECIMAL = re.compile(r"0x[0-9a-fA-F]+")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_INFINITE = re.compile(r"([-+]?)\.(inf|Inf|INF)")
_NOT_A_NUMBER = frozenset({".nan", ".NaN", ".NAN"})
_MOST_DIGITS = 400


def resolve_scalar(text: str) -> Scalar:
    """Return the value of an unquoted scalar. Digits beyond any use (400) are text."""
    if text in _NOTHING:
        return None
    if text in _BOOLEANS:
        return _BOOLEANS[text]
    if text in _NOT_A_NUMBER:
        return float("nan")
    if infinite := _INFINITE.fullmatch(text):
        return float(f"{infinite[1]}inf")
    # int() of a very long text takes quadratic time, and from 4300 digits on it refuses.
    if len(text) > _MOST_DIGITS:
        return text
    if _DECIMAL.fullmatch(text):
        return int(text)
    if _OCTAL.fullmatch(text):
        return int(text[2:], 8)
    if _HEXADECIMAL.fullmatch(text):
        return int(text[2:], 16)
    if _FLOAT.fullmatch(text):
        return float(text)
    return text
