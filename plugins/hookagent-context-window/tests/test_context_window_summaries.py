"""The strategy `summarize`: bounded questions, nothing replaced before a good summary exists, and when it gives up."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import Any

import pytest

from hookagent import Agent, Request, Stop, ToolRound, UserMessage, hookimpl
from hookagent_context_window import ContextWindow

ROUND_TEXT = "r" * 560


def look(number: int) -> str:
    """Look."""
    return f"<{number}>{ROUND_TEXT}"


def rounds(count: int) -> list[Any]:
    return [{"calls": [{"name": "look", "arguments": {"number": number}}]} for number in range(count)]


def agent_of(model: Any, side: Any, **options: Any) -> tuple[Agent, ContextWindow]:
    plugin = ContextWindow(ContextWindow.Options(strategy="summarize", model=side, **options))
    agent = Agent(tools=[look], model=model, plugins=[plugin], system_prompt="rules", limits={"max_iterations": 60})
    return agent, plugin


def counting(prefix: str = "SUMMARY") -> Callable[[Request], str]:
    """A summarizer whose n-th summary says so."""
    made = 0

    def answer(request: Request) -> str:
        nonlocal made
        made += 1
        return f"{prefix}-{made}"

    return answer


def test_a_summary_stands_behind_the_first_task_and_is_used_again(metered: Any) -> None:
    model, side = metered([*rounds(24), "end"], window=2_000, limit=2_000), metered(counting())
    agent, plugin = agent_of(model, side)
    assert agent.run_sync("TASK-1").answer == "end"

    summaries = [request.summary for request in model.requests if request.summary]
    assert len(summaries) > len(set(summaries)) >= 2
    text = metered.text_of(model.requests[-1])
    assert text.index("TASK-1") < text.index("Summary of what came after this task") < text.index(ROUND_TEXT)
    status = plugin.status(agent.session)
    assert status is not None
    assert status.compactions == len(set(summaries))
    booked = agent.session.plugin_usage["context-window"]
    assert booked.requests == len(side.requests)
    assert booked.input_tokens == sum(side.sizes)
    assert agent.session.usage.input_tokens == sum(side.sizes) + sum(model.sizes)


def test_every_block_that_is_left_out_was_shown_to_the_summarizer(metered: Any) -> None:
    model, side = metered([*rounds(20), "one", *rounds(20), "two"], window=2_000), metered(counting())
    agent, _ = agent_of(model, side)
    agent.run_sync("TASK-1")
    agent.run_sync("TASK-2")
    shown = "\n".join(metered.text_of(request) for request in side.requests)
    start = model.requests[-1].blocks.start
    assert start > 20
    for index in range(1, start):
        block = agent.session.transcript[index]
        if isinstance(block, ToolRound):
            assert block.results[0] is not None
            assert block.results[0].content[:8] in shown
        else:
            assert block.text in shown
    # Each summary is made of the one before, not of the whole history again; the task is told, not summarized.
    for index, request in enumerate(side.requests):
        question = metered.text_of(request)
        assert index == 0 or f"<summary-so-far>\nSUMMARY-{index}\n" in question
        assert "user: TASK-1" not in question
        assert "<task>\nTASK-1\n</task>" in question


def test_a_message_that_was_the_newest_once_is_summarized_before_it_goes(metered: Any) -> None:
    model = metered([*rounds(8), "one", *rounds(16), "two", *rounds(16), "three"], window=2_000)
    side = metered(counting())
    agent, _ = agent_of(model, side)
    for task in ("TASK-1", "TASK-2: paint it blue", "TASK-3"):
        agent.run_sync(task)
    assert "paint it blue" not in metered.text_of(model.requests[-1])
    assert any("paint it blue" in metered.text_of(request) for request in side.requests)


def test_each_question_is_bounded_and_goes_in_pieces(metered: Any) -> None:
    """A history five times the window, as a session has that was begun with a larger model."""
    big = metered([{"text": "t" * 3_000, **one} for one in rounds(25)] + ["big done"], window=100_000)
    small = metered(["end"], window=1_000, limit=1_000)
    side = metered(counting(), window=1_000, limit=1_000)
    agent, _ = agent_of(big, side, keep_rounds=1)
    agent.run_sync("TASK-1")
    assert side.requests == []
    assert big.sizes[-1] > 5_000
    agent.model = small
    assert agent.run_sync("Now finish.").answer == "end"
    assert len(side.requests) > 5
    assert max(side.sizes) <= 1_000
    assert small.sizes[-1] < 1_000
    assert f"SUMMARY-{len(side.requests)}" in metered.text_of(small.requests[-1])


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (lambda request: request.blocks[0].text, "the summary has "),
        (lambda request: "  \n", "the summary was blank"),
        ({"error": "authentication", "message": "bad key"}, "bad key"),
    ],
    ids=["as long as its input", "blank", "failing"],
)
def test_two_useless_tries_then_it_gives_up_and_says_so(
    answer: Any, why: str, metered: Any, caplog: pytest.LogCaptureFixture
) -> None:
    model = metered([*rounds(14), "one", "two", "three", "four", "five", "six"], window=2_000)
    side = metered(answer if callable(answer) else [answer] * 9)
    agent, plugin = agent_of(model, side)
    with caplog.at_level(logging.WARNING, "hookagent.context"):
        for number in range(6):
            assert agent.run_sync(f"prompt {number}").ok
    assert len(side.requests) == 2
    messages = [record.message for record in caplog.records]
    assert sum(why in message for message in messages) == 2
    assert sum("gave up summarizing after 2 useless tries" in message for message in messages) == 1
    # Nothing was replaced.
    assert all(request.summary is None and request.blocks.start == 0 for request in model.requests)
    assert plugin.status(agent.session) is not None


def test_a_summary_hardly_shorter_than_what_it_stands_for_is_not_used(
    metered: Any, caplog: pytest.LogCaptureFixture
) -> None:
    model = metered([*rounds(13), "end"], window=2_000)
    side = metered(lambda request: "s" * 1_150)
    agent, _ = agent_of(model, side, keep_rounds=10)
    with caplog.at_level(logging.WARNING, "hookagent.context"):
        agent.run_sync("TASK-1")
    assert len(side.requests) == 1
    assert sum("with it the request would have about 1,7" in record.message for record in caplog.records) == 1
    assert all(request.summary is None and request.blocks.start == 0 for request in model.requests)


def test_what_cannot_get_below_the_limit_costs_no_summary(metered: Any, caplog: pytest.LogCaptureFixture) -> None:
    model, side = metered(["one", "two"], window=1_000), metered(counting())
    agent, _ = agent_of(model, side)
    with caplog.at_level(logging.WARNING, "hookagent.context"):
        agent.run_sync("task " * 800)
        agent.run_sync("again")
    assert side.requests == []
    assert sum("cannot be made fewer" in record.message for record in caplog.records) == 1


def big_round(number: int, size: int) -> str:
    """Give a result of a given size."""
    return f"<{number}>" + "b" * size


def sized(*sizes: int) -> list[Any]:
    return [
        {"calls": [{"name": "big_round", "arguments": {"number": number, "size": size}}]}
        for number, size in enumerate(sizes)
    ]


def run_sized(model: Any, side: Any, **options: Any) -> ContextWindow:
    plugin = ContextWindow(ContextWindow.Options(strategy="summarize", model=side, **options))
    agent = Agent(tools=[big_round], model=model, plugins=[plugin])
    assert agent.run_sync("TASK-1").ok
    return plugin


def test_a_newest_round_that_fills_the_window_costs_no_summary(metered: Any) -> None:
    model, side = metered([*sized(400, 400, 400, 400, 3_800), "end"], window=1_000), metered(counting())
    run_sized(model, side)
    assert side.requests == []
    assert model.requests[-1].blocks.start == 0


def test_only_the_newest_round_stays_where_more_do_not_fit(metered: Any) -> None:
    model, side = metered([*sized(400, 400, 2_900, 400), "end"], window=1_000), metered(counting())
    run_sized(model, side, keep_rounds=2)
    shown = "".join(metered.text_of(request) for request in side.requests)
    assert "<2>b" in shown
    assert "<3>b" not in shown
    assert "<3>b" in metered.text_of(model.requests[-1])


def test_a_good_summary_ends_a_row_of_useless_ones(metered: Any, caplog: pytest.LogCaptureFixture) -> None:
    tries: list[int] = []

    def every_other(request: Request) -> str:
        # All questions before one request of the agent's are one try.
        if len(model.requests) not in tries:
            tries.append(len(model.requests))
        return "good" if len(tries) % 2 == 0 else ""

    model, side = metered([*rounds(45), "end"], window=1_500), metered(every_other)
    agent, plugin = agent_of(model, side, keep_rounds=1)
    agent.run_sync("TASK-1")
    status = plugin.status(agent.session)
    assert status is not None
    assert status.compactions == len(tries) // 2 >= 3
    assert caplog.text.count("the summary was blank") == (len(tries) + 1) // 2
    assert "gave up" not in caplog.text


def test_it_tries_again_when_the_size_changed_much(metered: Any) -> None:
    model = metered([*rounds(40), "end"], window=2_000)
    answers = iter(["", "", *(f"good {number}" for number in range(20))])
    side = metered(lambda request: next(answers))
    agent, plugin = agent_of(model, side)
    assert agent.run_sync("TASK-1").answer == "end"
    status = plugin.status(agent.session)
    assert status is not None
    assert status.compactions > 0
    first = next(index for index, request in enumerate(model.requests) if request.summary)
    assert model.sizes[first - 1] > 2_600


def test_the_agents_own_model_is_asked_and_reset_forgets(metered: Any) -> None:
    def answer(request: Request) -> Any:
        if not request.tools:
            return "OWN-SUMMARY"
        number = sum(isinstance(block, ToolRound) for block in request.blocks.transcript)
        return rounds(number + 1)[number] if number < 14 else "end"

    model = metered(answer, window=2_000)
    agent, _ = agent_of(model, None)

    async def twice() -> list[str]:
        answers = [(await agent.run("TASK-1")).answer]
        await agent.reset()
        first = len(model.requests)
        answers.append((await agent.run("TASK-2")).answer)
        assert model.requests[first].summary is None
        return answers

    assert asyncio.run(twice()) == ["end", "end"]
    assert any("OWN-SUMMARY" in (request.summary or "") for request in model.requests)


def test_a_question_that_takes_too_long_is_a_useless_try(metered: Any) -> None:
    async def never(request: Request) -> str:
        await asyncio.Event().wait()
        return "late"

    model, side = metered([*rounds(14), "end"], window=2_000), metered(never)
    agent, _ = agent_of(model, side, timeout_seconds=0.01)
    assert agent.run_sync("TASK-1").answer == "end"
    assert len(side.requests) == 2


def test_an_abort_while_summarizing_ends_the_run(metered: Any) -> None:
    async def aborting(request: Request) -> str:
        agent.abort("enough")
        await asyncio.Event().wait()
        return "late"

    model, side = metered([*rounds(14), "end"], window=2_000), metered(aborting)
    agent, _ = agent_of(model, side)
    assert agent.run_sync("TASK-1").status == "aborted"
    assert all(request.summary is None for request in model.requests)


def test_a_stop_by_another_plugin_costs_nothing(metered: Any) -> None:
    @hookimpl
    def before_llm(iteration: int) -> Stop | None:
        return Stop("enough") if iteration == 3 else None

    model, side = metered([*rounds(10), "end"], window=500), metered(counting())
    plugin = ContextWindow(ContextWindow.Options(strategy="summarize", model=side))
    agent = Agent(tools=[look], model=model, plugins=[before_llm, plugin])
    assert agent.run_sync(UserMessage("TASK-1").text).status == "stopped"
    assert len(model.requests) == 2
