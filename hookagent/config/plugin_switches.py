"""`-p NAME`, `-p no:NAME` and `HOOKAGENT_PLUGINS`: switching plugins on and off for one run.

The variable holds the same words, parted by commas, and is applied before the options. Later words win;
`-p` of a plugin that is already in the list changes nothing, its place and options included.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from hookagent.config.plugin_entries import name_fault
from hookagent.config.positions import Document, without_item
from hookagent.config.problems import ConfigProblem, Place, shown, suggestion

VARIABLE = "HOOKAGENT_PLUGINS"

_OFF = "no:"


def switches(variable: str, options: Iterable[str]) -> Iterator[tuple[str, Place]]:
    """Yield each word of the variable's value, then of the options, with the place it stands at."""
    for part in variable.split(","):
        if part.strip():
            yield part.strip(), Place(VARIABLE)
    for option in options:
        yield option.strip(), Place(f"-p {shown(option)}".strip())


def apply_switches(document: Document, words: Iterable[tuple[str, Place]], defaults: Iterable[str]) -> set[str]:
    """Add and remove plugins in a list that is already in the long form; return the names that were refused by `no:`.

    Removing a plugin that is not in the list is a problem, except for one of the `defaults`: `no:human-approval`
    is an answer even where that plugin is not listed.
    """
    refused: set[str] = set()
    known_defaults = set(defaults)
    for word, place in words:
        off = word.startswith(_OFF)
        name = word.removeprefix(_OFF)
        fault = name_fault(name) if name else "the name of a plugin is missing; write '-p NAME' or '-p no:NAME'"
        if fault is not None:
            document.problems.append(ConfigProblem.at(place, fault))
        elif off:
            _remove(document, name, place, known_defaults)
            refused.add(name)
        else:
            _append(document, name, place)
            refused.discard(name)
    return refused


def _append(document: Document, name: str, place: Place) -> None:
    names = document.positions.plugin_names
    if name in names:
        return
    entry = {"use": name}
    document.positions.cover(("plugins", len(names)), entry, place)
    document.data.setdefault("plugins", []).append(entry)
    names.append(name)


def _remove(document: Document, name: str, place: Place, defaults: set[str]) -> None:
    positions = document.positions
    if name not in positions.plugin_names:
        if name not in defaults:
            message = f"plugin '{shown(name)}' is not in the list{suggestion(name, positions.plugin_names)}"
            document.problems.append(ConfigProblem.at(place, message))
        return
    gone = positions.plugin_names.index(name)
    del document.data["plugins"][gone]
    positions.remove_item(("plugins",), gone)
    moved = (without_item(path, ("plugins",), gone) for path in document.broken)
    document.broken = {path for path in moved if path is not None}
    del positions.plugin_names[gone]
