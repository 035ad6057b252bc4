"""Records that are written by hand say what those say that are not, and what is not plain is left to the long way."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hookagent.events import MessageEnd, ResponseReceived, ToolEnd, ToolStart
from hookagent.frozen import FrozenDict, freeze
from hookagent.messages import AssistantMessage, ProviderPart, TextPart, ToolCall, ToolResult, UserMessage
from hookagent.sessions import quick_text
from hookagent.sessions.quick_text import QUICK, QuickText
from hookagent.sessions.record_kinds import Record, ReplyRecord, ResponseRecord, ResultRecord, StartRecord
from hookagent.sessions.records import decode_record, encode_record
from hookagent.sessions.store import SessionStore
from hookagent.usage import Usage
from tests.sessions.looking import kinds
from tests.sessions.made import CALLS, FINITE, REPLIES, RESULTS, TEXTS, USAGES, journal_for, look


def told(kind: Any, *fields: Any) -> Any:
    """An event of a kind."""
    return kind(7, 1.0, 1, 1, *fields)


EVENTS = st.one_of(
    st.builds(told, st.just(MessageEnd), REPLIES),
    st.builds(told, st.just(ResponseReceived), USAGES, TEXTS, FINITE),
    st.builds(told, st.just(ToolStart), CALLS),
    st.builds(told, st.just(ToolEnd), CALLS, RESULTS),
)


def the_record(event: Any) -> Record:
    """What the event becomes the long way."""
    if isinstance(event, MessageEnd):
        assert isinstance(event.message, AssistantMessage)
        return ReplyRecord(event.message)
    if isinstance(event, ResponseReceived):
        return ResponseRecord(event.usage, event.stop_reason, event.milliseconds)
    return StartRecord(event.call) if isinstance(event, ToolStart) else ResultRecord(event.result)


def quickly(maker: QuickText, event: Any) -> tuple[str, str] | None:
    return QUICK[type(event)](maker, event)


@given(st.lists(EVENTS, min_size=1, max_size=4))
@settings(max_examples=100, deadline=None)
def test_it_says_what_the_long_way_says_or_nothing(events: list[Any]) -> None:
    maker = QuickText()
    for event in events:
        try:
            made = quickly(maker, event)
        except ValueError:
            continue
        if made is not None:
            kind, text = made
            expected = encode_record(the_record(event), event.number)
            assert decode_record(kind, text) == decode_record(*expected)
            assert json.loads(text) == json.loads(expected[1])
            assert text.encode().decode() == text
            assert text.isprintable() or "\n" not in text


PLAIN = [
    told(MessageEnd, AssistantMessage((TextPart("a\n\u2028é"), look("c1", a=[1, {"b": None}])), "tool_calls")),
    told(MessageEnd, AssistantMessage((), "end", Usage(1, 2, 3, 4, 0.5, 1), "m", "p", "d")),
    told(ResponseReceived, Usage(cost_usd=None), "end", 3),
    told(ToolStart, look("c1", a=[1, {"b": None}], b=1e300)),
    told(ToolStart, ToolCall("c1", "look", None, '{"a":', "cut")),
    told(ToolEnd, look("c1"), ToolResult("no", True, "error", "c1", "ValueError", 1.5)),
    told(ToolEnd, look("c1"), ToolResult("yes", call_id="c1")),
]


@pytest.mark.parametrize("event", PLAIN)
def test_what_is_plain_is_written_by_hand_to_the_letter(event: Any) -> None:
    expected = encode_record(the_record(event), event.number)
    made = quickly(QuickText(), event)
    assert made is not None
    assert made[1].replace("3.0", "3") == expected[1]
    assert made[0] == expected[0]


@pytest.mark.parametrize("event", PLAIN)
def test_without_the_encoder_in_c_it_is_the_same(event: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    before = quickly(QuickText(), event)
    monkeypatch.setattr(quick_text, "_ENCODE", quick_text._pieces)
    assert quickly(QuickText(), event) == before


ODD = [
    told(MessageEnd, UserMessage("hello")),
    told(MessageEnd, AssistantMessage((ProviderPart("anthropic-messages", "thinking", freeze({"a": 1})),))),
    told(MessageEnd, AssistantMessage((TextPart("half \ud800"),))),
    told(MessageEnd, AssistantMessage((TextPart("x"),), "end", Usage(cost_usd=float("inf")))),
    told(ResponseReceived, Usage(), "end", float("nan")),
    told(ToolStart, look("c1", a=float("inf"))),
    told(ToolStart, look("c1", a="half \udc00")),
    told(ToolStart, ToolCall("c1", "look", FrozenDict(a=object()))),
    told(ToolEnd, look("c1"), ToolResult("x", call_id="c1", milliseconds=float("inf"))),
]


@pytest.mark.parametrize("event", ODD)
def test_what_is_not_plain_is_not_written(event: Any) -> None:
    try:
        assert quickly(QuickText(), event) is None
    except (TypeError, ValueError):
        return


def test_a_call_runs_with_its_own_arguments_whatever_the_reply_asked_for() -> None:
    maker = QuickText()
    asked = look("c1", path="asked")
    quickly(maker, told(MessageEnd, AssistantMessage((asked, look("c2", path="other")), "tool_calls")))
    for call in (asked, look("c1", path="amended"), look("c2", path="asked"), look("c3"), look("c1", path="asked")):
        event = told(ToolStart, call)
        assert quickly(maker, event) == encode_record(StartRecord(call), event.number)


def test_what_is_not_plain_is_kept_all_the_same(store: SessionStore) -> None:
    said: list[str] = []
    journal, teller = journal_for(store, warn=said.append)
    teller.begin()
    teller.tell(MessageEnd, AssistantMessage((TextPart("half \ud800"), look("c1", a=float("inf"))), "tool_calls"))
    teller.start("c1", a=float("inf"))
    teller.result("c1", "half \ud800")
    teller.tell(ToolStart, ToolCall("c2", "look", FrozenDict(a=object())))
    journal.close()
    assert kinds(store) == ["run_start", "turn_start", "user", "reply", "start", "result"]
    assert len(said) == 1
    assert said[0].startswith("session 'one': a record of kind 'start' cannot be saved: a value is no JSON: ")
