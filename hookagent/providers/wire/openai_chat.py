"""The last check of a Chat Completions request, before it is sent; see `anthropic_messages` for the plan."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from hookagent.providers.wire.message import Facts, WireMessage
from hookagent.providers.wire.refusal import Refuse, check_head_tools, is_clean, is_object_text, refuser
from hookagent.requests import Request

_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_LONGEST_CALL_ID = 40
_ROLES = ("system", "user", "assistant", "tool")


def check_body(body: Mapping[str, Any], request: Request) -> None:
    """Refuse a body that the Chat Completions API would refuse for its shape or its order.

    Raises `RequestRefusedError`, which names the rule and the last plugin that shaped the request.
    """
    refuse = refuser(request)
    check_head_tools(body.get("tools"), _NAME, "parameters", refuse)
    waiting: tuple[str, ...] = ()
    seen: set[str] = set()
    role = ""
    started = False
    for index, message in enumerate(body["messages"]):
        known = message.facts if type(message) is WireMessage else None
        facts = known if known is not None else _look_into(message, index, refuse)
        role = facts.role
        if role == "tool":
            if not waiting or waiting[0] != facts.results[0]:
                refuse(
                    "pairing", f"message {index} answers the call {facts.results[0]}, which is not the next one open"
                )
            waiting = waiting[1:]
            continue
        if waiting:
            refuse("pairing", f"message {index} stands before the results of the calls {', '.join(waiting)}")
        if role == "system":
            if index:
                refuse("roles", f"message {index} is a system message behind the first place")
            continue
        if not started and role != "user":
            refuse("first_turn", f"the first message has role '{role}', not 'user'")
        started = True
        waiting = facts.calls
        if waiting:
            if not seen.isdisjoint(waiting) or len(set(waiting)) != len(waiting):
                refuse("call_ids", f"message {index} repeats a call id of this request")
            seen.update(waiting)
    if not started:
        refuse("empty_prompt", "there is no message to send")
    if waiting:
        refuse("pairing", f"the calls {', '.join(waiting)} have no results")
    if role == "assistant":
        refuse("final_turn", "the last message is the model's own, so there is nothing to answer")


def _look_into(message: Any, index: int, refuse: Refuse) -> Facts:
    role, content = message.get("role"), message.get("content")
    if role not in _ROLES:
        refuse("roles", f"message {index} has role {role!r}")
    calls = message.get("tool_calls")
    if content is None and not calls:
        refuse("blank_text", f"message {index} has no content")
    texts = [content] if isinstance(content, str) else [p["text"] for p in content or () if p.get("type") == "text"]
    for text in texts:
        if not text.strip() or not is_clean(text):
            refuse("blank_text", f"message {index} has text that is blank or not valid Unicode")
    if calls is not None and (role != "assistant" or not calls):
        refuse("pairing", f"message {index} has calls where none can stand")
    ids = []
    for call in calls or ():
        function = call["function"]
        if not 0 < len(call["id"]) <= _LONGEST_CALL_ID:
            refuse("call_ids", f"message {index} has the call id {call['id']!r}")
        if not _NAME.fullmatch(function["name"]):
            refuse("tools", f"message {index} calls a tool by the name {function['name']!r}")
        if not is_object_text(function["arguments"]):
            refuse("json", f"message {index} has arguments that are not the text of a JSON object")
        ids.append(call["id"])
    results: tuple[str, ...] = ()
    if role == "tool":
        if not isinstance(message.get("tool_call_id"), str):
            refuse("call_ids", f"message {index} is a result without the id of its call")
        results = (message["tool_call_id"],)
    facts = Facts(role, tuple(ids), results)
    if type(message) is WireMessage:
        message.facts = facts
    return facts
