"""From a call and its tool to what the rules look at, and to the fingerprint that an approval is bound to."""

from __future__ import annotations

import enum
import hashlib
import json
from collections.abc import Mapping
from pathlib import PurePath
from typing import Any

from hookagent import HookagentError, Tool
from hookagent_human_approval.rules import Subject


def subject_of(tool: Tool, arguments: Mapping[str, Any]) -> Subject:
    """Return the call as the rules see it: what the model left out has its default, what is converted both forms."""
    defaults = {
        name: described["default"]
        for name, described in tool.parameters.get("properties", {}).items()
        if isinstance(described, Mapping) and "default" in described
    }
    converted: dict[str, str] = {}
    try:
        for name, value in tool.validate(arguments).items():
            text = _as_text(value)
            if text is not None:
                converted[name] = text
    except HookagentError:
        converted = {}  # such a call cannot run; the rules judge it as it was written
    return Subject(tool.name, tool.effect, {**defaults, **arguments}, converted)


def fingerprint(tool: Tool, arguments: Mapping[str, Any]) -> str:
    """Return what is the same only for the same tool with exactly the same arguments: a SHA-256 in hexadecimal."""
    exact = json.dumps([tool.name, tool.source, tool.effect, arguments], sort_keys=True)
    return hashlib.sha256(exact.encode()).hexdigest()


def _as_text(value: Any) -> str | None:
    if isinstance(value, enum.Enum):
        return _as_text(value.value)
    if isinstance(value, str):
        return value
    if isinstance(value, PurePath):
        return str(value)
    if value is None or isinstance(value, bool | int | float):
        return json.dumps(value)
    return None
