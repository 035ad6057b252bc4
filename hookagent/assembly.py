"""What an agent is put together from: tools given as functions or names, and the tools that plugins register."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from hookagent.dispatch import HookTable, Implementation
from hookagent.errors import PluginLoadError
from hookagent.tools.registry import ToolRegistry
from hookagent.tools.tool import Tool


def make_registry(tools: Iterable[Any]) -> ToolRegistry:
    """The tool table of functions, `Tool` objects and names ("files", "shell", "module:function").

    Raises `ConfigurationError` for a name that is not known, `ToolDefinitionError` for what cannot be a tool.
    """
    given: list[Any] = [tools] if isinstance(tools, str) else list(tools)
    if any(isinstance(one, str) for one in given):
        from hookagent.tools.builtin import resolve_tools

        made: list[Any] = []
        for one in given:
            made.extend(resolve_tools([one]) if isinstance(one, str) else [one])
        given = made
    return ToolRegistry(given)


def register_plugin_tools(hooks: HookTable, registry: ToolRegistry) -> None:
    """Let every plugin add its tools; what a plugin added before is replaced.

    Raises `PluginLoadError` when one fails, and `ToolDefinitionError` for a clash of names.
    """
    for name in registry.names:
        if registry.owner(name) is not None:
            registry.remove(name)
    for implementation in hooks.register_tools:
        _register(implementation, registry)


def _register(implementation: Implementation, registry: ToolRegistry) -> None:
    def register(function: Any, **marks: Any) -> Tool:
        return registry.add(Tool.from_callable(function, **marks), owner=implementation.plugin)

    def refuse(reason: str) -> PluginLoadError:
        return PluginLoadError(implementation.plugin, implementation.distribution, reason)

    try:
        returned = implementation.call(register)
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        raise refuse(
            f"hook 'register_tools' raised {type(error).__name__}: {error} ({implementation.place})"
        ) from error
    if returned is not None:
        raise refuse(
            f"hook 'register_tools' returned a value; call register(function) instead ({implementation.place})"
        )
