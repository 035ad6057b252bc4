"""Whole checkers for provider requests: each looks at one request body from the first message to the last.

One checker per wire form, all of one shape: they return None for a request the provider would take and raise
`WireError` for one it would refuse. They share no code with what builds requests.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from hookagent.testing.wire.anthropic_messages import check_messages_request
from hookagent.testing.wire.openai_chat import check_chat_request
from hookagent.testing.wire.openai_responses import check_responses_request
from hookagent.testing.wire.rules import CHAT, MESSAGES, RESPONSES, RULES, Rule, Signer, Wire, WireError
from hookagent.testing.wire.sources import source_of

CHECKERS: Final[Mapping[Wire, Callable[..., None]]] = {
    MESSAGES: check_messages_request,
    RESPONSES: check_responses_request,
    CHAT: check_chat_request,
}
"""The checker of each wire form: `CHECKERS[wire](body, signer=None)`."""


def check_request(wire: Wire, body: Mapping[str, Any], *, signer: Signer | None = None) -> None:
    """Check a request body by the rules of a wire form; raises `WireError` for the first rule that is broken."""
    CHECKERS[wire](body, signer=signer)


__all__ = [
    "CHAT",
    "CHECKERS",
    "MESSAGES",
    "RESPONSES",
    "RULES",
    "Rule",
    "Signer",
    "Wire",
    "WireError",
    "check_chat_request",
    "check_messages_request",
    "check_request",
    "check_responses_request",
    "source_of",
]
