"""Values that are made quickly are the values they were: frozen, equal, copied and replaced like any dataclass."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import pickle
from typing import Any

import pytest

from hookagent.frozen import FrozenDict
from hookagent.messages import AssistantMessage, TextPart, ToolCall, ToolResult, UserMessage
from hookagent.quick_values import made_quickly
from hookagent.requests import BlockView, Request
from hookagent.transcript import ToolRound, Transcript
from hookagent.usage import Usage

CALL = ToolCall("c", "tool", FrozenDict(a=1))
REPLY = AssistantMessage((TextPart("hm"), CALL), "tool_calls", Usage(1, 2, 3, 4, 0.5, 1), "m", "p")
RESULT = ToolResult("done", call_id="c")
VALUES = [CALL, REPLY, RESULT, UserMessage("hi", origin="x"), TextPart("t"), Usage(1), ToolRound(REPLY, (RESULT,))]


@pytest.mark.parametrize("value", [*VALUES, Request(BlockView(Transcript()))])
def test_they_are_frozen_and_of_their_own_class(value: Any) -> None:
    first = dataclasses.fields(value)[0].name
    with pytest.raises(dataclasses.FrozenInstanceError):
        setattr(value, first, None)
    with pytest.raises(dataclasses.FrozenInstanceError):
        delattr(value, first)
    assert type(value).__name__ in repr(value)
    assert not hasattr(value, "__dict__")


@pytest.mark.parametrize("value", VALUES)
def test_they_are_copied_pickled_and_replaced(value: Any) -> None:
    same = dataclasses.replace(value)
    assert same == value
    assert type(same) is type(value)
    assert copy.copy(value) == copy.deepcopy(value) == pickle.loads(pickle.dumps(value)) == value


def test_defaults_factories_and_subclasses_work() -> None:
    @made_quickly
    @dataclasses.dataclass(frozen=True, slots=True)
    class Point:
        x: int
        y: int = 2
        tags: list[str] = dataclasses.field(default_factory=list)
        kept: dict[str, int] = dataclasses.field(default_factory=dict, init=False)

    class Named(Point):
        pass

    assert (Point(1).y, Point(1, y=3).y, Point(1).tags, Point(1).kept) == (2, 3, [], {})
    assert Point(1).tags is not Point(1).tags
    assert list(inspect.signature(Point).parameters) == ["x", "y", "tags"]
    assert type(Named(1, tags=["a"])) is Named
    with pytest.raises(TypeError):
        Point()  # type: ignore[call-arg]


def test_a_class_that_does_more_when_made_is_refused() -> None:
    @dataclasses.dataclass(frozen=True, slots=True)
    class Checked:
        x: int

        def __post_init__(self) -> None:
            raise AssertionError

    with pytest.raises(TypeError, match="Checked"):
        made_quickly(Checked)
