"""The tools of an agent by name: stable order, no two of one name, each with its owner."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from hookagent.errors import ToolDefinitionError
from hookagent.tools.signature import describe_source
from hookagent.tools.tool import Tool

_MOST_NAMES = 50


class ToolRegistry:
    """Tools in the order they were added.

    `tools` are functions, bound methods, partials, callable objects or `Tool` objects. Raises `ToolDefinitionError`
    for what cannot be a tool, and for two tools of one name.
    """

    __slots__ = ("_checked", "_owners", "_tools", "get", "tools")

    tools: tuple[Tool, ...]
    """The tools, in the order of adding; the same tuple until something is added or removed."""

    def __init__(self, tools: Iterable[Callable[..., Any] | Tool] = ()) -> None:
        self._tools: dict[str, Tool] = {}
        self.get: Callable[[str], Tool | None] = self._tools.get
        """The tool of exactly this name, or None."""
        self._owners: dict[str, str | None] = {}
        self.tools = ()
        self._checked: tuple[Tool, ...] | None = None
        offered: Any = tools
        if isinstance(offered, str) or not isinstance(offered, Iterable):
            raise ToolDefinitionError(
                f"tools: a {type(offered).__name__} was given where a list of tools is wanted. write tools=[...]"
            )
        for given in offered:
            self.add(given)

    def add(self, given: Callable[..., Any] | Tool, *, owner: str | None = None) -> Tool:
        """Add a tool and return it. `owner` is the plugin that brings it; None: the agent's own."""
        made = given if isinstance(given, Tool) else self._make(given)
        other = self._tools.get(made.name)
        if other is not None:
            raise ToolDefinitionError(
                f"tool name '{made.name}' is given twice: by {self._described(other, self._owners[made.name])} and by "
                f"{self._described(made, owner)}. give one of them another name with @tool(name=...) or "
                "Tool.from_callable(it, name=...)"
            )
        self._tools[made.name] = made
        self._owners[made.name] = owner
        self.tools = (*self.tools, made)
        return made

    def remove(self, name: str) -> Tool:
        """Take the tool `name` out and return it. Raises `KeyError` when there is none."""
        removed = self._tools.pop(name)
        del self._owners[name]
        self.tools = tuple(self._tools.values())
        return removed

    def owner(self, name: str) -> str | None:
        """The plugin that brought the tool `name`; None for the agent's own. Raises `KeyError` when there is none."""
        return self._owners[name]

    @property
    def names(self) -> tuple[str, ...]:
        """The names, in the order of adding."""
        return tuple(self._tools)

    def check(self) -> None:
        """Make the schemas that are not made yet, so that a bad one is said before anything begins.

        Raises `ToolDefinitionError` for a parameter whose type cannot be described.
        """
        tools = self.tools
        if tools is not self._checked:
            for one in tools:
                one.check()
            self._checked = tools

    def unknown_tool_text(self, name: str) -> str:
        """Say to a model that there is no tool `name`: the names there are, and the nearest. It is never run."""
        shown = name if len(name) <= 100 else f"{name[:100]}…"
        if not self._tools:
            return f"unknown tool '{shown}': there are no tools; answer without calling one"
        names = list(self._tools)
        more = f" and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
        folded = {_folded(known): known for known in reversed(names)}
        near = difflib.get_close_matches(_folded(name[:100]), folded, 1, 0.6)
        hint = f"; did you mean '{folded[near[0]]}'?" if near else ";"
        return f"unknown tool '{shown}', nothing was run{hint} the tools are: {', '.join(names[:_MOST_NAMES])}{more}"

    def __iter__(self) -> Iterator[Tool]:
        return iter(self.tools)

    def __len__(self) -> int:
        return len(self._tools)

    def __contains__(self, name: object) -> bool:
        return name in self._tools

    @staticmethod
    def _make(given: Any) -> Tool:
        if isinstance(given, str):
            raise ToolDefinitionError(
                f"tool '{given}': a name was given where a function is wanted. names stand in the configuration's "
                "'tools:' list; in Python, give the function itself"
            )
        if not callable(given):
            kind = type(given)
            methods = [name for name in dir(kind) if not name.startswith("_") and callable(getattr(kind, name))]
            advice = (
                f"give its methods one by one, as {', '.join(f'instance.{name}' for name in methods[:3])}"
                if methods and not isinstance(given, dict | list | tuple | set)
                else "give functions, bound methods, partials or callable objects"
            )
            raise ToolDefinitionError(f"tool {describe_source(given)}: it cannot be called. {advice}")
        return Tool.from_callable(given)

    @staticmethod
    def _described(made: Tool, owner: str | None) -> str:
        return f"{made.source}, plugin '{owner}'" if owner else made.source


def _folded(name: str) -> str:
    return "".join(character for character in name.lower() if character.isalnum())
