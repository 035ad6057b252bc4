"""Which plugins are installed, read from entry-point metadata: nothing is imported here."""

from __future__ import annotations

import difflib
import functools
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hookagent.errors import PluginLoadError, describe_error

if TYPE_CHECKING:
    from importlib.metadata import Distribution, EntryPoint

PLUGIN_GROUP = "hookagent"
_NAME = re.compile(r"[A-Za-z0-9_-]+")


@dataclass(frozen=True, slots=True)
class Installed:
    """One entry point: the plugin's `name`, its `distribution` ("name version"), and where it points."""

    name: str
    distribution: str
    value: str
    entry_point: EntryPoint

    def load(self) -> Any:
        """Import it. Raises `PluginLoadError` with name, distribution and reason, whatever goes wrong."""
        try:
            return self.entry_point.load()
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            reason = f"cannot be imported from '{self.value}': {describe_error(error)}"
            raise PluginLoadError(self.name, self.distribution, reason) from error


@functools.cache
def installed(group: str = PLUGIN_GROUP) -> tuple[Installed, ...]:
    """All entry points of a group, sorted by name; scanned once per process.

    One distribution that is found twice on the path (a checkout beside an installed copy) counts once. One
    whose metadata cannot be read is passed over: it must not take the others with it.
    """
    found: dict[tuple[str, str, str], Installed] = {}
    for entry_point in _entry_points(group):
        owner = _owner(entry_point.dist)
        key = (entry_point.name, owner, entry_point.value)
        found.setdefault(key, Installed(entry_point.name, owner, entry_point.value, entry_point))
    return tuple(found[key] for key in sorted(found))


def _entry_points(group: str) -> Iterable[EntryPoint]:
    from importlib.metadata import distributions, entry_points

    try:
        return entry_points(group=group)
    except Exception:  # the standard library gives up at the first distribution with a broken file
        return [one for distribution in distributions() for one in _readable(distribution) if one.group == group]


def _readable(distribution: Distribution) -> Iterable[EntryPoint]:
    try:
        return distribution.entry_points
    except Exception:
        return ()


def _owner(distribution: Distribution | None) -> str:
    try:
        return f"{distribution.name} {distribution.version}" if distribution is not None else "unknown distribution"
    except Exception:
        return "unknown distribution"


def find(name: str, group: str = PLUGIN_GROUP) -> Installed:
    """The one entry point called `name`.

    Raises `PluginLoadError` when there is none (with the likely name or install command), or when two
    distributions offer it (naming both).
    """
    candidates = [one for one in installed(group) if one.name == name]
    if len(candidates) == 1:
        return candidates[0]
    if candidates:
        owners = " and ".join(one.distribution for one in candidates)
        raise PluginLoadError(name, None, f"offered by {owners}; uninstall one, or name its module instead")
    near = difflib.get_close_matches(name, [one.name for one in installed(group)], 1)
    if near:
        guess = f"; did you mean '{near[0]}'?"
    elif _NAME.fullmatch(name):
        guess = f"; is it installed? try: pip install hookagent-{name}"
    else:
        guess = "; a plugin is named by its entry point, or by the dotted name of its module"
    raise PluginLoadError(name, None, f"no such plugin{guess}")
