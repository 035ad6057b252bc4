"""Listeners: told in order, never able to change a run, and dropped when they go on failing."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from tests.core.scripts import calls, make_agent


class UnreadableError(Exception):
    def __str__(self) -> str:
        raise ValueError("not even that")


def test_a_listener_whose_exception_has_no_text_changes_nothing() -> None:
    def listener(event: Any) -> None:
        raise UnreadableError

    agent = make_agent([{"text": "fine"}])
    agent.subscribe(listener)
    result = agent.run_sync("go")
    assert (result.status, result.answer) == ("completed", "fine")
    assert len(result.warnings) == 3
    assert result.warnings[0].endswith("raised UnreadableError: its text form raised ValueError")
    assert result.warnings[2].endswith("; it is dropped")


def test_a_listener_that_is_subscribed_twice_hears_twice_and_ends_one_by_one() -> None:
    heard: list[str] = []

    def listener(event: Any) -> None:
        heard.append(event.type)

    agent = make_agent([{"text": "one"}, {"text": "two"}, {"text": "three"}])
    first, second = agent.subscribe(listener), agent.subscribe(listener)
    agent.run_sync("go")
    assert heard.count("agent_start") == 2
    first()
    first()
    agent.run_sync("go")
    assert heard.count("agent_start") == 3
    second()
    agent.run_sync("go")
    assert heard.count("agent_start") == 3


SCRIPT = [calls("ok", "quick"), calls("quick"), {"text": "fine"}, {"text": "again"}]


def events_of_a_run() -> list[str]:
    heard: list[str] = []
    agent = make_agent(SCRIPT)
    agent.subscribe(lambda event: heard.append(event.type))
    agent.run_sync("go")
    return heard


@pytest.mark.parametrize("sync", [True, False])
def test_an_interrupt_in_a_listener_is_raised_when_the_round_is_closed_wherever_it_comes(sync: bool) -> None:
    for place, kind in enumerate(events_of_a_run()):
        agent = make_agent(SCRIPT)
        heard: list[str] = []

        def listener(event: Any, place: int = place, heard: list[str] = heard) -> None:
            heard.append(event.type)
            if len(heard) == place + 1:
                raise KeyboardInterrupt

        agent.subscribe(listener)
        with pytest.raises(KeyboardInterrupt):
            agent.run_sync("go") if sync else asyncio.run(agent.run("go"))
        assert heard[place] == kind
        assert heard[-1] == "agent_end"
        result = agent.last_result
        assert result is not None
        # When the end is announced, the turn is over.
        assert result.status == ("completed" if kind in ("turn_end", "agent_end") else "aborted"), kind
        assert agent.transcript.open_round is None
        assert not agent.running
        assert agent.run_sync("go on").status == "completed"
