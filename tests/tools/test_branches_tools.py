"""Tools at their edges: annotations that are hardly ever written, docstrings of no style, values that have no JSON."""

from __future__ import annotations

import typing
from typing import Annotated, Any, NamedTuple

import pytest
from pydantic import Field

from hookagent.errors import ToolDefinitionError
from hookagent.tools.arguments import ArgumentsError
from hookagent.tools.docstrings import read_docstring
from hookagent.tools.tool import Tool


class Point(NamedTuple):
    x: int
    y: int = 0


FAR = Point(1, 2)


class Place(typing.TypedDict):
    """Where."""

    name: str
    at: Point


def test_a_parameter_with_an_alias_is_refused_wherever_the_alias_stands() -> None:
    def annotated(path: Annotated[str, Field(alias="file")]) -> str:
        return path

    def by_default(path: str = Field(validation_alias="file")) -> str:
        return path

    for function in (annotated, by_default):
        with pytest.raises(ToolDefinitionError, match=r"Field\(alias=...\) is not supported on a tool's parameter"):
            _ = Tool.from_callable(function).parameters


def test_a_typed_dict_of_this_python_is_taken_wherever_it_stands() -> None:
    def visit(first: Place, others: list[Place], last: Place | None = None) -> str:
        return f"{first['name']} {len(others)} {last}"

    tool = Tool.from_callable(visit)
    place = {"name": "home", "at": {"x": 1}}
    taken = tool.validate({"first": place, "others": [place, place]})
    assert taken["first"] == {"name": "home", "at": Point(1)}
    assert len(taken["others"]) == 2
    with pytest.raises(ArgumentsError, match=r"first\.at"):
        tool.validate({"first": {"name": "home", "at": {"x": "far"}}, "others": []})


def test_a_named_tuple_is_shown_as_an_object_and_so_is_its_default() -> None:
    def go(to: Point = FAR) -> str:
        return f"{to.x},{to.y}"

    schema = Tool.from_callable(go).parameters["properties"]["to"]
    assert schema["default"] == {"x": 1, "y": 2}
    assert (schema["type"], schema["required"], schema["additionalProperties"]) == ("object", ["x"], False)


def test_a_default_that_is_made_anew_is_filled_in() -> None:
    def count(words: Annotated[list[str], Field(default_factory=list)]) -> int:
        return len(words)

    tool = Tool.from_callable(count)
    first, second = tool.validate({}), tool.validate({})
    assert first == second == {"words": []}
    assert first["words"] is not second["words"]


def test_a_default_without_a_json_form_is_used_and_not_shown() -> None:
    thing = object()

    def use(what: Any = thing) -> bool:
        return what is thing

    tool = Tool.from_callable(use)
    assert "default" not in tool.parameters["properties"]["what"]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"n": object()}, "they are not plain JSON: "),
        ({"n": float("nan")}, "a number is not finite"),
    ],
)
def test_arguments_that_are_no_json_are_told_why(arguments: dict[str, Any], says: str) -> None:
    def count(n: Any) -> int:
        return 1

    with pytest.raises(ArgumentsError, match=says):
        Tool.from_callable(count).validate(arguments)


def test_arguments_that_hold_themselves_are_nested_too_deeply() -> None:
    def count(n: Any) -> int:
        return 1

    loop: list[Any] = []
    loop.append(loop)
    with pytest.raises(ArgumentsError, match="they are nested too deeply"):
        Tool.from_callable(count).validate({"n": loop})


def test_a_wrong_literal_is_told_what_is_expected() -> None:
    def switch(to: typing.Literal["on"]) -> str:
        return to

    with pytest.raises(ArgumentsError, match='"on"'):
        Tool.from_callable(switch).validate({"to": 3})


def test_a_tool_says_what_it_is() -> None:
    def look() -> str:
        return ""

    text = repr(Tool.from_callable(look))
    assert text.startswith("Tool('look', effect='")
    assert "test_branches_tools.py" in text


@pytest.mark.parametrize(
    ("text", "described"),
    [
        ("Look.\n\nArgs:\n    path: where\n    depth:\n", {"path": "where"}),
        ("Look.\n\nParameters\n----------\nfirst, second : int\n    Two.\n", {"first": "Two.", "second": "Two."}),
        ("   \n", {}),
    ],
)
def test_parameters_without_a_description_have_none(text: str, described: dict[str, str]) -> None:
    assert dict(read_docstring(text).parameters) == described
