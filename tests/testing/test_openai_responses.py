"""The checker of this wire form: a good request passes, and one with one fault is refused by that fault's rule."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from hookagent.testing.server.signing import TranscriptSigner
from hookagent.testing.wire import RESPONSES, RULES, WireError
from hookagent.testing.wire.openai_responses import TOP_LEVEL_FIELDS, check_responses_request

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


def good_responses() -> dict[str, Any]:
    return {
        "model": "gpt-5",
        "store": False,
        "include": ["reasoning.encrypted_content"],
        "instructions": "Be brief.",
        "max_output_tokens": 4096,
        "stream": True,
        "stream_options": {"include_obfuscation": False},
        "tools": [
            {"type": "function", "name": "look", "parameters": SCHEMA, "strict": False},
            {"type": "function", "name": "walk", "parameters": SCHEMA, "strict": False},
        ],
        "tool_choice": "auto",
        "input": [
            {"role": "user", "content": "find it"},
            {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": SIGNER.encrypt_reasoning("rs_1")},
            {
                "type": "message",
                "id": "msg_1_with_rs_1",
                "role": "assistant",
                "status": "completed",
                "content": [{"type": "output_text", "text": "Looking.", "annotations": []}],
            },
            {"type": "function_call", "id": "fc_1", "call_id": "c1", "name": "look", "arguments": '{"q": "x"}'},
            {"type": "function_call", "id": "fc_2", "call_id": "c2", "name": "walk", "arguments": "{}"},
            {"type": "function_call_output", "call_id": "c1", "output": "found"},
            {"type": "function_call_output", "call_id": "c2", "output": [{"type": "input_text", "text": "there"}]},
            {"role": "user", "content": [{"type": "input_text", "text": "remember the list"}]},
        ],
    }


R = "input"
ITEM_ASSISTANT = {"role": "assistant", "content": "done"}
REASONING = {
    "type": "reasoning",
    "id": "rs_2",
    "summary": [],
    "encrypted_content": SIGNER.encrypt_reasoning("rs_2"),
}

# The rule that refuses, the index of the message at fault, and the edits that make the good request a faulty one.
MUTANTS: list[tuple[Any, ...]] = [
    ("json-value", None, put(float("inf"), "temperature")),
    ("json-text", 0, put(LONE, R, 0, "content")),
    ("json-text", 3, put('{"q": "\\ud83d"}', R, 3, "arguments")),
    ("unknown-field", None, put(1, "max_tokens")),
    ("unknown-field", 3, put(None, R, 3, "parsed_arguments")),
    ("unknown-field", 0, put("ann", R, 0, "name")),
    ("field-type", None, put("reasoning.encrypted_content", "include")),
    ("field-type", None, put(0, "store")),
    ("model", None, put(" ", "model")),
    ("output-limit", None, put(15, "max_output_tokens")),
    ("stream-options", None, put(False, "stream")),
    ("previous-response", None, put("resp_1", "previous_response_id")),
    ("previous-response", 7, insert({"type": "item_reference", "id": "rs_0"}, R, 7)),
    ("tool-name", None, put("look.up", "tools", 0, "name")),
    ("tool-name", 3, put("x" * 65, R, 3, "name")),
    ("tool-name-duplicate", None, put("look", "tools", 1, "name")),
    ("tool-schema", None, put([], "tools", 0, "parameters")),
    ("tool-choice", None, put([], "tools")),
    ("tool-choice", None, put({"type": "function", "name": "fly"}, "tool_choice")),
    ("tool-choice", None, drop("tool_choice"), put(False, "parallel_tool_calls"), drop("tools")),
    ("messages-empty", None, put([], R)),
    ("messages-empty", None, drop(R)),
    ("unknown-role", 0, put("tool", R, 0, "role")),
    ("content-shape", 0, put({"text": "a"}, R, 0, "content")),
    ("content-shape", 0, put([{"type": "output_text", "text": "a"}], R, 0, "content")),
    ("content-shape", 2, put("input_text", R, 2, "content", 0, "type")),
    ("content-shape", 3, put("tool_call", R, 3, "type")),
    ("content-shape", 3, put(None, R, 3, "status")),
    ("content-empty", 2, put([], R, 2, "content")),
    ("content-empty", 5, drop(R, 5, "output")),
    ("blank-text", 0, put(" ", R, 0, "content")),
    ("blank-text", 2, put("", R, 2, "content", 0, "text")),
    ("blank-text", 5, put("", R, 5, "output")),
    ("blank-text", None, put("\n", "instructions")),
    ("blank-text", None, put("", R)),
    ("first-role", 0, insert(ITEM_ASSISTANT, R, 0)),
    ("last-turn", 8, insert(ITEM_ASSISTANT, R, 8)),
    ("last-turn", 8, insert({"role": "developer", "content": "hurry"}, R, 8)),
    ("call-id-missing", 3, drop(R, 3, "call_id")),
    ("call-id-missing", 5, put("", R, 5, "call_id")),
    ("call-id-shape", 3, put("c" * 65, R, 3, "call_id")),
    ("call-id-duplicate", 4, put("c1", R, 4, "call_id")),
    ("arguments", 3, put({"q": "x"}, R, 3, "arguments")),
    ("arguments", 3, put('{"q": "x', R, 3, "arguments")),
    ("arguments", 3, put('{"q": NaN}', R, 3, "arguments")),
    ("call-unanswered", 3, drop(R, 5)),
    ("call-unanswered", 4, drop(R, 6)),
    ("result-orphaned", 5, put("c9", R, 5, "call_id")),
    ("result-duplicate", 6, put("c1", R, 6, "call_id")),
    ("result-late", 6, insert({"role": "user", "content": "and?"}, R, 5)),
    ("result-late", 7, insert({"role": "developer", "content": "hurry"}, R, 6)),
    ("result-late", 7, insert(ITEM_ASSISTANT, R, 6)),
    ("result-misplaced", 3, move((R, 5), (R, 3))),
    ("reasoning-alone", 7, insert(REASONING, R, 7)),
    ("reasoning-alone", 8, insert(REASONING, R, 8)),
    ("reasoning-alone", 5, insert(REASONING, R, 5)),
    ("reasoning-missing", 1, drop(R, 1)),
    ("reasoning-content", 1, drop(R, 1, "encrypted_content")),
    ("reasoning-changed", 1, put("forged", R, 1, "encrypted_content")),
    ("item-id", 3, put("call_1", R, 3, "id")),
    ("item-id", 4, put("fc_1", R, 4, "id")),
]


def test_a_good_request_passes() -> None:
    check_responses_request(good_responses(), signer=SIGNER)
    check_responses_request(good_responses())


@pytest.mark.parametrize("row", MUTANTS, ids=[f"{row[0]}-{position}" for position, row in enumerate(MUTANTS)])
def test_a_mutant_is_refused_by_its_rule(row: tuple[Any, ...], edited: Callable[..., dict[str, Any]]) -> None:
    rule, index, *edits = row

    with pytest.raises(WireError) as caught:
        check_responses_request(edited(good_responses(), edits), signer=SIGNER)

    assert (caught.value.rule, caught.value.index) == (rule, index), caught.value
    assert str(caught.value) == f"{rule}: {caught.value.message}"


def test_every_documented_rule_has_a_mutant() -> None:
    documented = {rule for rule, entry in RULES.items() if RESPONSES in entry.wires}

    assert {row[0] for row in MUTANTS} == documented


def test_a_request_that_ends_in_results_passes() -> None:
    body = good_responses()
    body["input"].pop()

    check_responses_request(body, signer=SIGNER)


def test_a_text_input_passes() -> None:
    check_responses_request({"model": "gpt-5", "input": "find it"})


def test_rounds_may_follow_each_other_without_text() -> None:
    body = good_responses()
    items = body["input"]
    second_call, first_result = items[4], items[5]
    items[4:6] = [first_result, second_call]

    check_responses_request(body, signer=SIGNER)


def test_a_reply_may_go_on_behind_its_calls() -> None:
    body = good_responses()
    text = {"role": "assistant", "content": [{"type": "output_text", "text": "Wait."}]}
    body["input"].insert(5, text)

    check_responses_request(body, signer=SIGNER)


def test_a_stored_response_may_be_referred_to() -> None:
    body = good_responses()
    body["store"] = True
    body["previous_response_id"] = "resp_1"
    del body["input"][1]["encrypted_content"]

    check_responses_request(body, signer=SIGNER)


def test_the_field_list_holds_what_the_sdk_can_send() -> None:
    from openai.types.responses.response_create_params import ResponseCreateParamsBase

    assert set(ResponseCreateParamsBase.__annotations__) <= TOP_LEVEL_FIELDS
