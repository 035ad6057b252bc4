"""A JSON schema made shorter and plainer for a model, without changing what it allows."""

from __future__ import annotations

from typing import Any

_SCHEMA_MAPS = frozenset({"properties", "$defs", "patternProperties"})
_DATA = frozenset({"default", "const", "enum", "examples"})


def untitled(schema: Any) -> Any:
    """Return `schema` without the titles that pydantic makes of names."""
    if isinstance(schema, list):
        return [untitled(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    changed: dict[str, Any] = {}
    for key, value in schema.items():
        if key in _SCHEMA_MAPS:
            changed[key] = {name: untitled(part) for name, part in value.items()}
        elif key in _DATA:
            changed[key] = value
        elif key != "title":
            changed[key] = untitled(value)
    return changed


def inlined(schema: dict[str, Any]) -> dict[str, Any]:
    """Put each definition that is used once where it is used: small models read a schema without references better."""
    definitions: dict[str, Any] = schema.pop("$defs", {})
    while True:
        counts = dict.fromkeys(definitions, 0)
        for part in (schema, *definitions.values()):
            _count(part, counts)
        once = next((name for name, count in counts.items() if count == 1 and not _uses(definitions[name], name)), None)
        if once is None:
            break
        body = definitions.pop(once)
        schema = _substitute(schema, once, body)
        definitions = {name: _substitute(part, once, body) for name, part in definitions.items()}
    return {**schema, "$defs": definitions} if definitions else schema


def _count(schema: Any, counts: dict[str, int]) -> None:
    if isinstance(schema, dict):
        reference = schema.get("$ref")
        if isinstance(reference, str):
            name = reference.removeprefix("#/$defs/")
            counts[name] = counts.get(name, 0) + 1
        # A discriminator names its definitions by reference too.
        for target in schema.get("discriminator", {}).get("mapping", {}).values() if "oneOf" in schema else ():
            counts[target.removeprefix("#/$defs/")] = counts.get(target.removeprefix("#/$defs/"), 0) + 1
        for part in schema.values():
            _count(part, counts)
    elif isinstance(schema, list):
        for part in schema:
            _count(part, counts)


def _uses(schema: Any, name: str) -> bool:
    counts: dict[str, int] = {}
    _count(schema, counts)
    return name in counts


def _substitute(schema: Any, name: str, body: dict[str, Any]) -> Any:
    if isinstance(schema, list):
        return [_substitute(part, name, body) for part in schema]
    if not isinstance(schema, dict):
        return schema
    if schema.get("$ref") == f"#/$defs/{name}":
        return {**body, **{key: value for key, value in schema.items() if key != "$ref"}}
    return {key: _substitute(part, name, body) for key, part in schema.items()}
