"""An agent whose model keeps every request that it was asked with, and answers "answer 1", "answer 2", ..."""

from __future__ import annotations

from typing import Any

from hookagent import Agent, Request
from hookagent.testing import ScriptedProvider
from tests.core.scripts import ok, quick


class Asked:
    """A script that keeps every request it was asked with."""

    def __init__(self) -> None:
        self.requests: list[Request] = []

    def __call__(self, request: Request) -> str:
        self.requests.append(request)
        return f"answer {len(self.requests)}"

    @property
    def texts(self) -> list[list[str]]:
        """The texts of the blocks of each request."""
        return [[getattr(block, "text", "a round") for block in request.blocks] for request in self.requests]


def asking(*plugins: Any, **options: Any) -> tuple[Agent, Asked]:
    """An agent with two small tools, and what it is asked."""
    asked = Asked()
    return Agent("tested", tools=[ok, quick], model=ScriptedProvider(asked), plugins=plugins, **options), asked
