"""Input items of the OpenAI Responses API: which there are, and what each must carry."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from hookagent.testing.wire.rules import (
    Signer,
    check_arguments_text,
    check_call_id,
    check_fields,
    check_tool_name,
    is_blank,
    is_one_of,
    refuse,
    words,
)

LONGEST_TOOL_NAME: Final = 64
_LONGEST_CALL_ID: Final = 64

_ROLES: Final = frozenset({"user", "assistant", "system", "developer"})
_STATUS: Final = frozenset({"in_progress", "completed", "incomplete"})
_PREFIXES: Final[Mapping[str, str]] = {"message": "msg", "function_call": "fc", "reasoning": "rs"}
_FIELDS: Final[Mapping[str, frozenset[str]]] = {
    "message": frozenset({"type", "role", "content", "id", "status", "phase"}),
    "function_call": words("type call_id name arguments id status caller namespace async"),
    "function_call_output": words("type call_id output id status caller name namespace"),
    "reasoning": frozenset({"type", "id", "summary", "content", "encrypted_content", "status"}),
}
_SERVER_ITEMS: Final = words(
    "file_search_call computer_call web_search_call image_generation_call code_interpreter_call mcp_list_tools "
    "mcp_call compaction item_reference"
)
_ASKED_TYPES: Final = frozenset({"input_text", "input_image", "input_file", "input_audio"})
_REPLIED_TYPES: Final = frozenset({"output_text", "refusal"})


def item_kind(item: Mapping[str, Any]) -> str:
    """Give an item's type; a message may leave it out. Empty for no item."""
    return str(item.get("type") or ("message" if "role" in item else ""))


def check_item(item: Any, index: int, stored: bool, signer: Signer | None) -> None:
    """Check one input item by itself; `stored` is False when the request says store=false.

    Raises `WireError` with `index`. Order and pairing are not looked at here.
    """
    where = f"input[{index}]"
    if not isinstance(item, Mapping):
        refuse("content-shape", index, f"{where} is not an object")
    kind = item_kind(item)
    if kind not in _FIELDS and kind not in _SERVER_ITEMS:
        refuse("content-shape", index, f"{where} is of unknown type {kind!r}")
    if kind == "item_reference" and not stored:
        refuse("previous-response", index, f"{where} refers to an item, but store is false")
    if kind in _FIELDS:
        check_fields(item, _FIELDS[kind], index, where)
        _check_id(item, kind, index, where)
        if "status" in item and not is_one_of(item["status"], _STATUS):
            refuse("content-shape", index, f"{where}.status is {item['status']!r}, not one of the reference")
    if kind == "message":
        _check_message(item, index, where)
    elif kind == "function_call":
        _check_pair_id(item.get("call_id"), index, where)
        check_tool_name(item.get("name"), LONGEST_TOOL_NAME, index, where)
        check_arguments_text(item.get("arguments"), index, where)
    elif kind == "function_call_output":
        _check_pair_id(item.get("call_id"), index, where)
        _check_content(item.get("output"), _ASKED_TYPES, index, f"{where}.output")
    elif kind == "reasoning":
        _check_reasoning(item, index, where, stored, signer)


def _check_id(item: Mapping[str, Any], kind: str, index: int, where: str) -> None:
    id = item.get("id")
    if "id" in item and kind in _PREFIXES and not str(id).startswith(_PREFIXES[kind]):
        refuse("item-id", index, f"{where}.id is {id!r}, which does not begin with {_PREFIXES[kind]!r}")


def _check_pair_id(id: Any, index: int, where: str) -> None:
    if len(check_call_id(id, index, where)) > _LONGEST_CALL_ID:
        refuse("call-id-shape", index, f"{where}.call_id has {len(id)} characters, at most {_LONGEST_CALL_ID} fit")


def _check_message(item: Mapping[str, Any], index: int, where: str) -> None:
    role = item.get("role")
    if not is_one_of(role, _ROLES):
        refuse("unknown-role", index, f"{where} has role {role!r}, not one of {', '.join(sorted(_ROLES))}")
    types = _REPLIED_TYPES if role == "assistant" else _ASKED_TYPES
    _check_content(item.get("content"), types, index, f"{where}.content")


def _check_content(content: Any, types: frozenset[str], index: int, where: str) -> None:
    if isinstance(content, str):
        if is_blank(content):
            refuse("blank-text", index, f"{where} is blank")
        return
    if content is None or content == []:
        refuse("content-empty", index, f"{where} is empty")
    if not isinstance(content, list):
        refuse("content-shape", index, f"{where} is neither a text nor a list of parts")
    for position, part in enumerate(content):
        kind = part.get("type") if isinstance(part, Mapping) else None
        if not is_one_of(kind, types):
            refuse("content-shape", index, f"{where}[{position}] is of type {kind!r}, which does not belong here")
        if kind in {"input_text", "output_text", "refusal"}:
            text = part.get("refusal" if kind == "refusal" else "text")
            if not isinstance(text, str):
                refuse("content-shape", index, f"{where}[{position}] has no text")
            if is_blank(text):
                refuse("blank-text", index, f"{where}[{position}] is blank")


def _check_reasoning(item: Mapping[str, Any], index: int, where: str, stored: bool, signer: Signer | None) -> None:
    id, content = item.get("id"), item.get("encrypted_content")
    if not isinstance(id, str) or not isinstance(item.get("summary"), list):
        refuse("content-shape", index, f"{where} has no id or no summary list")
    if not stored and (not isinstance(content, str) or not content):
        refuse("reasoning-content", index, f"{where} has no encrypted_content, and store is false")
    if signer is not None and content is not None and not signer.reasoning_is_genuine(id, str(content)):
        refuse("reasoning-changed", index, f"{where} has an encrypted_content that was not sent with id {id!r}")
