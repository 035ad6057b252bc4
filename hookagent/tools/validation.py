"""From plain JSON values to what a function takes, or a text that tells the model everything that is wrong.

Conversion is pydantic's, from JSON: a text becomes a date, a list a tuple or a set. A text that stands where only a
list or an object can stand, and is exactly one, is read first; a text parameter is never touched.
"""

from __future__ import annotations

import difflib
import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from hookagent.frozen import JsonValue, thaw
from hookagent.tools.arguments import ArgumentsError, parse_json
from hookagent.tools.text import clean_text

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails, SchemaValidator

_LONGEST_VALUE = 120
_MOST_PROBLEMS = 20
_MOST_ROUNDS = 20
_NAMED_TUPLES = frozenset({"named_tuple_type", "arguments_type"})
_WANTS_LIST = _NAMED_TUPLES | {"list_type", "tuple_type", "set_type", "frozen_set_type", "iterable_type"}
_WANTS_OBJECT = _NAMED_TUPLES | {
    "dict_type",
    "mapping_type",
    "model_type",
    "model_attributes_type",
    "dataclass_type",
    "typed_dict_type",
}
_TEXT_TRIED = ("string_", "bytes_")
# Made once: `json.dumps` makes a new encoder for each call that has settings.
_write_json = json.JSONEncoder(ensure_ascii=False, allow_nan=False).encode


def validate(
    validator: SchemaValidator | Any,
    tool_name: str,
    arguments: Mapping[str, Any],
    expected: str,
    names: tuple[str, ...],
) -> dict[str, Any]:
    """Return the converted values by parameter name.

    `expected` describes all parameters, `names` are theirs. Raises `ArgumentsError`.
    """
    from pydantic_core import ValidationError

    current: JsonValue = arguments
    for _ in range(_MOST_ROUNDS):
        try:
            return cast("dict[str, Any]", validator.validate_json(_to_json(current, tool_name, expected)))
        except ValidationError as error:
            errors = error.errors(include_url=False, include_context=False)
            decoded = _decoded(current, errors)
            if decoded is None:
                break
            current = decoded
    raise ArgumentsError(tool_name, _problems(current, errors, names), expected)


def describe_parameters(schema: Mapping[str, Any]) -> str:
    """Say in one line what a parameters schema wants: names, types, what is required, defaults."""
    required = schema.get("required", ())
    definitions = schema.get("$defs", {})
    parts = []
    for name, described in schema["properties"].items():
        if name in required:
            note = ", required"
        else:
            note = f", default {_shown(described['default'])}" if "default" in described else ", optional"
        parts.append(f"{name} ({_type_name(described, definitions)}{note})")
    return ", ".join(parts) or "no arguments, an empty object {}"


def _to_json(arguments: JsonValue, tool_name: str, expected: str) -> bytes:
    try:
        plain = arguments if isinstance(arguments, dict) else dict(arguments)
        text = _write_json(plain)
    except (ValueError, TypeError, RecursionError) as error:
        raise ArgumentsError(tool_name, (_not_json(error),), expected) from None
    try:
        return text.encode()
    except UnicodeEncodeError:
        return clean_text(text).encode()


def _not_json(error: Exception) -> str:
    if isinstance(error, RecursionError) or "Circular" in str(error):
        return "they are nested too deeply"
    if isinstance(error, ValueError):
        return "a number is not finite (NaN or infinity) or too long for JSON"
    return f"they are not plain JSON: {error}"


def _decoded(arguments: JsonValue, errors: Sequence[ErrorDetails]) -> JsonValue | None:
    """Return a copy of `arguments` with texts read where the types want a list or an object; None: there are none."""
    wanted: dict[tuple[str | int, ...], set[type]] = {}
    text_tried: set[tuple[str | int, ...]] = set()
    for error in errors:
        if not isinstance(error["input"], str):
            continue
        path = _path(arguments, error["loc"])
        if error["type"] in _WANTS_LIST | _WANTS_OBJECT:
            kinds = wanted.setdefault(path, set())
            if error["type"] in _WANTS_LIST:
                kinds.add(list)
            if error["type"] in _WANTS_OBJECT:
                kinds.add(dict)
        elif error["type"].startswith(_TEXT_TRIED):
            text_tried.add(path)
    changed: JsonValue | None = None
    for path, kinds in wanted.items():
        text = _at(arguments, path)
        if path in text_tried or not path or not isinstance(text, str):
            continue
        try:
            value = parse_json(text)
        except (ValueError, RecursionError):
            continue
        if any(isinstance(value, kind) for kind in kinds):
            changed = thaw(arguments) if changed is None else changed
            _at(changed, path[:-1])[path[-1]] = thaw(value)
    return changed


def _path(value: JsonValue, location: Sequence[str | int]) -> tuple[str | int, ...]:
    """Keep of an error's location what is a place in `value`; the rest are names of the members of a union."""
    path: list[str | int] = []
    for step in location:
        known = step in value if isinstance(value, dict) else isinstance(step, int) and isinstance(value, list)
        if known and (isinstance(value, dict) or step in range(len(value))):
            value = value[step]
            path.append(step)
    return tuple(path)


def _at(value: JsonValue, path: Sequence[str | int]) -> Any:
    for step in path:
        value = value[step]
    return value


def _problems(arguments: JsonValue, errors: Sequence[ErrorDetails], names: tuple[str, ...]) -> tuple[str, ...]:
    gathered: dict[str, list[str]] = {}
    ends: dict[str, str] = {}
    free = [name for name in names if name not in arguments]
    for error in errors:
        location, kind = error["loc"], error["type"]
        if kind == "missing" or kind == "missing_argument":
            place = _written((*_path(arguments, location[:-1]), location[-1])) if location else "arguments"
            gathered.setdefault(place, []).append("is missing")
        elif kind in {"extra_forbidden", "unexpected_keyword_argument"}:
            place = _written(_path(arguments, location))
            gathered.setdefault(place, []).append("is not expected")
            if len(location) == 1:
                near = difflib.get_close_matches(_folded(str(location[0])), [_folded(name) for name in free], 1, 0.6)
                real = [name for name in free if near and _folded(name) == near[0]]
                if real:
                    ends[place] = f"; did you mean '{real[0]}'?"
        else:
            place = _written(_path(arguments, location))
            message = error["msg"].removeprefix("Input ").removeprefix("Value error, ")
            gathered.setdefault(place, []).append(f"{message[:1].lower()}{message[1:]}")
            ends[place] = f"; got {_shown(error['input'])}"
    texts = [f"'{place}' {', or '.join(dict.fromkeys(said))}{ends.get(place, '')}" for place, said in gathered.items()]
    if len(texts) > _MOST_PROBLEMS:
        texts[_MOST_PROBLEMS:] = [f"and {len(texts) - _MOST_PROBLEMS} more"]
    return tuple(texts)


def _written(path: Sequence[str | int]) -> str:
    text = "".join(f"[{step}]" if isinstance(step, int) else f".{str(step)[:_LONGEST_VALUE]}" for step in path)
    return text.removeprefix(".") or "arguments"


def _folded(name: str) -> str:
    return name.lower().replace("-", "_").replace("_", "")


def _shown(value: Any) -> str:
    try:
        text = json.dumps(value, ensure_ascii=False)
    except (ValueError, TypeError, RecursionError):
        text = f"<{type(value).__name__}>"
    return text if len(text) <= _LONGEST_VALUE else f"{text[:_LONGEST_VALUE]}… ({len(text):,} characters)"


def _type_name(schema: Mapping[str, Any], definitions: Mapping[str, Any]) -> str:
    if "$ref" in schema:
        return _type_name(definitions.get(schema["$ref"].removeprefix("#/$defs/"), {}), {})
    if "enum" in schema:
        return "one of " + ", ".join(_shown(value) for value in schema["enum"])
    if "const" in schema:
        return _shown(schema["const"])
    for key in ("anyOf", "oneOf"):
        if key in schema:
            return " or ".join(dict.fromkeys(_type_name(part, definitions) for part in schema[key]))
    kind = schema.get("type")
    if kind == "array":
        items = schema.get("items")
        return f"list of {_type_name(items, definitions)}" if isinstance(items, Mapping) and items else "list"
    if kind == "object" and schema.get("properties"):
        return "object with " + ", ".join(schema["properties"])
    if kind == "string" and "format" in schema:
        return f"{schema['format']} as a string"
    return str(kind) if kind else "any value"
