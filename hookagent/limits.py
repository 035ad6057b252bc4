"""Limits of a run, held by the loop and not by a plugin."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from hookagent.errors import ConfigurationError


@dataclass(frozen=True, slots=True)
class Limits:
    """How much one `run` may use, with all its turns.

    `max_iterations`: model calls with tools, at least 1; None for no limit. Raises `ConfigurationError`
    for a value below 1.
    """

    max_iterations: int | None = 10

    def __post_init__(self) -> None:
        for one in fields(self):
            value = getattr(self, one.name)
            if value is None:
                continue
            if isinstance(value, bool) or not isinstance(value, int) or value < 1:
                raise ConfigurationError(f"limits.{one.name}: expected a whole number of at least 1, got {value!r}")

    @classmethod
    def of(cls, value: Limits | Mapping[str, Any] | None) -> Limits:
        """Read limits given as a mapping. Raises `ConfigurationError` for an unknown name."""
        if value is None:
            return cls()
        if isinstance(value, Limits):
            return value
        known = [one.name for one in fields(cls)]
        for name in value:
            if name not in known:
                raise ConfigurationError(f"limits: unknown limit '{name}'; the limits are: {', '.join(known)}")
        return cls(**value)
