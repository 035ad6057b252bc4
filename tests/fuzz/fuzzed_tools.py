"""Tools of every kind of signature; each one writes down what it was given."""

from __future__ import annotations

import dataclasses
import datetime
import enum
import functools
from collections.abc import Sequence
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, NotRequired, Optional, TypedDict
from uuid import UUID

from pydantic import BaseModel, Field

from hookagent import Tool, ToolContext

GOT: list[dict[str, Any]] = []
"""What the tools were called with: the values by parameter name."""


class Wallet(BaseModel):
    id: int
    notes: list[str] = []


class Tree(BaseModel):
    name: str
    left: Tree | None = None
    right: Tree | None = None


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


def note(**given: Any) -> str:
    GOT.append(given)
    return "taken"


def nothing() -> str:
    return note()


def plain(text: str, count: int, share: float, sure: bool) -> str:
    return note(text=text, count=count, share=share, sure=sure)


async def waiting(text: str, count: int = 3) -> str:
    return note(text=text, count=count)


def defaults(
    text: str = "a", count: int = 3, colour: Colour = Colour.RED, size: tuple[int, int] = (1, 2), on: bool = False
) -> str:
    return note(text=text, count=count, colour=colour, size=size, on=on)


def optionals(a: Optional[int], b: int | None = None, c: list[str] | None = None) -> str:  # noqa: UP045
    return note(a=a, b=b, c=c)


def choices(mode: Literal["a", "b"], colour: Colour, either: int | list[str], level: Literal[1, 2] = 1) -> str:
    return note(mode=mode, colour=colour, either=either, level=level)


def containers(
    names: list[str],
    counts: dict[str, int],
    pair: tuple[int, str],
    many: tuple[int, ...],
    unique: set[int],
    more: Sequence[Wallet],
) -> str:
    return note(names=names, counts=counts, pair=pair, many=many, unique=unique, more=more)


def records(wallet: Wallet, edit: Edit, cfg: Tags, point: Point, tree: Tree) -> str:
    return note(wallet=wallet, edit=edit, cfg=cfg, point=point, tree=tree)


def scalars(day: datetime.date, when: datetime.datetime, price: Decimal, id: UUID, path: Path, data: bytes) -> str:
    return note(day=day, when=when, price=price, id=id, path=path, data=data)


def limited(
    a: Annotated[int, Field(ge=1, lt=100)],
    b: Annotated[str, Field(min_length=2, max_length=5)] = "bb",
    c: Annotated[list[int], Field(min_length=1, max_length=2)] = [1],  # noqa: B006
    d: Annotated[float, Field(gt=0, le=1)] = 0.5,
) -> str:
    return note(a=a, b=b, c=c, d=d)


def anything(value: Any, other: Any = None) -> str:
    return note(value=value, other=other)


def keywords(first: int, /, second: int, *, third: int = 3) -> str:
    return note(first=first, second=second, third=third)


def in_context(context: ToolContext, count: int) -> str:
    return note(count=count)


class Held:
    def method(self, text: str, count: int = 1) -> str:
        return note(text=text, count=count)

    async def later(self, edits: list[Edit]) -> str:
        return note(edits=edits)

    def __call__(self, colour: Colour, points: list[Point]) -> str:
        return note(colour=colour, points=points)


def _halved(count: int, text: str) -> str:
    return note(count=count, text=text)


_HELD = Held()
CALLABLES: dict[str, Any] = {
    **{
        function.__name__: function
        for function in (
            nothing, plain, waiting, defaults, optionals, choices, containers, records, scalars, limited, anything,
            keywords, in_context,
        )
    },
    "method": _HELD.method,
    "later": _HELD.later,
    "held": _HELD,
    "partly": functools.partial(_halved, text="given"),
}  # fmt: skip
TOOLS = {name: Tool.from_callable(function, name=name, effect="reads") for name, function in CALLABLES.items()}
