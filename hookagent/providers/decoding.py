"""What all wire forms do alike when a reply is read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from hookagent.messages import AssistantMessage, AssistantPart, StopReason, ToolCall
from hookagent.providers.prices import price

_CUT: frozenset[str] = frozenset({"length", "too_long", "refusal", "filtered"})
"""Reasons that say more than the calls: such a reply is cut, and its calls cannot be trusted to be whole."""


def decided_stop(reason: StopReason, parts: Sequence[AssistantPart]) -> StopReason:
    """The stop reason, where calls that came decide against what the vendor said, unless the reply was cut."""
    if any(type(part) is ToolCall for part in parts):
        return reason if reason in _CUT else "tool_calls"
    return "end" if reason == "tool_calls" else reason


def priced(message: AssistantMessage) -> AssistantMessage:
    """The message with the cost of its call in its usage; None where no price is known."""
    cost = price(message.provider, message.model, message.usage)
    return replace(message, usage=replace(message.usage, cost_usd=cost))


def plain_item(item: Any) -> dict[str, Any]:
    """An SDK's object, or a dict, as the plain JSON object that came over the wire."""
    if isinstance(item, dict):
        return dict(item)
    plain: dict[str, Any] = item.to_dict(mode="json")
    return plain
