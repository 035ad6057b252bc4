"""Values as strict JSON text with a bound on the work, whatever their kind."""

from __future__ import annotations

import datetime
import enum
import json
import math
import re
import uuid
from collections.abc import Iterable
from decimal import Decimal
from fractions import Fraction
from pathlib import PurePath
from typing import Any

from hookagent.tools.shapes import Pairs, parts_of

_DEEPEST = 50
_LONGEST_KEY = 1_000
_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+>\Z")
_OWN_TEXT = (
    datetime.date,
    datetime.time,
    datetime.timedelta,
    datetime.tzinfo,
    uuid.UUID,
    PurePath,
    Decimal,
    Fraction,
    complex,
)


class _ExhaustedError(Exception):
    """The bound is reached."""


class Renderer:
    """Writes one value; `exhausted` says afterwards whether the bound (in characters) cut it short."""

    __slots__ = ("_open", "_pieces", "_room", "exhausted")

    def __init__(self, bound: int) -> None:
        self._pieces: list[str] = []
        self._room = bound
        self._open: set[int] = set()
        self.exhausted = False

    def render(self, value: Any) -> str:
        """Return `value` as text. A value that is a plain text inside has no quotes at the top."""
        try:
            plain = self._plain(value)
            if plain is not None:
                self._add(plain)
            else:
                self._write_safely(value, 0)
        except _ExhaustedError:
            self.exhausted = True
        return "".join(self._pieces)

    def _add(self, piece: str) -> None:
        if len(piece) > self._room:
            self._pieces.append(piece[: self._room])
            self._room = 0
            raise _ExhaustedError
        self._room -= len(piece)
        self._pieces.append(piece)

    def _plain(self, value: Any) -> str | None:
        """Return the text of a value that is no container, number, truth value or None; else None."""
        try:
            if value is None:
                return ""
            if isinstance(value, enum.Enum) and isinstance(value.value, str):
                return str.__str__(value.value)
            if isinstance(value, bytes | bytearray | memoryview):
                return self._bytes(value)
            if isinstance(value, _OWN_TEXT):
                return value.isoformat() if isinstance(value, datetime.date | datetime.time) else str(value)
            if isinstance(value, BaseException):
                return f"{type(value).__name__}: {value}" if str(value) else type(value).__name__
            if isinstance(value, float) and not math.isfinite(value):
                return _special(value)
            if parts_of(value, _sort_key) is None and not isinstance(value, bool | int | float | enum.Enum):
                return value if isinstance(value, str) else str_of(value)
        except (KeyboardInterrupt, _ExhaustedError):
            raise
        except BaseException as error:
            return _placeholder(value, error)
        return None

    def _write(self, value: Any, depth: int) -> None:
        if value is None:
            return self._add("null")
        if isinstance(value, str):
            return self._string(str.__str__(value))
        if isinstance(value, enum.Enum):
            return self._write(value.value, depth + 1) if depth < _DEEPEST else self._string(str_of(value))
        if isinstance(value, bool):
            return self._add("true" if value else "false")
        if isinstance(value, int):
            return self._add(_integer(value))
        if isinstance(value, float):
            return self._add(float.__repr__(value)) if math.isfinite(value) else self._string(_special(value))
        parts = parts_of(value, _sort_key)
        if parts is None:
            return self._string(self._plain(value) or "")
        if id(value) in self._open:
            return self._string(f"<the {type(value).__name__} around it>")
        if depth >= _DEEPEST:
            return self._string(f"<{type(value).__name__}, nested too deeply>")
        self._open.add(id(value))
        try:
            return self._object(parts, depth) if isinstance(parts, Pairs) else self._array(parts, depth)
        finally:
            self._open.discard(id(value))

    def _object(self, pairs: Pairs, depth: int) -> None:
        separator = "{"
        iterator = iter(pairs)
        while (pair := _next(iterator)) is not _END:
            if type(pair) is _Failure:
                self._add(separator)
                self._string("<the rest>")
                self._add(f": {_quoted(pair.text)}")
                separator = ", "
                break
            self._add(separator)
            self._string(self._key(pair[0])[:_LONGEST_KEY])
            self._add(": ")
            self._write_safely(pair[1], depth + 1)
            separator = ", "
        self._add("}" if separator != "{" else "{}")

    def _array(self, items: Iterable[Any], depth: int) -> None:
        separator = "["
        iterator = iter(items)
        while (item := _next(iterator)) is not _END:
            self._add(separator)
            separator = ", "
            if type(item) is _Failure:
                self._string(item.text)
                break
            self._write_safely(item, depth + 1)
        self._add("]" if separator != "[" else "[]")

    def _write_safely(self, value: Any, depth: int) -> None:
        try:
            self._write(value, depth)
        except (KeyboardInterrupt, _ExhaustedError):
            raise
        except BaseException as error:
            self._string(_placeholder(value, error))

    def _string(self, text: str) -> None:
        # Cut first: what does not fit need not be escaped.
        self._add(json.dumps(text[: self._room + 1], ensure_ascii=False))

    def _key(self, key: Any) -> str:
        if isinstance(key, str):
            return str.__str__(key)
        inner = Renderer(_LONGEST_KEY)
        return inner.render(key) if key is not None else "null"

    def _bytes(self, value: bytes | bytearray | memoryview) -> str:
        size = value.nbytes if isinstance(value, memoryview) else len(value)
        head = bytes(value[: self._room + 8])
        try:
            text = head.decode() if size <= self._room else head.decode(errors="ignore")
        except UnicodeDecodeError:
            return f"<{size:,} bytes that are not text>"
        return f"<{size:,} bytes that are not text>" if "\x00" in text else text


class _Failure:
    """A container that failed while it was read."""

    __slots__ = ("text",)

    def __init__(self, error: BaseException) -> None:
        self.text = f"<reading on raised {type(error).__name__}>"


_END: Any = object()


def _next(iterator: Any) -> Any:
    try:
        return next(iterator, _END)
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        return _Failure(error)


def _sort_key(item: Any) -> tuple[str, str]:
    return type(item).__name__, Renderer(_LONGEST_KEY).render(item)


def _integer(value: int) -> str:
    try:
        return int.__repr__(value)
    except ValueError:
        return _quoted(f"<integer of {value.bit_length():,} bits>")


def _special(value: float) -> str:
    return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def str_of(value: Any) -> str:
    """Return the text form of `value`, without the address in memory that a default form ends with."""
    return _ADDRESS.sub(">", str.__str__(str(value)))


def _placeholder(value: Any, error: BaseException) -> str:
    return f"<{type(value).__name__}: its text form raised {type(error).__name__}>"
