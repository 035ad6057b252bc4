"""Who decided what, and for how long it holds: kept in memory, and said to the logger `hookagent.approval`."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from hookagent import visible_text

LOGGER = logging.getLogger("hookagent.approval")

PERSON = "the person at the terminal"
NOBODY = "nobody"
ONCE = "this call only"
ALWAYS = "exactly this call, in this session"


@dataclass(frozen=True, slots=True)
class Decided:
    """One decision: about which call, by whom (`by`), how far it reaches (`scope`), and the reason given.

    `arguments` are those that were judged; `edited` those that run instead, where a person edited them.
    """

    session_id: str
    call_id: str
    tool: str
    arguments: Mapping[str, Any]
    fingerprint: str
    answer: Literal["approved", "denied", "stopped"]
    by: str
    scope: str
    reason: str = ""
    edited: Mapping[str, Any] | None = None


def log_decision(decided: Decided) -> None:
    """Say a decision to the logger: not the arguments, which may be secret, but the fingerprint of them."""
    edited = " with edited arguments" if decided.edited is not None else ""
    reason = f": {visible_text(decided.reason)}" if decided.reason else ""
    LOGGER.info(
        "%s (%s, %s) %s%s by %s, for %s%s",
        *(visible_text(decided.tool), visible_text(decided.call_id), decided.fingerprint[:12], decided.answer, edited),
        *(decided.by, decided.scope, reason),
    )
