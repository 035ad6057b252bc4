"""Loaded plugins become a table of hooks, by pluggy.

Plugins are named in a list, and list order is call order. pluggy calls the last registered first, so they
are registered in reverse. Managers are shared: the same set of plugin objects is registered once.
"""

from __future__ import annotations

import collections
import threading
from typing import Any

import pluggy

from hookagent import hookspecs
from hookagent.contract import CONTRACTS
from hookagent.errors import PluginLoadError
from hookagent.host import LoadedPlugin
from hookagent.implementations import EMPTY_TABLE, HookTable, Implementation
from hookagent.markers import NAME
from hookagent.validation import is_computed

_SHARED_TABLES = 32
_tables: collections.OrderedDict[tuple[Any, ...], tuple[HookTable, tuple[LoadedPlugin, ...]]] = (
    collections.OrderedDict()
)
_tables_lock = threading.Lock()


def hook_table(plugins: tuple[LoadedPlugin, ...]) -> HookTable:
    """The table of hooks of a set of plugins; made once for the same objects in the same order.

    Raises `PluginLoadError` when pluggy refuses one.
    """
    if not plugins:
        return EMPTY_TABLE
    key = tuple((id(one.plugin), one.name, one.on_error, one.time_limit) for one in plugins)
    with _tables_lock:
        known = _tables.get(key)
        if known is not None:
            _tables.move_to_end(key)
            return known[0]
        table = _register(plugins)
        # The plugins are kept with the table: while it is there, no other object can have one of these ids.
        _tables[key] = (table, plugins)
        if len(_tables) > _SHARED_TABLES:
            _tables.popitem(last=False)
        return table


class _Manager(pluggy.PluginManager):
    """pluggy's manager; it does not run a plugin's properties to see whether they are hooks."""

    def parse_hookimpl_opts(self, plugin: object, name: str) -> pluggy.HookimplOpts | None:
        return None if is_computed(plugin, name) else super().parse_hookimpl_opts(plugin, name)


def _register(plugins: tuple[LoadedPlugin, ...]) -> HookTable:
    manager = _Manager(NAME)
    manager.add_hookspecs(hookspecs)
    for one in reversed(plugins):
        try:
            manager.register(one.plugin, one.name)
        except Exception as error:
            text = " ".join(str(error).split())
            raise PluginLoadError(one.name, one.distribution, text) from error
    by_name = {one.name: one for one in plugins}
    table: dict[str, tuple[Implementation, ...]] = {}
    for hook in CONTRACTS:
        caller = getattr(manager.hook, hook)
        arguments = tuple(caller.spec.argnames)
        in_call_order = reversed(caller.get_hookimpls())
        table[hook] = tuple(
            Implementation(
                found,
                arguments,
                by_name[found.plugin_name].distribution,
                by_name[found.plugin_name].on_error,
                by_name[found.plugin_name].time_limit,
                hook,
            )
            for found in in_call_order
        )
    return HookTable(table, tuple(one.name for one in plugins))
