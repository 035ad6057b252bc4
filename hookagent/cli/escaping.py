"""Text from elsewhere, made safe for a terminal: what moves the cursor, hides or reorders text is shown, not obeyed."""

from __future__ import annotations

import re

LONGEST_LINE = 2_000
"""How many characters of one text are shown in a line of standard error."""

# Printable by Unicode's word, and yet nothing is seen: fillers, blanks, joiners, variation selectors.
_BLANK = re.compile("[\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0\ufe00-\ufe0f\U000e0100-\U000e01ef]")
# In an answer, joiners and direction marks belong to the text; what reorders or steers does not.
_STEERING = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def one_line(text: str, limit: int = LONGEST_LINE) -> str:
    """Return `text` as one line: white space joined, all that is not plainly visible escaped, cut at `limit`."""
    # Cut first: a foreign text may be of any size. An escape makes a character up to ten times as long.
    cut = len(text) > limit
    joined = " ".join(text[:limit].split())
    visible = "".join(one if one.isprintable() else _escape(one) for one in joined)
    return _BLANK.sub(lambda found: _escape(found[0]), visible) + ("…" if cut else "")


def paragraphs(text: str) -> str:
    """Return an answer for a terminal: lines and tabs as they are, carriage returns dropped, controls escaped."""
    return _STEERING.sub(lambda found: "" if found[0] == "\r" else _escape(found[0]), text)


def _escape(character: str) -> str:
    return character.encode("unicode_escape", "surrogatepass").decode("ascii")
