"""What must not stand in a log, and how much may: secrets are masked, sizes bounded. Pure; takes any JSON value."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any

from hookagent import Masker

MASK = Masker.MASK

_COUNTS = re.compile(r"tokens(_?\w*(count|limit|used|left))?$", re.IGNORECASE)

_VALUE = r"""[^\s"'&;,\\]+"""
# What stands behind the name of a secret within a text: a header, an assignment, an option.
_NAMED = tuple(
    re.compile(pattern)
    for pattern in (
        r"""(?i)(authorization\\?["']?\s{0,3}[:=]\s{0,3}\\?["']?)[^\r\n"'\\]+""",
        r"(?i)((?:(?:api|access|private|secret|signing)[_-]?key|token(?!i[sz])|secret|password|passwd|passphrase)"
        rf"""[\w-]{{0,40}}\\?["']?\s{{0,3}}[:=]\s{{0,3}}\\?["']?){_VALUE}""",
        rf"(?i)(--(?:[a-z]+-)?(?:key|token|secret|password|passphrase)\s{{1,3}}){_VALUE}",
    )
)

_MOST_VALUES = 500
_DEEPEST = 20
_LONGEST_KEY = 200
# Of a very long text only its ends are searched; what could be half of a secret at their inner edges is left out.
_SEARCHED = 65_536
_EDGE = 4_096


class LogMasker:
    """Makes values fit for a log.

    `max_chars` bounds each text, in characters. `environment` gives the secrets that are known by value.
    """

    def __init__(self, max_chars: int, environment: Mapping[str, str]) -> None:
        self._max_chars = max_chars
        self._mask = Masker(environment)

    def value(self, value: Any) -> Any:
        """Return a JSON value with secrets masked at any depth; long texts, long lists and deep nesting are cut."""
        return self._value(value, _DEEPEST, [_MOST_VALUES])

    def text(self, text: str) -> str:
        """Return a text with secrets masked, valid Unicode, and of about `max_chars` characters at most."""
        size, limit = len(text), self._max_chars
        if size <= 2 * (_SEARCHED + limit):
            masked = self._masked(text)
            if len(masked) <= limit:
                return masked
            head, tail = masked[: limit - limit // 2], masked[len(masked) - limit // 2 :]
        else:
            head = self._masked(text[: _SEARCHED + limit])[:-_EDGE][: limit - limit // 2]
            tail = self._masked(text[-_SEARCHED - limit :])[_EDGE:][-(limit // 2) :] if limit > 1 else ""
        return f"{head} … [cut: {size:,} characters] … {tail}"

    def _masked(self, text: str) -> str:
        if not text.isascii():
            text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        text = self._mask(text)
        for named in _NAMED:
            text = named.sub(rf"\1{MASK}", text)
        return text

    def _value(self, value: Any, depth: int, left: list[int]) -> Any:
        left[0] -= 1
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, Mapping):
            return self._mapping(value, depth, left)
        if isinstance(value, list | tuple):
            items: list[Any] = []
            for item in value:
                if left[0] <= 0 or depth == 0:
                    items.append(f"… [{len(value) - len(items):,} more]")
                    break
                items.append(self._value(item, depth - 1, left))
            return items
        if isinstance(value, float) and not math.isfinite(value):
            return str(value)
        if isinstance(value, int) and not isinstance(value, bool) and value.bit_length() > 256:
            return f"… [a number of {value.bit_length():,} bits]"
        return value if value is None or isinstance(value, bool | int | float) else f"<{type(value).__name__}>"

    def _mapping(self, value: Mapping[Any, Any], depth: int, left: list[int]) -> dict[str, Any]:
        made: dict[str, Any] = {}
        for key, item in value.items():
            if left[0] <= 0 or depth == 0:
                made["…"] = f"[{len(value) - len(made):,} more]"
                break
            name = self._masked(str(key)[:_LONGEST_KEY])
            made[name] = MASK if _hides(str(key), item) else self._value(item, depth - 1, left)
        return made


def _hides(name: str, value: Any) -> bool:
    """Tell whether a value is secret by its name: not what is no secret of any kind, as `max_tokens: 500`."""
    if value is None or isinstance(value, bool) or not Masker.hides(name):
        return False
    return not (isinstance(value, int | float) and _COUNTS.search(name))
