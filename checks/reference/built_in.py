"""The plugins that come with hookagent, as their entry points give them."""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

from hookagent import discovery
from hookagent.contract import CONTRACTS

NAMES = ("tool-logging", "human-approval", "context-window", "reflection")


class BuiltIn(NamedTuple):
    """One plugin: its name, its class, and the hooks that it implements."""

    name: str
    plugin: type[Any]
    hooks: tuple[str, ...]


@cache
def built_in_plugins() -> tuple[BuiltIn, ...]:
    """The four plugins. Raises `PluginLoadError` when hookagent is not installed with them."""
    found = []
    for name in NAMES:
        plugin = discovery.find(name).load()
        hooks = tuple(hook for hook in CONTRACTS if hasattr(getattr(plugin, hook, None), "hookagent_impl"))
        found.append(BuiltIn(name, plugin, hooks))
    return tuple(found)
