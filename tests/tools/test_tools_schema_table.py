"""Signatures and what becomes of them: the schema a model sees, and what the function gets."""

from __future__ import annotations

import dataclasses
import datetime
import enum
import json
from collections.abc import Callable, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, NotRequired, Optional, TypedDict
from uuid import UUID

import pytest
from pydantic import BaseModel, Field

from hookagent.tools.tool import Tool


class Wallet(BaseModel):
    id: int


@dataclasses.dataclass
class Edit:
    old: str
    new: str = ""


class Tags(TypedDict):
    tags: list[str]
    note: NotRequired[str]


class Point(NamedTuple):
    x: int
    y: int = 0


class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"


def no_parameters() -> str:
    return ""


def plain(text: str, count: int, share: float, sure: bool) -> str:
    return ""


def defaults(text: str = "a", count: int = 3, colour: Colour = Colour.RED, size: tuple[int, int] = (1, 2)) -> str:
    return ""


def optionals(a: Optional[int], b: int | None = None, c: str = None) -> str:  # type: ignore[assignment]  # noqa: RUF013, UP045
    return ""


def choices(mode: Literal["a", "b"], colour: Colour, either: int | list[str]) -> str:
    return ""


def containers(
    names: list[str], counts: dict[str, int], pair: tuple[int, str], unique: set[int], more: Sequence[Wallet]
) -> str:
    return ""


def records(wallet: Wallet, edit: Edit, cfg: Tags, point: Point) -> str:
    return ""


def values(day: datetime.date, when: datetime.datetime, price: Decimal, id: UUID, path: Path, data: bytes) -> str:
    return ""


def untyped(anything, other=5):  # type: ignore[no-untyped-def]
    return ""


def described(
    a: Annotated[int, Field(ge=1, description="how many")],
    b: int = Field(default=4, le=9, description="how far"),
) -> str:
    return ""


def likely_names(agent: Literal["a", "b"], context: str, session: int, name: str, config: str, state: str) -> str:
    return ""


def odd_names(self: str, model_config: int, _hidden: str, schema: str, json: str) -> str:
    return ""


INTEGER, STRING = {"type": "integer"}, {"type": "string"}
NULL = {"type": "null"}
COLOURS = {"type": "string", "enum": ["red", "blue"]}
WALLET = {"type": "object", "properties": {"id": INTEGER}, "required": ["id"]}
TABLE: list[tuple[Callable[..., Any], dict[str, Any], list[str], dict[str, Any], dict[str, Any]]] = [
    (no_parameters, {}, [], {}, {}),
    (
        plain,
        {"text": STRING, "count": INTEGER, "share": {"type": "number"}, "sure": {"type": "boolean"}},
        ["text", "count", "share", "sure"],
        {"text": "a", "count": "3", "share": 1, "sure": "true"},
        {"text": "a", "count": 3, "share": 1.0, "sure": True},
    ),
    (
        defaults,
        {
            "text": {**STRING, "default": "a"},
            "count": {**INTEGER, "default": 3},
            "colour": {**COLOURS, "default": "red"},
            "size": {
                "type": "array",
                "prefixItems": [INTEGER, INTEGER],
                "minItems": 2,
                "maxItems": 2,
                "default": [1, 2],
            },
        },
        [],
        {"colour": "blue", "size": [3, 4]},
        {"colour": Colour.BLUE, "size": (3, 4)},
    ),
    (
        optionals,
        {
            "a": {"anyOf": [INTEGER, NULL]},
            "b": {"anyOf": [INTEGER, NULL], "default": None},
            "c": {"anyOf": [STRING, NULL], "default": None},
        },
        ["a"],
        {"a": None, "c": None},
        {"a": None, "c": None},
    ),
    (
        choices,
        {
            "mode": {"type": "string", "enum": ["a", "b"]},
            "colour": COLOURS,
            "either": {"anyOf": [INTEGER, {"type": "array", "items": STRING}]},
        },
        ["mode", "colour", "either"],
        {"mode": "b", "colour": "red", "either": ["x"]},
        {"mode": "b", "colour": Colour.RED, "either": ["x"]},
    ),
    (
        containers,
        {
            "names": {"type": "array", "items": STRING},
            "counts": {"type": "object", "additionalProperties": INTEGER},
            "pair": {"type": "array", "prefixItems": [INTEGER, STRING], "minItems": 2, "maxItems": 2},
            "unique": {"type": "array", "items": INTEGER, "uniqueItems": True},
            "more": {"type": "array", "items": WALLET},
        },
        ["names", "counts", "pair", "unique", "more"],
        {"names": ["a"], "counts": {"a": 1}, "pair": [1, "a"], "unique": [1, 1], "more": [{"id": 1}]},
        {"names": ["a"], "counts": {"a": 1}, "pair": (1, "a"), "unique": {1}, "more": [Wallet(id=1)]},
    ),
    (
        records,
        {
            "wallet": WALLET,
            "edit": {
                "type": "object",
                "properties": {"old": STRING, "new": {**STRING, "default": ""}},
                "required": ["old"],
                "additionalProperties": False,
            },
            "cfg": {
                "type": "object",
                "properties": {"tags": {"type": "array", "items": STRING}, "note": STRING},
                "required": ["tags"],
                "additionalProperties": False,
            },
            "point": {
                "type": "object",
                "properties": {"x": INTEGER, "y": {**INTEGER, "default": 0}},
                "required": ["x"],
                "additionalProperties": False,
            },
        },
        ["wallet", "edit", "cfg", "point"],
        {"wallet": {"id": 1}, "edit": {"old": "a"}, "cfg": {"tags": ["x"]}, "point": {"x": 1}},
        {"wallet": Wallet(id=1), "edit": Edit("a"), "cfg": {"tags": ["x"]}, "point": Point(1)},
    ),
    (
        values,
        {
            "day": {**STRING, "format": "date"},
            "when": {**STRING, "format": "date-time"},
            "id": {**STRING, "format": "uuid"},
            "path": {**STRING, "format": "path"},
            "data": {**STRING, "format": "binary"},
        },
        ["day", "when", "price", "id", "path", "data"],
        {
            "day": "2024-01-02",
            "when": "2024-01-02T03:04:05",
            "price": "1.50",
            "id": str(UUID(int=7)),
            "path": "a/b",
            "data": "x",
        },
        {
            "day": datetime.date(2024, 1, 2),
            "when": datetime.datetime(2024, 1, 2, 3, 4, 5),
            "price": Decimal("1.50"),
            "id": UUID(int=7),
            "path": Path("a/b"),
            "data": b"x",
        },
    ),
    (untyped, {"anything": {}, "other": {"default": 5}}, ["anything"], {"anything": [{}]}, {"anything": [{}]}),
    (
        described,
        {
            "a": {**INTEGER, "minimum": 1, "description": "how many"},
            "b": {**INTEGER, "maximum": 9, "description": "how far", "default": 4},
        },
        ["a"],
        {"a": 2},
        {"a": 2, "b": 4},
    ),
    (
        likely_names,
        {"agent": {"type": "string", "enum": ["a", "b"]}, "context": STRING, "session": INTEGER, "name": STRING},
        ["agent", "context", "session", "name", "config", "state"],
        {"agent": "b", "context": "x", "session": 3, "name": "n", "config": "c.0", "state": "s"},
        {"agent": "b", "context": "x", "session": 3, "name": "n", "config": "c.0", "state": "s"},
    ),
    (
        odd_names,
        {"self": STRING, "model_config": INTEGER, "_hidden": STRING, "schema": STRING, "json": STRING},
        ["self", "model_config", "_hidden", "schema", "json"],
        {"self": "a", "model_config": 1, "_hidden": "b", "schema": "c", "json": "d"},
        {"self": "a", "model_config": 1, "_hidden": "b", "schema": "c", "json": "d"},
    ),
]


@pytest.mark.parametrize(
    ("function", "properties", "required", "sent", "got"), TABLE, ids=[row[0].__name__ for row in TABLE]
)
def test_signature_to_schema_to_call(
    function: Callable[..., Any],
    properties: dict[str, Any],
    required: list[str],
    sent: dict[str, Any],
    got: dict[str, Any],
) -> None:
    made = Tool.from_callable(function)
    schema = made.parameters
    assert schema["type"] == "object"
    assert schema["additionalProperties"] is False
    assert {name: schema["properties"][name] for name in properties} == properties
    assert list(schema.get("required", [])) == required
    values = made.validate(sent)
    assert values == got
    assert {name: type(value) for name, value in values.items()} == {name: type(value) for name, value in got.items()}
    function(**values)
    json.dumps(schema, allow_nan=False)


@pytest.mark.parametrize("row", TABLE, ids=[row[0].__name__ for row in TABLE])
def test_no_schema_has_titles(row: tuple[Any, ...]) -> None:
    assert '"title":' not in json.dumps(Tool.from_callable(row[0]).parameters)
