"""A model for tests that counts what it is sent by a rule of its own, and refuses what its window cannot hold.

Tests get it as the fixture `metered`, so that they need no module beside them.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest

from hookagent import AssistantMessage, ProviderError, Request, ToolRound, Usage, UserMessage
from hookagent.testing import ScriptedProvider


def request_text(request: Request) -> str:
    """Everything that a request carries, as one text; the summary stands behind the first task."""
    texts = [
        request.system,
        *(f"{tool.name} {tool.description} {json.dumps(tool.parameters)}" for tool in request.tools),
    ]
    shown_summary = False
    for block in request.blocks:
        if isinstance(block, UserMessage):
            texts.append(block.text)
            if not shown_summary and request.summary:
                texts.append(request.summary)
                shown_summary = True
        elif isinstance(block, AssistantMessage):
            texts.append(block.text)
        elif isinstance(block, ToolRound):
            texts.append(block.reply.text)
            for call, result in zip(block.calls, block.results, strict=True):
                assert result is not None
                texts += [f"{call.name} {json.dumps(call.arguments)}", result.content]
    return "\n".join([*texts, *(note.text for note in request.notes)])


class MeteredModel(ScriptedProvider):
    """Answers from a script and reports one input token for each `per_token` characters of the request.

    `text_of` gives a request as text, `requests` are the requests as sent, `sizes` their tokens. A request over
    `limit` is refused as too long, as a server does.
    """

    text_of = staticmethod(request_text)

    def __init__(
        self,
        steps: Sequence[Any] | Callable[[Request], Any],
        *,
        per_token: float = 4.0,
        window: int | None = None,
        limit: int | None = None,
    ) -> None:
        super().__init__(steps, context_window=window)
        self.per_token = per_token
        self.limit = limit
        self.requests: list[Request] = []
        self.sizes: list[int] = []

    async def stream(self, request: Request) -> AsyncIterator[Any]:
        size = round(len(request_text(request)) / self.per_token)
        self.requests.append(request)
        self.sizes.append(size)
        if self.limit is not None and size > self.limit:
            raise ProviderError("too_long", self.name, f"{size} tokens, at most {self.limit}", window=self.limit)
        async for item in super().stream(request):
            if isinstance(item, AssistantMessage) and not item.usage.prompt_tokens:
                usage = Usage(input_tokens=size, output_tokens=5 + len(item.text) // 4, requests=1)
                item = replace(item, usage=usage)
            yield item


@pytest.fixture
def metered() -> type[MeteredModel]:
    return MeteredModel
