"""Where each value of a configuration was written: a map from key paths to places.

A key path is the tuple of keys and list indexes that leads to a value: `("limits", "max_iterations")`,
`("plugins", 0, "with", "warn_at")`. People see it as a label: `plugins.context-window.warn_at`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from hookagent.config.problems import ConfigProblem, Place, shown

KeyPath = tuple[str | int, ...]


@dataclass(slots=True)
class Positions:
    """The places of all keys and values, as far as they are known.

    `keys` and `values` map a key path to the place of the key and of the value (equal for list items).
    `plugin_names` holds the name of each entry of `plugins`, in order. `expanded` holds the paths of the
    texts that a `${VARIABLE}` had a part in.
    """

    keys: dict[KeyPath, Place] = field(default_factory=dict)
    values: dict[KeyPath, Place] = field(default_factory=dict)
    plugin_names: list[str] = field(default_factory=list)
    expanded: set[KeyPath] = field(default_factory=set)

    def key(self, path: KeyPath) -> Place:
        """Return where the key at `path` stands, or the nearest thing around it."""
        return self._nearest(self.keys, path)

    def value(self, path: KeyPath) -> Place:
        """Return where the value at `path` starts, or the nearest thing around it."""
        return self._nearest(self.values, path)

    def knows(self, path: KeyPath) -> bool:
        """Return whether something was written at exactly `path`."""
        return path in self.values

    def record(self, path: KeyPath, key: Place, value: Place) -> None:
        """Remember the places of the key and the value at `path`."""
        self.keys[path] = key
        self.values[path] = value

    def forget(self, path: KeyPath) -> None:
        """Drop what is known about `path` and everything under it."""
        for known in [known for known in self.values if known[: len(path)] == path]:
            del self.values[known]
            self.keys.pop(known, None)
            self.expanded.discard(known)

    def cover(self, path: KeyPath, data: Any, place: Place) -> None:
        """Say that `path` and all of `data` under it come from one `place`."""
        self.forget(path)
        for below in paths_of(data):
            self.record((*path, *below), place, place)

    def remove_item(self, path: KeyPath, index: int) -> None:
        """Forget item `index` of the list at `path`, and move the places of those behind it up by one."""
        for places in (self.keys, self.values):
            moved = [(without_item(known, path, index), place) for known, place in places.items()]
            places.clear()
            places.update((known, place) for known, place in moved if known is not None)

    def label(self, path: KeyPath) -> str:
        """Return `path` as people write it; plugins by name: `plugins.context-window.warn_at`."""
        parts = list(path)
        if len(parts) >= 2 and parts[0] == "plugins":
            if isinstance(parts[1], int) and parts[1] < len(self.plugin_names):
                parts[1] = self.plugin_names[parts[1]]
            if parts[2:3] == ["with"]:
                del parts[2]
        text = ""
        for part in parts:
            text += f"[{part}]" if isinstance(part, int) else f".{shown(part)}" if text else shown(part)
        return text

    def plugin_options(self, name: str) -> KeyPath:
        """Return the key path of the options of the plugin called `name` in the list of plugins."""
        index = self.plugin_names.index(name) if name in self.plugin_names else name
        return ("plugins", index, "with")

    def problem(self, path: KeyPath, message: str, *, at_key: bool = False) -> ConfigProblem:
        """Return a problem with the value (or, with `at_key`, the key) at `path`."""
        return ConfigProblem.at(self.key(path) if at_key else self.value(path), message)

    def _nearest(self, places: dict[KeyPath, Place], path: KeyPath) -> Place:
        for length in range(len(path), -1, -1):
            found = places.get(path[:length])
            if found is not None:
                return found
        return Place("")


@dataclass(slots=True)
class Document:
    """A configuration as it was read: plain values, their places, and what is wrong so far.

    `broken` holds the key paths whose values are placeholders because a problem was already reported there;
    `empty` those at which nothing at all was written, not even `null`.
    """

    data: dict[str, Any]
    positions: Positions
    problems: list[ConfigProblem] = field(default_factory=list)
    broken: set[KeyPath] = field(default_factory=set)
    empty: set[KeyPath] = field(default_factory=set)

    def report(self, path: KeyPath, message: str, *, at_key: bool = False) -> None:
        """Add a problem at `path`, and let no later check complain about the same value."""
        self.problems.append(self.positions.problem(path, message, at_key=at_key))
        self.broken.add(path)


def without_item(known: KeyPath, path: KeyPath, index: int) -> KeyPath | None:
    """Return what the key path `known` becomes when item `index` of the list at `path` is removed; None: it is gone."""
    item = known[len(path)] if known[: len(path)] == path and len(known) > len(path) else None
    if not isinstance(item, int) or item < index:
        return known
    return (*path, item - 1, *known[len(path) + 1 :]) if item > index else None


def paths_of(data: Any) -> Iterator[KeyPath]:
    """Yield the key path of `data` itself (the empty one) and of everything in it."""
    yield ()
    children: Iterator[tuple[str | int, Any]] = iter(())
    if isinstance(data, dict):
        children = iter(data.items())
    elif isinstance(data, list):
        children = iter(enumerate(data))
    for key, child in children:
        for below in paths_of(child):
            yield (key, *below)
