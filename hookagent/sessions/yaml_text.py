"""JSON values as YAML that people like to read, written piece by piece: no YAML library, and no second look.

Texts of several lines stand as such; all others are in double quotes, unless they are plain names.
"""

from __future__ import annotations

import json
import math
import re
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


def yaml_lines(value: dict[str, Any] | list[Any], indent: int = 0) -> str:
    """A mapping or a list that is not empty as lines of YAML, `indent` spaces in. Raises TypeError for no JSON."""
    pad = " " * indent
    if isinstance(value, list):
        return "".join(
            f"{pad}- {yaml_lines(item, indent + 2)[indent + 2 :]}"
            if isinstance(item, dict) and item
            else f"{pad}-{_after(item, indent)}"
            for item in value
        )
    lines = []
    for key, item in value.items():
        written = _inline(key)
        # A longer one has to be announced as a key.
        start = f"{pad}{written}:" if len(written) <= _LONGEST_SIMPLE_KEY else f"{pad}? {written}\n{pad}:"
        lines.append(start + _after(item, indent))
    return "".join(lines)


def _after(value: Any, indent: int) -> str:
    """What stands behind a "-" or a ":", with the line's end."""
    if isinstance(value, str):
        return f" {_text(value, indent)}\n"
    if isinstance(value, dict | list) and value:
        if isinstance(value, list) and all(_short(item) for item in value):
            return f" [{', '.join(_inline(item) for item in value)}]\n"
        return "\n" + yaml_lines(value, indent + 2)
    return f" {_inline(value)}\n"


def _short(value: Any) -> bool:
    if isinstance(value, str):
        return len(value) <= _LONGEST_FLOW_ITEM and "\n" not in value
    return not (isinstance(value, dict | list) and value)


def _text(text: str, indent: int) -> str:
    """A text as a value: a block of lines where it has several and YAML would give them back unchanged."""
    text = clean_text(text)
    if "\n" not in text or not text.strip("\n") or _NO_BLOCK.search(text):
        return _inline(text)
    pad = " " * (indent + 2)
    keep = text.endswith("\n")
    lines = text[:-1].split("\n") if keep else text.split("\n")
    return "\n".join([f"|2{'+' if keep else '-'}", *(pad + line if line else "" for line in lines)])


def _inline(value: Any) -> str:
    if isinstance(value, str):
        text = clean_text(value)
        if _NAME.fullmatch(text) and text.lower() not in _NOT_TEXT:
            return text
        return _TO_ESCAPE.sub(lambda found: f"\\u{ord(found[0]):04x}", json.dumps(text, ensure_ascii=False))
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
