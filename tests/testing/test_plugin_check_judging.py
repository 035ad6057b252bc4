"""What judges a reference run: the order of messages and the balance of hooks."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from hookagent import (
    AssistantMessage,
    TextPart,
    ToolCall,
    ToolResult,
    ToolRound,
    Transcript,
    UserMessage,
    freeze,
)
from hookagent.testing.plugin_check.judging import disorder, unbalanced


def _call(number: int) -> ToolCall:
    return ToolCall(f"c{number}", "look", freeze({}))


ASKED = AssistantMessage((_call(1), _call(2)), "tool_calls")
FIRST, SECOND = ToolResult("a", call_id="c1"), ToolResult("b", call_id="c2")


@pytest.mark.parametrize(
    ("messages", "says"),
    [
        ((ASKED, FIRST), "the calls c2 have no result"),
        ((ASKED, SECOND, FIRST), "message 1 is the result of 'c2', expected was 'c1'"),
        ((ASKED, FIRST, UserMessage("wait"), SECOND), "message 2 stands before the results of c2"),
        ((FIRST,), "message 0 is the result of 'c1', expected was none"),
        ((ASKED, FIRST, SECOND, SECOND), "message 3 is the result of 'c2', expected was none"),
        ((ASKED, FIRST, SECOND, ASKED, FIRST, SECOND), "call id 'c1' is used twice"),
        ((ASKED, FIRST, replace(SECOND, content=" ")), "message 2 is a blank result"),
        ((UserMessage(" "),), "message 0 is blank"),
    ],
)
def test_disorder_is_seen(messages: tuple[Any, ...], says: str) -> None:
    assert says in list(disorder(messages))


def test_order_has_nothing_to_say() -> None:
    rounds: list[Any] = [UserMessage("go"), ToolRound(ASKED, (FIRST, SECOND)), AssistantMessage((TextPart("done"),))]
    assert list(disorder(Transcript(rounds).messages())) == []


class Given:
    status = "completed"
    id = "c1"
    name = "look"


GIVEN = {"tool_call": Given(), "outcome": Given()}
WHOLE = "on_session_start before_llm after_llm before_tools before_each_tool after_each_tool after_tools on_complete"


@pytest.mark.parametrize(
    ("hooks", "says"),
    [
        (WHOLE, "'on_session_end' was called 0 times"),
        (f"before_llm {WHOLE} on_session_end", "the first hook was 'before_llm' and the last 'on_session_end'"),
        (f"{WHOLE} on_session_end".replace(" after_llm", ""), "the turn completed with a model call or a tool round"),
        (f"{WHOLE} on_session_end".replace(" after_each_tool", ""), "the call of 'look' has a before and no after"),
        (f"{WHOLE} on_session_end".replace(" after_tools", ""), "the turn completed with a model call or a tool round"),
        (f"{WHOLE} on_session_end".replace(" after_tools", " before_llm"), "'before_llm' was called while another"),
    ],
)
def test_imbalance_is_seen(hooks: str, says: str) -> None:
    assert any(one.startswith(says) for one in unbalanced([(hook, GIVEN) for hook in hooks.split()]))


def test_balance_has_nothing_to_say() -> None:
    assert list(unbalanced([(hook, GIVEN) for hook in f"{WHOLE} on_session_end".split()])) == []
