"""The three forms in which a plugin may be listed, and the one they all become.

`- name`, `- name: {options}` and `- {use: name, with: {options}, on_error: ..., time_limit: ...}` (design, "The
outside contract", YAML). The places of what was written move along.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from hookagent.config.positions import Document, KeyPath, Positions
from hookagent.config.problems import Place, shown
from hookagent.config.variables import expand_variables

ENTRY_KEYS = ("use", "with", "on_error", "time_limit")

_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.:-]*")


def long_form(entry: Any) -> Any:
    """Return an entry of any form in the long one; what is none of the three is returned as it is."""
    if isinstance(entry, str):
        return {"use": entry}
    if isinstance(entry, dict) and "use" not in entry and len(entry) == 1:
        name, options = next(iter(entry.items()))
        # An own key without options ("- context-window:") is the name with a colon too many.
        return {"use": name, "with": {} if options is None else options}
    return entry


def name_fault(name: str) -> str | None:
    """Return what is wrong with the name of a plugin, or None."""
    if name.startswith("no:"):
        return "'no:' works with the option '-p' only; in a list, leave the plugin out"
    if not _NAME.fullmatch(name):
        return "a plugin's name has letters, digits, '_', '-' and '.' only"
    return None


def normalise_plugins(document: Document, environment: Mapping[str, str]) -> None:
    """Bring the list of plugins into the long form, in place, and learn the plugins' names.

    What is no entry, and a name that was listed before, becomes a problem and is left out of the data.
    """
    entries = document.data.get("plugins")
    document.positions.plugin_names = []
    if not isinstance(entries, list):
        if isinstance(entries, dict):
            first = shown(next(iter(entries), "name"))
            document.report(
                ("plugins",), f"plugins must be a list, found a mapping; write '- {first}: {{...}}' under it"
            )
            document.data.pop("plugins")
        return
    # The names are needed now; the variables in the options are replaced when nothing can switch them off any more.
    for index, entry in enumerate(entries):
        if isinstance(entry, str):
            expand_variables(document, environment, ("plugins", index))
        elif isinstance(entry, dict) and "use" in entry:
            expand_variables(document, environment, ("plugins", index, "use"))
    positions = document.positions
    kept: list[dict[str, Any]] = []
    moves: dict[int, tuple[int, str | None]] = {}
    seen: dict[str, Place] = {}
    for index, entry in enumerate(entries):
        if {("plugins", index), ("plugins", index, "use")} & document.broken:
            continue
        fault = _entry_fault(entry)
        if fault is not None:
            document.report(("plugins", index), fault)
            continue
        normal = long_form(entry)
        name = normal["use"]
        place = positions.key(_name_path(entry, index))
        if name in seen:
            earlier = f"first on line {seen[name].line}" if seen[name].line else f"first by '{seen[name]}'"
            document.report(
                ("plugins", index), f"plugin '{shown(name)}' is listed twice, {earlier}; remove one of them"
            )
            continue
        seen[name] = place
        moves[index] = (len(kept), _short_name(entry))
        kept.append(normal)
    document.data["plugins"] = kept
    document.positions = _renumbered(positions, moves)
    for index, entry in enumerate(kept):
        document.positions.record(("plugins", index, "use"), seen[entry["use"]], seen[entry["use"]])
    document.positions.plugin_names = [entry["use"] for entry in kept]
    document.broken = {path for path in document.broken if path[:1] != ("plugins",)} | {
        renamed for path in document.broken if (renamed := _renamed(path, moves)) is not None and len(renamed) > 2
    }


def _entry_fault(entry: Any) -> str | None:
    if isinstance(entry, str):
        return name_fault(entry)
    if not isinstance(entry, dict):
        return "a plugin must be a name, 'name: {options}' or 'use: name', found something else"
    if "use" in entry:
        name = entry["use"]
        return name_fault(name) if isinstance(name, str) else "'use' must be the name of a plugin; put it in quotes"
    if len(entry) == 1:
        name = next(iter(entry))
        return f"'{name}' stands alone; write 'use: name' beside it" if name in ENTRY_KEYS else name_fault(name)
    if not entry:
        return "a plugin must be a name, 'name: {options}' or 'use: name', found an empty mapping"
    names = ", ".join(f"'{shown(key)}'" for key in list(entry)[:4])
    return f"a plugin has one name, found the keys {names}; indent the options under the name, or write 'use: name'"


def _short_name(entry: Any) -> str | None:
    return next(iter(entry)) if isinstance(entry, dict) and "use" not in entry else None


def _name_path(entry: Any, index: int) -> KeyPath:
    if isinstance(entry, dict):
        return ("plugins", index, "use") if "use" in entry else ("plugins", index, next(iter(entry)))
    return ("plugins", index)


def _renumbered(positions: Positions, moves: dict[int, tuple[int, str | None]]) -> Positions:
    result = Positions()
    for path, place in positions.values.items():
        renamed = _renamed(path, moves)
        if renamed is not None:
            result.record(renamed, positions.keys.get(path, place), place)
            if path in positions.expanded:
                result.expanded.add(renamed)
    return result


def _renamed(path: KeyPath, moves: dict[int, tuple[int, str | None]]) -> KeyPath | None:
    if len(path) < 2 or path[0] != "plugins" or not isinstance(path[1], int):
        return path
    if path[1] not in moves:
        return None
    index, short = moves[path[1]]
    if short is not None and len(path) > 2:
        return ("plugins", index, "with", *path[3:])
    return ("plugins", index, *path[2:])
