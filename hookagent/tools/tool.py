"""A tool: something that a model can call, with its name, its description, its parameters and what it does.

Made from any callable, without changing it. The signature is checked at once; JSON schema and validator are made
when first needed and shared by all tools made from the same function.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar, overload

from hookagent.frozen import FrozenDict
from hookagent.tools.context import ToolContext
from hookagent.tools.definition import MARK, Definition, Effect, Marks, check_marks, check_name, definition_of
from hookagent.tools.signature import describe_source, refuse

_FunctionT = TypeVar("_FunctionT", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class Tool:
    """Something a model can call. Make it with `Tool.from_callable`, or give the function itself to the agent.

    Attributes: `function` (what is called), `name` (letters, digits, `_` and `-`, at most 64), `effect`
    (see `Effect`), `alone` (asks to run with no other call beside it), `time_limit` (seconds, or None for no limit).
    """

    function: Callable[..., Any]
    name: str
    effect: Effect
    alone: bool
    time_limit: float | None
    _description: str | None
    _definition: Definition
    is_async: bool = field(init=False)
    """Whether it runs in the event loop; a plain function runs in a thread."""
    _by_name: bool = field(init=False)

    def __post_init__(self) -> None:
        # Asked several times for each call, so they are looked up once.
        signature = self._definition.signature
        object.__setattr__(self, "is_async", signature.is_async)
        object.__setattr__(self, "_by_name", not signature.order and not signature.context_names)

    @classmethod
    def from_callable(
        cls,
        function: Callable[..., Any] | Tool,
        *,
        name: str | None = None,
        description: str | None = None,
        effect: Effect | None = None,
        alone: bool | None = None,
        time_limit: float | None = None,
    ) -> Tool:
        """Make a tool of a function, coroutine function, bound method, `functools.partial` or callable object.

        What is given here wins over what `@tool(...)` says, and that over the function's own name and docstring.
        Raises `ToolDefinitionError`, which names the callable, its file and line, the guessed mistake and the remedy.
        """
        if isinstance(function, Tool):
            made = function
        else:
            definition = definition_of(function)
            marks = definition.marks
            made = cls(
                function,
                marks.name or definition.name,
                marks.effect or "runs_code",
                marks.alone,
                marks.time_limit,
                marks.description,
                definition,
            )
        if not (name is None and description is None and effect is None and alone is None and time_limit is None):
            check_marks(effect, time_limit, made.source)
            made = replace(
                made,
                name=made.name if name is None else name,
                effect=effect or made.effect,
                alone=made.alone if alone is None else alone,
                time_limit=made.time_limit if time_limit is None else time_limit,
                _description=made._description if description is None else description,
            )
        check_name(made.function, made.name)
        return made

    @property
    def description(self) -> str:
        """What the tool does, for the model: as given, else the docstring without its parameter sections."""
        given = self._description
        return self._definition.made_schema().description if given is None else given

    @property
    def parameters(self) -> FrozenDict:
        """The JSON schema (2020-12) of the arguments: a frozen object schema that allows no other keys.

        Raises `ToolDefinitionError` when a parameter's type cannot be described.
        """
        return self._definition.made_schema().parameters

    @property
    def expected(self) -> str:
        """What the arguments are to be, in one line for the model: names, types, what is required, defaults."""
        return self._definition.made_schema().expected

    @property
    def source(self) -> str:
        """Where it comes from: "module.function (file:line)"."""
        return self._definition.source

    def validate(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Turn plain JSON values into what the function takes, by parameter name; defaults are not filled in.

        Raises `ArgumentsError` with every problem and what was expected.
        """
        definition = self._definition
        if definition.plain is not None:
            values = definition.plain.taken(arguments)
            if values is not None:
                return values
        return definition.made_schema().validate(self.name, arguments)

    def check(self) -> None:
        """Raise `ToolDefinitionError` when a parameter's type cannot be described; plain types always can."""
        if self._definition.plain is None:
            self._definition.made_schema()

    def call(self, values: dict[str, Any], context: ToolContext) -> Any:
        """Call the function with validated `values`, and with `context` where one is asked for.

        Of an async tool, this gives what is to be awaited.
        """
        if self._by_name:
            return self.function(**values)
        positional, keywords = self._definition.signature.bind(values, context)
        return self.function(*positional, **keywords)

    def __repr__(self) -> str:
        return f"Tool({self.name!r}, effect={self.effect!r}, source={self.source!r})"


@overload
def tool(function: _FunctionT, /) -> _FunctionT: ...
@overload
def tool(
    *,
    effect: Effect | None = None,
    name: str | None = None,
    description: str | None = None,
    alone: bool = False,
    time_limit: float | None = None,
) -> Callable[[_FunctionT], _FunctionT]: ...
def tool(
    function: Any = None,
    /,
    *,
    effect: Effect | None = None,
    name: str | None = None,
    description: str | None = None,
    alone: bool = False,
    time_limit: float | None = None,
) -> Any:
    """Say what a function is as a tool; it stays the same function. For functions and methods, bare or with arguments.

    `effect` is what a call can do (see `Effect`; without it the tool counts as running code), `alone` asks that no
    other call runs beside it, `time_limit` is in seconds. Raises `ToolDefinitionError` for a bad value.
    """
    marks = Marks(effect, name, description, alone, time_limit)

    def mark(marked: Any) -> Any:
        if isinstance(marked, type):
            refuse(marked, "@tool stands on a class", "put it on the methods, and give bound methods of an instance")
        source = describe_source(marked)
        check_marks(effect, time_limit, source)
        if name is not None:
            check_name(marked, name)
        target = getattr(marked, "__func__", marked) if isinstance(marked, staticmethod | classmethod) else marked
        try:
            setattr(target, MARK, marks)
        except (AttributeError, TypeError):
            refuse(marked, "@tool cannot mark this kind of object", "use Tool.from_callable(it, effect=..., name=...)")
        return marked

    return mark if function is None else mark(function)
