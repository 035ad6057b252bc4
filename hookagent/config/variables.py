"""`${NAME}` and `${NAME:-default}` in the values of a configuration.

Replaced after parsing, in text values only, once: what a variable holds is never read as YAML, never replaced
again, and can change nothing but the value it stands in. `$$` gives a `$`; a `$` that starts nothing stays.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from hookagent.config.positions import Document, KeyPath

_REFERENCE = re.compile(r"\$\$|\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}|\$\{")


def expand_variables(document: Document, environment: Mapping[str, str], under: KeyPath = ()) -> None:
    """Replace the variables in all texts of the document, or of its part `under`, in place.

    A variable that is unset or empty and has no default is a problem that names it, the key and the place.
    """
    data: Any = document.data
    parent: Any = None
    for part in under:
        parent, data = data, data[part]
    expanded = _expand(document, environment, data, under)
    if parent is not None:
        parent[under[-1]] = expanded


def escape_variables(text: str) -> str:
    """Return a text that `expand_variables` turns back into the given one."""
    return text.replace("$", "$$")


def _expand(document: Document, environment: Mapping[str, str], value: Any, path: KeyPath) -> Any:
    if isinstance(value, dict):
        for key, child in value.items():
            value[key] = _expand(document, environment, child, (*path, key))
    elif isinstance(value, list):
        for index, child in enumerate(value):
            value[index] = _expand(document, environment, child, (*path, index))
    elif isinstance(value, str) and "$" in value:
        return _expand_text(document, environment, value, path)
    return value


def _expand_text(document: Document, environment: Mapping[str, str], text: str, path: KeyPath) -> str:
    label = document.positions.label(path)

    def replacement(match: re.Match[str]) -> str:
        if match[0] == "$$":
            return "$"
        name, default = match[1], match[2]
        if name is None:
            document.report(
                path, f"'${{' in '{label}' starts no variable; write ${{NAME}} or ${{NAME:-default}}, or '$$' for a '$'"
            )
            return ""
        document.positions.expanded.add(path)
        value = environment.get(name) or default
        if value is not None and any("\ud800" <= character <= "\udfff" for character in value):
            document.report(path, f"variable '{name}' in '{label}' holds bytes that are not UTF-8; set it to text")
            return ""
        if value is None:
            state = "empty" if name in environment else "not set"
            document.report(
                path, f"variable '{name}' in '{label}' is {state}; set it, or write ${{{name}:-default}} for a default"
            )
            return ""
        return value

    return _REFERENCE.sub(replacement, text)
