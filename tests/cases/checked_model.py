"""A scripted model whose every request passes the checkers of all three wire forms, and which has a window."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import replace
from typing import Any

from checks.tally import count
from hookagent import AssistantMessage, ProviderError, Request, Usage
from hookagent.providers.anthropic_messages.encode import encode as encode_messages
from hookagent.providers.openai_chat.encode import encode as encode_chat
from hookagent.providers.openai_responses.encode import encode as encode_responses
from hookagent.testing import (
    ScriptedProvider,
    check_chat_request,
    check_messages_request,
    check_responses_request,
)


def check_on_all_wires(request: Request) -> int:
    """Pass a request through the kit's three checkers; gives the length of its Messages form in characters."""
    body = encode_messages(request, "claude-sonnet-5")
    chat = encode_chat(request, "gpt-5", limit_name="max_completion_tokens", is_foreign=False)
    count("requests checked", 3)
    count("requests refused", 0)
    try:
        check_messages_request({**body, "stream": True})
        check_responses_request({**encode_responses(request, "gpt-5"), "stream": True})
        check_chat_request({**chat, "stream": True})
    except Exception:
        count("requests refused")
        raise
    return len(json.dumps([body.get("system"), body.get("tools"), body["messages"]]))


class CheckedModel(ScriptedProvider):
    """A scripted model whose every request passes the checkers of all wire forms.

    It counts one token for each four characters of the Messages form, reports them where the script reports no usage,
    and refuses a request over `limit` tokens as too long. `requests` are the requests as sent, `sizes` their tokens.
    """

    def __init__(
        self,
        steps: Sequence[Any] | Callable[[Request], Any],
        *,
        window: int | None = None,
        limit: int | None = None,
    ) -> None:
        super().__init__(steps, context_window=window)
        self.limit = limit
        self.requests: list[Request] = []
        self.sizes: list[int] = []

    async def stream(self, request: Request) -> AsyncIterator[Any]:
        """Check, count, and answer from the script."""
        size = check_on_all_wires(request) // 4
        self.requests.append(request)
        self.sizes.append(size)
        if self.limit is not None and size > self.limit:
            raise ProviderError("too_long", self.name, f"{size} tokens, at most {self.limit}", window=self.limit)
        async for item in super().stream(request):
            if isinstance(item, AssistantMessage) and not item.usage.prompt_tokens:
                usage = Usage(input_tokens=size, output_tokens=5 + len(item.text) // 4, requests=1)
                item = replace(item, usage=usage)
            yield item
