"""YAML (or `[tool.hookagent]`) to one frozen model, with every error at its place.

Start at `load_config`. The names are loaded when first used, so that importing the package imports neither
pydantic nor a YAML reader.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hookagent.config.load import LoadedConfig, load_config, read_config
    from hookagent.config.model import Config, Limits, ModelSettings, PluginEntry
    from hookagent.config.positions import Positions
    from hookagent.config.problems import ConfigError, ConfigProblem, Place
    from hookagent.config.show import render_config
    from hookagent.config.validation import problems_from

__all__ = [
    "Config",
    "ConfigError",
    "ConfigProblem",
    "Limits",
    "LoadedConfig",
    "ModelSettings",
    "Place",
    "PluginEntry",
    "Positions",
    "load_config",
    "problems_from",
    "read_config",
    "render_config",
]

_HOMES = {
    "Config": "model",
    "ConfigError": "problems",
    "ConfigProblem": "problems",
    "Limits": "model",
    "LoadedConfig": "load",
    "ModelSettings": "model",
    "Place": "problems",
    "PluginEntry": "model",
    "Positions": "positions",
    "load_config": "load",
    "problems_from": "validation",
    "read_config": "load",
    "render_config": "show",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)
