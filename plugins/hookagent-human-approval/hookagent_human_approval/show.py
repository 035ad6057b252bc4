"""What a person sees: every open call of a round with all it would do, nothing of it able to pose as ours. Pure."""

from __future__ import annotations

import hashlib
import json
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from hookagent import PendingCall, visible_text
from hookagent_human_approval.rules import EFFECTS

# Foreign text stands behind this, on each of its lines: it never reaches the place where our own lines begin.
_GUTTER = "  | "
_NARROWEST = 20


def show_calls(pending: Sequence[PendingCall], *, shown_chars: int, width: int) -> str:
    """Return the screen for the open calls of a round, numbered; `width` in columns, `shown_chars` for each value."""
    count = len(pending)
    lines = ["", f"{count} call{'s' if count != 1 else ''} of this round need{'s' if count == 1 else ''} your answer."]
    for number, one in enumerate(pending, 1):
        lines += [
            "",
            f"[{number} of {count}] {visible_text(one.call.name)} ({EFFECTS.get(one.tool.effect, 'runs code')})",
        ]
        lines += show_arguments(one.call.arguments or {}, shown_chars=shown_chars, width=width)
        if one.original is not None:
            lines.append("  a plugin changed the arguments; the model had sent:")
            lines += show_arguments(one.original.arguments or {}, shown_chars=shown_chars, width=width)
        for plugin, reason in dict.fromkeys(one.asked_by):
            lines += _wrapped(f"asked by {visible_text(plugin)}: {visible_text(reason)}", width)
    return "\n".join([*lines, "", ""])


def show_arguments(arguments: Mapping[str, Any], *, shown_chars: int, width: int) -> list[str]:
    """Return the lines for a call's arguments, each argument on its own line and on as many more as it needs."""
    if not arguments:
        return [f"{_GUTTER}(no arguments)"]
    lines: list[str] = []
    for name, value in arguments.items():
        lines += _wrapped(f"{_shortened(visible_text(name), 200)}: {show_value(value, shown_chars)}", width)
    return lines


def show_value(value: Any, shown_chars: int) -> str:
    """Return a value as JSON, safe to show. One of more than `shown_chars` characters shows its ends and says so."""
    return _shortened(json.dumps(value, ensure_ascii=False), shown_chars)


def json_text(value: Any, indent: int | None = None) -> str:
    """Return a JSON value as text that is safe to show; with `indent`, on several lines."""
    text = json.dumps(value, ensure_ascii=False, indent=indent)
    return "\n".join(visible_text(line, in_json=True) for line in text.split("\n"))


def columns(character: str) -> int:
    """Return how many columns of a terminal a character takes: 0, 1 or 2."""
    if character.isascii():
        return 1
    if unicodedata.category(character) in ("Mn", "Me"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in ("W", "F") else 1


def _shortened(text: str, shown_chars: int) -> str:
    if len(text) <= shown_chars:
        return visible_text(text, in_json=True)
    head, tail = text[: shown_chars - shown_chars // 3], text[len(text) - shown_chars // 3 :]
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:12]
    hidden = len(text) - len(head) - len(tail)
    notice = f"[... {hidden:,} of {len(text):,} characters not shown, sha256 {digest} ...]"
    return f"{visible_text(head, in_json=True)} {notice} {visible_text(tail, in_json=True)}"


def _wrapped(text: str, width: int) -> Iterator[str]:
    room = max(_NARROWEST, width - 1) - len(_GUTTER)
    line, used = "", 0
    for character in text:
        wide = columns(character)
        if used + wide > room:
            yield _GUTTER + line
            line, used = "", 0
        line, used = line + character, used + wide
    yield _GUTTER + line
