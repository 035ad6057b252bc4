"""Any JSON value of ours as strict JSON text, and back, exactly: also numbers and texts that strict JSON lacks."""

from __future__ import annotations

import json
import math
from typing import Any, NoReturn

from hookagent.frozen import JsonValue
from hookagent.sessions.errors import SessionError

# Under this key stands a value in which numbers that strict JSON lacks are written in words.
_MARKED = "$marked"
_NUMBER = "$number"
_OBJECT = "$object"
_ENCODE = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode
_ENCODE_ASCII = json.JSONEncoder(ensure_ascii=True, allow_nan=False, separators=(",", ":")).encode


def json_text(value: JsonValue) -> str:
    """Strict JSON for `value`, in one line and valid Unicode. Raises `SessionError` for what is no JSON value.

    Infinite numbers and those of more digits than Python reads are marked; halves of surrogate pairs are escaped.
    """
    try:
        if type(value) is dict and value.keys() == {_MARKED}:
            return _valid({_MARKED: _mark(value)})
        try:
            return _valid(value)
        except ValueError:
            return _valid({_MARKED: _mark(value)})
    except RecursionError as error:
        raise SessionError("a value is nested too deeply to be saved") from error
    except (TypeError, ValueError) as error:
        raise SessionError(f"a value is no JSON: {error}") from error


def json_value(text: str) -> JsonValue:
    """The value that `json_text` wrote, made of plain dicts and lists. Raises `SessionError`."""
    try:
        value = json.loads(text, parse_constant=_refuse)
        if type(value) is dict and value.keys() == {_MARKED}:
            return _unmark(value[_MARKED])
        return value
    except RecursionError as error:
        raise SessionError("a value is nested too deeply to be read") from error
    except (TypeError, ValueError) as error:
        raise SessionError(f"not the JSON that was written: {error}") from error


def _valid(value: JsonValue) -> str:
    text = _ENCODE(value)
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError:
            return _ENCODE_ASCII(value)
    return text


def _mark(value: JsonValue) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return {_NUMBER: repr(value)}
    if isinstance(value, int) and not isinstance(value, bool) and value.bit_length() > 1024:
        return {_NUMBER: hex(value)}
    if isinstance(value, dict):
        marked = {key: _mark(item) for key, item in value.items()}
        return {_OBJECT: marked} if len(marked) == 1 and marked.keys() <= {_NUMBER, _OBJECT} else marked
    if isinstance(value, list | tuple):
        return [_mark(item) for item in value]
    return value


def _unmark(value: JsonValue) -> Any:
    if isinstance(value, list):
        return [_unmark(item) for item in value]
    if not isinstance(value, dict):
        return value
    if value.keys() == {_NUMBER}:
        text = value[_NUMBER]
        return int(text, 16) if "0x" in text else float(text)
    if value.keys() == {_OBJECT} and isinstance(value[_OBJECT], dict):
        value = value[_OBJECT]
    return {key: _unmark(item) for key, item in value.items()}


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no JSON")
