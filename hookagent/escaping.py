"""Text from elsewhere, made safe to show: nothing in it can move the cursor, hide, or look like something else."""

from __future__ import annotations

import json
import re

LONGEST_LINE = 2_000
"""How many characters of one text are shown in a line."""

# Printable by Unicode's book, and yet blank on the screen: fillers, selectors, joiners.
_BLANK = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180d\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U0001d159\U000e0100-\U000e01ef]"
)
# In an answer, joiners and direction marks belong to the text; what reorders or steers does not.
_STEERING = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def visible_text(text: str, *, in_json: bool = False) -> str:
    r"""Return `text` with everything that does not show as itself written out: `\n`, `\x1b`, `\u202e`, `\U000e0041`.

    That is every control and format character, every line and paragraph separator, every space but the plain one,
    lone surrogates, private use, unassigned characters, and characters that are printable but blank. With `in_json`
    it is written out as JSON has it, so that a text that is JSON stays JSON of the same value.
    """
    if text.isprintable() and (text.isascii() or _BLANK.search(text) is None):
        return text
    written_out = _in_json if in_json else _written_out
    return "".join(one if one.isprintable() and not _BLANK.match(one) else written_out(one) for one in text)


def one_line(text: str, limit: int = LONGEST_LINE) -> str:
    """Return `text` as one line that is safe to show: white space joined, cut at `limit` characters."""
    if len(text) <= limit and text.isprintable() and "  " not in text and text[:1] != " " and text[-1:] != " ":
        return visible_text(text)  # as most are, and logs have many
    # Cut first: a foreign text may be of any size. An escape makes a character up to ten times as long.
    joined = visible_text(" ".join(text[:limit].split()))
    return f"{joined}…" if len(text) > limit else joined


def paragraphs(text: str) -> str:
    """Return an answer for a terminal: lines and tabs as they are, carriage returns dropped, controls written out."""
    return _STEERING.sub(lambda found: "" if found[0] == "\r" else _written_out(found[0]), text)


def _written_out(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")


def _in_json(character: str) -> str:
    return json.dumps(character)[1:-1]
