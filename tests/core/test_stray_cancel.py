"""A plugin whose `on_event` cancels the run's task, at every event of a run: it is named, and nothing ends later."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from checks.tally import count
from hookagent import Agent, Event, PluginError, hookimpl
from tests.cases.checked_model import CheckedModel
from tests.core.scripts import words

SCRIPT = [
    {
        "calls": [
            {"name": "soon", "id": "c1", "arguments": {"number": 1}},
            {"name": "plain", "id": "c2", "arguments": {"number": 2}},
        ]
    },
    {"calls": [{"name": "soon", "id": "c3", "arguments": {"number": 3}}]},
    {"text": "done"},
    {"text": "done"},
    {"text": "done"},
    {"text": "done"},
]
TOO_LATE = ("turn_end", "agent_end")
"""What is announced when the run has come to its end: the failure is listed then."""


async def soon(number: int) -> str:
    await asyncio.sleep(0)
    return str(number)


def plain(number: int) -> str:
    return str(number)


class Rude:
    """Cancels the task it runs in at the k-th event."""

    name = "rude"

    def __init__(self, when: int) -> None:
        self.when = when
        self.heard = 0
        self.struck = ""

    @hookimpl
    def on_event(self, event: Event) -> None:
        if self.heard == self.when:
            task = asyncio.current_task()
            assert task is not None
            task.cancel()
            self.struck = event.type
        self.heard += 1


def run(mode: Any, when: int) -> tuple[Rude, str]:
    """Run with a cancellation at an event, and once more; gives the plugin and what was said of it."""
    rude = Rude(when)
    agent = Agent(
        tools=[soon, plain],
        model=CheckedModel(SCRIPT),
        plugins=[rude],
        tool_execution=mode,
        log=False,
        quiet=True,
    )
    try:
        said = " ".join(agent.run_sync("go").errors)
    except PluginError as failure:
        said = str(failure)
    rude.when = -1
    assert agent.session.transcript.open_round is None
    assert agent.run_sync("once more").status == "completed"
    assert words(agent.session.transcript)[-1] == "A done"
    return rude, said


@pytest.mark.parametrize("mode", ["parallel", "sequential"])
def test_the_plugin_is_named_and_the_next_run_is_as_ever(mode: str) -> None:
    struck = []
    for when in range(1000):
        rude, said = run(mode, when)
        if not rude.struck:
            assert said == ""
            break
        assert "plugin 'rude': hook 'on_event' cancelled the task of the run; " in said, (when, rude.struck)
        struck.append(rude.struck)
        count("faults at the k-th call")
    assert {"agent_start", "request", "message_delta", "tool_start", "tool_end", *TOO_LATE} <= set(struck)
