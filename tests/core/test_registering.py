"""The table of hooks: list order is call order, and the same plugins share one table."""

from __future__ import annotations

from hookagent import PluginEntry
from hookagent.host import load_plugins
from hookagent.registering import hook_table
from tests.core.plugin_making import hook, plugin_with


def test_the_table_of_one_set_of_plugins_is_made_once() -> None:
    one = plugin_with(before_llm=hook(lambda self: None))
    two = type("Other", (), {"name": "other", "before_llm": hook(lambda self: None)})()
    table = hook_table(load_plugins([one, two]))
    assert hook_table(load_plugins([one, two])) is table
    assert hook_table(load_plugins([two, one])) is not table
    assert hook_table(load_plugins([one, PluginEntry(two, on_error="warn")])) is not table
    assert [found.plugin for found in hook_table(load_plugins([two, one])).before_llm] == ["other", "tested"]
