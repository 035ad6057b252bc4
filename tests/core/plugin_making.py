"""Plugins made of a few functions, for tests that need one hook and not all."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hookagent import hookimpl


class Made:
    """A plugin whose hooks are set from outside."""

    def __init__(self, name: str) -> None:
        self.name = name


def made(plugin_name: str, /, **hooks: Callable[..., Any]) -> Any:
    """A plugin called `plugin_name`; each keyword is a hook, its value a function of that hook's arguments."""
    plugin = Made(plugin_name)
    for hook, function in hooks.items():
        setattr(plugin, hook, hookimpl(specname=hook)(function))
    return plugin


def plugin_with(**attributes: Any) -> Any:
    """A plugin called 'tested' of a class of its own, with these attributes on the class."""
    return type("Tested", (), {"name": "tested", **attributes})()


def hook(function: Any, **options: Any) -> Any:
    """Mark a function as a hook."""
    return hookimpl(**options)(function) if options else hookimpl(function)


class Around:
    """A plugin with one around hook, made of a function of (given, call_next)."""

    def __init__(
        self, name: str, tool: Callable[..., Any] | None = None, model: Callable[..., Any] | None = None
    ) -> None:
        self.name = name
        if tool is not None:

            async def wrap_tool_call(tool_call: Any, call_next: Any) -> Any:
                return await tool(tool_call, call_next)

            self.wrap_tool_call = hookimpl(wrap_tool_call)
        if model is not None:

            async def wrap_model_call(request: Any, call_next: Any) -> Any:
                return await model(request, call_next)

            self.wrap_model_call = hookimpl(wrap_model_call)
