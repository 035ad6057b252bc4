"""Schemas of answers, as the vendors' structured output takes them."""

from __future__ import annotations

from dataclasses import replace
from enum import Enum
from typing import Any, Literal

import pytest
from pydantic import BaseModel, ConfigDict, Field, RootModel

from hookagent.frozen import freeze
from hookagent.providers.json_schema import closed_schema, takes_strict


class Colour(Enum):
    RED = "red"
    BLUE = "blue"


class Inner(BaseModel):
    model_config = ConfigDict(extra="forbid")
    colour: Colour = Field(Colour.RED, description="which one")
    note: str | None = None


class Answer(BaseModel):
    inner: Inner = Field(description="the first")
    more: list[Inner] = []
    default: int = 3
    deep: Answer | None = None


class Cat(BaseModel):
    kind: Literal["cat"]


class Dog(BaseModel):
    kind: Literal["dog"]


class Pet(BaseModel):
    pet: Cat | Dog = Field(discriminator="kind")


class Pair(BaseModel):
    pair: tuple[int, str]


class Free(BaseModel):
    table: dict[str, int]


class Open(BaseModel):
    model_config = ConfigDict(extra="allow")
    n: int


def objects_in(value: Any) -> list[dict[str, Any]]:
    """Every mapping in a schema that is a schema of an object."""
    if isinstance(value, list):
        return [found for one in value for found in objects_in(one)]
    if not isinstance(value, dict):
        return []
    own = [value] if value.get("type") == "object" else []
    return [*own, *(found for one in value.values() for found in objects_in(one))]


def references_in(value: Any) -> list[dict[str, Any]]:
    if isinstance(value, list):
        return [found for one in value for found in references_in(one)]
    if not isinstance(value, dict):
        return []
    own = [value] if "$ref" in value else []
    return [*own, *(found for one in value.values() for found in references_in(one))]


@pytest.mark.parametrize("model", [Inner])
def test_a_strict_schema_closes_every_object_and_requires_every_property(model: type[BaseModel]) -> None:
    assert_strict(model.model_json_schema())


def assert_strict(schema: dict[str, Any]) -> None:
    assert takes_strict(schema)
    closed = closed_schema(freeze(schema), all_required=True)
    assert objects_in(closed)
    for one in objects_in(closed):
        assert one["additionalProperties"] is False
        assert one["required"] == list(one["properties"])
    assert all(list(one) == ["$ref"] for one in references_in(closed))


def test_a_model_in_a_model_is_strict_with_its_descriptions() -> None:
    schema = Answer.model_json_schema()
    # A model that holds itself is a reference at the root, which strict mode does not take.
    assert not takes_strict(schema)
    schema = {**schema["$defs"]["Answer"], "$defs": schema["$defs"]}
    assert_strict(schema)
    closed = closed_schema(schema, all_required=True)
    assert closed["properties"]["inner"] == {"anyOf": [{"$ref": "#/$defs/Inner"}], "description": "the first"}
    assert closed["properties"]["default"] == {"title": "Default", "type": "integer"}


@pytest.mark.parametrize("model", [Pet, Pair, Free, Open, RootModel[list[int]], RootModel[Cat | Dog]])
def test_what_strict_mode_does_not_know_is_sent_without_it(
    model: type[BaseModel], wires: Any, make_request: Any
) -> None:
    schema = model.model_json_schema()
    assert not takes_strict(schema)
    request = replace(make_request("hi"), output_schema=freeze(schema), output_name="Answer")
    form = wires["openai"].body(request)["text"]["format"]
    assert (form["strict"], form["schema"]) == (False, schema)
    form = wires["openai-chat"].body(request)["response_format"]["json_schema"]
    assert (form["strict"], form["schema"]) == (False, schema)


def test_tools_are_never_strict_by_omission(wires: Any, make_request: Any, tool: Any) -> None:
    """A Responses request makes a schema strict where nothing is said, and every argument required with it."""
    request = make_request("hi", tools=(tool("look", path="string"),))
    for name in ("openai", "openai-chat"):
        wires[name].check_kit({**wires[name].body(request), "stream": True})
    (sent,) = wires["openai"].body(request)["tools"]
    assert sent["strict"] is False
    (sent,) = wires["openai-chat"].body(request)["tools"]
    assert sent["function"].get("strict", False) is False
