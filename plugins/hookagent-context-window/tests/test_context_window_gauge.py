"""How full the window is: reported figures, estimates between them, warnings."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hookagent import Agent, Usage, hookimpl
from hookagent.testing import ScriptedProvider
from hookagent_context_window import ContextWindow
from hookagent_context_window.gauge import Gauge


def look() -> str:
    """Look."""
    return "a short result"


class Sampler:
    """Reads the gauge whenever something happens."""

    name = "sampler"

    def __init__(self, window: ContextWindow) -> None:
        self.window = window
        self.tokens: list[int] = []

    @hookimpl
    def on_event(self, event: Any, session: Any) -> None:
        status = self.window.status(session)
        if status is not None and event.type != "turn_end":
            self.tokens.append(status.tokens)


def percent(plugin: ContextWindow, agent: Agent) -> float | None:
    status = plugin.status(agent.session)
    assert status is not None
    return status.percent


def test_the_gauge_never_falls_between_replies_and_shows_what_was_reported() -> None:
    plugin = ContextWindow(ContextWindow.Options(window=10_000))
    sampler = Sampler(plugin)
    script = [
        {"calls": [{"name": "look", "arguments": {}}], "usage": {"input_tokens": 1_000, "output_tokens": 3_000}},
        {"text": "done", "usage": {"input_tokens": 4_100, "output_tokens": 10}},
    ]
    agent = Agent(tools=[look], model=ScriptedProvider(script), plugins=[plugin, sampler])
    agent.run_sync("Go.")
    assert sampler.tokens == sorted(sampler.tokens)
    assert 4_000 in sampler.tokens
    assert sampler.tokens[-1] == 4_110
    assert percent(plugin, agent) == pytest.approx(41.1)


def test_the_three_parts_of_a_prompt_are_one_size() -> None:
    usage = {"input_tokens": 50, "cache_read_tokens": 150, "cache_write_tokens": 100}
    plugin = ContextWindow(ContextWindow.Options(window=1_000))
    agent = Agent(model=ScriptedProvider([{"text": "done", "usage": usage}]), plugins=[plugin])
    agent.run_sync("Go.")
    status = plugin.status(agent.session)
    assert status is not None
    assert (status.tokens, status.percent) == (300, 30.0)


@pytest.mark.parametrize(("window", "expected"), [(None, None), (10_000, 50.0)])
def test_an_unknown_window_has_no_percentage_unless_the_option_gives_it(
    window: int | None, expected: float | None
) -> None:
    plugin = ContextWindow(ContextWindow.Options(window=window))
    agent = Agent(model=ScriptedProvider([{"text": "done", "usage": {"input_tokens": 5_000}}]), plugins=[plugin])
    agent.run_sync("Go.")
    status = plugin.status(agent.session)
    assert status is not None
    assert (status.tokens, status.percent) == (5_000, expected)


def test_there_is_no_status_before_the_first_request_and_after_the_end() -> None:
    plugin = ContextWindow()
    agent = Agent(model=ScriptedProvider(["done"]), plugins=[plugin])
    session = agent.session
    assert plugin.status(session) is None
    agent.run_sync("Go.")
    assert plugin.status(session) is not None
    agent.close_sync()
    assert plugin.status(session) is None


def test_the_warning_comes_once_for_each_crossing(caplog: pytest.LogCaptureFixture) -> None:
    def used(tokens: int) -> Mapping[str, Any]:
        return {"text": "x", "usage": {"input_tokens": tokens}}

    tokens = [700, 810, 850, 870, 500, 700, 830]
    plugin = ContextWindow(ContextWindow.Options(window=1_000, warn_at=80, strategy="none"))
    agent = Agent(model=ScriptedProvider([used(one) for one in tokens]), plugins=[plugin])
    with caplog.at_level(logging.WARNING, "hookagent.context"):
        for _ in tokens:
            agent.run_sync("Go.")
    assert [record.message for record in caplog.records] == [
        "context-window: the window is 81 % full: about 810 of 1,000 tokens",
        "context-window: the window is 83 % full: about 830 of 1,000 tokens",
    ]
    status = plugin.status(agent.session)
    assert status is not None
    assert status.warnings == 2


def test_a_window_that_every_round_fills_anew_is_warned_of_once(caplog: pytest.LogCaptureFixture) -> None:
    def look() -> str:
        """Look."""
        return "x" * 3_200

    plugin = ContextWindow(ContextWindow.Options(window=1_500, strategy="drop", keep_rounds=1))
    replies: list[Any] = [{"calls": [{"name": "look"}]}] * 12
    agent = Agent(
        tools=[look], model=ScriptedProvider([*replies, "Done."]), plugins=[plugin], limits={"max_iterations": 20}
    )
    with caplog.at_level(logging.WARNING, "hookagent.context"):
        assert agent.run_sync("Go.").answer == "Done."
    status = plugin.status(agent.session)
    assert status is not None
    assert status.compactions > 8
    warnings = [record.message for record in caplog.records if "% full" in record.message]
    assert len(warnings) == 1


def test_the_estimate_learns_from_what_is_reported() -> None:
    gauge = Gauge(4.0)
    assert gauge.tokens(4_000) == 1_000
    gauge.learn(4_000, 0, Usage(input_tokens=2_000))
    assert gauge.tokens(4_000) == 2_000
    assert gauge.tokens(5_000) == 2_500
    gauge.learn(5_000, 0, Usage(input_tokens=5_000))
    assert gauge.tokens_per_character == pytest.approx(0.75)
    assert gauge.tokens(6_000) == 5_750


def test_a_reply_without_usage_teaches_nothing() -> None:
    gauge = Gauge(4.0)
    gauge.learn(4_000, 400, Usage())
    assert gauge.tokens(4_400) == 1_100


@settings(max_examples=100)
@given(
    reports=st.lists(st.tuples(st.integers(1, 10**6), st.integers(0, 10**5), st.integers(0, 10**6)), max_size=5),
    sizes=st.lists(st.integers(0, 10**7), min_size=2, max_size=6),
)
def test_more_text_is_never_fewer_tokens(reports: list[tuple[int, int, int]], sizes: list[int]) -> None:
    gauge = Gauge(4.0)
    for prompt, reply, tokens in reports:
        gauge.learn(prompt, reply, Usage(input_tokens=tokens))
    measured = [gauge.tokens(size) for size in sorted(sizes)]
    assert measured == sorted(measured)
    assert measured[0] >= 0
