"""Plain arguments that are taken as they are: the same values as the validator gives, and never what it refuses."""

from __future__ import annotations

from typing import Annotated, Any, Optional

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import Field

from hookagent.tools.arguments import ArgumentsError
from hookagent.tools.plain_values import plain_values
from hookagent.tools.signature import read_signature
from hookagent.tools.tool import Tool

VALUES = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=5), st.just("\ud800"), st.just([1])
)
NAMES = st.sampled_from(["text", "count", "share", "sure", "maybe", "either", "later", "strange"])


def sample(
    text: str, count: int, share: float = 0.5, sure: bool = False, maybe: int | None = None, *,
    either: "Optional[str]" = "x", later: str = None,  # type: ignore[assignment]  # noqa: RUF013, UP037, UP045
) -> str:  # fmt: skip
    """Take plain values."""
    return "ok"


@settings(max_examples=100, deadline=None)
@given(st.dictionaries(NAMES, VALUES, max_size=8))
def test_what_is_taken_is_what_the_validator_gives(arguments: dict[str, Any]) -> None:
    quick = plain_values(read_signature(sample).parameters)
    assert quick is not None
    taken = quick.taken(arguments)
    if taken is None:
        return  # left to the validator, whatever it says
    checked = Tool.from_callable(sample)._definition.made_schema().validate("sample", arguments)
    assert taken == checked
    assert {name: type(value) for name, value in taken.items()} == {n: type(v) for n, v in checked.items()}


def test_the_usual_case_is_taken() -> None:
    quick = plain_values(read_signature(sample).parameters)
    assert quick is not None
    given_values = {"text": "a", "count": 1, "share": 0.5, "sure": True, "maybe": None, "later": None}
    assert quick.taken(given_values) == given_values
    assert quick.taken({"text": "a", "count": 1}) == {"text": "a", "count": 1}


@pytest.mark.parametrize(
    "arguments",
    [
        {"text": "a"},
        {"text": "a", "count": True},
        {"text": "a", "count": 1.0},
        {"text": 1, "count": 1},
        {"text": "a", "count": 1, "share": 1},
        {"text": "a", "count": 1, "share": float("nan")},
        {"text": "\ud800", "count": 1},
        {"text": "a", "count": 1, "more": 2},
        {"text": "a", "count": 1, "sure": None},
    ],
)
def test_everything_else_is_left_to_the_validator(arguments: dict[str, Any]) -> None:
    quick = plain_values(read_signature(sample).parameters)
    assert quick is not None
    assert quick.taken(arguments) is None


def test_types_that_want_more_than_a_plain_value_have_no_short_way() -> None:
    def bounded(count: Annotated[int, Field(gt=0)]) -> str:
        return "ok"

    def listed(names: list[str]) -> str:
        return "ok"

    def untyped(anything) -> str:  # type: ignore[no-untyped-def]
        return "ok"

    for function in (bounded, listed, untyped):
        assert plain_values(read_signature(function).parameters) is None
    with pytest.raises(ArgumentsError):
        Tool.from_callable(bounded).validate({"count": 0})
