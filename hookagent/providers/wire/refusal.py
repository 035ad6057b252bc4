"""What the checkers of the wire forms have in common: how they refuse, tools, clean text."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any, NoReturn

from hookagent.errors import RequestRefusedError
from hookagent.requests import Request

Refuse = Callable[[str, str], NoReturn]

_CHECKED_TOOLS: dict[int, Any] = {}
_KEPT = 128


def refuser(request: Request) -> Refuse:
    """A function that refuses this request: `refuse(rule, message)` raises `RequestRefusedError`."""

    def refuse(rule: str, message: str) -> NoReturn:
        raise RequestRefusedError(rule, message, request.shaped_by)

    return refuse


def is_clean(text: str) -> bool:
    """Whether UTF-8 can carry the text: no lone surrogates."""
    if text.isascii():
        return True
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def is_object_text(text: Any) -> bool:
    """Whether it is a text, and the text of a JSON object: what both of OpenAI's wire forms take for arguments."""
    if not isinstance(text, str) or not is_clean(text):
        return False
    try:
        return isinstance(json.loads(text), dict)
    except (ValueError, RecursionError):
        return False


def check_head_tools(tools: Any, name: re.Pattern[str], schema_field: str, refuse: Refuse) -> None:
    """Refuse tools with bad or repeated names, or without an object schema; once per encoded list."""
    if tools is None:
        return
    if _CHECKED_TOOLS.get(id(tools)) is tools:
        return
    seen: set[str] = set()
    for tool in tools:
        inner = tool.get("function", tool)
        if tool.get("type", "custom") not in ("custom", "function"):
            continue
        if not name.fullmatch(inner["name"]):
            refuse("tools", f"the tool name {inner['name']!r} has characters or a length that cannot be sent")
        if inner["name"] in seen:
            refuse("tools", f"two tools are named '{inner['name']}'")
        seen.add(inner["name"])
        schema = inner.get(schema_field)
        if not isinstance(schema, dict) or schema.get("type") != "object":
            refuse("tools", f"the parameters of tool '{inner['name']}' are not a JSON schema of type 'object'")
    if len(_CHECKED_TOOLS) >= _KEPT:
        _CHECKED_TOOLS.pop(next(iter(_CHECKED_TOOLS)), None)
    _CHECKED_TOOLS[id(tools)] = tools
