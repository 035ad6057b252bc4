"""The built-in tools by name: the sets `files` and `shell`, and each tool of them; and what a tools list may name."""

from __future__ import annotations

import difflib
import functools
import importlib
import os
from collections.abc import Mapping, Sequence
from typing import Any

from hookagent.errors import ConfigurationError, ToolDefinitionError, describe_error
from hookagent.tools.tool import Tool

BUILTIN_SETS: dict[str, tuple[str, ...]] = {
    "files": ("read_file", "write_file", "edit_file", "list_files", "search_text", "count_words"),
    "shell": ("shell",),
}
"""The names of the built-in tools, by set."""

_READING = ("read_file", "list_files", "search_text", "count_words")


def builtin_names() -> tuple[str, ...]:
    """Every name that `builtin_tools` knows: the sets, then the tools."""
    every = [name for names in BUILTIN_SETS.values() for name in names]
    return tuple(dict.fromkeys([*BUILTIN_SETS, *every]))


def builtin_tools(name: str, root: str | os.PathLike[str] | None = None) -> list[Tool]:
    """Return the tools of the built-in set `name`, or the one tool of that name.

    They work in the directory `root` (default: the working directory of now), and the file tools nowhere else.
    Raises `ConfigurationError` for a name there is none of, and on a system where they cannot work.
    """
    wanted = BUILTIN_SETS.get(name) or ((name,) if name in builtin_names() else ())
    if not wanted:
        raise ConfigurationError(f"unknown built-in tool or set '{name}'{_hint(name, builtin_names())}")
    return [_made(each, os.path.realpath(os.getcwd() if root is None else root)) for each in wanted]


@functools.lru_cache(maxsize=64)
def _made(name: str, root: str) -> Tool:
    from hookagent.tools.builtin import confined
    from hookagent.tools.builtin.confined import Root

    if not confined.SUPPORTED:
        raise ConfigurationError(
            f"tool '{name}': the built-in tools need a POSIX system, which can keep them in their directory; "
            "give functions of your own, as 'module:function'"
        )
    holder: Any
    if name == "shell":
        from hookagent.tools.builtin.shell import ShellTools

        holder = ShellTools(Root(root))
    elif name in _READING:
        from hookagent.tools.builtin.reading import ReadingTools

        holder = ReadingTools(Root(root))
    else:
        from hookagent.tools.builtin.writing import WritingTools

        holder = WritingTools(Root(root))
    return Tool.from_callable(getattr(holder, name))


def resolve_tools(
    names: Sequence[str],
    root: str | os.PathLike[str] | None = None,
    plugin_tools: Mapping[str, Tool] | None = None,
) -> list[Tool]:
    """Return the tools that a `tools:` list or `-t` names, in its order, each once.

    A name is a built-in set or tool, a tool that a plugin registered (`plugin_tools`), or "module:function", which is
    imported as Python finds it. Raises `ConfigurationError` for a name that is none of them, for an import that
    fails, and for a thing that cannot be a tool.
    """
    found: dict[str, Tool] = {}
    for name in names:
        for made in _resolved(name, root, plugin_tools or {}):
            other = found.setdefault(made.name, made)
            if other is not made and other.function != made.function:
                raise ToolDefinitionError(
                    f"tool name '{made.name}' is given twice: by {other.source} and by {made.source}. "
                    "leave one out, or give it another name with @tool(name=...)"
                )
    return list(found.values())


def _resolved(name: str, root: str | os.PathLike[str] | None, plugin_tools: Mapping[str, Tool]) -> list[Tool]:
    if name in plugin_tools:
        return [plugin_tools[name]]
    if name in builtin_names():
        return builtin_tools(name, root)
    if ":" in name:
        return [_imported(name)]
    known = [*builtin_names(), *plugin_tools]
    if "." in name and name.rpartition(".")[2].isidentifier():
        module, _, attribute = name.rpartition(".")
        raise ConfigurationError(
            f"unknown tool or set '{name}'; write a function as 'module:function': '{module}:{attribute}'"
        )
    raise ConfigurationError(f"unknown tool or set '{name}'{_hint(name, known)}")


def _imported(name: str) -> Tool:
    module_name, _, path = name.partition(":")
    if not module_name or not path:
        raise ConfigurationError(f"tool '{name}': half of it is missing; write 'module:function'")
    try:
        found: Any = importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        if error.name is not None and (module_name == error.name or module_name.startswith(f"{error.name}.")):
            raise ConfigurationError(
                f"tool '{name}': there is no module '{error.name}'; is it installed, or in the directory you are in?"
            ) from None
        raise ConfigurationError(f"tool '{name}': its module needs '{error.name}', which is not installed") from error
    except Exception as error:
        raise ConfigurationError(f"tool '{name}': importing '{module_name}' failed: {describe_error(error)}") from error
    for part in path.split("."):
        try:
            found = getattr(found, part)
        except AttributeError:
            names = [known for known in dir(found) if not known.startswith("_")]
            raise ConfigurationError(
                f"tool '{name}': '{part}' is not in '{module_name}'{_hint(part, names, listed=False)}"
            ) from None
    return Tool.from_callable(found)


def _hint(name: str, known: Sequence[str], *, listed: bool = True) -> str:
    near = difflib.get_close_matches(name, known, 1, 0.6)
    if near:
        return f"; did you mean '{near[0]}'?"
    return f"; there are: {', '.join(known)}, or 'module:function'" if listed else ""
