"""What is known of a callable that is to be a tool: what it takes, what it says of itself, what `@tool` says.

Read once for each function and shared by all tools made from it; the function itself is never changed for this.
"""

from __future__ import annotations

import functools
import re
import weakref
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NoReturn, get_args

from hookagent.errors import ToolDefinitionError
from hookagent.tools.plain_values import plain_values
from hookagent.tools.signature import CALL, Signature, describe_source, documented, read_signature, refuse

if TYPE_CHECKING:
    from hookagent.tools.schema import Schema

Effect = Literal["reads", "writes", "runs_code", "sends"]
"""What a call can do to the world: `reads` changes nothing; `writes` changes files or data; `sends` tells somebody
else something; `runs_code` can do anything, and is what a tool counts as that says nothing."""

EFFECTS: frozenset[str] = frozenset(get_args(Effect))
MARK = "__hookagent_tool__"
"""The attribute that `@tool` leaves on a function."""

_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_WORD_START = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


@dataclass(frozen=True, slots=True)
class Marks:
    """What `@tool(...)` says about a function; None: it says nothing."""

    effect: Effect | None = None
    name: str | None = None
    description: str | None = None
    alone: bool = False
    time_limit: float | None = None


_NO_MARKS = Marks()


class Definition:
    """What is known of a function, shared by all tools made from it. Holds no reference to the function itself."""

    __slots__ = ("docstring", "marks", "name", "plain", "schema", "signature", "source")

    def __init__(self, function: Any, marks: Marks) -> None:
        self.signature: Signature = read_signature(function)
        self.plain = plain_values(self.signature.parameters)
        self.marks = marks
        self.name = _name_of(function)
        self.docstring = _docstring_of(function)
        self.source = describe_source(function)
        self.schema: Schema | None = None

    def is_of(self, function: Any, marks: Marks) -> bool:
        """Whether it still describes `function`, whose marks, name and docstring may have been set meanwhile."""
        return self.marks is marks and self.name == _name_of(function) and self.docstring is _docstring_of(function)

    def made_schema(self) -> Schema:
        """The schema, made now if it was not needed before."""
        schema = self.schema
        if schema is None:
            from hookagent.tools.schema import Schema

            schema = self.schema = Schema(self.signature, self.docstring, self.source)
        return schema


_definitions: weakref.WeakKeyDictionary[Any, dict[type, Definition]] = weakref.WeakKeyDictionary()


def definition_of(function: Any) -> Definition:
    """Return what is known of `function`, read now if it is new or was changed. Raises `ToolDefinitionError`."""
    method = getattr(function, "__func__", None)
    kind = type(function)
    if method is not None:
        key = method
    else:
        key = function if hasattr(function, "__name__") or isinstance(function, functools.partial) else kind
    marks = _marks_of(function)
    try:
        known = _definitions.setdefault(key, {})
    except TypeError:
        known = {}
    found = known.get(kind)
    if found is None or not found.is_of(function, marks):
        found = known[kind] = Definition(function, marks)
    return found


def _marks_of(function: Any) -> Marks:
    while True:
        for candidate in (function, getattr(type(function), CALL, None)):
            marks = getattr(candidate, MARK, None)
            if type(marks) is Marks:
                return marks
        if not isinstance(function, functools.partial):
            return _NO_MARKS
        function = function.func


def _name_of(function: Any) -> str:
    while isinstance(function, functools.partial):
        function = function.func
    name = getattr(function, "__name__", None)
    return name if isinstance(name, str) else _WORD_START.sub("_", type(function).__name__).lower()


def _docstring_of(function: Any) -> str | None:
    while isinstance(function, functools.partial):
        function = function.func
    own = documented(function).__doc__
    if own is None and not hasattr(function, "__name__"):
        own = type(function).__doc__
    return own if isinstance(own, str) else None


def check_marks(effect: str | None, time_limit: float | None, source: str) -> None:
    """Raise `ToolDefinitionError` for an effect that does not exist and a time limit (seconds) that is none."""
    if effect is not None and effect not in EFFECTS:
        raise ToolDefinitionError(f"tool {source}: unknown effect {effect!r}. use one of {', '.join(sorted(EFFECTS))}")
    number = isinstance(time_limit, int | float) and not isinstance(time_limit, bool)
    if time_limit is not None and not (number and time_limit > 0):
        raise ToolDefinitionError(f"tool {source}: time limit {time_limit!r} is not above zero. give seconds, or None")


def check_name(function: Any, name: str) -> None:
    """Raise `ToolDefinitionError` for a name that some provider would refuse; names are never cut or changed."""
    if not _NAME.fullmatch(name):
        _refuse_name(function, name)


def _refuse_name(function: Any, name: str) -> NoReturn:
    advice = "give it one with @tool(name=...) or Tool.from_callable(it, name=...): letters, digits, '_' and '-'"
    if name == "<lambda>":
        refuse(function, "a lambda has no name", f"write a named function, or {advice}")
    if len(name) > 64:
        refuse(function, f"name '{name}' has {len(name)} characters, more than the 64 that providers take", advice)
    refuse(function, f"name '{name}' is not one that providers take", advice)
