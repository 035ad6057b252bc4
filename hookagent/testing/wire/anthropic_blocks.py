"""Content blocks of the Anthropic Messages API: which role takes which, and what each must carry."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from hookagent.testing.wire.rules import (
    Signer,
    check_call_id,
    check_fields,
    check_tool_name,
    is_blank,
    is_one_of,
    refuse,
)

_USER_TYPES: Final = frozenset({"text", "image", "document", "search_result", "tool_result", "container_upload"})
_ASSISTANT_TYPES: Final = frozenset({"text", "thinking", "redacted_thinking", "tool_use", "server_tool_use"})
_SERVER_RESULT_TYPES: Final = frozenset(
    f"{tool}_tool_result"
    for tool in (
        "web_search",
        "web_fetch",
        "code_execution",
        "bash_code_execution",
        "text_editor_code_execution",
        "tool_search",
    )
)
_RESULT_CONTENT_TYPES: Final = frozenset({"text", "image", "document", "search_result", "tool_reference"})
_FIELDS: Final[Mapping[str, frozenset[str]]] = {
    "text": frozenset({"type", "text", "cache_control", "citations"}),
    "thinking": frozenset({"type", "thinking", "signature"}),
    "redacted_thinking": frozenset({"type", "data"}),
    "tool_use": frozenset({"type", "id", "name", "input", "cache_control", "caller", "toolset_name"}),
    "tool_result": frozenset({"type", "tool_use_id", "content", "is_error", "cache_control", "toolset_name"}),
    "server_tool_use": frozenset({"type", "id", "name", "input", "cache_control", "caller"}),
}
# The reference bounds declared names at 128; names in the history may be longer, up to 200.
_LONGEST_CALLED_NAME: Final = 200


def check_message_blocks(message: Mapping[str, Any], index: int, signer: Signer | None) -> None:
    """Check the content of one message whose role is known to be user or assistant.

    Raises `WireError` with `index`. Which result answers which call is not looked at here.
    """
    content = message.get("content")
    where = f"messages[{index}].content"
    if isinstance(content, str):
        if is_blank(content):
            refuse("blank-text", index, f"{where} is blank")
        return
    if not isinstance(content, list):
        refuse("content-shape", index, f"{where} is neither a text nor a list of blocks")
    if not content:
        refuse("content-empty", index, f"{where} is empty")
    allowed = _USER_TYPES if message["role"] == "user" else _ASSISTANT_TYPES | _SERVER_RESULT_TYPES
    for position, block in enumerate(content):
        spot = f"{where}[{position}]"
        kind = block.get("type") if isinstance(block, Mapping) else None
        if kind == "tool_result" and message["role"] == "assistant":
            refuse("result-misplaced", index, f"{spot} is a tool_result in an assistant message")
        if not is_one_of(kind, allowed):
            refuse("content-shape", index, f"{spot} is of type {kind!r}, which a {message['role']} message cannot hold")
        _check_block(block, index, spot, signer)
        if kind == "text" and message["role"] == "user" and block.get("citations"):
            refuse("content-shape", index, f"{spot} has citations, which only the assistant's text may have")


def check_text_blocks(blocks: Any, index: int | None, where: str) -> None:
    """Check a list that may hold text blocks only, as the system field does."""
    if not isinstance(blocks, list) or not all(isinstance(b, Mapping) and b.get("type") == "text" for b in blocks):
        refuse("content-shape", index, f"{where} is neither a text nor a list of text blocks")
    for position, block in enumerate(blocks):
        _check_text_block(block, index, f"{where}[{position}]")


def count_cache_breakpoints(body: Mapping[str, Any]) -> int:
    """Count the cache_control marks of a request: in tools, system, messages, and the automatic one of the request."""
    marks = 1 if body.get("cache_control") else 0
    waiting: list[Any] = [*(body.get("tools") or []), *body["messages"]]
    if isinstance(body.get("system"), list):
        waiting.extend(body["system"])
    while waiting:
        part = waiting.pop()
        if isinstance(part, Mapping):
            marks += 1 if part.get("cache_control") else 0
            if isinstance(part.get("content"), list):
                waiting.extend(part["content"])
    return marks


def _check_block(block: Mapping[str, Any], index: int, where: str, signer: Signer | None) -> None:
    kind = block["type"]
    if kind in _FIELDS:
        check_fields(block, _FIELDS[kind], index, where)
    if kind == "text":
        _check_text_block(block, index, where)
    elif kind == "thinking":
        _check_thinking(block, index, where, signer)
    elif kind == "redacted_thinking":
        data = block.get("data")
        if not isinstance(data, str) or not data:
            refuse("redacted-data", index, f"{where} has lost its data")
        if signer is not None and not signer.redacted_is_genuine(data):
            refuse("thinking-changed", index, f"{where} has data that was not sent")
    elif kind in {"tool_use", "server_tool_use"}:
        _check_call(block, index, where)
    elif kind == "tool_result":
        check_call_id(block.get("tool_use_id"), index, where)
        _check_result_content(block.get("content"), index, f"{where}.content")


def _check_text_block(block: Mapping[str, Any], index: int | None, where: str) -> None:
    text = block.get("text")
    if not isinstance(text, str):
        refuse("content-shape", index, f"{where}.text is not a text")
    if is_blank(text):
        refuse("blank-text", index, f"{where}.text is blank")


def _check_thinking(block: Mapping[str, Any], index: int, where: str, signer: Signer | None) -> None:
    text, signature = block.get("thinking"), block.get("signature")
    if not isinstance(text, str):
        refuse("content-shape", index, f"{where}.thinking is not a text")
    if not isinstance(signature, str) or not signature:
        refuse("thinking-signature", index, f"{where} has lost its signature")
    if signer is not None and not signer.thinking_is_genuine(text, signature):
        refuse("thinking-changed", index, f"{where} has another text or signature than was sent")


def _check_call(block: Mapping[str, Any], index: int, where: str) -> None:
    id = check_call_id(block.get("id"), index, where)
    if not re.fullmatch(r"[a-zA-Z0-9_-]+", id):
        refuse("call-id-shape", index, f"{where} has id {id!r}, which is not made of a-z, A-Z, 0-9, _ and -")
    check_tool_name(block.get("name"), _LONGEST_CALLED_NAME, index, where)
    if not isinstance(block.get("input"), Mapping):
        refuse("arguments", index, f"{where}.input is not an object")


def _check_result_content(content: Any, index: int, where: str) -> None:
    if content is None:
        return
    if isinstance(content, str):
        if is_blank(content):
            refuse("blank-text", index, f"{where} is blank")
        return
    if not isinstance(content, list):
        refuse("content-shape", index, f"{where} is neither a text nor a list of blocks")
    for position, part in enumerate(content):
        if not isinstance(part, Mapping) or not is_one_of(part.get("type"), _RESULT_CONTENT_TYPES):
            refuse("content-shape", index, f"{where}[{position}] is of a type that a tool_result cannot hold")
        if part["type"] == "text":
            _check_text_block(part, index, f"{where}[{position}]")
