"""`-o dotted.path=value`: changing single values of the configuration for one run.

The value is read as YAML by the same rules as a file; variables in it are replaced too. `plugins.NAME.option`
addresses an option of a plugin in the list by the plugin's name; `plugins.NAME.on_error` and `.time_limit` what
stands beside the options.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from hookagent.config.plugin_entries import ENTRY_KEYS, normalise_plugins
from hookagent.config.positions import Document, KeyPath
from hookagent.config.problems import ConfigError, ConfigProblem, Place, shown, suggestion
from hookagent.config.secrets import is_secret
from hookagent.config.yaml_nodes import parse_value


@dataclass(frozen=True, slots=True)
class Override:
    """One `-o`: the parts of the dotted path, the text behind the `=`, and its place for errors."""

    parts: tuple[str, ...]
    text: str
    place: Place


def read_overrides(options: tuple[str, ...], problems: list[ConfigProblem]) -> list[Override]:
    """Take options such as `limits.max_iterations=3` apart; add what is none to `problems`."""
    found: list[Override] = []
    for option in options:
        path, equals, text = option.partition("=")
        parts = tuple(part.strip() for part in path.split("."))
        if not equals or not all(parts) or not _is_text(path):
            # Without '=' the whole word may be a value that slipped in, so little of it is shown.
            said = f"-o {shown(path)}=" if equals else "-o"
            problems.append(
                ConfigProblem.at(Place(said), "expected 'dotted.path=value', as in 'limits.max_iterations=3'")
            )
            continue
        value = "***" if is_secret(text, *parts) else shown(text)
        found.append(Override(parts, text, Place(f"-o {shown(path)}={value}")))
    return found


def apply_overrides(document: Document, overrides: list[Override], environment: Mapping[str, str]) -> None:
    """Put the values into a document whose plugins are in the long form; what does not fit is a problem."""
    for override in overrides:
        try:
            value, problems, empty = parse_value(override.text, override.place)
        except ConfigError as error:
            document.problems += error.problems
            continue
        document.problems += problems
        path = _key_path(document, override)
        if path is None:
            continue
        parent = _parent(document, path, override)
        if parent is None:
            continue
        parent[path[-1]] = value
        document.positions.cover(path, value, override.place)
        document.broken = {known for known in document.broken if known[: len(path)] != path}
        document.empty = {known for known in document.empty if known[: len(path)] != path}
        document.empty |= {(*path, *below) for below in empty}
        if path == ("plugins",):
            normalise_plugins(document, environment)


def _is_text(path: str) -> bool:
    """Whether it can stand in YAML at all: bytes in no known encoding come from the shell as half a character."""
    return not any("\ud800" <= character <= "\udfff" for character in path)


def _key_path(document: Document, override: Override) -> KeyPath | None:
    parts, names = override.parts, document.positions.plugin_names
    if parts[0] != "plugins" or len(parts) == 1:
        return parts
    # A list that is itself faulty is reported already; what is in it is not known.
    if ("plugins",) in document.broken or not isinstance(document.data.get("plugins", []), list):
        return None
    # The name of a plugin may be a dotted module: the longest name that fits is meant.
    for length in range(len(parts) - 1, 0, -1):
        name, rest = ".".join(parts[1 : length + 1]), parts[length + 1 :]
        if name in names:
            if not rest:
                message = f"'plugins.{shown(name)}' needs the name of an option; to add a plugin use '-p {shown(name)}'"
                document.problems.append(ConfigProblem.at(override.place, message))
                return None
            inner = rest if rest[0] in ENTRY_KEYS else ("with", *rest)
            return ("plugins", names.index(name), *inner)
    near = suggestion(parts[1], names) or f"; add it with '-p {shown(parts[1])}'"
    message = f"plugin '{shown(parts[1])}' is not in the list{near}"
    document.problems.append(ConfigProblem.at(override.place, message))
    return None


def _parent(document: Document, path: KeyPath, override: Override) -> Any:
    parent: Any = document.data
    for index, part in enumerate(path[:-1]):
        if isinstance(parent, dict) and isinstance(part, str) and part not in parent:
            document.positions.record(path[: index + 1], override.place, override.place)
            parent[part] = {}
        parent = parent[part]
        if not isinstance(parent, dict | list) or (isinstance(parent, list) and isinstance(path[index + 1], str)):
            label = document.positions.label(path[: index + 1])
            message = f"{label} holds a value without keys; set it whole, as in '-o {label}=...'"
            document.problems.append(ConfigProblem.at(override.place, message))
            return None
    return parent
