"""A pydantic model as rows of a table: key, type, default, meaning."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import BaseModel

_BOUNDS = {"minimum": "at least", "exclusiveMinimum": "more than", "maximum": "at most", "minLength": "length at least"}


def rows(model: type[BaseModel], meanings: Mapping[str, str] | None = None) -> Iterator[tuple[str, str, str, str]]:
    """Yield key, type, default and meaning of each field, by the keys that a configuration uses.

    `meanings` are the meanings by key; without them the fields' own descriptions are taken. Raises ValueError when a
    key has no meaning, or a meaning no key.
    """
    schema = model.model_json_schema(by_alias=True)
    fields: dict[str, Any] = schema["properties"]
    known = {name: one.get("description", "") for name, one in fields.items()} if meanings is None else dict(meanings)
    wrong = set(known) ^ set(fields) | {name for name, text in known.items() if not text}
    if wrong:
        raise ValueError(f"{model.__name__}: the meaning is missing or stale for {', '.join(sorted(wrong))}")
    made = {field.serialization_alias or name: field for name, field in model.model_fields.items()}
    for name, one in fields.items():
        if made[name].default_factory is not None:
            one = one | {"default": made[name].get_default(call_default_factory=True, validated_data={})}
        yield f"`{name}`", _type(one, schema.get("$defs", {})), _default(one), _sentence(known[name])


def _type(schema: Mapping[str, Any], definitions: Mapping[str, Any]) -> str:
    if "$ref" in schema:
        return "mapping, below"
    if "anyOf" in schema:
        return " or ".join(_type(one, definitions) for one in schema["anyOf"] if one.get("type") != "null")
    if "enum" in schema:
        return ", ".join(f"`{json.dumps(one)}`" for one in schema["enum"]).replace('"', "")
    kind = schema.get("type")
    names = {
        "integer": "whole number",
        "number": "number",
        "string": "text",
        "boolean": "`true` or `false`",
        "object": "mapping",
    }
    if kind == "array":
        return f"list of {_plural(_type(schema.get('items', {}), definitions))}"
    bounds = [f"{words} {schema[key]:g}" for key, words in _BOUNDS.items() if key in schema and kind != "string"]
    return ", ".join([names.get(str(kind), "any"), *bounds])


def _plural(name: str) -> str:
    return {"text": "texts", "mapping, below": "entries, below"}.get(name, name)


def _default(schema: Mapping[str, Any]) -> str:
    if "default" not in schema:
        return "required"
    default = schema["default"]
    if default is None:
        return "none"
    if isinstance(default, BaseModel):
        return "as below"
    if isinstance(default, dict | list) and not default:
        return "empty"
    return f"`{json.dumps(default)}`".replace('"', "")


def _sentence(text: str) -> str:
    text = " ".join(text.split())
    return text[:1].upper() + text[1:]
