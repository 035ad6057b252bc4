"""What an agent is put together from: tools given as functions or names, and the tools that plugins register."""

from __future__ import annotations

import difflib
import math
import weakref
from collections.abc import Iterable, Mapping
from typing import Any

from hookagent.errors import ConfigurationError, PluginLoadError, ToolDefinitionError, describe_error
from hookagent.implementations import HookTable, Implementation
from hookagent.limits import Limits
from hookagent.providers.base import Provider
from hookagent.providers.settings import COMMON
from hookagent.tools.registry import ToolRegistry
from hookagent.tools.tool import Tool


def make_registry(tools: Iterable[Any], hooks: HookTable) -> ToolRegistry:
    """The tool table of functions, `Tool` objects and names, and of what plugins register.

    A name is a built-in set or tool, a plugin's tool, or "module:function". Raises `ConfigurationError` for a
    name that is none of them, `ToolDefinitionError` for what cannot be a tool, `PluginLoadError` for a plugin that
    fails.
    """
    if not isinstance(tools, Iterable):
        raise ConfigurationError(f"tools: expected a list of functions and names, got {tools!r}")
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
        raise refuse(f"hook 'register_tools' raised {describe_error(error)} ({implementation.place})") from error
    if returned is not None:
        raise refuse(
            f"hook 'register_tools' returned a value; call register(function) instead ({implementation.place})"
        )


def check_settings(settings: Mapping[str, Any] | None) -> dict[str, Any]:
    """A copy of `model_settings`. Raises `ConfigurationError` for a name that no vendor has."""
    if settings is not None and not isinstance(settings, Mapping):
        raise ConfigurationError(f"model_settings: expected a mapping, got {settings!r}")
    for name, value in (settings or {}).items():
        if name not in COMMON and not isinstance(value, Mapping):
            near = difflib.get_close_matches(name, COMMON, 1)
            guess = f"; did you mean '{near[0]}'?" if near else f"; the settings are: {', '.join(COMMON)}"
            raise ConfigurationError(f"model_settings: unknown setting '{name}'{guess}")
    return dict(settings or {})


def check_options(
    name: object,
    model: object,
    system_prompt: object,
    tool_execution: object,
    tool_result_limit: object,
    max_parallel_tools: object,
    grace_seconds: object,
) -> None:
    """Refuse values of an agent's options that could only fail later, or mean something else than was meant.

    Raises `ConfigurationError`.
    """
    options: tuple[tuple[str, object, bool, str], ...] = (
        ("name", name, isinstance(name, str), "a text"),
        ("system_prompt", system_prompt, isinstance(system_prompt, str), "a text"),
        ("tool_execution", tool_execution, tool_execution in ("parallel", "sequential"), "'parallel' or 'sequential'"),
        ("tool_result_limit", tool_result_limit, _is_count(tool_result_limit), "a number of characters, at least 1"),
        (
            "max_parallel_tools",
            max_parallel_tools,
            max_parallel_tools is None or _is_count(max_parallel_tools),
            "a number of tools, at least 1, or None",
        ),
        ("grace_seconds", grace_seconds, _is_duration(grace_seconds), "a number of seconds, at least 0"),
    )
    for option, value, fits, expected in options:
        if not fits:
            raise ConfigurationError(f"{option}: expected {expected}, got {value!r}")
    check_model(model)


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 1


def _is_duration(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < math.inf


_provider_types: weakref.WeakSet[type] = weakref.WeakSet()


def check_model(model: Any) -> None:
    """Refuse what is neither a model's name nor a provider. Raises `ConfigurationError`."""
    if model is None or isinstance(model, str) or type(model) in _provider_types:
        return
    if isinstance(model, Provider):
        _provider_types.add(type(model))  # asking a protocol takes a third of the time that making an agent takes
    else:
        raise ConfigurationError(
            f"model: expected a name such as 'anthropic:claude-sonnet-5' or a provider, got a {type(model).__name__}"
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
