"""What leaves the agent: requests stay in the window, whole, and the transcript is never touched."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any

import pytest

from hookagent import Agent, ToolRound, UserMessage, hookimpl
from hookagent_context_window import ContextWindow

ROUND_TEXT = "r" * 560  # about 150 tokens with its call


def look(number: int) -> str:
    """Look."""
    return f"<{number}>{ROUND_TEXT}"


def rounds(count: int) -> list[Any]:
    return [{"calls": [{"name": "look", "arguments": {"number": number}}]} for number in range(count)]


def run(model: Any, *, system: str = "rules", prompt: str = "TASK-1", **options: Any) -> Agent:
    plugin = ContextWindow(ContextWindow.Options(**options))
    agent = Agent(tools=[look], model=model, plugins=[plugin], system_prompt=system, limits={"max_iterations": 60})
    assert agent.run_sync(prompt).status == "completed"
    return agent


def plugin_of(agent: Agent) -> ContextWindow:
    plugin = agent.plugins[0].plugin
    assert isinstance(plugin, ContextWindow)
    return plugin


def results(blocks: Sequence[Any]) -> list[str]:
    rounds_sent = [block for block in blocks if isinstance(block, ToolRound)]
    return [result.content for block in rounds_sent for result in block.results if result is not None]


def numbers_sent(model: Any, index: int) -> list[int]:
    calls = [block.calls[0] for block in model.requests[index].blocks if isinstance(block, ToolRound)]
    return [call.arguments["number"] for call in calls if call.arguments is not None]


@pytest.mark.parametrize("strategy", ["drop", "clear_results"])
@pytest.mark.parametrize("per_token", [4.0, 2.5, 5.5])
def test_a_long_tool_loop_is_shortened_between_its_rounds(metered: Any, strategy: str, per_token: float) -> None:
    window = round(4_000 / per_token)
    model = metered([*rounds(40), "end"], per_token=per_token, window=window, limit=window)
    agent = run(model, strategy=strategy, compact_at=80, keep_rounds=1)
    assert max(model.sizes) <= window
    status = plugin_of(agent).status(agent.session)
    assert status is not None
    assert status.compactions > 3
    # All that was stored is still there.
    assert len(agent.session.transcript) == 42
    assert [ROUND_TEXT in text for text in results(agent.session.transcript)] == [True] * 40
    for index, request in enumerate(model.requests):
        text = metered.text_of(request)
        assert text.startswith("rules\n")
        assert "TASK-1" in text
        assert index == 0 or f"<{index - 1}>{ROUND_TEXT}" in text


def test_dropping_leaves_whole_rounds_from_the_oldest_on(metered: Any) -> None:
    model = metered([*rounds(12), "end"], window=1000)
    run(model, compact_at=80, target=50)
    for index in range(1, len(model.requests)):
        sent = numbers_sent(model, index)
        assert sent == list(range(sent[0], index))
    assert numbers_sent(model, 12)[0] > 4


def test_between_compactions_the_requests_only_grow_at_their_end(metered: Any) -> None:
    model = metered([*rounds(20), "end"], window=2000)
    agent = run(model)
    starts = [numbers_sent(model, index)[0] for index in range(1, len(model.requests))]
    status = plugin_of(agent).status(agent.session)
    assert status is not None
    # Each compaction moves the start once, and far enough that the next request does not need one.
    assert len(set(starts)) - 1 == status.compactions <= 5


def test_clearing_keeps_calls_ids_and_the_newest_results(metered: Any) -> None:
    model = metered([*rounds(12), "end"], window=1000)
    run(model, strategy="clear_results", compact_at=90, target=70, keep_rounds=2)
    sent = [block for block in model.requests[-1].blocks if isinstance(block, ToolRound)]
    texts = results(sent)
    assert all(ROUND_TEXT in text for text in texts[-2:])
    assert "was taken out to save space" in texts[0]
    assert "563 characters" in texts[0]
    assert [block.calls[0].id for block in sent] == [
        result.call_id for block in sent for result in block.results if result
    ]
    assert len(sent) > 6


def test_clearing_that_is_not_enough_goes_on_to_drop(metered: Any) -> None:
    script = [{"text": "t" * 400, **one} for one in rounds(12)]
    model = metered([*script, "end"], window=1000, limit=1000)
    run(model, strategy="clear_results", compact_at=80, keep_rounds=1)
    assert max(model.sizes) <= 1000


def test_the_newest_message_of_the_user_and_the_first_task_stay_also_in_later_turns(metered: Any) -> None:
    model = metered([*rounds(6), "first done", *rounds(6), "second done"], window=1000, limit=1000)
    agent = run(model, compact_at=80)
    assert agent.run_sync("TASK-2").answer == "second done"
    texts = [metered.text_of(request) for request in model.requests[7:]]
    assert all("TASK-1" in text and "TASK-2" in text for text in texts)


def test_the_newest_round_stays_whole_even_where_two_do_not_fit(metered: Any) -> None:
    model = metered([*rounds(3), "end"], window=340)
    run(model, compact_at=90, target=60, keep_rounds=2)
    assert numbers_sent(model, -1) == [2]


def test_a_round_too_large_to_be_shortened_is_said_once(metered: Any, caplog: pytest.LogCaptureFixture) -> None:
    model = metered([*rounds(4), "end"], window=150)
    with caplog.at_level(logging.WARNING, "hookagent.context"):
        run(model)
    stuck = [record.message for record in caplog.records if "cannot be made fewer" in record.message]
    assert len(stuck) == 1
    assert numbers_sent(model, -1) == [3]


def test_fixed_parts_over_the_limit_are_said_once_and_nothing_is_shortened(
    metered: Any, caplog: pytest.LogCaptureFixture
) -> None:
    model = metered(["one", "two", "three"], window=30_000)
    with caplog.at_level(logging.INFO, "hookagent.context"):
        agent = run(model, system="s" * 108_000, compact_at=85)
        answers = [agent.run_sync(f"prompt {number}").answer for number in (2, 3)]
    assert answers == ["two", "three"]
    assert len(caplog.records) == 1
    assert caplog.records[0].message.startswith("context-window: system text and tools (1) alone take about 27,0")
    assert "of 30,000 tokens (90 %)" in caplog.records[0].message
    status = plugin_of(agent).status(agent.session)
    assert status is not None
    assert status.compactions == 0


def test_fixed_parts_that_only_the_server_sees_are_known_from_its_report(
    metered: Any, caplog: pytest.LogCaptureFixture
) -> None:
    usage = {"input_tokens": 27_000, "output_tokens": 5}
    model = metered([{"text": "a", "usage": usage}, {"text": "b", "usage": usage}], window=30_000)
    with caplog.at_level(logging.WARNING, "hookagent.context"):
        agent = run(model, compact_at=85)
        agent.run_sync("again")
    assert sum("system text and tools" in record.message for record in caplog.records) == 1
    assert len(model.requests[-1].blocks) == 3


@pytest.mark.parametrize("options", [{}, {"strategy": "summarize"}, {"strategy": "clear_results"}])
def test_an_unknown_window_shortens_nothing(
    metered: Any, options: dict[str, Any], caplog: pytest.LogCaptureFixture
) -> None:
    model = metered([*rounds(30), "end"])
    with caplog.at_level(logging.INFO, "hookagent.context"):
        agent = run(model, **options)
    assert numbers_sent(model, -1) == list(range(30))
    status = plugin_of(agent).status(agent.session)
    assert status is not None
    assert (status.window, status.percent, status.compactions, caplog.records) == (None, None, 0, [])
    assert status.tokens > 4_000


def test_strategy_none_only_watches(metered: Any, caplog: pytest.LogCaptureFixture) -> None:
    model = metered([*rounds(8), "end"], window=1000)
    with caplog.at_level(logging.WARNING, "hookagent.context"):
        run(model, strategy="none")
    assert numbers_sent(model, -1) == list(range(8))
    assert len(caplog.records) == 1
    assert "the window is 90 % full: about 904 of 1,000 tokens" in caplog.records[0].message


def test_a_jump_over_both_marks_is_warned_of_although_the_request_is_shortened(
    metered: Any, caplog: pytest.LogCaptureFixture
) -> None:
    model = metered([*rounds(4), "end"], window=600)
    with caplog.at_level(logging.INFO, "hookagent.context"):
        run(model, warn_at=89, compact_at=90)
    messages = [record.message for record in caplog.records]
    first = next(index for index, message in enumerate(messages) if "the oldest blocks were dropped" in message)
    assert any("% full: about" in message for message in messages[: first + 2])
    assert model.sizes[-1] < 540


def test_a_request_that_fits_is_left_alone(metered: Any) -> None:
    model = metered([*rounds(3), "end"], window=100_000)
    run(model)
    assert all(request.shaped_by is None for request in model.requests)


def test_a_server_that_names_a_smaller_window_is_believed(metered: Any, caplog: pytest.LogCaptureFixture) -> None:
    model = metered([*rounds(20), "end"], window=65_536, limit=2_000)
    plugin = ContextWindow()
    agent = Agent(tools=[look], model=model, plugins=[plugin], limits={"max_iterations": 60})
    with caplog.at_level(logging.WARNING, "hookagent.context"):
        assert agent.run_sync("TASK-1").answer == "end"
    assert sum(size > 2_000 for size in model.sizes) == 1
    assert "the server's window is 2,000 tokens; it was taken for 65,536 tokens" in caplog.text
    status = plugin.status(agent.session)
    assert status is not None
    assert status.window == 2_000


def test_what_a_plugin_before_left_out_stays_out_and_its_summary_stays(metered: Any) -> None:
    class Before:
        name = "before"

        @hookimpl
        def shape_request(self, request: Any) -> Any:
            return request.dropping_before(len(request.blocks.transcript) - 3).with_summary("theirs")

    model = metered([*rounds(12), "end"], window=700, limit=700)
    plugin = ContextWindow(ContextWindow.Options(compact_at=60, target=40, keep_rounds=1))
    agent = Agent(tools=[look], model=model, plugins=[Before(), plugin], limits={"max_iterations": 60})
    assert agent.run_sync("TASK-1").answer == "end"
    assert all(len(request.blocks) <= 4 and request.summary == "theirs" for request in model.requests)
    assert min(len(request.blocks) for request in model.requests[5:]) < 4


def test_messages_that_plugins_add_are_dropped_like_others(metered: Any) -> None:
    @hookimpl
    def after_tools(tool_round: Any) -> str:
        return "note " + "n" * 300

    model = metered([*rounds(20), "end"], window=1000, limit=1000)
    agent = Agent(
        tools=[look],
        model=model,
        plugins=[after_tools, ContextWindow(ContextWindow.Options(compact_at=70, keep_rounds=1))],
        limits={"max_iterations": 60},
    )
    assert agent.run_sync("TASK-1").answer == "end"
    people = [block for block in model.requests[-1].blocks if isinstance(block, UserMessage)]
    assert people[0].text == "TASK-1"
    assert len(people) < 6
