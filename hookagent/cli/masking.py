"""Secrets among plain values on their way to standard error."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hookagent.config.secrets import masked


def masked_value(value: Any, *names: str) -> Any:
    """Return plain JSON values with what is under the name of a secret, or looks like a key, as `***`.

    `names` are the keys that lead to the value.
    """
    if isinstance(value, Mapping):
        return {key: masked_value(item, *names, str(key)) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [masked_value(item, *names) for item in value]
    return masked(value, *names)
