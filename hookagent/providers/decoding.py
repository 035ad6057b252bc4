"""What all wire forms do alike when a reply is read."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from hookagent.errors import ProviderError
from hookagent.messages import AssistantMessage, AssistantPart, StopReason, ToolCall
from hookagent.providers.prices import price

_TYPE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_CUT: frozenset[str] = frozenset({"length", "too_long", "refusal", "filtered"})
"""Reasons that say more than the calls: such a reply is cut, and its calls cannot be trusted to be whole."""


def decided_stop(
    reason: StopReason, parts: Sequence[AssistantPart], output_tokens: int = 0, output_limit: int | None = None
) -> StopReason:
    """The stop reason, where calls that came decide against what the vendor said, unless the reply was cut.

    `output_tokens` were written, and `output_limit` is the limit that was sent: a server that does not say that it cut
    a reply is known by half a call and no token left.
    """
    broken = any(type(part) is ToolCall and part.problem for part in parts)
    if broken and output_limit is not None and output_tokens >= output_limit:
        reason = "length"
    if any(type(part) is ToolCall for part in parts):
        return reason if reason in _CUT else "tool_calls"
    return "end" if reason == "tool_calls" else reason


def token_count(usage: Any, name: str) -> int | None:
    """A number of tokens as a vendor counted them, never below 0; None where there is none, or no number."""
    count = getattr(usage, name, None)
    if isinstance(count, bool) or not isinstance(count, int | float) or not math.isfinite(count):
        return None
    return max(int(count), 0)


def priced(message: AssistantMessage) -> AssistantMessage:
    """The message with the cost of its call in its usage; None where no price is known."""
    cost = price(message.provider, message.model, message.usage)
    return replace(message, usage=replace(message.usage, cost_usd=cost))


def returnable(item: dict[str, Any], provider: str, *needed: str) -> dict[str, Any]:
    """A part that only the vendor understands, if it can go back: UTF-8, of a named type, texts in the fields `needed`.

    Raises `ProviderError` (`response`): what cannot go back would have every later request of the session refused.
    """
    for field in ("type", *needed):
        if not isinstance(item.get(field), str) or not item[field]:
            raise ProviderError("response", provider, f"the reply has a part without '{field}': {item!r:.200}")
    if _TYPE.fullmatch(item["type"]) is None:
        raise ProviderError("response", provider, f"the reply has a part of a type that is no name: {item!r:.200}")
    try:
        json.dumps(item, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise ProviderError("response", provider, f"the reply has a part that is no UTF-8: {item!r:.200}") from None
    return item


def plain_item(item: Any) -> dict[str, Any]:
    """An SDK's object, or a dict, as the plain JSON object that came over the wire.

    Raises `TypeError` showing what else stands there.
    """
    if isinstance(item, dict):
        return dict(item)
    if not hasattr(item, "to_dict"):
        raise TypeError(f"expected an object, got {item!r:.100}")
    # The SDKs take what comes, and warn only when it is read; what does not fit is our reader's to say.
    plain: dict[str, Any] = item.to_dict(mode="json", warnings=False)
    return plain
