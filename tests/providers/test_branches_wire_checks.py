"""The last check of each wire form, rule by rule: a good body passes, and each fault in it is named with its place."""

from __future__ import annotations

import copy
import re
from collections.abc import Callable
from typing import Any

import pytest

from hookagent.errors import RequestRefusedError
from hookagent.providers.wire import anthropic_messages, openai_chat, openai_responses
from hookagent.requests import BlockView, Request
from hookagent.transcript import Transcript

Edit = Callable[[dict[str, Any]], Any]
CHECKS: dict[str, Any] = {
    "anthropic": anthropic_messages.check_body,
    "openai": openai_responses.check_body,
    "openai-chat": openai_chat.check_body,
}
SCHEMA = {"type": "object", "properties": {}}
GOOD: dict[str, dict[str, Any]] = {
    "anthropic": {
        "max_tokens": 100,
        "system": [{"type": "text", "text": "rules"}],
        "tools": [{"name": "look", "input_schema": SCHEMA}, {"type": "web_search_20260209", "name": "web search"}],
        "messages": [
            {"role": "user", "content": [{"type": "text", "text": "go"}, {"type": "image", "source": {}}]},
            {
                "role": "assistant",
                "content": [
                    {"type": "thinking", "thinking": "", "signature": "s"},
                    {"type": "text", "text": "looking ü"},
                    {"type": "tool_use", "id": "a", "name": "look", "input": {}},
                    {"type": "tool_use", "id": "b", "name": "look", "input": {}},
                ],
            },
            {
                "role": "user",
                "content": [
                    {"type": "tool_result", "tool_use_id": "a", "content": "seen"},
                    {"type": "tool_result", "tool_use_id": "b", "content": "seen"},
                    {"type": "text", "text": "and?"},
                ],
            },
        ],
    },
    "openai": {
        "instructions": "rules",
        "tools": [{"type": "function", "name": "look", "parameters": SCHEMA}, {"type": "web_search"}],
        "input": [
            {
                "type": "message",
                "role": "user",
                "content": [{"type": "input_text", "text": "go"}, {"type": "input_image"}],
            },
            {"type": "reasoning", "encrypted_content": "x"},
            {"type": "function_call", "call_id": "a", "name": "look", "arguments": "{}"},
            {"type": "function_call", "call_id": "b", "name": "look", "arguments": "{}"},
            {"type": "function_call_output", "call_id": "a", "output": "seen"},
            {"type": "function_call_output", "call_id": "b", "output": "seen"},
        ],
    },
    "openai-chat": {
        "tools": [{"type": "function", "function": {"name": "look", "parameters": SCHEMA}}],
        "messages": [
            {"role": "system", "content": "rules"},
            {"role": "user", "content": [{"type": "text", "text": "go"}, {"type": "image_url"}]},
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [
                    {"id": one, "type": "function", "function": {"name": "look", "arguments": "{}"}} for one in "ab"
                ],
            },
            {"role": "tool", "tool_call_id": "a", "content": "seen"},
            {"role": "tool", "tool_call_id": "b", "content": "seen"},
        ],
    },
}


def check(wire: str, *edits: Edit) -> None:
    body = copy.deepcopy(GOOD[wire])
    for edit in edits:
        edit(body)
    CHECKS[wire](body, Request(BlockView(Transcript()), shaped_by="shaper"))


def put(*path: Any) -> Edit:
    """An edit that puts the last of `path` in the place that the others lead to."""
    *way, last, value = path

    def edit(body: dict[str, Any]) -> None:
        place: Any = body
        for step in way:
            place = place[step]
        place[last] = value

    return edit


def cut(key: str, start: int, end: int | None = None) -> Edit:
    return lambda body: body.update({key: body[key][start:end]})


def insert(key: str, index: int, value: Any) -> Edit:
    return lambda body: body[key].insert(index, value)


@pytest.mark.parametrize("wire", CHECKS)
def test_a_good_body_passes(wire: str) -> None:
    check(wire)
    check(wire, lambda body: body.pop("instructions", None), lambda body: body.pop("system", None))


@pytest.mark.parametrize("wire", ["openai", "openai-chat"])
def test_calls_without_tools_are_for_openai_to_judge(wire: str) -> None:
    check(wire, lambda body: body.pop("tools"))


NAME = r"the tool name 'a b' has characters or a length that cannot be sent"
TOOLS: list[tuple[str, tuple[Any, ...], Any, str]] = [
    ("anthropic", ("tools", 0), "input_schema", NAME),
    ("openai", ("tools", 0), "parameters", NAME),
    ("openai-chat", ("tools", 0, "function"), "parameters", NAME),
]


@pytest.mark.parametrize(("wire", "way", "field", "name"), TOOLS)
def test_tools_have_good_names_of_their_own_and_schemas_of_objects(
    wire: str, way: tuple[Any, ...], field: str, name: str
) -> None:
    def twice(body: dict[str, Any]) -> None:
        body["tools"].append(body["tools"][0])

    for edit, says in (
        (put(*way, "name", "a b"), name),
        (twice, "two tools are named 'look'"),
        (put(*way, field, {"type": "string"}), "the parameters of tool 'look' are not a JSON schema of type 'object'"),
        (put(*way, field, None), "the parameters of tool 'look' are not a JSON schema of type 'object'"),
    ):
        with pytest.raises(RequestRefusedError, match=re.escape(says)):
            check(wire, edit)


def test_a_list_of_tools_is_looked_at_once_and_only_so_many_are_kept() -> None:
    lists = [[{"name": f"t{number}", "input_schema": SCHEMA}] for number in range(300)]
    for tools in lists:
        check("anthropic", put("tools", tools))
    # Known as good, and not looked at again: what was changed in it meanwhile is not seen.
    lists[-1][0]["name"] = "a b"
    check("anthropic", put("tools", lists[-1]))
    # Long forgotten, so it is.
    lists[0][0]["name"] = "a b"
    with pytest.raises(RequestRefusedError, match="the tool name 'a b'"):
        check("anthropic", put("tools", lists[0]))


USER = {"role": "user", "content": [{"type": "text", "text": "again"}]}
CALL = {"type": "tool_use", "id": "a", "name": "look", "input": {}}
MESSAGES: list[tuple[tuple[Edit, ...], str, str]] = [
    ((put("max_tokens", None),), "output_limit", "max_tokens is None, not a number from 1"),
    ((put("max_tokens", 0),), "output_limit", "max_tokens is 0, not a number from 1"),
    ((put("max_tokens", True),), "output_limit", "max_tokens is True, not a number from 1"),
    ((put("system", 0, "text", " "),), "blank_text", "the system text is blank or not valid Unicode"),
    ((put("system", 0, "text", "\ud800"),), "blank_text", "the system text is blank or not valid Unicode"),
    ((put("messages", []),), "empty_prompt", "there is no message to send"),
    ((insert("messages", 0, USER),), "roles", "messages 0 and 1 are both of role 'user'"),
    ((put("messages", 0, "role", "system"),), "roles", "message 0 has role 'system'"),
    ((put("messages", 0, "content", []),), "blank_text", "message 0 has no content"),
    ((put("messages", 0, "content", "go"),), "blank_text", "message 0 has no content"),
    ((put("messages", 0, "content", 0, "text", " "),), "blank_text", "message 0 has a blank text"),
    ((put("messages", 0, "content", 0, "text", "\ud800"),), "json", "message 0 has text that is not valid Unicode"),
    ((put("messages", 1, "content", 2, "id", "a b"),), "call_ids", "message 1 has the call id 'a b'"),
    ((put("messages", 1, "content", 2, "name", ""),), "tools", "message 1 has a call with a bad name"),
    ((put("messages", 1, "content", 2, "input", "{}"),), "tools", "message 1 has a call with a bad name or no object"),
    ((put("messages", 1, "content", 3, "id", "a"), put("messages", 2, "content", 1, "tool_use_id", "a")),
     "call_ids", "message 1 repeats a call id of this request"),
    ((put("messages", 2, "content", 0, "content", " "),), "blank_text", "message 2 has a result that is blank or not"),
    ((put("messages", 2, "content", 0, {"type": "text", "text": "x"}),), "pairing", "message 2 has a result behind"),
    ((put("messages", 1, "content", 0, "signature", ""),), "thinking", "message 1 has thinking without its signature"),
    ((put("messages", 0, "content", 1, CALL),), "roles", "message 0 has a 'tool_use' block in a user turn"),
    ((put("messages", 1, "content", 1, {"type": "tool_result", "tool_use_id": "a", "content": "x"}),),
     "pairing", "message 1 has a result in an assistant turn"),
    ((cut("messages", 0, 2),), "pairing", "the calls a, b have no results"),
    ((put("messages", 2, USER),), "pairing", "message 2 does not answer the calls right before it: a, b"),
    ((lambda body: body["messages"][2]["content"].reverse(), lambda body: body["messages"][2]["content"].pop(0)),
     "pairing", "message 2 has its results out of call order, or twice"),
    ((put("messages", 1, "content", [{"type": "text", "text": "x"}]),),
     "pairing", "message 2 answers calls that were not made right before it: a, b"),
    ((lambda body: body.pop("tools"),), "tools", "the history has calls, but no tool is declared"),
    ((cut("messages", 1),), "first_turn", "the first message has role 'assistant', not 'user'"),
    ((insert("messages", 3, {"role": "assistant", "content": [{"type": "text", "text": "done"}]}),),
     "final_turn", "the last message is the model's own, so there is nothing to answer"),
]  # fmt: skip
REASONING = {"type": "reasoning", "encrypted_content": "x"}
SAID = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "done"}]}
ASKED = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "again"}]}
RESPONSES: list[tuple[tuple[Edit, ...], str, str]] = [
    ((put("instructions", " "),), "blank_text", "the system text is blank or not valid Unicode"),
    ((put("instructions", "\ud800"),), "blank_text", "the system text is blank or not valid Unicode"),
    ((put("input", []),), "empty_prompt", "there is no message to send"),
    ((insert("input", 2, ASKED),), "reasoning", "item 1 is reasoning without the item it belongs to"),
    ((put("input", 1, "encrypted_content", ""),), "reasoning", "item 1 is reasoning without its encrypted content"),
    ((insert("input", 4, ASKED),), "pairing", "item 4 stands before the results of the calls a, b"),
    ((insert("input", 5, SAID),), "pairing", "item 5 stands before the results of the calls b"),
    ((cut("input", 0, 5),), "pairing", "the calls b have no results"),
    ((put("input", 4, "call_id", "b"),), "pairing", "item 4 answers the call b, which is not the next one open"),
    ((insert("input", 6, {"type": "function_call_output", "call_id": "b", "output": "x"}),),
     "pairing", "item 6 answers the call b, which is not the next one open"),
    ((put("input", 3, "call_id", "a"),), "call_ids", "item 3 repeats the call id a"),
    ((cut("input", 1),), "first_turn", "the first item is 'reasoning', not a message of the user"),
    ((insert("input", 6, SAID),), "final_turn", "the last item is the model's own, so there is nothing to answer"),
    ((put("input", 0, "role", "system"),), "roles", "item 0 has role 'system' or no content"),
    ((put("input", 0, "content", []),), "roles", "item 0 has role 'user' or no content"),
    ((put("input", 0, "content", 0, "text", " "),), "blank_text", "item 0 has text that is blank or not valid Unicode"),
    ((put("input", 2, "call_id", ""),), "call_ids", "item 2 has the call id ''"),
    ((put("input", 2, "call_id", "x" * 65),), "call_ids", "item 2 has the call id 'xxx"),
    ((put("input", 2, "name", "a b"),), "tools", "item 2 calls a tool by the name 'a b'"),
    ((put("input", 2, "arguments", "[]"),), "json", "item 2 has arguments that are not"),
    ((put("input", 2, "arguments", "{"),), "json", "item 2 has arguments that are not"),
    ((put("input", 2, "arguments", '"\ud800"'),), "json", "item 2 has arguments that are not"),
    ((put("input", 4, "call_id", None),), "call_ids", "item 4 has the call id None"),
    ((put("input", 4, "output", " "),), "blank_text", "item 4 has a result that is blank or not valid Unicode"),
]  # fmt: skip
FUNCTION = ("messages", 2, "tool_calls", 0, "function")
CHAT: list[tuple[tuple[Edit, ...], str, str]] = [
    ((put("messages", [{"role": "system", "content": "rules"}]),), "empty_prompt", "there is no message to send"),
    ((insert("messages", 2, {"role": "system", "content": "more"}),),
     "roles", "message 2 is a system message behind the first place"),
    ((put("messages", 1, "role", "developer"),), "roles", "message 1 has role 'developer'"),
    ((put("messages", 1, "role", "assistant"),), "first_turn", "the first message has role 'assistant', not 'user'"),
    ((put("messages", 1, "content", None),), "blank_text", "message 1 has no content"),
    ((put("messages", 1, "content", 0, "text", " "),), "blank_text", "message 1 has text that is blank or not valid"),
    ((put("messages", 3, "content", "\ud800"),), "blank_text", "message 3 has text that is blank or not valid Unicode"),
    ((put("messages", 1, "tool_calls", []),), "pairing", "message 1 has calls where none can stand"),
    ((put("messages", 2, "tool_calls", 0, "id", "x" * 41),), "call_ids", "message 2 has the call id 'xxx"),
    ((put("messages", 2, "tool_calls", 1, "id", "a"),), "call_ids", "message 2 repeats a call id of this request"),
    ((put(*FUNCTION, "name", "a b"),), "tools", "message 2 calls a tool by the name 'a b'"),
    ((put(*FUNCTION, "arguments", "[]"),), "json", "message 2 has arguments that are not"),
    ((put(*FUNCTION, "arguments", "{"),), "json", "message 2 has arguments that are not"),
    ((put(*FUNCTION, "arguments", {}),), "json", "message 2 has arguments that are not"),
    ((put("messages", 3, "tool_call_id", None),), "call_ids", "message 3 is a result without the id of its call"),
    ((put("messages", 3, "tool_call_id", "b"),), "pairing", "message 3 answers the call b, which is not"),
    ((insert("messages", 4, {"role": "user", "content": "and?"}),),
     "pairing", "message 4 stands before the results of the calls b"),
    ((cut("messages", 0, 4),), "pairing", "the calls b have no results"),
    ((insert("messages", 5, {"role": "assistant", "content": "done"}),),
     "final_turn", "the last message is the model's own, so there is nothing to answer"),
]  # fmt: skip
FAULTS = [
    pytest.param(wire, edits, rule, says, id=f"{wire}: {says}")
    for wire, rows in (("anthropic", MESSAGES), ("openai", RESPONSES), ("openai-chat", CHAT))
    for edits, rule, says in rows
]


@pytest.mark.parametrize(("wire", "edits", "rule", "says"), FAULTS)
def test_each_fault_is_refused_by_its_rule(wire: str, edits: tuple[Edit, ...], rule: str, says: str) -> None:
    with pytest.raises(RequestRefusedError, match=re.escape(says)) as raised:
        check(wire, *edits)
    assert (raised.value.rule, raised.value.shaped_by) == (rule, "shaper")
