from __future__ import annotations

import functools
import math
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from hookagent.errors import ToolDefinitionError
from hookagent.tools.context import ToolContext
from hookagent.tools.signature import read_signature
from hookagent.tools.tool import Tool

if TYPE_CHECKING:
    from somewhere_else import Elsewhere  # type: ignore[import-not-found]

HERE = Path(__file__).name


def timed(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        return ("timed", function(*args, **kwargs))

    return wrapper


def bare(function: Callable[..., Any]) -> Callable[..., Any]:
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        return function(*args, **kwargs)

    return wrapper


def add(a: int, b: int = 2) -> int:
    """Add."""
    return a + b


class Shop:
    class Item:
        pass

    def __init__(self) -> None:
        self.sold: list[str] = []

    def sell(self, name: str, times: int = 1) -> None:
        """Sell."""
        self.sold += [name] * times

    @classmethod
    def open(cls, day: str) -> str:
        return f"{cls.__name__} {day}"

    @staticmethod
    def price(name: str) -> int:
        return len(name)

    async def order(self, name: str) -> str:
        return name


class Adder:
    """Adds things."""

    def __call__(self, a: int, b: int = 1) -> int:
        return a + b


class AsyncAdder:
    async def __call__(self, a: int) -> int:
        return a


def names(function: Any) -> list[str]:
    return [parameter.name for parameter in read_signature(function).parameters]


async def fetch(url: str) -> str:
    return url


@pytest.mark.parametrize(
    ("function", "expected", "is_async"),
    [
        (add, ["a", "b"], False),
        (fetch, ["url"], True),
        (Shop().sell, ["name", "times"], False),
        (Shop.open, ["day"], False),
        (Shop.price, ["name"], False),
        (Shop().order, ["name"], True),
        (functools.partial(add, 1), ["b"], False),
        (functools.partial(add, b=1), ["a"], False),
        (functools.partial(functools.partial(fetch), "x"), [], True),
        (functools.partial(Shop().order), ["name"], True),
        (Adder(), ["a", "b"], False),
        (AsyncAdder(), ["a"], True),
        (timed(add), ["a", "b"], False),
        (timed(timed(add)), ["a", "b"], False),
        (functools.partial(timed(add), 1), ["b"], False),
        (functools.lru_cache(add), ["a", "b"], False),
        (math.sqrt, ["x"], False),
    ],
)
def test_every_kind_of_callable_is_read(function: Any, expected: list[str], is_async: bool) -> None:
    signature = read_signature(function)
    assert [parameter.name for parameter in signature.parameters] == expected
    assert signature.is_async is is_async


def test_the_wrapped_function_names_and_documents_and_the_outer_one_is_called() -> None:
    wrapped = timed(add)
    made = Tool.from_callable(wrapped)
    assert made.name == "add"
    assert made.description == "Add."
    assert made.parameters["properties"] == {"a": {"type": "integer"}, "b": {"type": "integer", "default": 2}}
    assert made.parameters["required"] == ["a"]
    assert made.function is wrapped
    assert "signature.add (" in made.source


def _generator(a: int) -> Iterator[int]:
    yield a


async def _async_generator(a: int) -> AsyncIterator[int]:
    yield a


def _star(name: str, *rest: str) -> None: ...
def _double(name: str, **rest: str) -> None: ...
def _elsewhere(thing: Elsewhere) -> None: ...
def _nested(thing: list[Elsewhere | None]) -> None: ...
def _broken(thing: "list[") -> None: ...  # type: ignore[valid-type]  # noqa: F722
def _umlaut(größe: int) -> None: ...


REFUSED = [
    (Shop, "a class was given", "Shop(...).method"),
    (Shop.sell, "a method without its instance", "Shop(...).sell"),
    (bare(add), "takes only *args or **kwargs", "functools.wraps"),
    (_star, "'*rest' cannot be described", "rest: list[str]"),
    (_double, "'**rest' cannot be described", "rest: dict[str, str]"),
    (_generator, "is a generator", "return a list"),
    (_async_generator, "is a generator", "return a list"),
    (print, "cannot be described", "functools.partial"),
    (min, "no signature", "wrap it in a function"),
    (_elsewhere, "'thing' names 'Elsewhere'", "TYPE_CHECKING"),
    (_nested, "'thing' names 'Elsewhere'", "TYPE_CHECKING"),
    (_broken, "type of parameter 'thing' cannot be read", "'list[str]'"),
    (_umlaut, "'größe' has a name that providers refuse", "a-z"),
    (Shop(), "cannot be called", "bound methods"),
]


@pytest.mark.parametrize(("function", "problem", "remedy"), REFUSED, ids=[row[1] for row in REFUSED])
def test_what_cannot_be_a_tool_is_refused_with_the_guess_and_the_remedy(
    function: Any, problem: str, remedy: str
) -> None:
    with pytest.raises(ToolDefinitionError) as caught:
        read_signature(function)
    text = str(caught.value)
    assert text.startswith("tool ")
    assert problem in text
    assert remedy in text
    if hasattr(function, "__code__"):
        assert f"{HERE}:" in text


def test_a_plain_function_may_have_a_parameter_named_self() -> None:
    def talk(self: str, cls: str) -> None: ...

    assert names(talk) == ["self", "cls"]


def test_types_of_the_enclosing_function_and_class_are_found() -> None:
    class Local:
        pass

    def uses(thing: Local) -> type[Local]:
        return Local

    class Owner:
        class Inner:
            pass

        def method(self, thing: Inner) -> None: ...

    assert read_signature(uses).parameters[0].annotation is Local
    assert read_signature(Owner().method).parameters[0].annotation is Owner.Inner


def _by_type(a: int, context: ToolContext) -> None: ...
def _optional(a: int, c: ToolContext | None = None) -> None: ...
def _only_by_name(agent: str, context: str, session: str, tool_context: str) -> None: ...


@pytest.mark.parametrize(
    ("function", "contexts", "parameters"),
    [
        (_by_type, ("context",), ["a"]),
        (_optional, ("c",), ["a"]),
        (_only_by_name, (), ["agent", "context", "session", "tool_context"]),
    ],
)
def test_a_context_travels_by_type_and_never_by_name(
    function: Any, contexts: tuple[str, ...], parameters: list[str]
) -> None:
    assert read_signature(function).context_names == contexts
    assert names(function) == parameters


def test_a_context_that_is_imported_for_type_checkers_only_is_known() -> None:
    space: dict[str, Any] = {}
    exec("from __future__ import annotations\ndef f(a: int, context: ToolContext | None = None): ...", space)
    assert read_signature(space["f"]).context_names == ("context",)


def _positional(a: int, b: int = 2, c: int = 3, /, d: int = 4) -> tuple[int, ...]:
    return (a, b, c, d)


def _positional_context(a: int, context: ToolContext, b: int = 2, /) -> tuple[Any, ...]:
    return (a, context, b)


@pytest.mark.parametrize(
    ("values", "result"),
    [
        ({"a": 1}, (1, 2, 3, 4)),
        ({"a": 1, "c": 7}, (1, 2, 7, 4)),
        ({"a": 1, "d": 9}, (1, 2, 3, 9)),
        ({"d": 9, "c": 8, "b": 7, "a": 6}, (6, 7, 8, 9)),
    ],
)
def test_positional_only_parameters_are_passed_by_position(values: dict[str, int], result: tuple[int, ...]) -> None:
    positional, keywords = read_signature(_positional).bind(values, ToolContext())
    assert _positional(*positional, **keywords) == result


def test_a_positional_only_context_is_passed_by_position() -> None:
    context = ToolContext()
    positional, keywords = read_signature(_positional_context).bind({"a": 1}, context)
    assert keywords == {}
    assert _positional_context(*positional) == (1, context, 2)


def test_a_partial_hides_what_it_binds() -> None:
    def search(query: str, api_key: str = "") -> str:
        return query + api_key

    made = Tool.from_callable(functools.partial(search, api_key="secret"))
    assert "secret" not in str(made.parameters)
    assert list(made.parameters["properties"]) == ["query"]
    assert made.call({"query": "q"}, ToolContext()) == "qsecret"
