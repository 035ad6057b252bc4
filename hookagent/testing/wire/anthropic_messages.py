"""The whole checker for requests to the Anthropic Messages API (`POST /v1/messages`).

The rules follow the Messages API reference (version 2026-10-21) and its guides on tool use, thinking, prompt caching
and stop reasons.
Stricter than the reference: mid-conversation system messages and prefill are refused, since only some models take them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from hookagent.testing.wire.anthropic_blocks import check_message_blocks, check_text_blocks, count_cache_breakpoints
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
    "model max_tokens messages cache_control container context_management diagnostics inference_geo mcp_servers "
    "metadata output_config service_tier speed stop_sequences stream system thinking tool_choice tools "
    "user_profile_id workspace_id"
)
"""The fields of a request of API version 2026-10-21, which the SDK sends: it has no temperature, top_p or top_k."""

SAMPLING_FIELDS: Final = words("temperature top_p top_k")
"""The fields that API version 2023-06-01 still takes."""

_TOOL_FIELDS: Final = words(
    "name input_schema description type strict cache_control allowed_callers defer_loading eager_input_streaming "
    "input_examples"
)
_MESSAGE_FIELDS: Final = frozenset({"role", "content"})
_LONGEST_TOOL_NAME: Final = 128
_SMALLEST_BUDGET: Final = 1024
_MOST_BREAKPOINTS: Final = 4


def check_messages_request(body: Mapping[str, Any], *, signer: Signer | None = None) -> None:
    """Check one request body as a whole.

    With a `signer`, thinking blocks must also be exactly what that signer signed. Raises `WireError` for the first rule
    that is broken.
    """
    check_values(body, "messages")
    check_fields(body, TOP_LEVEL_FIELDS, None, "the request")
    check_field_types(body)
    check_model(body)
    _check_limits(body)
    _check_system(body.get("system"))
    names = _check_tools(body.get("tools"))
    _check_tool_choice(body.get("tool_choice"), names, body.get("thinking"))
    messages = body.get("messages")
    if not isinstance(messages, list) or not messages:
        refuse("messages-empty", None, "messages must hold at least one message")
    for index, message in enumerate(messages):
        _check_message(message, index, signer)
    if messages[0]["role"] != "user":
        refuse("first-role", 0, f"the first message has role {messages[0]['role']!r}, not 'user'")
    _check_pairing(messages)
    if not names and any(block.get("type") in {"tool_use", "tool_result"} for _, block in _blocks(messages)):
        refuse("tools-undeclared", None, "the history has tool calls, but the request declares no tools")
    _check_server_results(messages)
    _check_last_turn(messages)
    _check_thinking_first(body.get("thinking"), messages)
    breakpoints = count_cache_breakpoints(body)
    if breakpoints > _MOST_BREAKPOINTS:
        refuse("cache-breakpoints", None, f"{breakpoints} blocks have cache_control, at most {_MOST_BREAKPOINTS} may")


def _check_limits(body: Mapping[str, Any]) -> None:
    most = body.get("max_tokens")
    if not isinstance(most, int) or isinstance(most, bool) or most < 1:
        refuse("output-limit", None, f"max_tokens is required and at least 1, not {most!r}")
    thinking = body.get("thinking")
    if isinstance(thinking, Mapping) and thinking.get("type") == "enabled":
        budget = thinking.get("budget_tokens")
        if not isinstance(budget, int) or not _SMALLEST_BUDGET <= budget < most:
            refuse("thinking-budget", None, f"budget_tokens is {budget!r}, not {_SMALLEST_BUDGET} to {most}")


def _check_system(system: Any) -> None:
    if isinstance(system, str):
        if is_blank(system):
            refuse("blank-text", None, "system is blank")
    elif system is not None:
        check_text_blocks(system, None, "system")


def _check_tools(tools: Any) -> list[str]:
    if tools is None:
        return []
    if not isinstance(tools, list):
        refuse("tool-schema", None, "tools is not a list")
    names: list[str] = []
    for position, tool in enumerate(tools):
        where = f"tools[{position}]"
        if not isinstance(tool, Mapping):
            refuse("tool-schema", None, f"{where} is not an object")
        check_tool_name(tool.get("name"), _LONGEST_TOOL_NAME, None, where)
        if (tool.get("type") or "custom") == "custom":
            check_fields(tool, _TOOL_FIELDS, None, where)
            check_object_schema(tool.get("input_schema"), f"{where}.input_schema")
        names.append(tool["name"])
    check_unique_names(names)
    return names


def _check_tool_choice(choice: Any, names: Sequence[str], thinking: Any) -> None:
    if choice is None:
        return
    if not names:
        refuse("tool-choice", None, "tool_choice is given, but no tools")
    if not isinstance(choice, Mapping) or not is_one_of(choice.get("type"), {"auto", "any", "tool", "none"}):
        refuse("tool-choice", None, f"tool_choice is {choice!r}, not of type auto, any, tool or none")
    if choice["type"] == "tool" and choice.get("name") not in names:
        refuse("tool-choice", None, f"tool_choice names {choice.get('name')!r}, which is not among the tools")
    thinks = isinstance(thinking, Mapping) and is_one_of(thinking.get("type"), {"enabled", "adaptive"})
    if thinks and choice["type"] in {"any", "tool"}:
        refuse("tool-choice", None, f"tool_choice of type {choice['type']!r} cannot be combined with thinking")


def _check_message(message: Any, index: int, signer: Signer | None) -> None:
    where = f"messages[{index}]"
    if not isinstance(message, Mapping):
        refuse("content-shape", index, f"{where} is not an object")
    role = message.get("role")
    if not is_one_of(role, {"user", "assistant"}):
        refuse("unknown-role", index, f"{where} has role {role!r}, not 'user' or 'assistant'")
    check_fields(message, _MESSAGE_FIELDS, index, where)
    check_message_blocks(message, index, signer)


def _blocks(messages: Sequence[Mapping[str, Any]]) -> Iterator[tuple[int, Mapping[str, Any]]]:
    for index, message in enumerate(messages):
        if not isinstance(message["content"], str):
            for block in message["content"]:
                yield index, block


def _check_pairing(messages: Sequence[Mapping[str, Any]]) -> None:
    calls = [(block["id"], index) for index, block in _blocks(messages) if block["type"] == "tool_use"]
    results = [(block["tool_use_id"], index) for index, block in _blocks(messages) if block["type"] == "tool_result"]
    pairing = Pairing(calls, results)
    for index, message in enumerate(messages):
        blocks = [{"type": "text"}] if isinstance(message["content"], str) else message["content"]
        if message["role"] == "assistant":
            pairing.other(index)
        for block in blocks:
            if block["type"] == "tool_use":
                pairing.call(block["id"], index)
            elif block["type"] == "tool_result":
                pairing.result(block["tool_use_id"], index)
            elif message["role"] == "user":
                pairing.other(index)
        if message["role"] == "user":
            # All results of a turn stand in the one message behind it.
            pairing.other(index)
    pairing.end()


def _check_server_results(messages: Sequence[Mapping[str, Any]]) -> None:
    known: set[str] = set()
    for index, block in _blocks(messages):
        if block["type"] == "server_tool_use":
            known.add(block["id"])
        elif block["type"].endswith("_tool_result") and not is_one_of(block.get("tool_use_id"), known):
            refuse("result-orphaned", index, f"there is no server_tool_use {block.get('tool_use_id')!r}")


def _check_last_turn(messages: Sequence[Mapping[str, Any]]) -> None:
    last = messages[-1]
    if last["role"] != "assistant":
        return
    # A paused turn goes back as it came, whatever it ends in; it is known by the server's own call in it.
    if isinstance(last["content"], str) or not any(part["type"] == "server_tool_use" for part in last["content"]):
        refuse("last-turn", len(messages) - 1, "the last message is the assistant's, so there is nothing to answer")


def _check_thinking_first(thinking: Any, messages: Sequence[Mapping[str, Any]]) -> None:
    if not isinstance(thinking, Mapping) or thinking.get("type") != "enabled":
        return
    last = max((index for index, message in enumerate(messages) if message["role"] == "assistant"), default=None)
    if last is None or isinstance(messages[last]["content"], str):
        return
    types = [block["type"] for block in messages[last]["content"]]
    answers_last = any(index == last + 1 and block["type"] == "tool_result" for index, block in _blocks(messages))
    if answers_last and types[0] not in {"thinking", "redacted_thinking"}:
        refuse("thinking-first", last, f"thinking is enabled, but the tool_use turn begins with {types[0]!r}")
