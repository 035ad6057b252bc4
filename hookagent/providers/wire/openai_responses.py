"""The last check of an OpenAI Responses request, before it is sent; see `anthropic_messages` for the plan."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from hookagent.providers.wire.message import Facts, WireMessage
from hookagent.providers.wire.refusal import Refuse, check_head_tools, is_clean, is_object_text, refuser
from hookagent.requests import Request

_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_LONGEST_CALL_ID = 64


def check_body(body: Mapping[str, Any], request: Request) -> None:
    """Refuse a body that the Responses API would refuse for its shape or its order.

    Raises `RequestRefusedError`, which names the rule and the last plugin that shaped the request.
    """
    refuse = refuser(request)
    instructions = body.get("instructions")
    if instructions is not None and (not instructions.strip() or not is_clean(instructions)):
        refuse("blank_text", "the system text is blank or not valid Unicode")
    check_head_tools(body.get("tools"), _NAME, "parameters", refuse)
    items = body["input"]
    if not items:
        refuse("empty_prompt", "there is no message to send")
    waiting: list[str] = []
    answered = False
    seen: set[str] = set()
    before = ""
    for index, item in enumerate(items):
        known = item.facts if type(item) is WireMessage else None
        facts = known if known is not None else _look_into(item, index, refuse)
        role = facts.role
        if before == "reasoning" and role in ("user", "function_call_output"):
            refuse("reasoning", f"item {index - 1} is reasoning without the item it belongs to")
        if role == "function_call_output":
            if not waiting or waiting[0] != facts.results[0]:
                refuse("pairing", f"item {index} answers the call {facts.results[0]}, which is not the next one open")
            waiting.pop(0)
            answered = True
        else:
            if waiting and (answered or role == "user"):
                refuse("pairing", f"item {index} stands before the results of the calls {', '.join(waiting)}")
            if role == "function_call":
                call_id = facts.calls[0]
                if call_id in seen:
                    refuse("call_ids", f"item {index} repeats the call id {call_id}")
                seen.add(call_id)
                waiting.append(call_id)
                answered = False
        if index == 0 and role != "user":
            refuse("first_turn", f"the first item is '{role}', not a message of the user")
        before = role
    if waiting:
        refuse("pairing", f"the calls {', '.join(waiting)} have no results")
    if before not in ("user", "function_call_output"):
        refuse("final_turn", "the last item is the model's own, so there is nothing to answer")


def _look_into(item: Any, index: int, refuse: Refuse) -> Facts:
    kind = item.get("type")
    if kind == "message":
        facts = Facts(_check_message(item, index, refuse))
    elif kind == "function_call":
        _check_id(item.get("call_id"), index, refuse)
        if not _NAME.fullmatch(item["name"]):
            refuse("tools", f"item {index} calls a tool by the name {item['name']!r}")
        if not is_object_text(item["arguments"]):
            refuse("json", f"item {index} has arguments that are not the text of a JSON object")
        facts = Facts(kind, calls=(item["call_id"],))
    elif kind == "function_call_output":
        _check_id(item.get("call_id"), index, refuse)
        if not item["output"].strip() or not is_clean(item["output"]):
            refuse("blank_text", f"item {index} has a result that is blank or not valid Unicode")
        facts = Facts(kind, results=(item["call_id"],))
    elif kind == "reasoning" and not item.get("encrypted_content"):
        refuse("reasoning", f"item {index} is reasoning without its encrypted content")
    else:
        facts = Facts(str(kind))
    if type(item) is WireMessage:
        item.facts = facts
    return facts


def _check_message(item: Mapping[str, Any], index: int, refuse: Refuse) -> str:
    role = item.get("role")
    if role not in ("user", "assistant") or not item.get("content"):
        refuse("roles", f"item {index} has role {role!r} or no content")
    for part in item["content"]:
        text = part.get("text")
        if part["type"] in ("input_text", "output_text") and (not text or not text.strip() or not is_clean(text)):
            refuse("blank_text", f"item {index} has text that is blank or not valid Unicode")
    return str(role)


def _check_id(call_id: Any, index: int, refuse: Refuse) -> None:
    if not isinstance(call_id, str) or not 0 < len(call_id) <= _LONGEST_CALL_ID:
        refuse("call_ids", f"item {index} has the call id {call_id!r}")
