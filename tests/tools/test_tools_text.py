import collections
import dataclasses
import datetime
import enum
import json
import math
import uuid
from collections.abc import Callable
from decimal import Decimal
from pathlib import PurePosixPath
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, Field

from hookagent.tools.text import NO_OUTPUT, bounded_text, clean_text, to_text


class Unreadable:
    def __repr__(self) -> str:
        raise ValueError("no")


class Exits:
    def __str__(self) -> str:
        raise SystemExit(3)


class Liar:
    @property  # type: ignore[misc]
    def __class__(self) -> Any:
        raise RuntimeError("no class")

    def __str__(self) -> str:
        return "liar"


class Breaks(list[Any]):
    def __iter__(self) -> Any:
        yield 1
        raise RuntimeError("gone")


class Endless(list[Any]):
    def __iter__(self) -> Any:
        while True:
            yield "x"


class Colour(enum.Enum):
    RED = "red"
    TWO = 2


class Point(NamedTuple):
    x: int
    y: int


@dataclasses.dataclass
class Person:
    name: str
    secret: str = dataclasses.field(default="hidden", repr=False)


class Model(BaseModel):
    day: datetime.date = datetime.date(2024, 1, 2)
    left_out: str = Field(default="hidden", exclude=True)


CYCLE: list[Any] = []
CYCLE.append(CYCLE)
DEEP: list[Any] = []
for _ in range(100_000):
    DEEP = [DEEP]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, NO_OUTPUT),
        ("", NO_OUTPUT),
        (" \n", NO_OUTPUT),
        ("\u200b\ufeff", NO_OUTPUT),
        (b"", NO_OUTPUT),
        ("as it is", "as it is"),
        ([], "[]"),
        ({}, "{}"),
        ((), "[]"),
        (0, "0"),
        (False, "false"),
        (1.5, "1.5"),
        (math.nan, "NaN"),
        ({"a": math.nan, "b": -math.inf, "c": 1e400}, '{"a": "NaN", "b": "-Infinity", "c": "Infinity"}'),
        (datetime.date(2024, 1, 2), "2024-01-02"),
        ({datetime.date(2024, 1, 2): datetime.datetime(2024, 1, 2, 3, 4)}, '{"2024-01-02": "2024-01-02T03:04:00"}'),
        ({1: 2, None: 3, (1, 2): 4}, '{"1": 2, "null": 3, "[1, 2]": 4}'),
        (Decimal("1.5"), "1.5"),
        ([Decimal("1.5"), uuid.UUID(int=1)], '["1.5", "00000000-0000-0000-0000-000000000001"]'),
        (PurePosixPath("/x"), "/x"),
        (Colour.RED, "red"),
        ([Colour.RED, Colour.TWO], '["red", 2]'),
        ({3, 1, 2}, "[1, 2, 3]"),
        (range(3), "[0, 1, 2]"),
        (collections.deque([1]), "[1]"),
        ({"a": 1}.values(), "[1]"),
        (Point(1, 2), '{"x": 1, "y": 2}'),
        (Person("ann"), '{"name": "ann"}'),
        (Model(), '{"day": "2024-01-02"}'),
        (b"caf\xc3\xa9", "café"),
        (b"\xff\x00", "<2 bytes that are not text>"),
        (ValueError("no"), "ValueError: no"),
        ("a\x00b", "a\u2400b"),
        ("a\ud835b", "a\ufffdb"),
        (CYCLE, '["<the list around it>"]'),
        (Unreadable(), "<Unreadable: its text form raised ValueError>"),
        ([Unreadable()], '["<Unreadable: its text form raised ValueError>"]'),
        (Exits(), "<Exits: its text form raised SystemExit>"),
        (Breaks(), '[1, "<reading on raised RuntimeError>"]'),
        (object(), "<object object>"),
    ],
)
def test_a_value_becomes_this_text(value: Any, text: str) -> None:
    assert to_text(value) == text


def test_values_that_lie_about_themselves_do_not_raise() -> None:
    assert "Liar" in to_text([Liar()])
    assert "Liar" in to_text(Liar())


def test_a_placeholder_claims_no_more_than_that_there_is_no_output() -> None:
    assert "found" not in NO_OUTPUT
    assert "no output" in NO_OUTPUT


def test_deep_nesting_ends_in_a_placeholder() -> None:
    text = to_text(DEEP)
    assert "nested too deeply" in text
    assert json.loads(text)


def test_a_long_text_keeps_head_and_tail_and_says_both_sizes() -> None:
    text = to_text("A" + "x" * 200_000 + "Z", 24_000)
    head, notice, tail = text.split("\n")
    assert head.startswith("A")
    assert tail.endswith("Z")
    assert len(head) + len(tail) == 24_000
    assert notice == "[… 176,002 of 200,002 characters left out …]"


@given(st.text(min_size=120), st.integers(2, 100), st.integers(0, 40))
def test_a_text_that_was_cut_is_not_cut_again(text: str, limit: int, more: int) -> None:
    once = to_text(text, limit)
    assert to_text(once, limit) == to_text(once, limit + more) == once
    assert f"of {len(text):,} characters" in once


def test_a_text_of_exactly_the_limit_is_not_cut() -> None:
    assert to_text("x" * 50, 50) == "x" * 50


@pytest.mark.parametrize("unit", ["e\u0301", "👩\u200d👩", "\r\n", "\ud83d\ude00"])
@pytest.mark.parametrize("limit", [20, 21, 22, 23])
def test_a_cut_parts_no_character_from_what_belongs_to_it(unit: str, limit: int) -> None:
    text = to_text(unit * 100, limit)
    head, _, rest = text.partition("\n[…")
    tail = rest.partition("…]\n")[2]
    whole = clean_text(unit)
    assert head.replace(whole, "") == ""
    assert tail.replace(whole, "") == ""


# Made by the tests themselves: the values of all tests together are there for as long as pytest runs.
HUGE: dict[str, Callable[[], Any]] = {
    "endless": Endless,
    "list": lambda: [1] * 10_000_000,
    "text in a mapping": lambda: {"a": "x" * 50_000_000},
    "bytes": lambda: b"x" * 50_000_000,
}


@pytest.mark.parametrize("value", HUGE)
def test_a_huge_value_is_written_only_so_far(value: str) -> None:
    text = to_text(HUGE[value](), 1_000)
    assert len(text) < 1_100
    assert "of more than 1,002,000 characters" in text


@pytest.mark.parametrize("text", ["plain", "café", "\U0001d400", "", "a\x00b"])
def test_valid_text_stays_what_it_was(text: str) -> None:
    assert clean_text(text) == text


@given(st.text(alphabet=st.characters(exclude_categories=()) | st.sampled_from("\ud835\udc00\udfff")))
def test_cleaned_text_can_be_encoded_and_is_clean(text: str) -> None:
    cleaned = clean_text(text)
    cleaned.encode()
    assert clean_text(cleaned) == cleaned


ANY_VALUE = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(alphabet=st.characters(exclude_categories=()))
    | st.binary()
    | st.dates()
    | st.decimals()
    | st.complex_numbers()
    | st.sampled_from([Unreadable, Exits, Breaks, object]).map(lambda kind: kind())
    | st.sampled_from([Colour.RED, int])
    | st.builds(lambda: 10**5_000)
    | st.builds(lambda: CYCLE),
    lambda inner: st.lists(inner) | st.tuples(inner, inner) | st.dictionaries(st.text() | st.integers(), inner),
    max_leaves=15,
)


@given(ANY_VALUE, st.integers(min_value=0, max_value=200))
def test_any_value_gives_bounded_visible_valid_text(value: Any, limit: int) -> None:
    text = to_text(value, limit)
    text.encode()
    assert text.strip()
    assert "\x00" not in text
    assert len(text) <= max(limit, len(NO_OUTPUT), 2) + 120


@given(st.recursive(st.floats() | st.text() | st.integers() | st.none(), st.lists, max_leaves=10))
def test_containers_become_strict_json(value: Any) -> None:
    def refuse(text: str) -> None:
        raise AssertionError(text)

    json.loads(to_text([value]), parse_constant=refuse)


def test_bounded_text_of_something_unfinished_says_so() -> None:
    assert bounded_text("abc", 10, unfinished=True) == "abc\n[… more was left out …]"
