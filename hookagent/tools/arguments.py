"""From the text a model wrote to frozen JSON: the first step of one call's way.

What cannot be understood stays None and says why; it never becomes `{}` (design, "One call's way").
"""

from __future__ import annotations

import collections
import json
import re
from collections.abc import Callable
from typing import Any, NoReturn

from hookagent.errors import HookagentError
from hookagent.frozen import FrozenDict, JsonValue, freeze
from hookagent.tools.text import clean_text

_SURROGATE_ESCAPE = re.compile(r"\\u[dD][89a-fA-F]")
_EMPTY = FrozenDict()


class ArgumentsError(HookagentError):
    """A call's arguments do not fit the tool; the text lists every problem and what was expected.

    `problems` are the problems alone, one text each. The text is written for the model.
    """

    def __init__(self, tool_name: str, problems: tuple[str, ...], expected: str) -> None:
        self.tool_name = tool_name
        self.problems = problems
        listed = "\n".join(f"- {problem}" for problem in problems)
        super().__init__(f"arguments do not fit tool '{tool_name}', which was not run:\n{listed}\nexpected: {expected}")


class _Unusable(ValueError):
    """Valid for Python's reader, but nothing that we accept as JSON."""


def _refuse_constant(text: str) -> NoReturn:
    raise _Unusable(f"{text} is not a JSON number")


def _finite(text: str) -> float:
    number = float(text)
    if number - number != 0.0:
        raise _Unusable(f"number {text[:40]} is too large")
    return number


def _integer(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise _Unusable(f"a number of {len(text):,} digits is too long") from None


def _object(pairs: list[tuple[str, Any]]) -> FrozenDict:
    for _, value in pairs:
        if type(value) is list:
            pairs = [(key, freeze(value) if type(value) is list else value) for key, value in pairs]
            break
    made = FrozenDict(pairs)
    if len(made) != len(pairs):
        counts = collections.Counter(key for key, _ in pairs)
        twice = next(key for key, number in counts.items() if number > 1)
        raise _Unusable(f"key '{twice[:100]}' stands twice in one object")
    return made


def _clean(value: JsonValue) -> JsonValue:
    if isinstance(value, str):
        return clean_text(value)
    if isinstance(value, list):
        return [_clean(item) for item in value]
    return value


def _clean_object(pairs: list[tuple[str, Any]]) -> FrozenDict:
    return _object([(clean_text(key), _clean(value)) for key, value in pairs])


def _decoder(
    hook: Callable[[list[tuple[str, Any]]], FrozenDict], integer: Callable[[str], int] = _integer
) -> json.JSONDecoder:
    """A decoder made once: `json.loads` makes a new one for each text that it reads with hooks."""
    return json.JSONDecoder(
        object_pairs_hook=hook, parse_constant=_refuse_constant, parse_float=_finite, parse_int=integer
    )


_DECODER, _CLEANING_DECODER = _decoder(_object), _decoder(_clean_object)
# The usual case: whole numbers are read by `int` itself, and nothing stands around the object.
_QUICK_DECODER = _decoder(_object, int)


def _read(text: str) -> JsonValue:
    if text[:1] == "{" and text[-1:] == "}":
        try:
            value, end = _QUICK_DECODER.raw_decode(text)
        except ValueError:
            pass  # read again by the decoder that says what is wrong, and where
        else:
            if end == len(text):
                return value
    return _DECODER.decode(text)


def parse_json(text: str) -> JsonValue:
    """Read strict JSON as frozen values: no NaN, no infinity, no key twice; lone surrogates are replaced.

    Raises `ValueError` (`json.JSONDecodeError` for bad syntax) or `RecursionError`.
    """
    text = clean_text(text)
    value = _CLEANING_DECODER.decode(text) if "\\" in text and _SURROGATE_ESCAPE.search(text) else _read(text)
    return freeze(_clean(value)) if type(value) is list or type(value) is str else value


def parse_arguments(raw: str | None) -> tuple[FrozenDict | None, str | None]:
    """Read the arguments of a call: `(arguments, None)`, or `(None, problem)` when they cannot be understood.

    None, blank text and `null` mean no arguments. Broken JSON, anything but an object, NaN and infinity, and a key
    that stands twice are problems; the text says what and where. Never raises.
    """
    if raw is None:
        return _EMPTY, None
    text = raw.strip().removeprefix("\ufeff")
    if not text or text.isspace():
        return _EMPTY, None
    try:
        value = parse_json(text)
    except json.JSONDecodeError as error:
        return None, (
            f"arguments are not valid JSON: {error.msg[:1].lower()}{error.msg[1:]} at character {error.pos + 1} of "
            f"{len(text):,}; send one JSON object"
        )
    except ValueError as error:
        return None, f"arguments are not valid JSON: {error}; send one JSON object"
    except RecursionError:
        return None, "arguments are not usable JSON: nested too deeply; send one flat JSON object"
    if value is None:
        return _EMPTY, None
    if type(value) is FrozenDict:
        return value, None
    return None, f"arguments are {_kind(value)}, not an object; send one JSON object with the parameters as keys"


def _kind(value: JsonValue) -> str:
    if isinstance(value, bool):
        return "a boolean"
    if isinstance(value, int | float):
        return "a number"
    return "a list" if isinstance(value, list) else "a text"
