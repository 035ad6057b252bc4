"""One JSON object from a file, read field by field: whatever stands there, only a `SessionError` comes of it."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

from hookagent.frozen import JsonValue, freeze
from hookagent.sessions.errors import SessionError

_HUGE = sys.float_info.max


class Fields:
    """The fields of `value`, which `what` names in errors. Raises `SessionError` where it is no object."""

    __slots__ = ("_value", "_what")

    def __init__(self, value: JsonValue, what: str) -> None:
        if not isinstance(value, Mapping):
            raise SessionError(f"{what}: expected an object, got {_kind(value)}")
        self._value = value
        self._what = what

    def text(self, name: str, default: str | None = None) -> str:
        """A text; `default` where it is missing."""
        value = self._value.get(name, default)
        if not isinstance(value, str):
            raise self._wrong(name, "a text", value)
        return value

    def optional_text(self, name: str) -> str | None:
        """A text, or None where it is missing."""
        return None if self._value.get(name) is None else self.text(name)

    def choice(self, name: str, choices: frozenset[str], default: str | None = None) -> Any:
        """One of a closed list of texts."""
        value = self.text(name, default)
        if value not in choices:
            raise self._wrong(name, "one of " + ", ".join(sorted(choices)), value)
        return value

    def whole(self, name: str, default: int | None = None) -> int:
        """A whole number of at least 0."""
        value = self._value.get(name, default)
        if isinstance(value, bool) or not isinstance(value, int) or value < 0:
            raise self._wrong(name, "a whole number", value)
        return value

    def optional_whole(self, name: str) -> int | None:
        """A whole number of at least 0, or None where it is missing."""
        return None if self._value.get(name) is None else self.whole(name)

    def number(self, name: str, default: float | None = None) -> float:
        """A finite number, and no whole one that is too large for a float."""
        value = self._value.get(name, default)
        if isinstance(value, bool) or not isinstance(value, int | float) or not -_HUGE <= value <= _HUGE:
            raise self._wrong(name, "a number", value)
        return value

    def optional_number(self, name: str) -> float | None:
        """A finite number, or None where it is missing."""
        return None if self._value.get(name) is None else self.number(name)

    def flag(self, name: str, default: bool | None = None) -> bool:
        """True or false."""
        value = self._value.get(name, default)
        if not isinstance(value, bool):
            raise self._wrong(name, "true or false", value)
        return value

    def items(self, name: str) -> list[JsonValue]:
        """A list; empty where it is missing."""
        value = self._value.get(name, [])
        if not isinstance(value, list):
            raise self._wrong(name, "a list", value)
        return value

    def json(self, name: str) -> JsonValue:
        """Any JSON value, frozen. It may not be missing."""
        if name not in self._value:
            raise self._wrong(name, "a value", None)
        try:
            return freeze(self._value[name])
        except RecursionError as error:
            raise SessionError(f"{self._what}: '{name}' is nested too deeply") from error

    def has(self, name: str) -> bool:
        """Whether there is such a field, and not null."""
        return self._value.get(name) is not None

    def _wrong(self, name: str, expected: str, value: object) -> SessionError:
        return SessionError(f"{self._what}: '{name}': expected {expected}, got {_kind(value)}")


def _kind(value: object) -> str:
    if value is None:
        return "nothing"
    return repr(value[:40]) if isinstance(value, str) else type(value).__name__
