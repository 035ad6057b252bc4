"""Where each rule comes from: the page of the vendor's documentation that asks for it, by wire form.

A rule that a vendor does not word itself (the stricter of two references holds for all) points to the page that
describes what the rule is about.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from hookagent.testing.wire.rules import CHAT, MESSAGES, RESPONSES, RULES, Wire

_CLAUDE: Final = "https://platform.claude.com/docs/en"
_OPENAI: Final = "https://developers.openai.com/api"

_TOPICS: Final[Mapping[str, str]] = {
    "request": (
        "json-value json-text unknown-field field-type model output-limit messages-empty unknown-role content-shape "
        "content-empty blank-text stream-options"
    ),
    "turns": "first-role last-turn previous-response",
    "tools": (
        "tool-name tool-name-duplicate tool-schema tools-empty tools-undeclared tool-choice call-id-missing "
        "call-id-shape call-id-duplicate calls-empty arguments call-unanswered result-orphaned result-duplicate "
        "result-late result-misplaced"
    ),
    "caching": "cache-breakpoints",
    "thinking": (
        "thinking-budget thinking-signature redacted-data thinking-changed thinking-first reasoning-alone "
        "reasoning-missing reasoning-content reasoning-changed item-id"
    ),
}
_TOPIC_OF: Final = {rule: topic for topic, rules in _TOPICS.items() for rule in rules.split()}
_PAGES: Final[Mapping[tuple[Wire, str], str]] = {
    (MESSAGES, "request"): f"{_CLAUDE}/api/messages",
    (MESSAGES, "turns"): f"{_CLAUDE}/api/errors#prefill-not-supported",
    (MESSAGES, "tools"): f"{_CLAUDE}/agents-and-tools/tool-use/overview",
    (MESSAGES, "caching"): f"{_CLAUDE}/build-with-claude/prompt-caching",
    (MESSAGES, "thinking"): f"{_CLAUDE}/build-with-claude/extended-thinking",
    (RESPONSES, "request"): f"{_OPENAI}/reference/resources/responses",
    (RESPONSES, "turns"): f"{_OPENAI}/docs/guides/conversation-state",
    (RESPONSES, "tools"): f"{_OPENAI}/docs/guides/function-calling",
    (RESPONSES, "thinking"): f"{_OPENAI}/docs/guides/reasoning",
    (CHAT, "request"): f"{_OPENAI}/reference/resources/chat/subresources/completions",
    (CHAT, "turns"): f"{_OPENAI}/docs/guides/text",
    (CHAT, "tools"): f"{_OPENAI}/docs/guides/function-calling",
}


def source_of(rule: str, wire: Wire) -> str:
    """The address of the page that a rule comes from on a wire form.

    Raises KeyError for an unknown rule, and for one that does not hold on that wire form.
    """
    if wire not in RULES[rule].wires:
        raise KeyError(f"the rule '{rule}' does not hold on '{wire}'")
    return _PAGES[wire, _TOPIC_OF[rule]]
