"""Values at their edges: what a hook's return cannot be, requests read and changed in part, frozen values copied."""

from __future__ import annotations

import copy
from dataclasses import replace
from enum import IntEnum, StrEnum
from typing import Any

import pytest

from hookagent import Deny, Image, Replace
from hookagent.contract import WrongReturnError, read_return
from hookagent.events import TurnStart
from hookagent.frozen import FrozenDict, FrozenList, freeze
from hookagent.messages import AssistantMessage, ProviderPart, TextPart, ToolCall, ToolResult, UserMessage
from hookagent.requests import BlockView, Request
from hookagent.session import SessionState
from hookagent.transcript import ToolRound, Transcript
from tests.core.scripts import make_agent

CALL = ToolCall("c", "look", FrozenDict())
ROUND = ToolRound(AssistantMessage((CALL,)), (ToolResult("seen", call_id="c"),))
EVENT, IMAGE = TurnStart(1, 0.0, 1, 0, "go"), Image("aGk=", "image/png")
TASK, NOTE = UserMessage("task"), UserMessage("note", origin="plugin", via="plugin")


# ---- what a hook returns ----


@pytest.mark.parametrize(
    ("hook", "returned", "says"),
    [
        ("before_llm", Replace(UserMessage("x")), r"^returned Replace\(\.\.\.\), which it cannot; it may return "),
        ("after_user_input", Replace("x"), r"^returned Replace\(a str\); expected Replace\(UserMessage\)$"),
        ("after_user_input", [Replace(TASK), Replace(TASK)], r"^returned two Replace\(\.\.\.\) values$"),
        ("after_user_input", Replace(UserMessage(" ")), "^replaced the message by a blank one; return Stop"),
        ("before_llm", "  ", "^returned a blank message; return None to add nothing$"),
        ("after_each_tool", ToolResult("x", status="good"), "^returned a ToolResult with the status 'good'"),  # type: ignore[arg-type]
        ("after_each_tool", ToolResult("x", is_error="yes"), "whose 'is_error' is a str, not true or false$"),  # type: ignore[arg-type]
        ("after_each_tool", ToolResult("x", error_type=5), "whose 'error_type' is a int, not text$"),  # type: ignore[arg-type]
        ("after_each_tool", ToolResult("x", milliseconds="9"), "whose 'milliseconds' are a str, not a number$"),  # type: ignore[arg-type]
        ("after_each_tool", ToolResult("x", milliseconds=True), "whose 'milliseconds' are a bool, not a number$"),
        ("before_each_tool", Deny("no", unanswered="no"), "^returned a Deny whose 'unanswered' is a str"),  # type: ignore[arg-type]
        ("after_llm", Replace(AssistantMessage((TextPart("a"), 5))), "^returned a reply with a int among its parts$"),  # type: ignore[arg-type]
        ("after_user_input", Replace(UserMessage(5)), "^returned a UserMessage whose text is a int$"),  # type: ignore[arg-type]
        ("after_tools", UserMessage(5), "^returned a UserMessage whose text is a int$"),  # type: ignore[arg-type]
        ("after_tools", UserMessage("x", images=[IMAGE]), "whose images are a list, not a tuple$"),  # type: ignore[arg-type]
        ("before_llm", ["x", UserMessage("x", images=("a.png",))], "^returned a UserMessage with an image that is no "),  # type: ignore[arg-type]
        ("before_llm", UserMessage("x", images=(Image(b"", "image/png"),)), "with an image that is no Image"),  # type: ignore[arg-type]
        ("shape_request", "x", "^returned a message, which 'shape_request' cannot add; it may return Request, None$"),
        ("on_event", EVENT, "^returned a TurnStart; it may return None only$"),
        ("before_llm", EVENT, "^returned a TurnStart; it may return Stop, "),
        ("before_complete", EVENT, "^returned a TurnStart; it may return messages"),
    ],
)  # fmt: skip
def test_what_cannot_be_returned_is_told_why(hook: str, returned: Any, says: str) -> None:
    with pytest.raises(WrongReturnError, match=says):
        read_return(hook, "plugin", returned)


def test_a_reply_with_parts_of_every_kind_can_be_returned() -> None:
    reply = AssistantMessage((ProviderPart("anthropic", "m", FrozenDict(type="thinking")), TextPart("a"), CALL))
    assert read_return("after_llm", "plugin", Replace(reply)).replacement is reply


def test_a_message_with_an_image_and_a_measured_result_can_be_returned() -> None:
    shown = UserMessage("look", images=(IMAGE,))
    assert read_return("after_tools", "plugin", [shown]).messages == [replace(shown, origin="plugin", via="plugin")]
    result = ToolResult("x", True, "error", error_type="Late", milliseconds=5)
    assert read_return("after_each_tool", "plugin", result).value is result


# ---- requests ----


def request_of(*blocks: Any, **fields: Any) -> Request:
    return Request(BlockView(Transcript(blocks)), **fields)


def test_a_view_is_read_like_a_list_and_cannot_be_changed() -> None:
    view = request_of(TASK, NOTE, ROUND, protected=(0,)).dropping_before(2).blocks
    assert view[:] == [TASK, ROUND]
    assert view[-1:] == [ROUND]
    assert (view[0], view[-1]) == (TASK, ROUND)
    for place in (2, -3):
        with pytest.raises(IndexError, match=r"^block index out of range$"):
            view[place]
    with pytest.raises(AttributeError, match="a view of blocks is frozen"):
        view.start = 0


def test_a_result_text_is_replaced_in_its_round_alone() -> None:
    request = request_of(TASK, ROUND)
    with pytest.raises(KeyError, match="block 0 is not a tool round"):
        request.with_result_text(0, "c", "short")
    shorter = request.with_result_text(1, "c", "short")
    [_, tool_round] = shorter.blocks
    assert isinstance(tool_round, ToolRound)
    assert tool_round.results == (ToolResult("short", call_id="c"),)
    again = shorter.with_rounds({1: ROUND})
    assert list(again.blocks) == [TASK, ROUND]


def test_tools_and_settings_are_changed_for_one_request() -> None:
    agent = make_agent([])
    tools = tuple(agent.tools)
    request = request_of(TASK, settings=FrozenDict(effort="low"))
    assert request.with_tools(list(tools)).tools == tools
    assert request.with_settings(max_output_tokens=5).settings == {"effort": "low", "max_output_tokens": 5}
    assert (request.tools, request.settings) == ((), {"effort": "low"})


@pytest.mark.parametrize(
    ("blocks", "protected"),
    [((), ()), ((TASK,), (0,)), ((NOTE, TASK, TASK), (0, 2)), ((NOTE, NOTE), (0,)), ((TASK, ROUND, NOTE), (0,))],
)
def test_the_first_task_and_the_newest_message_of_a_person_are_protected(
    blocks: tuple[Any, ...], protected: tuple[int, ...]
) -> None:
    state = SessionState(make_agent([]).session.limits)
    state.grow(Transcript(blocks))
    assert state.protected == protected


# ---- frozen values ----


def test_copies_of_frozen_values_are_they_themselves() -> None:
    value = freeze({"a": [1, {"b": 2}]})
    assert isinstance(value, FrozenDict)
    assert copy.copy(value) is value
    assert copy.deepcopy(value) is value
    inner = value["a"]
    assert isinstance(inner, FrozenList)
    assert copy.copy(inner) is inner
    assert copy.deepcopy(inner) is inner


def test_what_is_no_json_has_no_frozen_form() -> None:
    with pytest.raises(TypeError, match=r"^not a JSON value: object$"):
        freeze(object())
    assert freeze((1, 2)) == [1, 2]


class Colour(StrEnum):
    RED = "red"


class Size(IntEnum):
    BIG = 3


def test_texts_and_numbers_of_other_types_are_frozen_as_they_are() -> None:
    frozen = freeze({"colour": Colour.RED, "size": [Size.BIG]})
    assert frozen["colour"] is Colour.RED
    assert frozen["size"][0] is Size.BIG
    assert frozen == {"colour": "red", "size": [3]}


# ---- the session as plugins see it ----


def test_a_session_tells_where_it_is_and_whose_it_is() -> None:
    agent = make_agent([{"text": "done"}], limits={"max_iterations": 7})
    session = agent.session
    assert (session.parent_id, session.iteration, session.user_prompt) == (None, 0, "")
    agent.run_sync("go on")
    assert (session.iteration, session.user_prompt, session.limits.max_iterations) == (1, "go on", 7)


def test_nothing_is_protected_before_somebody_spoke() -> None:
    assert SessionState(make_agent([]).session.limits).protected == ()
