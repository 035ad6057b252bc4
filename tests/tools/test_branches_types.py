"""Types of parameters that are hardly ever written, and what a model is told when it gets them wrong."""

from __future__ import annotations

import sys
import typing
from typing import Annotated, Any, Literal, NamedTuple

import docstring_parser
import pytest
import typing_extensions
from pydantic import BaseModel, BeforeValidator, Field

from hookagent.errors import ToolDefinitionError
from hookagent.tools import schema as schema_module
from hookagent.tools import validation as validation_module
from hookagent.tools.arguments import ArgumentsError
from hookagent.tools.docstrings import read_docstring
from hookagent.tools.tool import Tool


class Point(NamedTuple):
    x: int
    y: int = 0


class Portable(typing_extensions.TypedDict):
    name: str


class Tree(typing.TypedDict):
    name: str
    below: list[Tree]


class Cat(BaseModel):
    kind: Literal["cat"]


class Dog(BaseModel):
    kind: Literal["dog"]
    name: str


class Loose:
    """Nothing that JSON knows."""


def test_a_default_made_by_a_field_is_filled_in_where_the_model_leaves_it_out() -> None:
    def count(words: list[str] = Field(default_factory=list), most: int = Field(5, ge=1)) -> int:  # noqa: B008
        return len(words[:most])

    tool = Tool.from_callable(count)
    first, second = tool.validate({}), tool.validate({"most": 2})
    assert (first, second) == ({"words": [], "most": 5}, {"words": [], "most": 2})
    assert first["words"] is not second["words"]


def test_a_field_that_gets_its_default_later_has_it_all_the_same() -> None:
    words = Field(description="which ones")
    words.default = "none"

    def count(text: str = words) -> int:
        return len(text)

    tool = Tool.from_callable(count)
    assert tool.parameters["properties"]["text"]["default"] == "none"
    assert "required" not in tool.parameters
    assert (tool.validate({}), tool.validate({"text": "a"})) == ({"text": "none"}, {"text": "a"})


@pytest.mark.parametrize("default", [8, None])
def test_of_two_defaults_the_one_of_python_holds(default: Any) -> None:
    def count(most: Annotated[int, Field(7, ge=1)] = default) -> int:
        return most

    tool = Tool.from_callable(count)
    assert tool.parameters["properties"]["most"]["default"] == default
    assert tool.validate({}).get("most", default) == default
    assert tool.validate({"most": 3}) == {"most": 3}
    with pytest.raises(ArgumentsError, match="most"):
        tool.validate({"most": 0})


def test_a_portable_typed_dict_is_taken_as_it_is() -> None:
    def visit(place: Portable) -> str:
        return place["name"]

    assert Tool.from_callable(visit).validate({"place": {"name": "home"}}) == {"place": {"name": "home"}}


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="a newer Python's typed dicts are taken as they are")
def test_a_typed_dict_that_holds_others_of_its_kind_is_refused_with_what_to_use_instead() -> None:
    def plant(tree: Tree) -> str:
        return tree["name"]

    with pytest.raises(ToolDefinitionError, match=r"parameter 'tree'.* use `typing_extensions\.TypedDict` instead"):
        _ = Tool.from_callable(plant).parameters


def test_what_a_discriminator_names_stays_defined() -> None:
    def feed(pet: Annotated[Cat | Dog, Field(discriminator="kind")]) -> str:
        return pet.kind

    tool = Tool.from_callable(feed)
    pet = tool.parameters["properties"]["pet"]
    assert set(pet["discriminator"]["mapping"].values()) == {"#/$defs/Cat", "#/$defs/Dog"}
    assert set(tool.parameters["$defs"]) == {"Cat", "Dog"}
    assert tool.validate({"pet": {"kind": "dog", "name": "Rex"}}) == {"pet": Dog(kind="dog", name="Rex")}


def test_a_failure_that_no_single_parameter_has_goes_through(monkeypatch: pytest.MonkeyPatch) -> None:
    adapt = schema_module._adapt

    def refuse(parameters: Any) -> Any:
        if len(parameters) > 1:
            raise LookupError("these do not go together")
        return adapt(parameters)

    monkeypatch.setattr(schema_module, "_adapt", refuse)

    def meet(one: int, other: int) -> int:
        return one + other

    with pytest.raises(LookupError, match="these do not go together"):
        _ = Tool.from_callable(meet).parameters


def test_an_object_without_room_for_notes_is_described_each_time() -> None:
    class Slotted:
        __slots__ = ("__name__",)

        def __init__(self) -> None:
            self.__name__ = "add_one"

        def __call__(self, number: int) -> int:
            """Add one."""
            return number + 1

    tool = Tool.from_callable(Slotted())
    assert (tool.name, tool.description) == ("add_one", "Add one.")
    assert tool.validate({"number": 2}) == {"number": 2}


def test_a_name_that_is_not_bound_yet_is_not_known() -> None:
    def outer() -> Any:
        def take(thing: Later) -> str:
            return str(thing or Later)

        with pytest.raises(ToolDefinitionError, match="the type of parameter 'thing' names 'Later', which is not kn"):
            Tool.from_callable(take)

        class Later: ...

        return Tool.from_callable(take), Later

    tool, _ = outer()
    assert tool.name == "take"


def test_a_docstring_of_no_style_is_the_description(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(text: str) -> Any:
        raise docstring_parser.ParseError("no style")

    monkeypatch.setattr(docstring_parser, "parse", refuse)
    read = read_docstring("  Look.\n\n    Args:\n        path: where\n")
    assert (read.description, read.parameters) == ("Look.\n\nArgs:\n    path: where", {})


def test_an_unexpected_key_inside_a_value_is_named_without_a_guess() -> None:
    def go(to: Point, z: int = 0) -> str:
        return f"{to} {z}"

    with pytest.raises(ArgumentsError) as caught:
        Tool.from_callable(go).validate({"to": {"x": 1, "zz": 2}, "Z": 1})
    assert caught.value.problems == ("'to.zz' is not expected", "'Z' is not expected; did you mean 'z'?")


def test_texts_in_texts_are_read_only_so_deep(monkeypatch: pytest.MonkeyPatch) -> None:
    def count(rows: list[list[list[int]]]) -> int:
        return len(rows)

    tool = Tool.from_callable(count)
    nested = {"rows": '["[\\"[1]\\"]"]'}
    assert tool.validate(nested) == {"rows": [[[1]]]}
    monkeypatch.setattr(validation_module, "_MOST_ROUNDS", 2)
    with pytest.raises(ArgumentsError, match=r"rows\[0\]") as caught:
        tool.validate(nested)
    assert "should be a valid array" in caught.value.problems[0]


def test_a_value_that_a_validator_made_is_shown_by_its_type() -> None:
    def take(number: Annotated[int, BeforeValidator(lambda _: Loose())]) -> int:
        return number

    with pytest.raises(ArgumentsError) as caught:
        Tool.from_callable(take).validate({"number": 5})
    assert caught.value.problems[0].endswith("; got <Loose>")
