"""What holds where neither the configuration nor an option says anything."""

from __future__ import annotations

import contextlib
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from hookagent import discovery
from hookagent.errors import ConfigurationError

if TYPE_CHECKING:
    from hookagent.config import LoadedConfig

AGENT = "hookagent"
"""The name of the command's agent: of its logs, and in the list of sessions."""
APPROVAL = "human-approval"
DEFAULT_PLUGINS = ("tool-logging", "context-window", APPROVAL)
"""What a command without a `plugins:` list enables, as far as it is installed (design, "Plugins")."""
DEFAULT_TOOLS = ("files",)
"""What a command gives the model that names no tools; writing needs an approval then."""


def default_tools(loaded: LoadedConfig) -> tuple[str, ...]:
    """The tools that the model gets because the configuration names none; nothing where it says that there are none."""
    return () if "tools" in loaded.config.model_fields_set else DEFAULT_TOOLS


def is_absent_default(loaded: LoadedConfig, index: int) -> bool:
    """Whether the plugin at `index` of the list stands there by default only, and is not installed."""
    entries = loaded.config.plugins or ()
    by_default = loaded.positions.value(("plugins", index)).file == "default"
    return by_default and all(one.name != entries[index].use for one in discovery.installed())


def in_force(loaded: LoadedConfig) -> LoadedConfig:
    """The configuration as a command works with it: with the model, the tools and the plugins that are defaults.

    Without a model where none is named and none can be found.
    """
    from hookagent.providers.routing import default_model

    config = loaded.config
    held: dict[str, Any] = {}
    if config.model is None:
        with contextlib.suppress(ConfigurationError):
            held["model"] = default_model()
    if not config.tools:
        held["tools"] = list(default_tools(loaded))
    entries = config.plugins or ()
    absent = [index for index in range(len(entries)) if is_absent_default(loaded, index)]
    held["plugins"] = [one for index, one in enumerate(entries) if index not in absent]
    for index in reversed(absent):
        loaded.positions.remove_item(("plugins",), index)
        del loaded.positions.plugin_names[index]
    return replace(loaded, config=config.model_copy(update=held))
