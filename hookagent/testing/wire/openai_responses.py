"""The whole checker for requests to the OpenAI Responses API (`POST /v1/responses`).

The rules follow the Responses API reference and its guides on function calling, reasoning and conversation state.
Stricter than the reference: results come directly behind the reply that made the calls, and the last item is not the
assistant's. What each input item must carry is in `openai_items`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from hookagent.testing.wire.openai_items import LONGEST_TOOL_NAME, check_item, item_kind
from hookagent.testing.wire.pairing import Pairing
from hookagent.testing.wire.rules import (
    Signer,
    check_field_types,
    check_fields,
    check_model,
    check_object_schema,
    check_tool_name,
    check_unique_names,
    check_values,
    is_blank,
    is_one_of,
    refuse,
    words,
)

TOP_LEVEL_FIELDS: Final = words(
    "model input access_programs background background_options context_management conversation image include "
    "instructions max_output_tokens max_tool_calls metadata moderation parallel_tool_calls previous_response_id "
    "prompt prompt_cache_key prompt_cache_options prompt_cache_retention reasoning safety_identifier "
    "service_tier store stream stream_options temperature text tool_choice tools top_logprobs top_p truncation "
    "user"
)
"""The fields of a request."""

_TOOL_FIELDS: Final = words("type name description parameters strict async allowed_callers defer_loading output_schema")
_SMALLEST_LIMIT: Final = 16


def check_responses_request(body: Mapping[str, Any], *, signer: Signer | None = None) -> None:
    """Check one request body as a whole.

    With a `signer`, reasoning items must also be what that signer encrypted, and stand with the items they came with.
    Raises `WireError` for the first rule that is broken.
    """
    check_values(body, "input")
    check_fields(body, TOP_LEVEL_FIELDS, None, "the request")
    check_field_types(body)
    check_model(body)
    most = body.get("max_output_tokens")
    if most is not None and (not isinstance(most, int) or isinstance(most, bool) or most < _SMALLEST_LIMIT):
        refuse("output-limit", None, f"max_output_tokens is at least {_SMALLEST_LIMIT}, not {most!r}")
    if body.get("stream_options") is not None and not body.get("stream"):
        refuse("stream-options", None, "stream_options is given, but stream is not true")
    stored = body.get("store") is not False
    if not stored and body.get("previous_response_id") is not None:
        refuse("previous-response", None, "store is false, so there is no previous response to refer to")
    instructions = body.get("instructions")
    if instructions is not None and (not isinstance(instructions, str) or is_blank(instructions)):
        refuse("blank-text", None, "instructions is blank or no text")
    _check_tool_choice(body, _check_tools(body.get("tools")))
    _check_input(body.get("input"), stored, signer)


def _check_tools(tools: Any) -> list[str]:
    if tools is None:
        return []
    if not isinstance(tools, list):
        refuse("tool-schema", None, "tools is not a list")
    names: list[str] = []
    for position, tool in enumerate(tools):
        where = f"tools[{position}]"
        if not isinstance(tool, Mapping) or not isinstance(tool.get("type"), str):
            refuse("tool-schema", None, f"{where} has no type")
        if tool["type"] != "function":
            names.append(str(tool.get("name", tool["type"])))
            continue
        check_fields(tool, _TOOL_FIELDS, None, where)
        check_tool_name(tool.get("name"), LONGEST_TOOL_NAME, None, where)
        if tool.get("parameters") is not None:
            check_object_schema(tool["parameters"], f"{where}.parameters")
        names.append(tool["name"])
    check_unique_names(names)
    return names


def _check_tool_choice(body: Mapping[str, Any], names: Sequence[str]) -> None:
    for field in ("tool_choice", "parallel_tool_calls"):
        if body.get(field) is not None and not names:
            refuse("tool-choice", None, f"{field} is given, but no tools")
    choice = body.get("tool_choice")
    if isinstance(choice, str) and choice not in {"none", "auto", "required"}:
        refuse("tool-choice", None, f"tool_choice is {choice!r}, not none, auto or required")
    if isinstance(choice, Mapping) and choice.get("type") == "function" and choice.get("name") not in names:
        refuse("tool-choice", None, f"tool_choice names {choice.get('name')!r}, which is not among the tools")


def _check_input(items: Any, stored: bool, signer: Signer | None) -> None:
    if isinstance(items, str):
        if is_blank(items):
            refuse("blank-text", None, "input is blank")
        return
    if not isinstance(items, list) or not items:
        refuse("messages-empty", None, "input must hold at least one item")
    for index, item in enumerate(items):
        check_item(item, index, stored, signer)
    _check_item_ids(items)
    _check_first_role(items)
    _check_pairing(items)
    _check_reasoning(items, signer)
    last = items[-1]
    if last.get("role") != "user" and item_kind(last) != "function_call_output":
        refuse("last-turn", len(items) - 1, "the last item is neither the user's nor a result: nothing to answer")


def _check_item_ids(items: Sequence[Mapping[str, Any]]) -> None:
    seen: set[str] = set()
    for index, item in enumerate(items):
        id = item.get("id")
        if is_one_of(id, seen):
            refuse("item-id", index, f"input[{index}] has id {id!r}, which was used before")
        if isinstance(id, str):
            seen.add(id)


def _check_first_role(items: Sequence[Mapping[str, Any]]) -> None:
    for index, item in enumerate(items):
        if item.get("role") == "user":
            return
        if not is_one_of(item.get("role"), {"system", "developer"}):
            refuse("first-role", index, f"the first item is {item_kind(item)!r}, not a message of the user")


def _check_pairing(items: Sequence[Mapping[str, Any]]) -> None:
    calls = [(item["call_id"], index) for index, item in enumerate(items) if item_kind(item) == "function_call"]
    results = [(i["call_id"], index) for index, i in enumerate(items) if item_kind(i) == "function_call_output"]
    pairing = Pairing(calls, results)
    for index, item in enumerate(items):
        kind = item_kind(item)
        if kind == "function_call":
            pairing.call(item["call_id"], index)
        elif kind == "function_call_output":
            pairing.result(item["call_id"], index)
        elif is_one_of(item.get("role"), {"user", "system", "developer"}):
            pairing.other(index)
        else:
            # A reply may go on behind its calls, with text, reasoning or a server's own call.
            pairing.reply(index)
    pairing.end()


def _check_reasoning(items: Sequence[Mapping[str, Any]], signer: Signer | None) -> None:
    for index, item in enumerate(items):
        following = items[index + 1] if index + 1 < len(items) else {}
        if item_kind(item) == "reasoning":
            # Reasoning items may stand in a row, but something of the same reply must follow them.
            strange = following.get("role", "assistant") != "assistant"
            if strange or item_kind(following) in {"", "function_call_output"}:
                refuse("reasoning-alone", index, f"reasoning item {item['id']!r} has no item of its reply behind it")
        elif signer is not None and isinstance(item.get("id"), str):
            needed = signer.required_reasoning(item["id"])
            before = items[index - 1] if index else {}
            if needed is not None and before.get("id") != needed:
                refuse("reasoning-missing", index, f"item {item['id']!r} is without its reasoning item {needed!r}")
