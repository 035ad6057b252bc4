"""What a callable takes: parameters with resolved annotations, checked at once when a tool is made.

Nothing here needs pydantic: an agent made of functions stays cheap, and a mistake is still told early.
"""

from __future__ import annotations

import functools
import inspect
import re
import types
import typing
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, Final, NoReturn

from hookagent.errors import ToolDefinitionError, describe_error
from hookagent.tools.context import ToolContext

EMPTY: Final = inspect.Parameter.empty
_KEY = re.compile(r"[a-zA-Z0-9_]{1,64}")
_UNIONS = (typing.Union, types.UnionType)
CALL: Final = "__call__"
_PLAIN = (types.FunctionType, types.MethodType, types.BuiltinFunctionType, functools.partial)


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter: `annotation` is resolved (`EMPTY`: none given), `default` is `EMPTY` where one must be given."""

    name: str
    annotation: Any
    default: Any

    @property
    def field(self) -> Any:
        """The pydantic `Field(...)` that stands as the default, or None."""
        return self.default if type(self.default).__module__ == "pydantic.fields" else None


@dataclass(frozen=True, slots=True)
class Signature:
    """What a callable takes: what the model fills in, and the names that the loop fills with a `ToolContext`."""

    parameters: tuple[Parameter, ...]
    context_names: tuple[str, ...]
    order: tuple[str, ...]
    """All names in the order of the signature up to the last positional-only one, contexts included."""
    is_async: bool

    def bind(self, values: dict[str, Any], context: ToolContext) -> tuple[list[Any], dict[str, Any]]:
        """Turn validated `values` into what the callable is called with; defaults left out stay left out."""
        keywords = dict(values)
        for name in self.context_names:
            keywords[name] = context
        if not self.order:
            return [], keywords
        last = max((place for place, name in enumerate(self.order) if name in keywords), default=-1)
        defaults = {parameter.name: parameter.default for parameter in self.parameters}
        positional = [keywords.pop(name) if name in keywords else defaults[name] for name in self.order[: last + 1]]
        return positional, keywords


def documented(function: Any) -> Any:
    """Return the callable that names, types and texts are read from: below partials, methods and decorators."""
    while True:
        if isinstance(function, functools.partial):
            function = function.func
        elif hasattr(function, "__wrapped__"):
            function = inspect.unwrap(function)
        elif isinstance(function, types.MethodType):
            function = function.__func__
        elif isinstance(function, (*_PLAIN, type)) or not _calls_python(function):
            return function
        else:
            function = getattr(type(function), CALL)


def _calls_python(function: Any) -> bool:
    return isinstance(getattr(type(function), CALL, None), types.FunctionType)


def describe_source(function: Any) -> str:
    """Say where a callable comes from: "module.name (file:line)", without file and line for built-ins."""
    inner = documented(function)
    if not hasattr(inner, "__qualname__"):
        inner = type(function)
    name = f"{getattr(inner, '__module__', None) or '?'}.{getattr(inner, '__qualname__', '?')}"
    code = getattr(inner, "__code__", None)
    return f"{name} ({code.co_filename}:{code.co_firstlineno})" if code is not None else name


def refuse(function: Any, problem: str, remedy: str) -> NoReturn:
    """Raise `ToolDefinitionError`: the culprit, its place, the problem, the remedy."""
    raise ToolDefinitionError(f"tool {describe_source(function)}: {problem}. {remedy}")


def read_signature(function: Callable[..., Any]) -> Signature:
    """Read what `function` takes.

    Any function, coroutine function, bound method, `functools.partial` or callable object will do; arguments that a
    partial binds belong to its author and are not shown. Raises `ToolDefinitionError` with the guessed mistake and
    the remedy for everything else.
    """
    inner = documented(function)
    _check_kind(function, inner)
    try:
        found = inspect.signature(function)
    except (ValueError, TypeError):
        refuse(function, "has no signature that can be read", "wrap it in a function with named parameters")
    owner = getattr(function, "__self__", None)
    bound = _bound_keywords(function)
    parameters: list[Parameter] = []
    contexts: list[str] = []
    order: list[str] = []
    names: list[str] = []
    for given in found.parameters.values():
        if given.name in bound:
            continue
        if given.kind is given.VAR_POSITIONAL or given.kind is given.VAR_KEYWORD:
            _refuse_variable(function, list(found.parameters.values()), given)
        annotation = given.annotation
        if annotation is not EMPTY and (type(annotation) is not type or annotation is ToolContext):
            annotation = _resolve(function, inner, owner, given.name, annotation)
        names.append(given.name)
        if given.kind is given.POSITIONAL_ONLY:
            order = list(names)
        if _is_context(annotation):
            contexts.append(given.name)
            continue
        if not _KEY.fullmatch(given.name):
            refuse(
                function,
                f"parameter '{given.name}' has a name that providers refuse",
                "use at most 64 of the characters a-z, A-Z, 0-9 and _",
            )
        parameters.append(Parameter(given.name, annotation, given.default))
    return Signature(tuple(parameters), tuple(contexts), tuple(order), _is_async(function))


def _check_kind(function: Any, inner: Any) -> None:
    if isinstance(function, type):
        refuse(
            function,
            f"a class was given where a function is wanted: '{function.__name__}'",
            f"give a bound method of an instance, as {function.__name__}(...).method, or a plain function",
        )
    if not callable(function):
        raise ToolDefinitionError(
            f"tool {describe_source(function)}: an object that cannot be called was given. "
            "give a function, or the object's bound methods one by one"
        )
    outer = getattr(type(function), CALL, None) if not isinstance(function, _PLAIN) else function
    for candidate in (outer, inner):
        if inspect.isgeneratorfunction(candidate) or inspect.isasyncgenfunction(candidate):
            refuse(function, "it is a generator (it uses 'yield')", "collect the values and return a list or a text")
    if not isinstance(function, types.FunctionType):
        return
    code = function.__code__
    if code.co_argcount == 0 or code.co_varnames[0] not in ("self", "cls"):
        return
    outer_name = function.__qualname__.rpartition(".")[0]
    if outer_name and not outer_name.endswith("<locals>"):
        owner_name = outer_name.rpartition(".")[2]
        refuse(
            function,
            f"it is a method without its instance (its first parameter is '{code.co_varnames[0]}')",
            f"make an instance and give its bound method, as {owner_name}(...).{function.__name__}",
        )


def _bound_keywords(function: Any) -> set[str]:
    names: set[str] = set()
    while isinstance(function, functools.partial):
        names.update(function.keywords)
        function = function.func
    return names


def _refuse_variable(function: Any, every: list[inspect.Parameter], given: inspect.Parameter) -> NoReturn:
    variable = {given.VAR_POSITIONAL, given.VAR_KEYWORD}
    if all(parameter.kind in variable for parameter in every):
        refuse(
            function,
            "its parameters are unknown: it takes only *args or **kwargs, as a decorator's wrapper does",
            "put @functools.wraps(function) on the wrapper, or name the parameters",
        )
    stars = "*" if given.kind is given.VAR_POSITIONAL else "**"
    instead = f"{given.name}: list[str]" if stars == "*" else f"{given.name}: dict[str, str]"
    refuse(
        function,
        f"parameter '{stars}{given.name}' cannot be described to a model",
        f"use a parameter with a name and a type, as '{instead}', or bind the rest with functools.partial",
    )


def _resolve(function: Any, inner: Any, owner: Any, name: str, annotation: Any) -> Any:
    space = getattr(inner, "__globals__", {})
    local: dict[str, Any] = {}
    if owner is None and not isinstance(function, _PLAIN):
        owner = function
    if owner is not None:
        for base in reversed((owner if isinstance(owner, type) else type(owner)).__mro__[:-1]):
            local.update((key, value) for key, value in vars(base).items() if isinstance(value, type))
    code = getattr(inner, "__code__", None)
    if code is not None and inner.__closure__:
        for key, cell in zip(code.co_freevars, inner.__closure__, strict=True):
            try:
                local[key] = cell.cell_contents
            except ValueError:
                continue
    if "ToolContext" not in space:
        # Often imported under TYPE_CHECKING only.
        local.setdefault("ToolContext", ToolContext)
    holder = types.SimpleNamespace(__annotations__={name: annotation})
    try:
        return typing.get_type_hints(holder, space, local, include_extras=True)[name]
    except NameError as error:
        refuse(
            function,
            f"the type of parameter '{name}' names '{error.name}', which is not known where the function was defined",
            "import it at the module's top level (not under 'if TYPE_CHECKING:' and not inside a function)",
        )
    except Exception as error:
        refuse(
            function,
            f"the type of parameter '{name}' cannot be read ({describe_error(error)})",
            "write a type there, as 'str', 'int | None' or 'list[str]'",
        )


def _is_context(annotation: Any) -> bool:
    if isinstance(annotation, type):
        return issubclass(annotation, ToolContext)
    origin = typing.get_origin(annotation)
    if origin is Annotated:
        return _is_context(typing.get_args(annotation)[0])
    if origin in _UNIONS:
        rest = [part for part in typing.get_args(annotation) if part is not type(None)]
        return len(rest) == 1 and _is_context(rest[0])
    return False


def _is_async(function: Any) -> bool:
    while isinstance(function, functools.partial):
        function = function.func
    if inspect.iscoroutinefunction(function):
        return True
    return not isinstance(function, _PLAIN) and inspect.iscoroutinefunction(getattr(type(function), CALL, None))
