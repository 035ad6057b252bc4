"""The plugin host: loads what was named, one by one, and validates it."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from types import ModuleType
from typing import Any, get_args

from hookagent import discovery
from hookagent.errors import ConfigurationError, PluginLoadError, describe_error
from hookagent.implementations import DEFAULT_TIME_LIMIT, OnError
from hookagent.markers import NAME
from hookagent.validation import check_plugin


class _Unset:
    """Stands for a time limit that nobody gave."""


UNSET = _Unset()


@dataclass(frozen=True, slots=True)
class PluginEntry:
    """A plugin as it is named in a list: `use` is a name, a dotted module, or the plugin object itself.

    `options` go to the plugin's own `Options` model; `on_error` softens observing hooks; `time_limit` is in
    seconds for each of its `async def` hooks, None for no limit (default: the plugin's own, else 60).
    """

    use: Any
    options: Mapping[str, Any] | None = None
    on_error: OnError = "fail"
    time_limit: float | _Unset | None = UNSET


@dataclass(frozen=True, slots=True)
class LoadedPlugin:
    """A plugin that is ready: its `name`, the object, whose distribution it is, and how its faults are taken."""

    name: str
    plugin: Any
    distribution: str | None
    on_error: OnError
    time_limit: float | None


class FunctionPlugin:
    """A single function marked `@hookimpl`, as a plugin of its own."""

    def __init__(self, function: Callable[..., Any]) -> None:
        options = getattr(function, f"{NAME}_impl")
        self.name = function.__qualname__.replace("<locals>.", "")
        setattr(self, options.get("specname") or function.__name__, function)


OptionsProblem = Callable[[str, Exception], Exception]
"""Turns a plugin's failed option validation into a configuration error with places: (plugin name, error)."""


def load_plugins(entries: Iterable[Any], *, options_problem: OptionsProblem | None = None) -> tuple[LoadedPlugin, ...]:
    """Load every entry: a name, a dotted module, a `{name: options}` mapping, a `PluginEntry`, an object or a function.

    Raises `PluginLoadError` for the first that cannot be used, naming it, its distribution and the reason.
    """
    if isinstance(entries, str | Mapping):
        raise ConfigurationError(f"plugins: expected a list of plugins, got {entries!r}; write plugins=[...]")
    loaded: list[LoadedPlugin] = []
    names: set[str] = set()
    for entry in entries:
        plugin = _load(_as_entry(entry), options_problem)
        if plugin.name in names:
            raise PluginLoadError(
                plugin.name,
                plugin.distribution,
                "is in the list twice; name it once (two objects of one class need a 'name' each)",
            )
        names.add(plugin.name)
        loaded.append(plugin)
    return tuple(loaded)


def _as_entry(entry: Any) -> PluginEntry:
    if isinstance(entry, PluginEntry):
        return entry
    if isinstance(entry, Mapping):
        if len(entry) != 1 or not isinstance(next(iter(entry)), str):
            raise ConfigurationError(f"plugins: expected {{name: options}}, got a mapping of {len(entry)} keys")
        name, options = next(iter(entry.items()))
        if options is not None and not isinstance(options, Mapping):
            raise ConfigurationError(f"plugin '{name}': its options are a {type(options).__name__}, not a mapping")
        return PluginEntry(name, options)
    return PluginEntry(entry)


def _load(entry: PluginEntry, options_problem: OptionsProblem | None) -> LoadedPlugin:
    use = entry.use
    if isinstance(use, str):
        return _load_named(entry, use, options_problem)
    if entry.options is not None:
        raise ConfigurationError(f"plugin {use!r} is an object already; give its options where it is made")
    if inspect.isroutine(use) and hasattr(use, f"{NAME}_impl"):
        plugin: Any = FunctionPlugin(use)
        name = plugin.name
    elif inspect.isclass(use):
        raise PluginLoadError(use.__name__, None, "a class was given where an instance is meant (forgotten the ()?)")
    elif inspect.isroutine(use):
        raise PluginLoadError(
            getattr(use, "__name__", "function"), None, "a plain function is no plugin; mark it with @hookimpl"
        )
    else:
        plugin = use
        name = use.__name__ if isinstance(use, ModuleType) else _own_name(use)
    return _finish(name, plugin, None, entry)


def _own_name(plugin: Any) -> str:
    """An object's `name`, where that is a text; else what its class is called."""
    try:
        name = getattr(plugin, "name", None)
    except Exception:
        name = None
    return name if isinstance(name, str) and name else type(plugin).__name__


def _load_named(entry: PluginEntry, name: str, options_problem: OptionsProblem | None) -> LoadedPlugin:
    distribution: str | None = None
    known = any(one.name == name for one in discovery.installed())
    if known or "." not in name:
        found = discovery.find(name)
        distribution = found.distribution
        target = found.load()
    else:
        target = _import_dotted(name)
    plugin = _instance(name, distribution, target, entry.options, options_problem)
    return _finish(name, plugin, distribution, entry)


def _import_dotted(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        reason = f"the module cannot be imported: {describe_error(error)}"
        raise PluginLoadError(name, None, reason) from error


def _instance(
    name: str,
    distribution: str | None,
    target: Any,
    options: Mapping[str, Any] | None,
    options_problem: OptionsProblem | None,
) -> Any:
    """Make the plugin object: a class is called with its options, anything else is the plugin itself."""
    if not inspect.isclass(target):
        if options:
            raise takes_no_options(name, distribution, options)
        return target
    make: Callable[..., Any] = target
    model = getattr(target, "Options", None)
    try:
        if model is None:
            if options:
                raise takes_no_options(name, distribution, options)
            return make()
        return make(_validated_options(name, distribution, model, options, options_problem))
    except (ConfigurationError, KeyboardInterrupt):
        raise
    except BaseException as error:
        raise PluginLoadError(name, distribution, f"cannot be made: {describe_error(error)}") from error


def takes_no_options(name: str, distribution: str | None, options: Mapping[str, Any]) -> PluginLoadError:
    """The error for a plugin without an `Options` model that was given some."""
    return PluginLoadError(name, distribution, f"takes no options, but was given {', '.join(map(repr, options))}")


def _validated_options(
    name: str,
    distribution: str | None,
    model: Any,
    options: Mapping[str, Any] | None,
    options_problem: OptionsProblem | None,
) -> Any:
    from pydantic import ValidationError

    try:
        return model.model_validate(dict(options or {}))
    except ValidationError as error:
        if options_problem is not None:
            raise options_problem(name, error) from error
        problems = "; ".join(f"{'.'.join(map(str, one['loc']))}: {one['msg']}" for one in error.errors())
        raise PluginLoadError(name, distribution, f"bad options: {problems}") from error


def _finish(name: str, plugin: Any, distribution: str | None, entry: PluginEntry) -> LoadedPlugin:
    check_plugin(name, distribution, plugin)
    limit = entry.time_limit
    if isinstance(limit, _Unset):
        limit = getattr(plugin, "time_limit", DEFAULT_TIME_LIMIT)
    if limit is not None and (isinstance(limit, bool) or not isinstance(limit, int | float) or not limit > 0):
        reason = f"its time limit is {limit!r}; expected seconds, more than 0, or None for no limit"
        raise PluginLoadError(name, distribution, reason)
    if entry.on_error not in get_args(OnError):
        expected = ", ".join(get_args(OnError))
        raise PluginLoadError(name, distribution, f"on_error is {entry.on_error!r}; expected one of {expected}")
    return LoadedPlugin(name, plugin, distribution, entry.on_error, limit)
