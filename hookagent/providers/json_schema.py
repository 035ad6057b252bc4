"""JSON schemas as the vendors' structured output takes them: closed objects, every property required."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hookagent.frozen import thaw

_UNCHECKED_BY_ANTHROPIC = frozenset(
    {
        "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minLength", "maxLength",
        "maxItems", "uniqueItems", "minProperties", "maxProperties",
    }
)  # fmt: skip
# What OpenAI's strict mode does not know at all, by its guide to structured outputs.
_NOT_STRICT = frozenset(
    {
        "allOf", "oneOf", "not", "if", "then", "else", "prefixItems", "patternProperties", "dependentRequired",
        "dependentSchemas",
    }
)  # fmt: skip
_SUBSCHEMAS = ("properties", "$defs", "definitions", "patternProperties")
_SUBSCHEMA_LISTS = ("anyOf", "oneOf", "allOf", "prefixItems")


def closed_schema(schema: Mapping[str, Any], *, all_required: bool) -> dict[str, Any]:
    """`schema` with each object closed to other keys; with `all_required`, every property is required.

    Bounds that only Anthropic leaves unchecked are dropped where `all_required` is False; whoever asked for the
    answer validates it anyway.
    """
    closed: dict[str, Any] = _close(thaw(schema), all_required)
    return closed


def takes_strict(schema: Mapping[str, Any]) -> bool:
    """Whether OpenAI's strict mode takes the schema once it is closed: an object, and no object in it has free keys."""
    return schema.get("type") == "object" and _fits_strict(schema)


def _fits_strict(schema: Mapping[str, Any]) -> bool:
    if schema.get("type") == "object" and ("properties" not in schema or schema.get("additionalProperties")):
        return False
    return _NOT_STRICT.isdisjoint(schema) and all(_fits_strict(part) for part in _parts(schema))


def _parts(schema: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    parts: list[Any] = []
    for key in _SUBSCHEMAS:
        if isinstance(schema.get(key), Mapping):
            parts += schema[key].values()
    for key in _SUBSCHEMA_LISTS:
        if isinstance(schema.get(key), list):
            parts += schema[key]
    parts += [schema.get("items"), schema.get("additionalProperties"), schema.get("not")]
    return [part for part in parts if isinstance(part, Mapping)]


def _close(schema: Any, all_required: bool) -> Any:
    if isinstance(schema, list):
        return [_close(item, all_required) for item in schema]
    if not isinstance(schema, dict):
        return schema
    closed: dict[str, Any] = {}
    for key, value in schema.items():
        if key in _SUBSCHEMAS and isinstance(value, dict):
            closed[key] = {name: _close(part, all_required) for name, part in value.items()}
        elif key in _SUBSCHEMA_LISTS or key in ("items", "additionalProperties", "not"):
            closed[key] = _close(value, all_required)
        elif key == "default" or (key in _UNCHECKED_BY_ANTHROPIC and not all_required):
            continue
        else:
            closed[key] = value
    if closed.get("type") == "object":
        closed.setdefault("additionalProperties", False)
        if all_required:
            closed["required"] = list(closed.get("properties", {}))
    if all_required and "$ref" in closed and len(closed) > 1:
        # Nothing may stand beside a reference in strict mode, and a description often does.
        closed["anyOf"] = [{"$ref": closed.pop("$ref")}]
    return closed
