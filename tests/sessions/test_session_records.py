"""Every value a session may hold comes back the same; whatever else stands in a file, only a `SessionError` comes."""

from __future__ import annotations

import contextlib
import json
import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hookagent.frozen import freeze
from hookagent.messages import AssistantMessage, ProviderPart, TextPart, ToolCall, UserMessage
from hookagent.sessions.errors import SessionError
from hookagent.sessions.json_text import json_text, json_value
from hookagent.sessions.record_kinds import ErrorRecord, PluginStateRecord, ReplyRecord, UnknownRecord, UserRecord
from hookagent.sessions.records import VERSION, decode_record, encode_record
from tests.sessions.made import JSON, RECORDS


def same(first: Any, second: Any) -> bool:
    """Equal, and of the same types all the way down: 1 is not 1.0 and not true."""
    return repr(first) == repr(second)


@given(RECORDS, st.integers(0, 10**6))
@settings(max_examples=100, deadline=None)
def test_every_record_comes_back_the_same(record: Any, event: int) -> None:
    kind, data = encode_record(record, event)
    back, number = decode_record(kind, data)
    assert back == record
    assert same(back, record)
    assert number == event


@given(RECORDS)
@settings(max_examples=100, deadline=None)
def test_what_is_written_is_strict_json_in_valid_unicode(record: Any) -> None:
    _, data = encode_record(record)
    data.encode("utf-8")
    assert "\n" not in data
    assert "\x00" not in data
    json.loads(data, parse_constant=lambda name: pytest.fail(f"{name} is no JSON"))


@given(JSON)
@settings(max_examples=100, deadline=None)
def test_any_json_value_comes_back_the_same(value: Any) -> None:
    assert same(json_value(json_text(value)), value)


def test_a_number_that_is_none_comes_back() -> None:
    assert math.isnan(json_value(json_text([float("nan")]))[0])
    huge = 7**6_000  # more digits than Python reads from text
    assert json_value(json_text({"n": huge})) == {"n": huge}


def test_a_vendors_part_comes_back_to_the_byte() -> None:
    data = freeze({"type": "thinking", "thinking": "plan \ud83d", "signature": "S1==", "z": 1, "a": 1.0, "n": -0.0})
    reply = AssistantMessage((ProviderPart("anthropic-messages", "thinking", data, "plan"), TextPart("x")))
    back, _ = decode_record(*encode_record(ReplyRecord(reply)))
    assert isinstance(back, ReplyRecord)
    part = back.message.parts[0]
    assert isinstance(part, ProviderPart)
    assert json.dumps(part.data) == json.dumps(data)
    assert type(part.data) is type(data)


@given(st.text(max_size=12), st.text(max_size=40) | JSON.map(lambda value: json.dumps(value, default=str)))
@settings(max_examples=100, deadline=None)
def test_any_text_is_a_record_or_a_session_error(kind: str, data: str) -> None:
    with contextlib.suppress(SessionError):
        decode_record(kind, data)


@given(RECORDS, st.data())
@settings(max_examples=100, deadline=None)
def test_a_field_of_another_type_is_a_session_error_or_a_good_record(record: Any, data: st.DataObject) -> None:
    kind, text = encode_record(record)
    value = json.loads(text)
    inner = value
    while True:
        name = data.draw(st.sampled_from(sorted(inner)))
        if not (isinstance(inner[name], dict) and inner[name] and data.draw(st.booleans())):
            break
        inner = inner[name]
    inner[name] = data.draw(st.none() | st.booleans() | st.integers() | st.just("x") | st.just([7]) | st.just({"a": 1}))
    try:
        back, _ = decode_record(kind, json.dumps(value))
    except SessionError:
        return
    encode_record(back)


@pytest.mark.parametrize(
    ("kind", "data"),
    [("dream", '{"v":1,"what":"later"}'), ("user", f'{{"v":{VERSION + 1},"spoken":"otherwise"}}')],
)
def test_a_record_of_a_later_version_is_kept_as_it_is(kind: str, data: str) -> None:
    record, _ = decode_record(kind, data)
    assert record == UnknownRecord(kind, data)
    assert encode_record(record, 9) == (kind, data)


@pytest.mark.parametrize(
    ("kind", "data", "said"),
    [
        ("user", "", "not the JSON that was written"),
        ("user", '{"v":1}', "'message'"),
        ("user", '{"v":1,"message":{"text":1}}', "'text': expected a text, got int"),
        ("user", '{"v":1,"message":{"text":"x","via":"pigeon"}}', "'via': expected one of"),
        ("start", '{"v":1,"call":{"id":"a","name":"b","arguments":[]}}', "'arguments': expected an object"),
        ("response", '{"v":1,"usage":{"input_tokens":-1},"stop_reason":"end","milliseconds":1}', "a whole number"),
        ("taken", '{"v":1,"entry":true}', "expected a whole number, got bool"),
        ("user", "[" * 100_000, "nested too deeply"),
        ("error", '{"v":1,"kind":"a","source":"b","message":NaN}', "NaN is no JSON"),
    ],
)
def test_what_is_wrong_with_a_record_is_said(kind: str, data: str, said: str) -> None:
    with pytest.raises(SessionError, match=said):
        decode_record(kind, data)


def test_what_is_no_json_is_refused() -> None:
    with pytest.raises(SessionError, match="no JSON"):
        encode_record(PluginStateRecord("p", {"a": object()}))


def test_defaults_are_not_written() -> None:
    _, data = encode_record(UserRecord(UserMessage("hello")))
    assert json.loads(data) == {"v": 1, "message": {"text": "hello", "via": "prompt"}}
    _, data = encode_record(ErrorRecord("tool", "look", "no"), 5)
    assert json.loads(data) == {"v": 1, "event": 5, "kind": "tool", "source": "look", "message": "no"}


def test_arguments_that_could_not_be_understood_stay_what_they_were() -> None:
    call = ToolCall("c1", "look", None, '{"a": ', "unexpected end")
    back, _ = decode_record(*encode_record(ReplyRecord(AssistantMessage((call,), "tool_calls"))))
    assert isinstance(back, ReplyRecord)
    assert back.message.tool_calls == (call,)
