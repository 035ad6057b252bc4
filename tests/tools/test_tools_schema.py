"""What is shown of a parameter, what stays out of the schema, and what cannot be described."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal, Optional

import pytest
from pydantic import BaseModel, Field

from hookagent.errors import ToolDefinitionError
from hookagent.tools.arguments import ArgumentsError
from hookagent.tools.context import ToolContext
from hookagent.tools.tool import Tool

INTEGER, STRING = {"type": "integer"}, {"type": "string"}
NULL = {"type": "null"}
WALLET = {"type": "object", "properties": {"id": INTEGER}, "required": ["id"]}


class Wallet(BaseModel):
    id: int


class Tree(BaseModel):
    name: str
    children: list[Tree] = []


class Unfit:
    pass


def plain(text: str, count: int = 3) -> str:
    return ""


def test_a_parameter_named_title_stays() -> None:
    def rename(title: str) -> str:
        return title

    assert Tool.from_callable(rename).parameters["properties"] == {"title": STRING}


def test_postponed_annotations_are_read_in_the_functions_own_namespace() -> None:
    def pay(w: Wallet, mode: Optional[Literal["a", "b"]] = None) -> str:  # noqa: UP045
        return f"{w.id}{mode}"

    made = Tool.from_callable(pay)
    assert made.parameters["properties"]["w"]["properties"] == {"id": INTEGER}
    assert made.parameters["properties"]["mode"]["anyOf"] == [{"type": "string", "enum": ["a", "b"]}, NULL]
    assert made.validate({"w": {"id": 1}}) == {"w": Wallet(id=1)}


def test_a_recursive_model_keeps_its_definition() -> None:
    def plant(tree: Tree) -> str:
        return tree.name

    made = Tool.from_callable(plant)
    assert made.parameters["properties"]["tree"] == {"$ref": "#/$defs/Tree"}
    assert "Tree" in made.parameters["$defs"]
    tree = made.validate({"tree": {"name": "a", "children": [{"name": "b"}]}})["tree"]
    assert tree.children[0].name == "b"


def test_a_model_used_twice_keeps_its_definition() -> None:
    def move(source: Wallet, target: Wallet) -> str:
        return ""

    assert Tool.from_callable(move).parameters["$defs"] == {"Wallet": WALLET}


def test_a_tool_context_is_not_in_the_schema() -> None:
    def with_context(a: int, context: ToolContext, call: ToolContext | None = None) -> str:
        return ""

    assert list(Tool.from_callable(with_context).parameters["properties"]) == ["a"]


def test_a_type_that_json_cannot_carry_is_an_error_that_names_the_parameter() -> None:
    def bad(a: int, when: Unfit, call: Callable[[], int] = int) -> str:
        return ""

    with pytest.raises(ToolDefinitionError) as caught:
        _ = Tool.from_callable(bad).parameters
    text = str(caught.value)
    assert "bad (" in text
    assert f"{Path(__file__).name}:" in text
    assert "parameter 'when'" in text
    assert "functools.partial" in text


@pytest.mark.parametrize("default", [object(), float("nan"), "x" * 10_000, {1, 2}, b"\xff"])
def test_a_default_that_cannot_be_shown_is_still_a_default(default: Any) -> None:
    def f(a: Any = default) -> str:
        return ""

    made = Tool.from_callable(f)
    json.dumps(made.parameters, allow_nan=False)
    assert made.validate({}) == {}


def test_a_parameter_that_gives_a_factory_is_filled_in() -> None:
    def f(a: list[int] = Field(default_factory=lambda: [1])) -> list[int]:  # noqa: B008 - what is tested
        return a

    made = Tool.from_callable(f)
    first, second = made.validate({}), made.validate({})
    assert first == {"a": [1]}
    assert first["a"] is not second["a"]


def test_the_schema_is_made_once_and_is_frozen() -> None:
    made = Tool.from_callable(plain)
    assert made.parameters is Tool.from_callable(plain).parameters
    with pytest.raises(TypeError, match="frozen"):
        made.parameters["type"] = "array"


def test_none_is_refused_where_the_type_has_none_and_the_default_is_another() -> None:
    with pytest.raises(ArgumentsError, match="'count' should be a valid integer; got null"):
        Tool.from_callable(plain).validate({"text": "", "count": None})
