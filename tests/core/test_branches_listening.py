"""Hooks that only listen: who hears what is said, what it costs, what their failures do; and what a table knows."""

from __future__ import annotations

from typing import Any

import pytest

from hookagent import PluginEntry, PluginError, hookimpl
from hookagent.events import HookReport
from hookagent.testing import FakeClock
from tests.core.plugin_making import made
from tests.core.scripts import calls, make_agent

ANSWER = {"text": "done"}


class Listener:
    """Notes what it hears; fails at the first event of one type."""

    def __init__(self, name: str, fails_at: str = "") -> None:
        self.name = name
        self.fails_at = fails_at
        self.heard: list[str] = []

    @hookimpl
    def on_event(self, event: Any) -> None:
        self.heard.append(event.type)
        if event.type == self.fails_at:
            raise ValueError("deaf")


def test_a_listener_that_is_disabled_hears_nothing_more_and_those_behind_it_all() -> None:
    failing, other = Listener("failing", "turn_start"), Listener("other")
    agent = make_agent([ANSWER], PluginEntry(failing, on_error="disable"), other)
    assert agent.run_sync("go").answer == "done"
    assert failing.heard[-1] == "turn_start"
    assert other.heard[: len(failing.heard)] == failing.heard
    assert other.heard[-1] == "agent_end"
    assert len(other.heard) > len(failing.heard) + 5


def test_a_listener_that_is_warned_hears_on() -> None:
    failing = Listener("failing", "turn_start")
    agent = make_agent([ANSWER], PluginEntry(failing, on_error="warn"))
    assert agent.run_sync("go").answer == "done"
    assert failing.heard[-1] == "agent_end"


def test_a_listener_that_fails_stops_the_run_and_hears_nothing_more_unlike_the_others() -> None:
    failing, other = Listener("failing", "turn_start"), Listener("other")
    with pytest.raises(PluginError, match=r"^plugin 'failing': hook 'on_event' raised ValueError: deaf \("):
        make_agent([ANSWER], failing, other).run_sync("go")
    assert failing.heard[-1] == "turn_start"
    assert other.heard[-1] == "agent_end"


def test_what_a_listener_returns_is_a_failure() -> None:
    plugin = made("answers", on_event=lambda event: 5 if event.type == "turn_start" else None)
    with pytest.raises(PluginError, match="plugin 'answers': hook 'on_event' returned a int"):
        make_agent([ANSWER], plugin).run_sync("go")


def test_listeners_are_charged_for_each_event_and_for_their_own_time() -> None:
    clock = FakeClock()
    counted = [0, 0]

    def listening(index: int, seconds: float) -> Any:
        def on_event(event: Any) -> None:
            counted[index] += 1
            if event.type in ("turn_start", "iteration_start"):
                clock.advance(seconds)

        return on_event

    plugins = [made("first", on_event=listening(0, 0.25)), made("second", on_event=listening(1, 1.0))]
    agent = make_agent([calls("ok"), ANSWER], *plugins, clock=clock)
    agent.run_sync("go")
    # One turn and two iterations.
    assert agent.session.hook_calls == {"first": (counted[0], 0.75), "second": (counted[1], 3.0)}
    assert counted[0] == counted[1] > 10
    # A second is not slow yet.
    assert not [one for one in agent.session.trace if isinstance(one, HookReport)]


def test_a_plugin_is_not_told_of_its_own_failure_and_the_others_are() -> None:
    told: list[str] = []

    def fails(iteration: int) -> None:
        raise ValueError("no")

    failing = made("failing", before_llm=fails, on_error=lambda error: told.append("failing"))
    other = made("other", on_error=lambda error: told.append("other"))
    with pytest.raises(PluginError):
        make_agent([ANSWER], failing, other).run_sync("go")
    assert told == ["other"]


def test_a_table_knows_its_implementations_and_those_of_the_same_plugin_elsewhere() -> None:
    shared = made("shared", before_each_tool=lambda tool_call: None, before_llm=lambda iteration: None)
    other = made("other", before_each_tool=lambda tool_call: None)
    one, two, three = (make_agent([], *plugins)._hooks for plugins in ([shared, other], [shared], [other]))
    implementation = two.before_each_tool[0]
    assert one.has(implementation)
    assert two.has(implementation)
    assert not three.has(implementation)
    assert not three.has(two.before_llm[0])


@pytest.mark.parametrize(
    ("plugin", "hook", "known"),
    [
        ("gate", "before_each_tool", True),
        ("gate", "before_tools", False),
        ("gate", "before_llm", False),
        ("other", "before_each_tool", False),
        ("other", "before_llm", False),
    ],
)
def test_a_table_knows_whose_gates_are_asked(plugin: str, hook: str, known: bool) -> None:
    gate = made("gate", before_each_tool=lambda tool_call: None, before_llm=lambda iteration: None)
    assert make_agent([], gate)._hooks.has_gate(plugin, hook) is known
