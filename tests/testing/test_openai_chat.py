"""The checker of this wire form: a good request passes, and one with one fault is refused by that fault's rule."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from hookagent.testing.wire import CHAT, RULES, WireError
from hookagent.testing.wire.openai_chat import TOP_LEVEL_FIELDS, check_chat_request

Edit = tuple[str, tuple[Any, ...], Any]
LONE = "\ud83d"
SCHEMA = {"type": "object", "properties": {"q": {"type": "string"}}}


def put(value: Any, *path: Any) -> Edit:
    return ("put", path, value)


def drop(*path: Any) -> Edit:
    return ("drop", path, None)


def insert(value: Any, *path: Any) -> Edit:
    return ("insert", path, value)


def move(source: tuple[Any, ...], target: tuple[Any, ...]) -> Edit:
    return ("move", target, source)


def good_chat() -> dict[str, Any]:
    def call(id: str, name: str, arguments: str) -> dict[str, Any]:
        return {"id": id, "type": "function", "function": {"name": name, "arguments": arguments}}

    return {
        "model": "gpt-5",
        "max_completion_tokens": 4096,
        "stream": True,
        "stream_options": {"include_usage": True},
        "tools": [
            {"type": "function", "function": {"name": "look", "parameters": SCHEMA}},
            {"type": "function", "function": {"name": "walk", "parameters": SCHEMA}},
        ],
        "tool_choice": {"type": "function", "function": {"name": "look"}},
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "find it"},
            {
                "role": "assistant",
                "content": "Looking.",
                "tool_calls": [call("c1", "look", '{"q": "x"}'), call("c2", "walk", "{}")],
            },
            {"role": "tool", "tool_call_id": "c2", "content": "there"},
            {"role": "tool", "tool_call_id": "c1", "content": [{"type": "text", "text": "found"}]},
            {"role": "user", "content": [{"type": "text", "text": "remember the list"}]},
        ],
    }


C = "messages"
ASSISTANT = {"role": "assistant", "content": "done"}

# The rule that refuses, the index of the message at fault, and the edits that make the good request a faulty one.
MUTANTS: list[tuple[Any, ...]] = [
    ("json-value", None, put(float("-inf"), "temperature")),
    ("json-text", 3, put("cut " + LONE, C, 3, "content")),
    ("json-text", 2, put('{"\\udc00": 1}', C, 2, "tool_calls", 0, "function", "arguments")),
    ("unknown-field", None, put("Be brief.", "system")),
    ("unknown-field", 2, put([], C, 2, "annotations")),
    ("unknown-field", 2, put(0, C, 2, "tool_calls", 0, "index")),
    ("field-type", None, put([1], "stream_options")),
    ("model", None, put(None, "model")),
    ("output-limit", None, put(0, "max_completion_tokens")),
    ("output-limit", None, put(10, "max_tokens")),
    ("stream-options", None, drop("stream")),
    ("tool-name", None, put("look up", "tools", 0, "function", "name")),
    ("tool-name", 2, put("", C, 2, "tool_calls", 0, "function", "name")),
    ("tool-name-duplicate", None, put("look", "tools", 1, "function", "name")),
    ("tool-schema", None, put({"type": ["object"]}, "tools", 0, "function", "parameters")),
    ("tools-empty", None, put([], "tools")),
    ("tool-choice", None, drop("tools")),
    ("tool-choice", None, put("any", "tool_choice")),
    ("tool-choice", None, put("fly", "tool_choice", "function", "name")),
    ("messages-empty", None, drop(C)),
    ("unknown-role", 1, put("human", C, 1, "role")),
    ("content-shape", 1, put([{"type": "refusal", "refusal": "no"}], C, 1, "content")),
    ("content-shape", 2, put("call", C, 2, "tool_calls", 0, "type")),
    ("content-empty", 1, put(None, C, 1, "content")),
    ("content-empty", 5, put([], C, 5, "content")),
    ("content-empty", 3, drop(C, 3, "content")),
    ("blank-text", 0, put(" ", C, 0, "content")),
    ("blank-text", 2, put("", C, 2, "content")),
    ("blank-text", 3, put("", C, 3, "content")),
    ("blank-text", 5, put(" ", C, 5, "content", 0, "text")),
    ("first-role", 1, insert(ASSISTANT, C, 1)),
    ("last-turn", 6, insert(ASSISTANT, C, 6)),
    ("last-turn", 6, insert({"role": "system", "content": "hurry"}, C, 6)),
    ("call-id-missing", 2, put(None, C, 2, "tool_calls", 0, "id")),
    ("call-id-missing", 3, drop(C, 3, "tool_call_id")),
    ("call-id-shape", 2, put("c" * 41, C, 2, "tool_calls", 0, "id")),
    ("call-id-duplicate", 2, put("c1", C, 2, "tool_calls", 1, "id")),
    ("calls-empty", 2, put([], C, 2, "tool_calls")),
    ("arguments", 2, put({}, C, 2, "tool_calls", 0, "function", "arguments")),
    ("arguments", 2, put("", C, 2, "tool_calls", 0, "function", "arguments")),
    ("arguments", 2, put("Infinity", C, 2, "tool_calls", 0, "function", "arguments")),
    ("call-unanswered", 2, drop(C, 3)),
    ("call-unanswered", 2, drop(C, 3), drop(C, 3)),
    ("call-unanswered", 2, drop(C, 4), drop(C, 4)),
    ("result-orphaned", 3, put("c9", C, 3, "tool_call_id")),
    ("result-duplicate", 4, put("c2", C, 4, "tool_call_id")),
    ("result-duplicate", 6, insert({"role": "tool", "tool_call_id": "c1", "content": "a"}, C, 6)),
    ("result-late", 5, insert({"role": "user", "content": "and?"}, C, 4)),
    ("result-late", 5, insert({"role": "system", "content": "and?"}, C, 3)),
    ("result-misplaced", 2, move((C, 3), (C, 2))),
]


def test_a_good_request_passes() -> None:
    check_chat_request(good_chat())
    check_chat_request(good_chat())


@pytest.mark.parametrize("row", MUTANTS, ids=[f"{row[0]}-{position}" for position, row in enumerate(MUTANTS)])
def test_a_mutant_is_refused_by_its_rule(row: tuple[Any, ...], edited: Callable[..., dict[str, Any]]) -> None:
    rule, index, *edits = row

    with pytest.raises(WireError) as caught:
        check_chat_request(edited(good_chat(), edits))

    assert (caught.value.rule, caught.value.index) == (rule, index), caught.value
    assert str(caught.value) == f"{rule}: {caught.value.message}"


def test_every_documented_rule_has_a_mutant() -> None:
    documented = {rule for rule, entry in RULES.items() if CHAT in entry.wires}

    assert {row[0] for row in MUTANTS} == documented


def test_a_request_that_ends_in_results_passes() -> None:
    body = good_chat()
    body["messages"].pop()

    check_chat_request(body)


def test_a_call_without_text_and_a_refusal_pass() -> None:
    body = good_chat()
    body["messages"][2]["content"] = None
    body["messages"].insert(5, {"role": "assistant", "content": None, "refusal": "no"})

    check_chat_request(body)


def test_the_field_list_holds_what_the_sdk_can_send() -> None:
    from openai.types.chat.completion_create_params import CompletionCreateParamsBase

    assert set(CompletionCreateParamsBase.__annotations__) <= TOP_LEVEL_FIELDS
