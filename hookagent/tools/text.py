"""Any value as bounded, visible, valid text: the one way by which tool results reach the model.

Total: it raises for no value. Strict JSON where a value has that shape, its text form otherwise, and a placeholder
with the type's name where even that fails.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Any

from hookagent.tools.render import Renderer

NO_OUTPUT = "(no output)"
"""What stands for a result without anything visible. It claims nothing but that."""

DEFAULT_LIMIT = 100_000
_FURTHEST_MOVE = 32
_NOTICE = re.compile(r"\n\[… [0-9,]+ of (?:more than )?[0-9,]+ characters left out …\]\n")
_LONGEST_NOTICE = 100
_JOINER = "\u200d"


def clean_text(text: str) -> str:
    """Return `text` as valid Unicode: halves of a pair become one character, lone surrogates U+FFFD.

    For every border that text from outside comes in by. Text that is valid stays what it was.
    """
    if text.isascii():
        return str.__str__(text)
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return str.__str__(text)


def to_text(value: Any, limit: int = DEFAULT_LIMIT) -> str:
    """Return `value` as text of about `limit` characters at most, never blank and always valid Unicode.

    A text stays as it is; lists, mappings, data classes, models and the like become JSON; dates, paths and others
    their text form. Numbers that JSON does not have become texts, NUL characters become visible. What is longer
    keeps head and tail, and the notice between them says how much was left out.
    """
    if type(value) is str and value.isascii() and 0 < len(value) <= limit and "\x00" not in value:
        # What most tools give: nothing in it has to be cleaned, cut or made visible.
        return NO_OUTPUT if value.isspace() else value
    # Not isinstance, which asks the value itself: to_text must not raise for any value.
    if issubclass(type(value), str):
        return bounded_text(str.__str__(value), limit)
    renderer = Renderer(2 * limit + 1_000_000)
    text = renderer.render(value)
    return bounded_text(text, limit, unfinished=renderer.exhausted)


def bounded_text(text: str, limit: int = DEFAULT_LIMIT, *, unfinished: bool = False) -> str:
    """Clean `text` and keep head and tail when it is longer than `limit` characters; blank becomes a placeholder.

    `unfinished` says that `text` is itself only the beginning of something longer. A text that was cut to `limit`
    before stays as it is: a second cut would count what the first one left, and tell a wrong size.
    """
    if len(text) <= limit or _was_cut(text, limit):
        text = _visible(text)
        if unfinished:
            return f"{text}\n[… more was left out …]"
        return NO_OUTPUT if not text or text.isspace() or not _has_visible(text) else text
    half = max(limit, 2) // 2
    head_end = _safe_cut(text, half, -1)
    tail_start = _safe_cut(text, len(text) - (max(limit, 2) - half), 1)
    head, tail = _visible(text[:head_end]), _visible(text[tail_start:])
    size = f"{'more than ' if unfinished else ''}{len(text):,}"
    return f"{head}\n[… {tail_start - head_end:,} of {size} characters left out …]\n{tail}"


def _was_cut(text: str, limit: int) -> bool:
    """Whether `text` is of the allowed length but for the notice of a cut in it."""
    if len(text) > limit + _LONGEST_NOTICE:
        return False
    return any(len(text) - len(notice.group()) <= limit for notice in _NOTICE.finditer(text))


def _visible(text: str) -> str:
    return clean_text(text).replace("\x00", "\u2400")


def _has_visible(text: str) -> bool:
    return text.isascii() or any(not character.isspace() and character not in _INVISIBLE for character in text)


_INVISIBLE = frozenset("\u200b\u200c\u200d\u2060\ufeff\u00ad")


def _safe_cut(text: str, place: int, step: int) -> int:
    """Move `place` by at most a few characters so that no character is parted from what belongs to it."""
    for _ in range(_FURTHEST_MOVE):
        if not 0 < place < len(text) or not _joined(text[place - 1], text[place]):
            break
        place += step
    return place


def _joined(before: str, after: str) -> bool:
    if before == _JOINER or after == _JOINER or (before == "\r" and after == "\n"):
        return True
    if "\ud800" <= before <= "\udbff" and "\udc00" <= after <= "\udfff":
        return True
    return unicodedata.category(after) in ("Mn", "Me", "Mc")
