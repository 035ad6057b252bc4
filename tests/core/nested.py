"""What the tests of nested agents share: an outer agent whose tools run an inner one, and a gate."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from hookagent import Agent, hookimpl
from hookagent.providers.scripted import ScriptedProvider
from hookagent.result import RunResult
from tests.core.scripts import calls, make_agent, ok

INNER = [calls("ok", ids=["in1"]), "inner answer"]
WAYS = pytest.mark.parametrize("way", ["here", "there"])
ALL_WAYS = pytest.mark.parametrize("way", ["here", "there", "directly"])


class Inside:
    """Tools that run another agent, in the outer event loop and in a thread, and what came of it."""

    def __init__(self, inner: Callable[[], Agent]) -> None:
        self.make = inner
        self.agents: list[Agent] = []
        self.results: list[RunResult] = []

    def _made(self) -> Agent:
        self.agents.append(self.make())
        return self.agents[-1]

    async def here(self) -> str:
        """Run the inner agent in this event loop."""
        self.results.append(await self._made().run("inner task"))
        return self.results[-1].answer

    def there(self) -> str:
        """Run the inner agent in another event loop."""
        self.results.append(self._made().run_sync("inner task"))
        return self.results[-1].answer

    async def directly(self) -> str:
        """Call a tool of the inner agent, without its model."""
        return (await self._made().call_tool("ok")).content

    @property
    def tools(self) -> list[Callable[..., Any]]:
        return [self.here, self.there, self.directly]


def plain_inner(**options: Any) -> Agent:
    return Agent("inner", tools=[ok], model=ScriptedProvider(INNER), quiet=True, **options)


def outer_of(inside: Inside, tool: str, *plugins: Any, **options: Any) -> Agent:
    return make_agent([calls(tool), "outer answer"], *plugins, tools=inside.tools, quiet=True, **options)


class Gate:
    """Says one thing about each call of `ok`."""

    def __init__(self, verdict: Any) -> None:
        self.verdict = verdict
        self.seen: list[str] = []

    @hookimpl
    def before_each_tool(self, tool_call: Any, session: Any) -> Any:
        self.seen.append(f"{tool_call.name} in {session.id}")
        if tool_call.name != "ok":
            return None
        if isinstance(self.verdict, Exception):
            raise self.verdict
        return self.verdict
