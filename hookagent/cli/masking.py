"""Secrets on their way to standard error: the values of variables named like secrets, and what is shaped like a key."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from hookagent.config.secrets import MASK, masked, secret_name

_SHORTEST = 6
_KEY_SHAPED = re.compile(
    r"\b(?:sk|pk|rk|hf|gsk|xai)[-_][A-Za-z0-9_-]{12,}|\bgh[pousr]_[A-Za-z0-9]{16,}"
    r"|(?i:\bbearer) +[A-Za-z0-9+/=._~-]{12,}"
)


class Masker:
    """Replaces secrets in a text by `***`; `environment` is where their values are read, once."""

    __slots__ = ("_values",)

    def __init__(self, environment: Mapping[str, str]) -> None:
        found = {value.strip() for name, value in environment.items() if secret_name(name)}
        # Short ones are switches ("1", "false"), and would mask innocent text everywhere.
        self._values = sorted((value for value in found if len(value) >= _SHORTEST), key=len, reverse=True)

    def values(self, text: str) -> str:
        """Mask the values of secret variables only."""
        for value in self._values:
            text = text.replace(value, MASK)
        return text

    def __call__(self, text: str) -> str:
        """Mask the values of secret variables, and what is shaped like a key."""
        return _KEY_SHAPED.sub(MASK, self.values(text))


def masked_value(value: Any, *names: str) -> Any:
    """Return plain JSON values with what is under the name of a secret, or looks like a key, as `***`.

    `names` are the keys that lead to the value.
    """
    if isinstance(value, Mapping):
        return {key: masked_value(item, *names, str(key)) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [masked_value(item, *names) for item in value]
    return masked(value, *names)
