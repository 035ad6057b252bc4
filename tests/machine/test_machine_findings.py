"""What the machine found, each as a short test of its own."""

from __future__ import annotations

from typing import Any

import pytest

from hookagent import Agent
from hookagent.events import MessageStart, RequestSent, ToolStart
from hookagent.providers.scripted import ScriptedProvider
from tests.core.plugin_making import Around
from tests.core.scripts import calls, make_agent, quick, words


def abort_when_told(agent: Agent, kind: type[Any]) -> None:
    """Abort the run as soon as an event of a kind is told; of messages, the model's."""

    def hear(event: Any) -> None:
        if type(event) is kind and getattr(event, "role", "assistant") == "assistant":
            agent.abort("enough")

    agent.subscribe(hear)


@pytest.mark.parametrize("around", [False, True])
@pytest.mark.parametrize("kind", [RequestSent, MessageStart])
def test_who_is_told_of_a_request_may_abort_and_then_it_does_not_leave(kind: type[Any], around: bool) -> None:
    asked: list[Any] = []

    class Counting(ScriptedProvider):
        async def stream(self, request: Any) -> Any:
            asked.append(request)
            async for item in super().stream(request):
                yield item

    async def on(request: Any, call_next: Any) -> Any:
        return await call_next(request)

    agent = Agent(model=Counting([{"text": "done"}]), plugins=[Around("around", model=on)] if around else [])
    abort_when_told(agent, kind)
    assert agent.run_sync("go").status == "aborted"
    assert asked == []
    assert words(agent.transcript) == ["U go"]


def test_who_is_told_of_a_start_may_abort_and_then_nothing_more_is_started() -> None:
    agent = make_agent([calls("quick", "quick", "quick"), {"text": "done"}], tools=[quick])
    abort_when_told(agent, ToolStart)
    assert agent.run_sync("go").status == "aborted"
    assert sum(type(event) is ToolStart for event in agent.session.trace) == 1
    assert [line.split()[2] for line in words(agent.transcript) if line.startswith("R")][1:] == ["not_run"] * 2
