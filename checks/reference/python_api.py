"""docs/reference/python.md: the public names, with signatures and docstrings."""

from __future__ import annotations

import dataclasses
import enum
import inspect
import types
import typing
from collections.abc import Iterator
from importlib import import_module
from typing import Any

from pydantic import BaseModel

import hookagent
from checks.reference.markdown import anchor, code, doc, linked, signature, table
from hookagent.events import Event

_MODULES = {
    "hookagent": "What most programs need.",
    "hookagent.testing": "The kit for tests of agents and plugins.",
    "hookagent.providers": "The models, and what a provider of your own must be.",
    "hookagent.config": "Reading a configuration from Python.",
}


_VALUES = {
    "hookimpl": (
        "Marks a function as the implementation of the hook of its name. Bare, or with arguments: `specname=` (the\n"
        "hook's name, where the function has another one), `tryfirst=True` and `trylast=True` (before or behind the\n"
        "other plugins, whatever the list says), `optionalhook=True` (no error where this version knows no such hook)."
    ),
    "RULES": "The rules that the checkers of requests know: each id, and what it asks of a request.",
}
"""What is said of public values, which have no docstring of their own."""
_EVENTS = typing.get_args(Event)


def page() -> str:
    """The text of the page."""
    parts = ["# Python\n", "The public names. Whatever is not here may change without notice.\n"]
    for module, what in _MODULES.items():
        found = import_module(module)
        names = [name for name in found.__all__ if getattr(found, name) not in _EVENTS]
        parts += [f"## {module}\n", f"{what}\n", _index(module, names, found.__all__)]
        parts += [_section(module, name, getattr(found, name)) for name in names]
    return "\n".join(parts)


def _index(module: str, names: list[str], every: list[str]) -> str:
    seen: dict[str, int] = {}
    links = []
    for name in names:
        # Two headings that differ in case only get the same anchor, and the second one a number.
        place = anchor(f"{module}.{name}")
        number = seen[place] = seen.get(place, -1) + 1
        links.append(f"[`{name}`](#{place}{f'-{number}' if number else ''})")
    text = ", ".join(links) + "\n"
    return text if len(names) == len(every) else f"{text}\nThe events are described on [their own page](events.md).\n"


def _section(module: str, name: str, value: Any) -> str:
    heading = f"### {module}.{name}\n"
    if isinstance(value, type) and issubclass(value, BaseException):
        return "\n".join([heading, doc(value) + "\n"])
    if isinstance(value, type) and issubclass(value, BaseModel):
        fields = "Its fields are the keys of [the configuration](config.md)."
        return "\n".join([heading, doc(value) + "\n", fields + "\n"])
    if isinstance(value, type):
        return "\n".join([heading, *_class(name, value)])
    if inspect.isroutine(value):
        word = "async def " if inspect.iscoroutinefunction(value) else "def "
        return "\n".join([heading, code(word + signature(name, value)), doc(value) + "\n"])
    return "\n".join([heading, _other(name, value) + "\n"])


def _other(name: str, value: Any) -> str:
    if isinstance(value, types.UnionType) or typing.get_origin(value) is not None:
        members = ", ".join(f"`{getattr(one, '__name__', one)}`" for one in typing.get_args(value))
        return f"One of: {members}."
    return _VALUES[name]


def _class(name: str, value: type) -> Iterator[str]:
    if issubclass(value, enum.Enum):
        yield f"{doc(value)}\n\nOne of: {', '.join(f'`{name}.{member.name}`' for member in value)}.\n"
        return
    if not typing.is_typeddict(value) and not getattr(value, "_is_protocol", False):
        yield code(f"class {signature(name, value)}".removesuffix(" -> None"))
    yield doc(value) + "\n"
    rows = list(_properties(value))
    if rows:
        yield table(("attribute", "meaning"), rows)
    for method, function in _methods(value):
        raw = inspect.getattr_static(value, method)
        bound = not isinstance(raw, staticmethod)
        inner = raw.__func__ if isinstance(raw, classmethod | staticmethod) else function
        word = "async def " if inspect.iscoroutinefunction(inner) else "def "
        yield f"**`{name}.{method}`**\n"
        yield code(word + signature(method, inner, bound=bound))
        yield doc(inner) + "\n"


def _members(value: type) -> Iterator[tuple[str, Any]]:
    """What a class has of its own and of those of our classes that it is split into, which no reader can name."""
    seen: set[str] = set()
    for one in value.__mro__:
        if one is value or (one.__module__.startswith("hookagent.") and one.__name__ not in hookagent.__all__):
            yield from ((name, member) for name, member in vars(one).items() if name not in seen)
            seen.update(vars(one))


def _properties(value: type) -> Iterator[tuple[str, str]]:
    for name, member in _members(value):
        if isinstance(member, property) and not name.startswith("_") and member.__doc__:
            yield f"`{name}`", linked(" ".join(member.__doc__.split()))


def _methods(value: type) -> Iterator[tuple[str, Any]]:
    generated = {"_asdict", "_replace", "_make"} if hasattr(value, "_fields") else set()
    inherited = set(dir(dataclasses)) | generated
    for name, member in _members(value):
        inner = member.__func__ if isinstance(member, classmethod | staticmethod) else member
        if not name.startswith("_") and inspect.isfunction(inner) and _is_for_readers(inner) and name not in inherited:
            yield name, inner


def _is_for_readers(function: Any) -> bool:
    text = function.__doc__ or ""
    return bool(text) and not text.startswith("For the loop:")
