"""What makes an object a plugin, and the guess at the mistake where it is none."""

from __future__ import annotations

import difflib
import functools
import inspect
from collections.abc import Callable, Iterator
from typing import Any, NoReturn

from hookagent import hookspecs
from hookagent.contract import CONTRACTS, RENAMED
from hookagent.errors import PluginLoadError, describe_error
from hookagent.implementations import place_of
from hookagent.markers import NAME

_MARK = f"{NAME}_impl"


def check_plugin(name: str, distribution: str | None, plugin: Any) -> None:
    """Check every hook implementation of a plugin before it is registered.

    Raises `PluginLoadError`: an unknown hook or argument, an argument with a default, a pluggy wrapper, a
    form that the hook does not take, a hook's name without the marker, or no hook at all.
    """

    def refuse(reason: str) -> NoReturn:
        raise PluginLoadError(name, distribution, reason)

    if inspect.isclass(plugin):
        refuse("a class was given where an instance is meant (forgotten the ()?)")
    found = 0
    for attribute, function, options in _implementations(plugin, refuse):
        hook = (options or {}).get("specname") or attribute
        if options is None:
            refuse(f"'{hook}' is the name of a hook, but it is not marked with @hookimpl ({place_of(function)})")
        found += 1
        if hook not in CONTRACTS:
            if options.get("optionalhook"):
                continue
            refuse(f"unknown hook '{hook}'{_guess(hook)} ({place_of(function)})")
        _check_form(hook, function, options, refuse)
        _check_arguments(hook, function, refuse)
    if not found:
        refuse(
            "implements no hook; mark its functions with @hookimpl "
            "(an entry point names a module, a plugin class or a plugin object)"
        )


def is_computed(plugin: Any, attribute: str) -> bool:
    """Whether reading an attribute runs code of the plugin; a hook is never found that way."""
    return isinstance(inspect.getattr_static(plugin, attribute, None), property | functools.cached_property)


def _implementations(
    plugin: Any, refuse: Callable[[str], NoReturn]
) -> Iterator[tuple[str, Any, dict[str, Any] | None]]:
    for attribute in dir(plugin):
        if attribute.startswith("__") or is_computed(plugin, attribute):
            continue
        try:
            value = getattr(plugin, attribute, None)
            options = getattr(value, _MARK, None)
        except Exception as error:
            refuse(f"its attribute '{attribute}' cannot be read: {describe_error(error)}")
        if not inspect.isroutine(value):
            if isinstance(options, dict) and not inspect.isclass(value):
                refuse(f"'{attribute}' is marked with @hookimpl, but it is a {type(value).__name__}; write a function")
            continue
        if options is None and (attribute not in CONTRACTS or _is_foreign(plugin, value)):
            continue
        yield attribute, value, options if isinstance(options, dict) else None


def _is_foreign(plugin: Any, function: Any) -> bool:
    """Whether a module merely imported this function from elsewhere."""
    return inspect.ismodule(plugin) and getattr(function, "__module__", None) != plugin.__name__


def _check_form(hook: str, function: Any, options: dict[str, Any], refuse: Callable[[str], NoReturn]) -> None:
    if options.get("wrapper") or options.get("hookwrapper"):
        around = "'wrap_tool_call'" if "tool" in hook else "'wrap_model_call'"
        refuse(
            f"hook '{hook}' is a pluggy wrapper, which cannot await and can hide a neighbour's failure; "
            f"implement {around} instead ({place_of(function)})"
        )
    form = CONTRACTS[hook].form
    is_async = inspect.iscoroutinefunction(function)
    if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
        refuse(f"hook '{hook}' is a generator; write it as a plain function that returns ({place_of(function)})")
    if form == "plain" and is_async:
        refuse(f"hook '{hook}' is 'async def', but it takes plain 'def' only ({place_of(function)})")
    if form == "async" and not is_async:
        refuse(f"hook '{hook}' is plain 'def', but it takes 'async def' only ({place_of(function)})")


def _check_arguments(hook: str, function: Any, refuse: Callable[[str], NoReturn]) -> None:
    offered = tuple(inspect.signature(getattr(hookspecs, hook)).parameters)
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            refuse(f"hook '{hook}' takes '*{parameter.name}'; name the arguments it wants: {', '.join(offered)}")
        if parameter.name not in offered:
            near = difflib.get_close_matches(parameter.name, offered, 1)
            guess = f"; did you mean '{near[0]}'?" if near else ""
            refuse(
                f"hook '{hook}' has no argument '{parameter.name}'{guess} "
                f"(it offers: {', '.join(offered)}; {place_of(function)})"
            )
        if parameter.default is not parameter.empty:
            refuse(
                f"hook '{hook}': argument '{parameter.name}' has a default, so it would never be passed; "
                f"remove the default ({place_of(function)})"
            )
        if parameter.kind is parameter.KEYWORD_ONLY:
            refuse(f"hook '{hook}': argument '{parameter.name}' is keyword-only; make it an ordinary one")


def _guess(hook: str) -> str:
    if hook in RENAMED:
        return f"; here it is called '{RENAMED[hook]}'"
    near = difflib.get_close_matches(hook, list(CONTRACTS), 1)
    return f"; did you mean '{near[0]}'?" if near else f"; the hooks are: {', '.join(CONTRACTS)}"
