"""What fails while the end of a turn is announced: the turn stands, and no other one begins."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from hookagent import Agent, PluginError, hookimpl
from hookagent.result import RunResult
from tests.core.scripts import make_agent, words


class Queueing:
    """Queues a message while the first turn's end is announced, and fails there if told to."""

    def __init__(self, fails: BaseException | None = None) -> None:
        self.fails = fails

    @hookimpl
    def on_complete(self, outcome: Any, agent: Agent) -> None:
        if outcome.turn == 1:
            agent.follow_up("more")
            if self.fails is not None:
                raise self.fails


class BadListener:
    """Its `on_event` fails at one type of event."""

    def __init__(self, at: str, fails: BaseException) -> None:
        self.at, self.fails = at, fails

    @hookimpl
    def on_event(self, event: Any, session: Any) -> None:
        if event.type == self.at and session.turn == 1:
            raise self.fails


class Returning:
    """Returns a message from `on_complete`, which makes an event while the end is announced."""

    @hookimpl
    def on_complete(self, outcome: Any) -> str | None:
        return "noted" if outcome.turn == 1 else None


@pytest.mark.parametrize("at", ["hook", "turn_end"])
def test_an_on_event_that_fails_stops_the_run_before_the_next_turn(at: str) -> None:
    script = [{"text": "one"}, {"text": "two"}, {"text": "three"}]
    agent = make_agent(script, Queueing(), Returning(), BadListener(at, ValueError("no")))
    with pytest.raises(PluginError, match="no"):
        agent.run_sync("go")
    result = agent.last_result
    assert result is not None
    assert (result.status, result.answer) == ("completed", "one")
    assert len(result.errors) == 1
    assert "BadListener" in result.errors[0]
    assert agent.session.turn == 1
    assert [one.text for one in agent.follow_ups.peek()] == ["more"]
    assert asyncio.run(agent.continue_()).answer == "three"
    assert words(agent.session.transcript) == ["U go", "A one", "U noted <Returning>", "A two", "U more", "A three"]


def test_an_on_complete_that_fails_is_listed_and_no_other_turn_begins() -> None:
    agent = make_agent([{"text": "one"}, {"text": "two"}, {"text": "three"}], Queueing(ValueError("no")))
    result = agent.run_sync("go")
    assert (result.status, result.answer) == ("completed", "one")
    assert len(result.errors) == 1
    assert [one.text for one in agent.follow_ups.peek()] == ["more"]
    result = asyncio.run(agent.continue_())
    assert (result.answer, result.errors) == ("two", ())
    assert words(agent.session.transcript) == ["U go", "A one", "U more", "A two"]


@pytest.mark.parametrize("plugin", [Queueing(KeyboardInterrupt()), BadListener("turn_end", KeyboardInterrupt())])
def test_an_interrupt_while_the_end_is_announced_is_raised(plugin: Any) -> None:
    agent = make_agent([{"text": "one"}], plugin)

    async def main() -> RunResult:
        return await agent.run("go")

    with pytest.raises(KeyboardInterrupt):
        asyncio.run(main())
    assert agent.last_result is not None
    assert agent.last_result.answer == "one"
    assert not agent.running
