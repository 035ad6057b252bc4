"""What an agent is put together from: tools given as functions or names, and the tools that plugins register."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from hookagent.dispatch import HookTable, Implementation
from hookagent.errors import ConfigurationError, PluginLoadError, ToolDefinitionError
from hookagent.limits import Limits
from hookagent.providers.base import Provider
from hookagent.tools.registry import ToolRegistry
from hookagent.tools.tool import Tool


def make_registry(tools: Iterable[Any], hooks: HookTable) -> ToolRegistry:
    """The tool table of functions, `Tool` objects and names, and of what plugins register.

    A name is a built-in set or tool, a plugin's tool, or "module:function". Raises `ConfigurationError` for a
    name that is none of them, `ToolDefinitionError` for what cannot be a tool, `PluginLoadError` for a plugin that
    fails.
    """
    given: list[Any] = [tools] if isinstance(tools, str) else list(tools)
    registry = ToolRegistry()
    left: list[str] = []
    for one in given:
        if not isinstance(one, str):
            registry.add(one)
            continue
        try:
            _add_named(registry, one, {})
        except ToolDefinitionError:
            raise
        except ConfigurationError:
            left.append(one)  # a plugin may bring it
    register_plugin_tools(hooks, registry)
    of_plugins = {one.name: one for one in registry if registry.owner(one.name) is not None}
    for name in left:
        _add_named(registry, name, of_plugins)
    return registry


def _add_named(registry: ToolRegistry, name: str, of_plugins: dict[str, Tool]) -> None:
    from hookagent.tools.builtin import resolve_tools

    for made in resolve_tools([name], plugin_tools=of_plugins):
        if registry.get(made.name) is not made:
            registry.add(made)


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


def check_priced(provider: Provider, limits: Limits) -> None:
    """Refuse a limit on costs where no price is known: it could never hold. Raises `ConfigurationError`."""
    if limits.max_cost_usd is None or provider.wire is None:
        return
    from hookagent.providers.prices import has_price

    if not has_price(provider.name, provider.model):
        raise ConfigurationError(
            f"limits.max_cost_usd: the price of '{provider.name}:{provider.model}' is unknown, so the limit could not "
            "hold; leave it out, or limit tokens with max_tokens"
        )
