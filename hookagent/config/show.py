"""The configuration in force as YAML, each value with where it comes from, and no secret in it.

What is written can be loaded again. Keys without a value, which YAML here does not have, become comments.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import yaml

from hookagent.config.load import LoadedConfig
from hookagent.config.positions import KeyPath, Positions
from hookagent.config.problems import shown
from hookagent.config.scalars import resolve_scalar
from hookagent.config.secrets import masked
from hookagent.config.variables import escape_variables

_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9_./-]*(?::[A-Za-z0-9_./-]+)*")
# Booleans for readers of YAML 1.1.
_AMBIGUOUS = frozenset({"y", "n", "yes", "no", "on", "off", "true", "false", "null"})
# At this depth begin the keys of a vendor or a plugin, which may hold secrets; all other keys are ours and hold none.
_FOREIGN_FROM = {"model_settings": 2, "plugins": 3}


def render_config(loaded: LoadedConfig) -> str:
    """Return the configuration as YAML with the origin of each value: `# from FILE:LINE`, `# default`, `# -o`.

    Texts under keys that are named like secrets, and parts of texts that look like keys, are shown as `***`.
    """
    data = loaded.config.model_dump(by_alias=True)
    for index, entry in enumerate(loaded.config.plugins or []):
        if not entry.time_limit_given:
            del data["plugins"][index]["time_limit"]
    return "\n".join(_mapping(data, (), 0, loaded.positions)) + "\n"


def _mapping(values: dict[str, Any], path: KeyPath, indent: int, positions: Positions) -> Iterator[str]:
    for key, value in values.items():
        below = (*path, key)
        margin, name = " " * indent, _text(key)
        if value is None and not _may_be_null(below):
            yield f"{margin}# {name}: not set"
        elif isinstance(value, dict | list) and value:
            yield f"{margin}{name}:"
            yield from _block(value, below, indent + 2, positions)
        else:
            yield f"{margin}{name}: {_scalar(value, below)}  # {_origin(below, positions)}"


def _sequence(values: list[Any], path: KeyPath, indent: int, positions: Positions) -> Iterator[str]:
    margin = " " * indent
    for index, value in enumerate(values):
        below = (*path, index)
        if isinstance(value, dict | list) and value:
            lines = _block(value, below, indent + 2, positions)
            yield f"{margin}- {next(lines).lstrip()}"
            yield from lines
        else:
            yield f"{margin}- {_scalar(value, below)}  # {_origin(below, positions)}"


def _block(value: dict[str, Any] | list[Any], path: KeyPath, indent: int, positions: Positions) -> Iterator[str]:
    if isinstance(value, dict):
        return _mapping(value, path, indent, positions)
    return _sequence(value, path, indent, positions)


def _may_be_null(path: KeyPath) -> bool:
    return path[-1] == "time_limit" or path[0] == "limits" or bool(_foreign_keys(path))


def _foreign_keys(path: KeyPath) -> list[str]:
    start = _FOREIGN_FROM.get(str(path[0]), len(path))
    return [part for part in path[start:] if isinstance(part, str)]


def _scalar(value: Any, path: KeyPath) -> str:
    if isinstance(value, dict):
        return "{}"
    if isinstance(value, list):
        return "[]"
    value = _without_secrets(value, path)
    if isinstance(value, str):
        return _text(escape_variables(value))
    return str(yaml.safe_dump(value, default_flow_style=True, width=float("inf"))).partition("\n")[0]


def _without_secrets(value: Any, path: KeyPath) -> Any:
    if path[0] in ("model", "tools") or (len(path) == 3 and path[-1] == "use"):
        return value
    return masked(value, *_foreign_keys(path))


def _text(text: str) -> str:
    if _PLAIN.fullmatch(text) and text.lower() not in _AMBIGUOUS and isinstance(resolve_scalar(text), str):
        return text
    dumped: str = yaml.safe_dump(text, default_style='"', allow_unicode=True, width=float("inf"))
    return dumped.rstrip("\n")


def _origin(path: KeyPath, positions: Positions) -> str:
    if not positions.knows(path):
        return "default"
    place = positions.value(path)
    if place.line is not None:
        return f"from {shown(place.file)}:{place.line}"
    return place.file.split(" ")[0] or "default"
