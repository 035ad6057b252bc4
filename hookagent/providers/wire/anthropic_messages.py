"""The last check of an Anthropic Messages request, before it is sent.

Each encoded turn is looked into once; of a request only the head, the seams between turns and the tail are new.
The rules are those of the Messages API reference, and the ordering rule (design, "One last check").
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from hookagent.providers.wire.message import Facts, WireMessage
from hookagent.providers.wire.refusal import Refuse, check_head_tools, is_clean, refuser
from hookagent.requests import Request

_CALL_ID = re.compile(r"[a-zA-Z0-9_-]+")
_NAME = re.compile(r"[a-zA-Z0-9_-]{1,128}")


def check_body(body: Mapping[str, Any], request: Request) -> None:
    """Refuse a body that the Messages API would refuse for its shape or its order.

    Raises `RequestRefusedError`, which names the rule and the last plugin that shaped the request.
    """
    refuse = refuser(request)
    limit = body.get("max_tokens")
    if type(limit) is not int or limit < 1:
        refuse("output_limit", f"max_tokens is {limit!r}, not a number from 1")
    for block in body.get("system", ()):
        if not block["text"].strip() or not is_clean(block["text"]):
            refuse("blank_text", "the system text is blank or not valid Unicode")
    check_head_tools(body.get("tools"), _NAME, "input_schema", refuse)
    _check_turns(body["messages"], bool(body.get("tools")), refuse)


def _check_turns(turns: list[Any], has_tools: bool, refuse: Refuse) -> None:
    if not turns:
        refuse("empty_prompt", "there is no message to send")
    waiting: tuple[str, ...] = ()
    role = ""
    seen: set[str] = set()
    facts = Facts("")
    for index, turn in enumerate(turns):
        known = turn.facts if type(turn) is WireMessage else None
        facts = known if known is not None else _look_into(turn, index, refuse)
        if facts.role == role:
            refuse("roles", f"messages {index - 1} and {index} are both of role '{role}'")
        if facts.results != waiting:
            refuse("pairing", _say_pairing(index, waiting, facts.results))
        role, waiting = facts.role, facts.calls
        if waiting:
            if not seen.isdisjoint(waiting) or len(set(waiting)) != len(waiting):
                refuse("call_ids", f"message {index} repeats a call id of this request")
            seen.update(waiting)
    if waiting:
        refuse("pairing", f"the calls {', '.join(waiting)} have no results")
    if seen and not has_tools:
        refuse("tools", "the history has calls, but no tool is declared")
    first = turns[0].get("role")
    if first != "user":
        refuse("first_turn", f"the first message has role '{first}', not 'user'")
    if role != "user" and not facts.open:
        refuse("final_turn", "the last message is the model's own, so there is nothing to answer")


def _look_into(turn: Any, index: int, refuse: Refuse) -> Facts:
    role, content = turn.get("role"), turn.get("content")
    if role not in ("user", "assistant"):
        refuse("roles", f"message {index} has role {role!r}")
    if not isinstance(content, list) or not content:
        refuse("blank_text", f"message {index} has no content")
    calls: list[str] = []
    results: list[str] = []
    server_work = False
    others = 0
    for block in content:
        kind = block["type"]
        if kind == "text":
            others += 1
            if not block["text"].strip():
                refuse("blank_text", f"message {index} has a blank text")
            if not is_clean(block["text"]):
                refuse("json", f"message {index} has text that is not valid Unicode")
        elif kind == "tool_use" and role == "assistant":
            calls.append(block["id"])
            if not _CALL_ID.fullmatch(block["id"]):
                refuse("call_ids", f"message {index} has the call id {block['id']!r}")
            if not _NAME.fullmatch(block["name"]) or not isinstance(block["input"], dict):
                refuse("tools", f"message {index} has a call with a bad name or no object as input")
        elif kind == "tool_result" and role == "user":
            if others:
                refuse("pairing", f"message {index} has a result behind other content")
            results.append(block["tool_use_id"])
            if not block["content"].strip() or not is_clean(block["content"]):
                refuse("blank_text", f"message {index} has a result that is blank or not valid Unicode")
        elif kind == "thinking" and not block.get("signature"):
            refuse("thinking", f"message {index} has thinking without its signature")
        elif role == "user" and kind != "image":
            refuse("roles", f"message {index} has a '{kind}' block in a user turn")
        elif kind == "tool_result":
            refuse("pairing", f"message {index} has a result in an assistant turn")
        else:
            others += 1
            server_work = server_work or kind not in ("image", "thinking", "redacted_thinking")
    facts = Facts(role, tuple(calls), tuple(results), server_work)
    if type(turn) is WireMessage:
        turn.facts = facts
    return facts


def _say_pairing(index: int, waiting: tuple[str, ...], results: tuple[str, ...]) -> str:
    missing = [call_id for call_id in waiting if call_id not in results]
    strange = [call_id for call_id in results if call_id not in waiting]
    if missing:
        return f"message {index} does not answer the calls right before it: {', '.join(missing)}"
    if strange:
        return f"message {index} answers calls that were not made right before it: {', '.join(strange)}"
    return f"message {index} has its results out of call order, or twice"
