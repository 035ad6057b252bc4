"""docs/reference/wire-rules.md: what the checkers of `hookagent.testing` refuse, rule by rule, each with its source."""

from __future__ import annotations

from checks.reference.markdown import table
from hookagent.testing.wire import CHAT, MESSAGES, RESPONSES, RULES, source_of

_NAMES = {MESSAGES: "Anthropic Messages", RESPONSES: "OpenAI Responses", CHAT: "OpenAI Chat Completions"}


def page() -> str:
    """The text of the page."""
    rows = [
        (
            f"`{rule}`",
            entry.says,
            ", ".join(f"[{_NAMES[wire]}]({source_of(rule, wire)})" for wire in _NAMES if wire in entry.wires),
        )
        for rule, entry in RULES.items()
    ]
    return "\n".join(
        [
            "# Wire rules\n",
            "What `check_request` and the strict server of `hookagent.testing` ask of a request. A request that breaks "
            "a rule is refused with a `WireError`, or with status 400 in the vendor's shape, which names the rule and "
            "the place of the message at fault. Where the vendors differ, the stricter one holds for all.\n",
            table(("rule", "what it asks", "from"), rows),
        ]
    )
