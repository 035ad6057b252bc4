"""The whole checker for requests to the OpenAI Chat Completions API (`POST /v1/chat/completions`).

The rules follow the Chat Completions API reference and its function calling guide. Stricter than the reference: a last
turn of the assistant and blank texts are refused, since compatible servers and newer models refuse them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from hookagent.testing.wire.pairing import Pairing
from hookagent.testing.wire.rules import (
    Signer,
    check_arguments_text,
    check_call_id,
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
    "model messages audio frequency_penalty function_call functions logit_bias logprobs max_completion_tokens "
    "max_tokens metadata modalities moderation n parallel_tool_calls prediction presence_penalty "
    "prompt_cache_key prompt_cache_options prompt_cache_retention reasoning_effort response_format "
    "safety_identifier seed service_tier stop store stream stream_options temperature tool_choice tools "
    "top_logprobs top_p user verbosity web_search_options"
)
"""The fields of a request."""

_FUNCTION_FIELDS: Final = frozenset({"name", "description", "parameters", "strict"})
_CALL_FIELDS: Final = frozenset({"id", "type", "function"})
_CALLED_FIELDS: Final = frozenset({"name", "arguments"})
_ROLES: Final = frozenset({"system", "developer", "user", "assistant", "tool"})
_MESSAGE_FIELDS: Final[Mapping[str, frozenset[str]]] = {
    "system": frozenset({"role", "content", "name"}),
    "developer": frozenset({"role", "content", "name"}),
    "user": frozenset({"role", "content", "name"}),
    # reasoning_content is not OpenAI's own: compatible servers ask for it back.
    "assistant": frozenset({"role", "content", "name", "tool_calls", "refusal", "audio", "reasoning_content"}),
    "tool": frozenset({"role", "content", "tool_call_id"}),
}
_PART_TYPES: Final[Mapping[str, frozenset[str]]] = {
    "system": frozenset({"text"}),
    "developer": frozenset({"text"}),
    "user": frozenset({"text", "image_url", "input_audio", "file"}),
    "assistant": frozenset({"text", "refusal"}),
    "tool": frozenset({"text"}),
}
_LONGEST_TOOL_NAME: Final = 64
_LONGEST_CALL_ID: Final = 40


def check_chat_request(body: Mapping[str, Any], *, signer: Signer | None = None) -> None:
    """Check one request body as a whole.

    Nothing is signed on this wire form; `signer` is taken so that all checkers are called alike. Raises `WireError` for
    the first rule that is broken.
    """
    check_values(body, "messages")
    check_fields(body, TOP_LEVEL_FIELDS, None, "the request")
    check_field_types(body)
    check_model(body)
    _check_limits(body)
    if body.get("stream_options") is not None and not body.get("stream"):
        refuse("stream-options", None, "stream_options is given, but stream is not true")
    names = _check_tools(body.get("tools"))
    _check_tool_choice(body, names)
    messages = body.get("messages")
    if not isinstance(messages, list) or not messages:
        refuse("messages-empty", None, "messages must hold at least one message")
    for index, message in enumerate(messages):
        _check_message(message, index)
    _check_first_role(messages)
    _check_pairing(messages)
    if messages[-1]["role"] not in {"user", "tool"}:
        role = messages[-1]["role"]
        refuse("last-turn", len(messages) - 1, f"the last message has role {role!r}, so there is nothing to answer")


def _check_limits(body: Mapping[str, Any]) -> None:
    limits = {name: body[name] for name in ("max_tokens", "max_completion_tokens") if body.get(name) is not None}
    for name, most in limits.items():
        if not isinstance(most, int) or isinstance(most, bool) or most < 1:
            refuse("output-limit", None, f"{name} is at least 1, not {most!r}")
    if len(limits) > 1:
        refuse("output-limit", None, "max_tokens and max_completion_tokens exclude each other")


def _check_tools(tools: Any) -> list[str]:
    if tools is None:
        return []
    if not isinstance(tools, list) or not tools:
        refuse("tools-empty", None, "tools is not a list of at least one tool")
    names: list[str] = []
    for position, tool in enumerate(tools):
        where = f"tools[{position}]"
        if not isinstance(tool, Mapping) or not is_one_of(tool.get("type"), {"function", "custom"}):
            refuse("tool-schema", None, f"{where} is not of type function or custom")
        definition = tool.get(tool["type"])
        if not isinstance(definition, Mapping):
            refuse("tool-schema", None, f"{where}.{tool['type']} is not an object")
        check_tool_name(definition.get("name"), _LONGEST_TOOL_NAME, None, where)
        if tool["type"] == "function":
            check_fields(definition, _FUNCTION_FIELDS, None, f"{where}.function")
            if definition.get("parameters") is not None:
                check_object_schema(definition["parameters"], f"{where}.function.parameters")
        names.append(definition["name"])
    check_unique_names(names)
    return names


def _check_tool_choice(body: Mapping[str, Any], names: Sequence[str]) -> None:
    for field in ("tool_choice", "parallel_tool_calls"):
        if body.get(field) is not None and not names:
            refuse("tool-choice", None, f"{field} is given, but no tools")
    choice = body.get("tool_choice")
    if isinstance(choice, str) and choice not in {"none", "auto", "required"}:
        refuse("tool-choice", None, f"tool_choice is {choice!r}, not none, auto or required")
    if isinstance(choice, Mapping) and choice.get("type") == "function":
        function = choice.get("function")
        name = function.get("name") if isinstance(function, Mapping) else None
        if name not in names:
            refuse("tool-choice", None, f"tool_choice names {name!r}, which is not among the tools")


def _check_message(message: Any, index: int) -> None:
    where = f"messages[{index}]"
    if not isinstance(message, Mapping):
        refuse("content-shape", index, f"{where} is not an object")
    role = message.get("role")
    if not is_one_of(role, _ROLES):
        refuse("unknown-role", index, f"{where} has role {role!r}, not one of {', '.join(sorted(_ROLES))}")
    check_fields(message, _MESSAGE_FIELDS[role], index, where)
    content = message.get("content")
    if content is not None:
        _check_content(content, role, index, f"{where}.content")
    calls = message.get("tool_calls")
    if calls is not None:
        _check_calls(calls, index, f"{where}.tool_calls")
    elif content is None and not isinstance(message.get("refusal"), str):
        refuse("content-empty", index, f"{where} has no content")
    if role == "tool":
        check_call_id(message.get("tool_call_id"), index, where)


def _check_content(content: Any, role: str, index: int, where: str) -> None:
    if isinstance(content, str):
        if is_blank(content):
            refuse("blank-text", index, f"{where} is blank")
        return
    if not isinstance(content, list):
        refuse("content-shape", index, f"{where} is neither a text nor a list of parts")
    if not content:
        refuse("content-empty", index, f"{where} is empty")
    for position, part in enumerate(content):
        kind = part.get("type") if isinstance(part, Mapping) else None
        if not is_one_of(kind, _PART_TYPES[role]):
            refuse("content-shape", index, f"{where}[{position}] is of type {kind!r}, not for role {role!r}")
        if kind in {"text", "refusal"}:
            text = part.get(kind)
            if not isinstance(text, str):
                refuse("content-shape", index, f"{where}[{position}].{kind} is not a text")
            if is_blank(text):
                refuse("blank-text", index, f"{where}[{position}].{kind} is blank")


def _check_calls(calls: Any, index: int, where: str) -> None:
    if not isinstance(calls, list) or not calls:
        refuse("calls-empty", index, f"{where} is not a list of at least one call")
    for position, call in enumerate(calls):
        spot = f"{where}[{position}]"
        if not isinstance(call, Mapping) or call.get("type") != "function":
            refuse("content-shape", index, f"{spot} is not of type function")
        function = call.get("function")
        if not isinstance(function, Mapping):
            refuse("content-shape", index, f"{spot}.function is not an object")
        check_fields(call, _CALL_FIELDS, index, spot)
        check_fields(function, _CALLED_FIELDS, index, f"{spot}.function")
        id = check_call_id(call.get("id"), index, spot)
        if len(id) > _LONGEST_CALL_ID:
            refuse("call-id-shape", index, f"{spot} has an id of {len(id)} characters, at most {_LONGEST_CALL_ID} fit")
        check_tool_name(function.get("name"), _LONGEST_TOOL_NAME, index, f"{spot}.function")
        check_arguments_text(function.get("arguments"), index, f"{spot}.function")


def _check_first_role(messages: Sequence[Mapping[str, Any]]) -> None:
    for index, message in enumerate(messages):
        if message["role"] == "user":
            return
        if message["role"] not in {"system", "developer"}:
            refuse("first-role", index, f"the first message has role {message['role']!r}, not 'user'")


def _check_pairing(messages: Sequence[Mapping[str, Any]]) -> None:
    calls = [(call["id"], index) for index, m in enumerate(messages) for call in m.get("tool_calls") or ()]
    results = [(m["tool_call_id"], index) for index, m in enumerate(messages) if m["role"] == "tool"]
    pairing = Pairing(calls, results)
    for index, message in enumerate(messages):
        if message["role"] == "tool":
            pairing.result(message["tool_call_id"], index)
            continue
        pairing.other(index)
        for call in message.get("tool_calls") or ():
            pairing.call(call["id"], index)
    pairing.end()
