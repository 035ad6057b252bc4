"""The checker of this wire form: a good request passes, and one with one fault is refused by that fault's rule."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from hookagent.testing.server.signing import TranscriptSigner
from hookagent.testing.wire import MESSAGES, RULES, WireError
from hookagent.testing.wire.anthropic_messages import TOP_LEVEL_FIELDS, check_messages_request

Edit = tuple[str, tuple[Any, ...], Any]
LONE = "\ud83d"
SCHEMA = {"type": "object", "properties": {"q": {"type": "string"}}}
SIGNER = TranscriptSigner()


def put(value: Any, *path: Any) -> Edit:
    return ("put", path, value)


def drop(*path: Any) -> Edit:
    return ("drop", path, None)


def insert(value: Any, *path: Any) -> Edit:
    return ("insert", path, value)


def move(source: tuple[Any, ...], target: tuple[Any, ...]) -> Edit:
    return ("move", target, source)


def good_messages() -> dict[str, Any]:
    thought = "I should look."
    return {
        "model": "claude-sonnet-5",
        "max_tokens": 4096,
        "system": [{"type": "text", "text": "Be brief.", "cache_control": {"type": "ephemeral"}}],
        "thinking": {"type": "enabled", "budget_tokens": 2048},
        "tools": [{"name": "look", "input_schema": SCHEMA}, {"name": "walk", "input_schema": SCHEMA}],
        "messages": [
            {"role": "user", "content": "find it"},
            {
                "role": "assistant",
                "content": [
                    {"type": "thinking", "thinking": thought, "signature": SIGNER.sign_thinking(thought)},
                    {"type": "redacted_thinking", "data": SIGNER.make_redacted("more")},
                    {"type": "text", "text": "Looking."},
                    {"type": "tool_use", "id": "c1", "name": "look", "input": {"q": "x"}},
                    {"type": "tool_use", "id": "c2", "name": "walk", "input": {}},
                ],
            },
            {
                "role": "user",
                "content": [
                    {"type": "tool_result", "tool_use_id": "c2", "content": "there"},
                    {"type": "tool_result", "tool_use_id": "c1", "content": [{"type": "text", "text": "found"}]},
                    {"type": "text", "text": "remember the list"},
                ],
            },
        ],
    }


M = "messages"
ASSISTANT = {"role": "assistant", "content": "done"}
MARK = {"type": "ephemeral"}
MANY_BREAKPOINTS = [put(MARK, M, 1, "content", position, "cache_control") for position in (2, 3, 4)] + [
    put(MARK, M, 2, "content", 0, "cache_control")
]

# The rule that refuses, the index of the message at fault, and the edits that make the good request a faulty one.
MUTANTS: list[tuple[Any, ...]] = [
    ("json-value", 1, put(float("nan"), M, 1, "content", 3, "input", "q")),
    ("json-value", None, put({1: "a"}, "metadata")),
    ("json-text", 0, put("broken " + LONE, M, 0, "content")),
    ("json-text", 1, put({LONE: 1}, M, 1, "content", 4, "input")),
    ("unknown-field", None, put(1, "max_output_tokens")),
    ("unknown-field", 0, put("ann", M, 0, "name")),
    ("unknown-field", 1, put(None, M, 1, "content", 2, "parsed_output")),
    ("unknown-field", None, put({}, "tools", 0, "parameters")),
    ("unknown-field", None, put(1.0, "temperature")),
    ("field-type", None, put("yes", "stream")),
    ("field-type", None, put([1], "thinking")),
    ("model", None, drop("model")),
    ("output-limit", None, drop("max_tokens")),
    ("output-limit", None, put(0, "max_tokens")),
    ("thinking-budget", None, put(512, "thinking", "budget_tokens")),
    ("thinking-budget", None, put(4096, "thinking", "budget_tokens")),
    ("cache-breakpoints", None, *MANY_BREAKPOINTS),
    ("tool-name", None, put("look up", "tools", 0, "name")),
    ("tool-name", None, put("x" * 129, "tools", 0, "name")),
    ("tool-name", 1, put("look.up", M, 1, "content", 3, "name")),
    ("tool-name-duplicate", None, put("look", "tools", 1, "name")),
    ("tool-schema", None, put({"type": "string"}, "tools", 0, "input_schema")),
    ("tool-schema", None, drop("tools", 0, "input_schema")),
    ("tools-undeclared", None, drop("tools")),
    ("tool-choice", None, put({"type": "tool", "name": "fly"}, "tool_choice")),
    ("tool-choice", None, put({"type": "auto"}, "tool_choice"), put([], "tools")),
    ("tool-choice", None, put({"type": "any"}, "tool_choice")),
    ("messages-empty", None, put([], M)),
    ("unknown-role", 0, put("system", M, 0, "role")),
    ("unknown-role", 2, put("tool", M, 2, "role")),
    ("content-shape", 0, put(None, M, 0, "content")),
    ("content-shape", 0, put([{"type": "thinking", "thinking": "a", "signature": "b"}], M, 0, "content")),
    ("content-shape", 1, insert({"type": "image", "source": {}}, M, 1, "content", 2)),
    ("content-shape", 2, put([{"type": "char_location"}], M, 2, "content", 2, "citations")),
    ("content-empty", 0, put([], M, 0, "content")),
    ("blank-text", 0, put(" \n", M, 0, "content")),
    ("blank-text", 1, put("", M, 1, "content", 2, "text")),
    ("blank-text", 2, put(" ", M, 2, "content", 0, "content")),
    ("blank-text", 2, put("\t", M, 2, "content", 1, "content", 0, "text")),
    ("blank-text", None, put("  ", "system", 0, "text")),
    ("first-role", 0, insert(ASSISTANT, M, 0)),
    ("last-turn", 3, insert(ASSISTANT, M, 3)),
    ("call-id-missing", 1, drop(M, 1, "content", 3, "id")),
    ("call-id-missing", 1, put("", M, 1, "content", 3, "id")),
    ("call-id-missing", 2, put(None, M, 2, "content", 0, "tool_use_id")),
    ("call-id-shape", 1, put("call:1", M, 1, "content", 3, "id")),
    ("call-id-duplicate", 1, put("c1", M, 1, "content", 4, "id")),
    ("arguments", 1, put('{"q": "x"}', M, 1, "content", 3, "input")),
    ("call-unanswered", 1, drop(M, 2, "content", 0)),
    ("call-unanswered", 1, drop(M, 2)),
    ("call-unanswered", 1, drop(M, 2), insert(ASSISTANT, M, 2)),
    ("result-orphaned", 2, put("c9", M, 2, "content", 0, "tool_use_id")),
    ("result-orphaned", 0, put([{"type": "tool_result", "tool_use_id": "c9", "content": "a"}], M, 0, "content")),
    ("result-duplicate", 2, insert({"type": "tool_result", "tool_use_id": "c1", "content": "a"}, M, 2, "content", 2)),
    (
        "result-duplicate",
        3,
        insert({"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c1", "content": "a"}]}, M, 3),
    ),
    ("result-late", 3, insert({"role": "user", "content": "and?"}, M, 2)),
    ("result-late", 3, insert({"role": "user", "content": []}, M, 3), move((M, 2, "content", 1), (M, 3, "content", 0))),
    ("result-misplaced", 2, move((M, 2, "content", 2), (M, 2, "content", 0))),
    ("result-misplaced", 2, move((M, 2, "content", 2), (M, 2, "content", 1))),
    ("result-misplaced", 1, move((M, 2, "content", 0), (M, 1, "content", 5))),
    ("result-misplaced", 0, move((M, 2), (M, 0))),
    ("thinking-signature", 1, drop(M, 1, "content", 0, "signature")),
    ("thinking-signature", 1, put("", M, 1, "content", 0, "signature")),
    ("redacted-data", 1, drop(M, 1, "content", 1, "data")),
    ("thinking-changed", 1, put("I should look!", M, 1, "content", 0, "thinking")),
    ("thinking-changed", 1, put("forged", M, 1, "content", 0, "signature")),
    ("thinking-changed", 1, put("forged", M, 1, "content", 1, "data")),
    ("thinking-first", 1, drop(M, 1, "content", 0), drop(M, 1, "content", 0)),
    ("thinking-first", 1, move((M, 1, "content", 2), (M, 1, "content", 0))),
]


def test_a_good_request_passes() -> None:
    check_messages_request(good_messages(), signer=SIGNER)
    check_messages_request(good_messages())


@pytest.mark.parametrize("row", MUTANTS, ids=[f"{row[0]}-{position}" for position, row in enumerate(MUTANTS)])
def test_a_mutant_is_refused_by_its_rule(row: tuple[Any, ...], edited: Callable[..., dict[str, Any]]) -> None:
    rule, index, *edits = row

    with pytest.raises(WireError) as caught:
        check_messages_request(edited(good_messages(), edits), signer=SIGNER)

    assert (caught.value.rule, caught.value.index) == (rule, index), caught.value
    assert str(caught.value) == f"{rule}: {caught.value.message}"


def test_every_documented_rule_has_a_mutant() -> None:
    documented = {rule for rule, entry in RULES.items() if MESSAGES in entry.wires}

    assert {row[0] for row in MUTANTS} == documented


def test_a_request_that_ends_in_results_passes() -> None:
    body = good_messages()
    body["messages"][2]["content"].pop()

    check_messages_request(body, signer=SIGNER)


def test_a_paused_turn_goes_back_as_it_came() -> None:
    call = {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {"query": "x"}}
    paused: dict[str, Any] = {"role": "assistant", "content": [{"type": "text", "text": "Searching."}, call]}
    result = {"type": "web_search_tool_result", "tool_use_id": "s1", "content": []}
    body = {"model": "m", "max_tokens": 1, "messages": [{"role": "user", "content": "go"}, paused]}

    check_messages_request(body)
    paused["content"] = [call, result, {"type": "text", "text": "Found."}]
    check_messages_request(body)
    paused["content"] = [{"type": "text", "text": "Found."}]
    with pytest.raises(WireError, match="last-turn"):
        check_messages_request(body)
    paused["content"] = [result | {"tool_use_id": "s2"}, call]
    with pytest.raises(WireError, match="result-orphaned"):
        check_messages_request(body)


@pytest.mark.parametrize("thinking", [{"type": "adaptive"}, {"type": "disabled"}, None])
def test_only_enabled_thinking_has_to_come_first(thinking: dict[str, str] | None) -> None:
    body = good_messages()
    body["thinking"] = thinking
    del body["messages"][1]["content"][:2]

    check_messages_request(body, signer=SIGNER)


def test_rounds_before_the_last_one_need_no_thinking() -> None:
    body = good_messages()
    old = [
        {"role": "user", "content": "first"},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "c0", "name": "look", "input": {}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c0", "content": "a"}]},
        {"role": "assistant", "content": "found"},
    ]
    body["messages"][:0] = old

    check_messages_request(body, signer=SIGNER)


def test_deep_arguments_are_judged_and_no_crash() -> None:
    body = good_messages()
    deep: dict[str, Any] = {}
    for _ in range(20_000):
        deep = {"a": deep}
    body["messages"][1]["content"][3]["input"] = deep

    check_messages_request(body, signer=SIGNER)


def test_the_field_list_holds_what_the_sdk_can_send() -> None:
    from anthropic.types.message_create_params import MessageCreateParamsBase

    assert set(MessageCreateParamsBase.__annotations__) <= TOP_LEVEL_FIELDS
