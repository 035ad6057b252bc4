"""Turns that end before their time, and what an agent's own settings make of them."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from hookagent import Agent, Approve, AssistantMessage, PluginError, Stop, Suspend
from hookagent.events import ErrorEvent
from hookagent.providers.retry import RetryPolicy
from hookagent.providers.scripted import ScriptedProvider
from tests.core.plugin_making import made
from tests.core.scripts import calls, make_agent, words

ANSWER = {"text": "done"}


def test_what_failed_while_the_turn_began_keeps_the_model_from_being_asked() -> None:
    asked: list[str] = []

    def on_event(event: Any) -> None:
        if event.type == "turn_start":
            raise ValueError("deaf")

    plugins = [made("deaf", on_event=on_event), made("other", before_llm=lambda: asked.append("other"))]
    agent = make_agent([ANSWER], *plugins)
    with pytest.raises(PluginError, match="plugin 'deaf': hook 'on_event' raised ValueError: deaf"):
        agent.run_sync("go")
    assert asked == []
    assert words(agent.transcript) == ["U go"]


@pytest.mark.parametrize("at", ["response", "message_end"])
def test_what_failed_while_the_reply_was_told_keeps_its_calls_from_running(at: str) -> None:
    def on_event(event: Any) -> None:
        if event.type == at and (at == "response" or isinstance(event.message, AssistantMessage)):
            raise ValueError("deaf")

    agent = make_agent([calls("quick"), ANSWER], made("deaf", on_event=on_event))
    with pytest.raises(PluginError, match="ValueError: deaf"):
        agent.run_sync("go")
    assert words(agent.transcript) == ["U go", "A c1", "R c1 not_run"]


def test_an_abort_before_the_model_is_asked_leaves_nothing_to_be_shaped() -> None:
    shaped: list[str] = []

    def shape_request() -> None:
        shaped.append("shaped")

    plugin = made("aborts", before_llm=lambda agent: agent.abort("enough"), shape_request=shape_request)
    result = make_agent([ANSWER], plugin).run_sync("go")
    assert (result.status, result.reason, shaped) == ("aborted", "enough", [])


def test_an_interrupt_comes_before_what_failed_while_events_were_told() -> None:
    def on_event(event: Any) -> None:
        if event.type == "iteration_start":
            raise ValueError("deaf")

    def interrupts() -> None:
        raise KeyboardInterrupt

    agent = make_agent([ANSWER], made("deaf", on_event=on_event), made("rude", before_llm=interrupts))
    with pytest.raises(KeyboardInterrupt):
        agent.run_sync("go")
    assert agent.last_result is not None
    assert (agent.last_result.status, agent.last_result.reason) == ("aborted", "interrupted")
    [error] = agent.last_result.errors
    assert error.startswith("plugin 'deaf': hook 'on_event' raised ValueError: deaf (")


@pytest.mark.parametrize("waits_in", ["", "on_session_start", "before_llm"])
@pytest.mark.parametrize("at", ["turn_start", "iteration_start", "message_delta"])
def test_a_listening_hook_that_cancels_the_run_is_what_failed_wherever_it_waits_next(at: str, waits_in: str) -> None:
    left = [at]

    def on_event(event: Any) -> None:
        if event.type in left:
            left.clear()
            task = asyncio.current_task()
            assert task is not None
            task.cancel()

    async def waits() -> None:
        await asyncio.sleep(0)

    other = [made("other", **{waits_in: waits})] if waits_in else []
    agent = make_agent([calls("quick"), ANSWER], made("rude", on_event=on_event), *other)
    with pytest.raises(PluginError, match="plugin 'rude': hook 'on_event' cancelled the task of the run") as raised:
        agent.run_sync("go")
    said = [(one.source, one.message) for one in agent.session.trace if type(one) is ErrorEvent]
    assert said == [("rude", str(raised.value))]
    assert agent.last_result is not None
    assert (agent.last_result.status, agent.last_result.reason) == ("failed", str(raised.value))
    assert agent.last_result.errors == ()


def test_a_fault_of_the_program_itself_ends_the_run_as_failed_and_is_raised_as_it_is() -> None:
    told: list[BaseException] = []

    class Broken(Agent):
        def peek_steering(self) -> Any:
            raise RuntimeError("a fault")

    plugin = made("told", on_error=lambda error: told.append(error))
    agent = Broken("tested", model=ScriptedProvider([ANSWER]), plugins=[plugin])
    with pytest.raises(RuntimeError, match=r"^a fault$") as raised:
        agent.run_sync("go")
    assert told == [raised.value]
    assert agent.last_result is not None
    assert (agent.last_result.status, agent.last_result.reason) == ("failed", "a fault")
    [error] = [event for event in agent.session.trace if type(event) is ErrorEvent]
    assert (error.kind, error.source, error.message) == ("plugin", "hookagent", "a fault")


@pytest.mark.parametrize(
    ("answer", "status", "transcript"),
    [
        (Approve(), "completed", ["U go", "A c1", "R c1 ok", "U on", "A done"]),
        (Stop("enough"), "refused", ["U go", "A c1", "R c1 not_run"]),
    ],
)
def test_a_prompt_for_a_session_that_waits_comes_in_behind_the_answer_and_only_if_it_goes_on(
    answer: Any, status: str, transcript: list[str]
) -> None:
    answers: list[Any] = []
    gate = made(
        "asks",
        before_each_tool=lambda tool_call: Suspend("?"),
        resolve_suspended=lambda pending: {"c1": answers[0]} if answers else None,
    )
    agent = make_agent([calls("quick"), ANSWER], gate)
    assert agent.run_sync("go").status == "waiting"
    answers.append(answer)
    result = agent.run_sync("on")
    assert result.status == status
    assert words(agent.transcript) == transcript
    assert [one.text for one in result.not_stored] == ([] if status == "completed" else ["on"])


@pytest.mark.parametrize(("mode", "order"), [("parallel", "ggrr"), ("sequential", "grgr")])
def test_calls_are_gated_and_run_in_the_order_that_was_asked_for(mode: Any, order: str) -> None:
    steps: list[str] = []

    async def step(n: int = 0) -> str:
        """Take a step."""
        steps.append("r")
        return "taken"

    gate = made("gate", before_each_tool=lambda tool_call: steps.append("g"))
    make_agent([calls("step", "step"), ANSWER], gate, tools=[step], tool_execution=mode).run_sync("go")
    assert "".join(steps) == order


@pytest.mark.parametrize(("most", "at_once"), [(None, 3), (2, 2), (1, 1)])
def test_as_many_calls_run_at_once_as_are_allowed(most: int | None, at_once: int) -> None:
    running = [0, 0]

    async def count() -> str:
        """Count how many run."""
        running[0] += 1
        running[1] = max(running)
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        running[0] -= 1
        return "counted"

    agent = make_agent([calls("count", "count", "count"), ANSWER], tools=[count], max_parallel_tools=most)
    assert agent.run_sync("go").tool_calls == 3
    assert running == [0, at_once]


@pytest.mark.parametrize(("attempts", "answer"), [(1, ""), (2, "done")])
def test_a_model_call_that_failed_is_tried_as_often_as_was_asked_for(attempts: int, answer: str) -> None:
    policy = RetryPolicy(max_attempts=attempts, first_wait=0.0)
    result = make_agent([{"error": "server"}, ANSWER], retry_policy=policy).run_sync("go")
    assert result.answer == answer
