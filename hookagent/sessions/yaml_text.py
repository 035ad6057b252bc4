"""JSON values as YAML that people like to read, written piece by piece: no YAML library, and no second look.

Texts of several lines stand as such; all others are in double quotes, unless they are plain names.
"""

from __future__ import annotations

import json.encoder
import math
import re
from collections.abc import Callable
from typing import Any

from hookagent.tools.text import clean_text

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")
# Names that a reader of YAML takes for something else.
_NOT_TEXT = frozenset("y yes n no true false on off null none".split())
# What YAML does not let stand as it is, and what would break a line there.
_TO_ESCAPE = re.compile("[\x7f-\x9f\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff]")
_NO_BLOCK = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")
_LONGEST_SIMPLE_KEY = 100
_LONGEST_FLOW_ITEM = 60
_LONGEST_NAME = 32
_NAMES_AT_MOST = 500
# Keys as they are written: most are our own, or the names of tools' parameters.
_NAMES: dict[str, str] = {}
_quoted: Callable[[str], str] = json.encoder.encode_basestring


def yaml_lines(value: dict[str, Any] | list[Any], indent: int = 0) -> str:
    """A mapping or a list that is not empty as lines of YAML, `indent` spaces in. Raises TypeError for no JSON."""
    lines: list[str] = []
    _add_lines(lines, value, " " * indent)
    return "".join(lines)


def _add_lines(lines: list[str], value: dict[str, Any] | list[Any], pad: str) -> None:
    if isinstance(value, list):
        for item in value:
            if isinstance(item, dict) and item:
                _add_mapping(lines, item, f"{pad}- ", f"{pad}  ")
            else:
                lines.append(f"{pad}-")
                _add_after(lines, item, pad)
    else:
        _add_mapping(lines, value, pad, pad)


def _add_mapping(lines: list[str], value: dict[str, Any], start: str, pad: str) -> None:
    """Add a mapping `pad` in; `start` is what stands before its first key instead."""
    for key, item in value.items():
        written = _NAMES.get(key) or _key(key)
        # A longer one has to be announced as a key.
        lines.append(f"{start}{written}" if len(written) <= _LONGEST_SIMPLE_KEY else f"{start}? {written[:-1]}\n{pad}:")
        start = pad
        if type(item) is str:
            lines.append(f" {_text(item, pad)}\n")
        else:
            _add_after(lines, item, pad)


def _key(key: str) -> str:
    written = f"{_inline(key)}:"
    if len(_NAMES) < _NAMES_AT_MOST and len(written) <= _LONGEST_NAME:
        _NAMES[key] = written
    return written


def _add_after(lines: list[str], value: Any, pad: str) -> None:
    """Add what stands behind a "-" or a ":", with the line's end."""
    if isinstance(value, str):
        lines.append(f" {_text(value, pad)}\n")
    elif isinstance(value, dict | list) and value:
        if isinstance(value, list) and all(map(_short, value)):
            lines.append(f" [{', '.join(map(_inline, value))}]\n")
        else:
            lines.append("\n")
            _add_lines(lines, value, f"{pad}  ")
    else:
        lines.append(f" {_inline(value)}\n")


def _short(value: Any) -> bool:
    if isinstance(value, str):
        return len(value) <= _LONGEST_FLOW_ITEM and "\n" not in value
    return not (isinstance(value, dict | list) and value)


def _text(text: str, pad: str) -> str:
    """A text as a value: a block of lines where it has several and YAML would give them back unchanged."""
    if "\n" not in text or not text.strip("\n"):
        return _inline(text)
    text = clean_text(text)
    if _NO_BLOCK.search(text):
        return _inline(text)
    pad = f"{pad}  "
    keep = text.endswith("\n")
    lines = text[:-1].split("\n") if keep else text.split("\n")
    return "\n".join([f"|2{'+' if keep else '-'}", *(pad + line if line else "" for line in lines)])


def _inline(value: Any) -> str:
    if isinstance(value, str):
        if value.isascii() and value.isidentifier() and value.lower() not in _NOT_TEXT:
            return value
        text = clean_text(value)
        if _NAME.fullmatch(text) and text.lower() not in _NOT_TEXT:
            return text
        quoted = _quoted(text)
        # All that has to be escaped is beyond what is printed, and most texts are printed as they are.
        return quoted if quoted.isprintable() else _TO_ESCAPE.sub(_escaped, quoted)
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value) if value.bit_length() <= 1024 else f'"{value:#x}"'
    if isinstance(value, float):
        if not math.isfinite(value):
            return ".nan" if math.isnan(value) else ".inf" if value > 0 else "-.inf"
        digits = repr(value)
        return digits if "." in digits else digits.replace("e", ".0e")
    if isinstance(value, dict):
        return "{}"
    if isinstance(value, list | tuple):
        return "[]"
    raise TypeError(f"not a JSON value: {type(value).__name__}")


def _escaped(found: re.Match[str]) -> str:
    return f"\\u{ord(found[0]):04x}"
