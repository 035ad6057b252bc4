"""Limits of a run, held by the loop and not by a plugin."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from hookagent.errors import ConfigurationError

_WHOLE = "a whole number of at least 1"


@dataclass(frozen=True, slots=True)
class Limits:
    """How much one `run` may use, with all its turns and the agents nested in it; None: no limit.

    `max_iterations`: model calls with tools. `max_tool_calls`: calls that are started; a round that crosses
    it runs the first ones. `max_tokens`: all four counts together; `max_input_tokens`: the prompts';
    `max_output_tokens`: what the model wrote. `max_cost_usd`: needs a known price. `max_seconds`: without
    the time in which people are waited for. `max_equal_calls`: rounds of equal calls with equal results, one
    after the other; the model is warned before the last. `closing_answer`: at a limit, ask once more
    with tools switched off, so that the answer says how far it got.

    Raises `ConfigurationError` for a value that is no limit.
    """

    max_iterations: int | None = 10
    max_tool_calls: int | None = None
    max_tokens: int | None = None
    max_input_tokens: int | None = None
    max_output_tokens: int | None = None
    max_cost_usd: float | None = None
    max_seconds: float | None = None
    max_equal_calls: int | None = None
    closing_answer: bool = False

    def __post_init__(self) -> None:
        for one in fields(self):
            value = getattr(self, one.name)
            if one.name == "closing_answer":
                fits, expected = isinstance(value, bool), "true or false"
            elif value is None:
                continue
            elif one.name in ("max_cost_usd", "max_seconds"):
                number = isinstance(value, int | float) and not isinstance(value, bool)
                fits, expected = number and 0 < value < math.inf, "a number above 0"
            elif one.name == "max_equal_calls":
                fits, expected = _is_whole(value, 2), "a whole number of at least 2"
            else:
                fits, expected = _is_whole(value, 1), _WHOLE
            if not fits:
                raise ConfigurationError(f"limits.{one.name}: expected {expected}, got {value!r}")

    @classmethod
    def of(cls, value: Limits | Mapping[str, Any] | None) -> Limits:
        """Read limits given as a mapping. Raises `ConfigurationError` for an unknown name."""
        if value is None:
            return cls()
        if isinstance(value, Limits):
            return value
        if not isinstance(value, Mapping):
            raise ConfigurationError(f"limits: expected a mapping or Limits, got {value!r}")
        known = [one.name for one in fields(cls)]
        for name in value:
            if name not in known:
                raise ConfigurationError(f"limits: unknown limit '{name}'; the limits are: {', '.join(known)}")
        return cls(**value)


def _is_whole(value: object, least: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= least
