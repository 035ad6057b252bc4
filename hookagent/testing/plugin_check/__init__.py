"""All of the contract about one plugin, in one line of a test: start at `check_plugin`, or at `check_provider`."""

from __future__ import annotations

from hookagent.testing.plugin_check.check import check_plugin
from hookagent.testing.plugin_check.findings import PluginReport
from hookagent.testing.plugin_check.providers import check_provider

__all__ = ["PluginReport", "check_plugin", "check_provider"]
