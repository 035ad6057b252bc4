"""Values that a JSON schema takes, and whether a Python value is what an annotation says; both made for tests only."""

from __future__ import annotations

import collections.abc
import dataclasses
import enum
import types
import typing
from collections.abc import Mapping
from typing import Any

from hypothesis import strategies as st
from pydantic import BaseModel

TEXT = st.text(max_size=8)
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**20), 10**20) | st.floats(-1e9, 1e9) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=5,
)
FORMATS: dict[str, st.SearchStrategy[str]] = {
    "date": st.dates().map(str),
    "date-time": st.datetimes().map(lambda when: when.isoformat()),
    "uuid": st.uuids().map(str),
    "path": st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=8),
    "binary": TEXT,
}


def values_of(schema: Mapping[str, Any], definitions: Mapping[str, Any] | None = None, depth: int = 0) -> Any:
    """A strategy of values that are valid by `schema` (the part of JSON schema that tools are described with)."""
    known = schema.get("$defs", definitions or {})

    def inner(part: Mapping[str, Any]) -> Any:
        return values_of(part, known, depth + 1)

    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return st.deferred(lambda: values_of(known[name], known, depth + 1))
    if "const" in schema:
        return st.just(schema["const"])
    if "enum" in schema:
        return st.sampled_from(list(schema["enum"]))
    for several in ("anyOf", "oneOf"):
        if several in schema:
            parts = schema[several]
            # Of a thing that may hold itself, the end comes first.
            return st.one_of(*(inner(part) for part in sorted(parts, key=lambda part: "$ref" in part)))
    match schema.get("type"):
        case "null":
            return st.none()
        case "boolean":
            return st.booleans()
        case "integer":
            return st.integers(*_bounds(schema, -(10**25), 10**25, 1))
        case "number":
            return st.floats(*_bounds(schema, -1e12, 1e12, 0.5)) | st.integers(*_bounds(schema, -(10**9), 10**9, 1))
        case "string":
            return _texts(schema)
        case "array":
            return _lists(schema, inner, depth)
        case "object":
            return _objects(schema, inner, depth)
    return ANYTHING


def _bounds(schema: Mapping[str, Any], low: Any, high: Any, step: Any) -> tuple[Any, Any]:
    low = schema["exclusiveMinimum"] + step if "exclusiveMinimum" in schema else schema.get("minimum", low)
    high = schema["exclusiveMaximum"] - step if "exclusiveMaximum" in schema else schema.get("maximum", high)
    return low, high


def _texts(schema: Mapping[str, Any]) -> st.SearchStrategy[str]:
    if "format" in schema:
        return FORMATS[schema["format"]]
    assert "pattern" not in schema
    return st.text(min_size=schema.get("minLength", 0), max_size=schema.get("maxLength", 8))


def _lists(schema: Mapping[str, Any], inner: Any, depth: int) -> Any:
    if "prefixItems" in schema:
        return st.tuples(*map(inner, schema["prefixItems"])).map(list)
    most = min(schema.get("maxItems", 3), 3 if depth < 4 else schema.get("minItems", 0))
    return st.lists(inner(schema.get("items") or {}), min_size=schema.get("minItems", 0), max_size=most)


def _objects(schema: Mapping[str, Any], inner: Any, depth: int) -> Any:
    properties = schema.get("properties", {})
    required = {name: inner(properties[name]) for name in schema.get("required", ())}
    optional = {name: inner(part) for name, part in properties.items() if name not in required}
    named = st.fixed_dictionaries(required, optional=optional if depth < 6 else {})
    more = schema.get("additionalProperties", False)
    if not isinstance(more, Mapping) and more is not True:
        return named
    others = st.dictionaries(st.text(max_size=4), inner(more if isinstance(more, Mapping) else {}), max_size=2)
    return st.builds(lambda first, then: {**then, **first}, named, others)


def fits(value: Any, annotation: Any) -> bool:
    """Whether a value is of exactly what an annotation says: an `int` is no `bool`, an inner value counts too."""
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if annotation is Any or annotation is typing.Any:
        return True
    if origin is typing.Annotated:
        return fits(value, arguments[0])
    if origin is typing.Literal:
        return any(value == one and type(value) is type(one) for one in arguments)
    if origin in (typing.Union, types.UnionType):
        return any(fits(value, one) for one in arguments)
    if annotation is None or annotation is type(None):
        return value is None
    if origin in (list, set, frozenset):
        return type(value) is origin and all(fits(one, arguments[0]) for one in value)
    if origin is collections.abc.Sequence:
        return isinstance(value, list | tuple) and all(fits(one, arguments[0]) for one in value)
    if origin is dict:
        return type(value) is dict and all(fits(k, arguments[0]) and fits(v, arguments[1]) for k, v in value.items())
    if origin is tuple:
        if arguments[1:] == (...,):
            return type(value) is tuple and all(fits(one, arguments[0]) for one in value)
        return type(value) is tuple and len(value) == len(arguments) and all(map(fits, value, arguments))
    if typing.is_typeddict(annotation):
        hints = typing.get_type_hints(annotation)
        return isinstance(value, dict) and all(fits(one, _bare(hints[key])) for key, one in value.items())
    if dataclasses.is_dataclass(annotation) or (isinstance(annotation, type) and hasattr(annotation, "_fields")):
        hints = typing.get_type_hints(annotation)
        return type(value) is annotation and all(fits(getattr(value, key), _bare(hint)) for key, hint in hints.items())
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        hints = typing.get_type_hints(annotation)
        return type(value) is annotation and all(fits(getattr(value, key), hint) for key, hint in hints.items())
    if isinstance(annotation, type) and issubclass(annotation, enum.Enum):
        return isinstance(value, annotation)
    if annotation is float:
        return type(value) in (float, int)
    return isinstance(value, annotation) if annotation.__module__ == "pathlib" else type(value) is annotation


def _bare(hint: Any) -> Any:
    """A field's type without what only says that it may be missing."""
    return typing.get_args(hint)[0] if typing.get_origin(hint) in (typing.NotRequired, typing.Required) else hint
