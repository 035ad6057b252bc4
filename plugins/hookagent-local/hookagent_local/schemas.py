"""Tools as the embedded model reads them best: JSON schemas with few words and no fine print.

Found by trial with the built-in file tools: `additionalProperties` is taken for a parameter, and what stands behind a
description's first clause costs time and leads the model astray. Nothing is lost by it: what the model calls is
validated against the whole schema.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

from hookagent import Tool

_LEFT_OUT = frozenset({"additionalProperties", "$schema", "title", "examples"})
_FIRST_CLAUSE_END = re.compile(r"(?<=[.!?])\s|[;(]")
_NAMED_SCHEMAS = frozenset({"properties", "$defs"})


def schemas_for_engine(tools: Iterable[Tool]) -> str:
    """Return the tools as a JSON list of `name`, `description` and `parameters`, in the order given."""
    return json.dumps(
        [
            {
                "name": tool.name,
                "description": _first_clause(tool.description),
                "parameters": _plain_schema(tool.parameters),
            }
            for tool in tools
        ]
    )


def _plain_schema(schema: Any) -> Any:
    if isinstance(schema, list):
        return [_plain_schema(item) for item in schema]
    if not isinstance(schema, Mapping):
        return schema
    plain: dict[str, Any] = {}
    for key, value in schema.items():
        if key in _NAMED_SCHEMAS and isinstance(value, Mapping):
            # The keys in here are the author's names, not words of the schema language.
            plain[key] = {name: _plain_schema(inner) for name, inner in value.items()}
        elif key == "description" and isinstance(value, str):
            plain[key] = _first_clause(value)
        elif key in ("default", "enum", "const"):
            plain[key] = value
        elif key not in _LEFT_OUT:
            plain[key] = _plain_schema(value)
    return plain


def _first_clause(text: str) -> str:
    clause = _FIRST_CLAUSE_END.split(" ".join(text.split()), maxsplit=1)[0].rstrip(" .")
    return f"{clause}." if clause else ""
