"""Public cases about the context window: when requests are shortened, what stays, and what the gauge shows."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from typing import Any

import pytest

from hookagent import Agent, ToolRound, UserMessage
from hookagent.testing import Call, Fault, Reply, StrictServer
from hookagent.testing import Usage as Reported
from hookagent_context_window import ContextWindow
from tests.cases.checked_model import CheckedModel
from tests.cases.wires import WIRES, agent_on, assert_accepted

STRATEGIES = ("drop", "clear_results", "summarize")
ROUND_TEXT = "r" * 400


def look(number: int) -> str:
    """Look."""
    return f"<{number}>{ROUND_TEXT}"


def rounds(count: int) -> list[Any]:
    return [{"calls": [{"name": "look", "arguments": {"number": number}}]} for number in range(count)]


def agent_with(asked: Any, /, *, system: str = "RULES", **options: Any) -> tuple[Agent, ContextWindow]:
    plugin = ContextWindow(ContextWindow.Options(**options))
    agent = Agent(tools=[look], model=asked, plugins=[plugin], system_prompt=system, limits={"max_iterations": 60})
    return agent, plugin


def short(request: Any) -> str:
    return f"summary of {len(request.blocks)}"


def said(caplog: pytest.LogCaptureFixture, words: str) -> int:
    return sum(words in record.getMessage() for record in caplog.records)


def results_sent(request: Any) -> list[str]:
    texts = []
    for block in request.blocks:
        if isinstance(block, ToolRound):
            assert all(result is not None for result in block.results)
            texts += [result.content for result in block.results if result is not None]
    return texts


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("fixed_tokens", [27_000, 40_000])
def test_ctx_01_what_cannot_be_made_shorter_is_said_once_and_not_tried_for_ever(
    strategy: str, fixed_tokens: int, caplog: pytest.LogCaptureFixture
) -> None:
    model, side = CheckedModel(["one", "two", "three"], window=30_000), CheckedModel(short)
    agent, plugin = agent_with(model, system="s" * fixed_tokens * 4, strategy=strategy, compact_at=85, model=side)
    with caplog.at_level(logging.INFO, "hookagent.context"):
        answers = [agent.run_sync(f"prompt {number}").answer for number in range(3)]
    assert answers == ["one", "two", "three"]
    assert said(caplog, "system text and tools (1) alone take about") == 1
    status = plugin.status(agent.session)
    assert status is not None
    assert status.compactions == 0
    assert side.requests == []


@pytest.mark.parametrize("useless", ["as long as its input", "blank", "failing"])
def test_ctx_03_useless_summaries_are_tried_twice_in_all(useless: str, caplog: pytest.LogCaptureFixture) -> None:
    answers: Mapping[str, Any] = {
        "as long as its input": lambda request: request.blocks[0].text,
        "blank": lambda request: " \n",
        "failing": lambda request: {"error": "authentication", "message": "no"},
    }
    model = CheckedModel([*rounds(16), *(f"answer {number}" for number in range(6))], window=2_000)
    side = CheckedModel(answers[useless])
    agent, _ = agent_with(model, strategy="summarize", model=side)
    with caplog.at_level(logging.WARNING, "hookagent.context"):
        given = [agent.run_sync(f"prompt {number}").answer for number in range(6)]
    assert given == [f"answer {number}" for number in range(6)]
    assert len(side.requests) == 2
    assert said(caplog, "gave up summarizing after 2 useless tries") == 1
    assert all(request.summary is None for request in model.requests)


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("window", [1_000, 1_500])
def test_ctx_04_a_long_tool_loop_is_shortened_between_its_rounds(strategy: str, window: int) -> None:
    model = CheckedModel([*rounds(20), "end"], window=window, limit=window)
    agent, plugin = agent_with(
        model, strategy=strategy, compact_at=80, target=50, keep_rounds=1, model=CheckedModel(short)
    )
    result = agent.run_sync("TASK-1")
    assert (result.status, result.answer, result.iterations) == ("completed", "end", 21)
    assert max(model.sizes) <= window
    status = plugin.status(agent.session)
    assert status is not None
    assert status.compactions > 1


@pytest.mark.parametrize("reply_length", [2_000, 12_000])
def test_ctx_05_the_questions_for_a_summary_are_bounded_too(reply_length: int) -> None:
    wide = CheckedModel([{"text": "t" * reply_length, **one} for one in rounds(20)] + ["wide end"], window=200_000)
    narrow, side = CheckedModel(["end"], window=2_000, limit=2_000), CheckedModel(short, window=2_000, limit=2_000)
    agent, _ = agent_with(wide, strategy="summarize", model=side, keep_rounds=1)
    agent.run_sync("TASK-1")
    assert wide.sizes[-1] > 5 * 2_000
    assert side.requests == []
    agent.model = narrow
    assert agent.run_sync("Go on.").answer == "end"
    assert len(side.requests) > 1
    assert max(side.sizes) <= 2_000
    # Only the finished summary replaces anything: the one request has it, whole.
    (request,) = narrow.requests
    assert request.summary is not None
    assert request.summary.endswith(short(side.requests[-1]))


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("second_task", [False, True])
def test_ctx_08_system_text_first_task_and_newest_message_are_never_dropped(strategy: str, second_task: bool) -> None:
    script = [*rounds(20), "first end", *(rounds(20) if second_task else []), "second end"]
    model = CheckedModel(script, window=1_000, limit=1_000)
    agent, _ = agent_with(model, strategy=strategy, compact_at=80, target=50, keep_rounds=1, model=CheckedModel(short))
    agent.run_sync("TASK-1")
    assert agent.run_sync("TASK-2").answer == "second end"
    for number, request in enumerate(model.requests):
        people = [block.text for block in request.blocks if isinstance(block, UserMessage)]
        assert request.system == "RULES"
        assert people[0] == "TASK-1"
        assert people[-1] == ("TASK-2" if number > 20 else "TASK-1")
        newest = request.blocks[-1]
        if isinstance(newest, ToolRound):
            assert newest.results[0] is not None
            assert ROUND_TEXT in newest.results[0].content


@pytest.mark.parametrize(("window", "percent"), [(None, None), (10_000, 50.0), (5_000, 100.0)])
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_ctx_10_an_unknown_window_has_no_percentage(window: int | None, percent: float | None, strategy: str) -> None:
    model = CheckedModel([{"text": "done", "usage": {"input_tokens": 5_000}}])
    agent, plugin = agent_with(model, window=window, strategy=strategy, model=CheckedModel(short))
    agent.run_sync("Go.")
    assert agent.session.context_percent is None
    status = plugin.status(agent.session)
    assert status is not None
    assert (status.tokens, status.percent, status.window) == (5_000, percent, window)
    model.context_window = window
    assert Agent(model=model).session.context_percent is None


@pytest.mark.parametrize("outputs", [(3_000, 10), (10, 3_000), (1_500, 1_500)])
def test_ctx_12_the_gauge_does_not_fall_between_replies(outputs: tuple[int, int]) -> None:
    first, second = outputs
    prompt = 1_100 + first + 130
    script = [
        {**rounds(1)[0], "text": "o" * 4 * first, "usage": {"input_tokens": 1_100, "output_tokens": first}},
        {"text": "done", "usage": {"input_tokens": prompt, "output_tokens": second}},
    ]
    agent, plugin = agent_with(CheckedModel(script), window=10_000)
    seen: list[int] = []

    def watch(event: Any) -> None:
        status = plugin.status(agent.session)
        if status is not None:
            seen.append(status.tokens)

    agent.subscribe(watch)
    agent.run_sync("task" * 1_000)
    assert seen == sorted(seen)
    assert seen[-1] == prompt + second
    status = plugin.status(agent.session)
    assert status is not None
    assert status.percent == pytest.approx(seen[-1] / 100)


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize(("read", "written"), [(0, 0), (150, 0), (150, 100), (300, 0)])
def test_ctx_13_the_size_of_a_prompt_is_the_same_on_every_wire(wire: str, read: int, written: int) -> None:
    reported = Reported(300 - read - written, 7, read, written)
    with StrictServer([Reply(text="done", usage=reported)]) as server:
        agent, plugin = agent_with(WIRES[wire](server), window=1_000)
        usage = agent.run_sync("Go.").usage
        assert_accepted(server)
    assert (usage.prompt_tokens, usage.output_tokens) == (300, 7)
    assert (usage.cache_read_tokens, usage.cache_write_tokens) == (read, written)
    status = plugin.status(agent.session)
    assert status is not None
    assert status.tokens == 307
    assert status.percent == pytest.approx(30.7)


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize("strategy", ["drop", "clear_results"])
def test_ctx_19_a_refusal_as_too_long_lowers_the_window_that_is_believed(
    wire: str, strategy: str, caplog: pytest.LogCaptureFixture
) -> None:
    limit, sizes = 8_192, []

    def answer(body: Mapping[str, Any]) -> Reply | Fault:
        size = len(json.dumps(body)) // 4
        sizes.append(size)
        if size > limit:
            message = f"This model's maximum context length is {limit} tokens. However, your messages have {size}."
            return Fault(status=400, message=message)
        count = sum(size <= limit for size in sizes)
        calls = [Call("read_much", {"number": count})] if count <= 20 else []
        return Reply(text="" if calls else "end", calls=calls, usage=Reported(size, 5))

    def read_much(number: int) -> str:
        """Read much."""
        return f"<{number}>" + "m" * 6_000

    with StrictServer(answer) as server:
        plugin = ContextWindow(ContextWindow.Options(window=65_536, strategy=strategy))  # type: ignore[arg-type]
        agent = agent_on(wire, server, tools=[read_much], plugins=[plugin], limits={"max_iterations": 40})
        with caplog.at_level(logging.WARNING, "hookagent.context"):
            assert agent.run_sync("TASK-1").answer == "end"
        assert_accepted(server)
    refused = [index for index, size in enumerate(sizes) if size > limit]
    assert len(refused) == 1
    assert max(sizes[refused[0] + 1 :]) <= limit
    assert said(caplog, "the server's window is 8,192 tokens; it was taken for 65,536 tokens") == 1
    assert agent.session.context_window == limit
