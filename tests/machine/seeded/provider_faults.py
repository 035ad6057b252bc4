"""Faults of the providers: request builders, readers of replies, retries."""

from __future__ import annotations

from tests.machine.seeded.fault import Fault

FAULTS = (
    Fault(
        "providers-text-before-results",
        "On the Messages wire what is said behind a round is put ahead of its results in their turn.",
        "hookagent/providers/anthropic_messages/turns.py",
        'content=[*before["content"], *message["content"]])',
        'content=[*message["content"], *before["content"]])',
    ),
    Fault(
        "providers-endless-stream-is-done",
        "On the Messages wire a stream that ends without its closing event is taken for a whole reply.",
        "hookagent/providers/anthropic_messages/decode.py",
        "        if not self._closed or self._stop is None:\n",
        "        if not self._closed and not self._parts:\n",
    ),
    Fault(
        "providers-cut-reply-runs",
        "The calls of a reply that was cut by the output limit count as whole, and run.",
        "hookagent/providers/decoding.py",
        '        return reason if reason in _CUT else "tool_calls"\n',
        '        return "tool_calls"\n',
    ),
    Fault(
        "providers-cached-tokens-twice",
        "On the Chat Completions wire cached tokens are counted twice.",
        "hookagent/providers/openai_chat/decode.py",
        "    return Usage(max(total - read - written, 0), read,",
        "    return Usage(total, read,",
    ),
    Fault(
        "providers-text-beside-calls-dropped",
        "On the Chat Completions wire the text beside tool calls is not sent back.",
        "hookagent/providers/openai_chat/encode.py",
        'role="assistant", content=content, tool_calls=calls),)',
        'role="assistant", content=None, tool_calls=calls),)',
    ),
    Fault(
        "providers-retry-after-a-piece",
        "A reply that broke off is asked for again although a piece of it was heard already.",
        "hookagent/providers/retry.py",
        "attempt >= policy.max_attempts or not may_retry():",
        "attempt >= policy.max_attempts:",
    ),
    Fault(
        "providers-unparsed-becomes-empty",
        "Arguments that could not be parsed go back to the model as an empty object.",
        "hookagent/providers/encoding.py",
        '    return {UNPARSED: sendable(call.raw or "")}\n',
        "    return {}\n",
    ),
    Fault(
        "providers-model-has-the-last-word",
        "On the Responses wire a request may end with the model's own message.",
        "hookagent/providers/openai_responses/encode.py",
        """    if items and items[-1].get("role") != "user" and items[-1].get("type") != "function_call_output":
        items.append(user_item(CONTINUE))
""",
        "",
    ),
    Fault(
        "providers-known-ids-given-again",
        "An id that a call of the conversation has already is given to a new call when a reply is read.",
        "hookagent/providers/call_ids.py",
        "not usable or wanted in self._known or wanted",
        "not usable or wanted",
    ),
)
