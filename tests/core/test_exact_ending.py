"""How a turn ends that failed or was interrupted: who is named where, who is told, and what is raised."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from hookagent import Agent, Deny, PluginError, Stop, ToolResult, Usage
from hookagent.events import ErrorEvent
from hookagent.result import Outcome
from hookagent.transcript import ToolRound
from tests.core.broken_clock import BrokenClock, WordlessError
from tests.core.plugin_making import made
from tests.core.scripts import calls, make_agent, words

ANSWER = {"text": "done"}


def errors_of(agent: Agent) -> list[tuple[str, str, str]]:
    return [(one.kind, one.source, one.message) for one in agent.session.trace if isinstance(one, ErrorEvent)]


def results(agent: Agent) -> list[ToolResult | None]:
    return [one for block in agent.transcript if isinstance(block, ToolRound) for one in block.results]


def fails() -> None:
    raise ValueError("jammed")


def interrupts() -> None:
    raise KeyboardInterrupt


# ---- a plugin failed ----


@pytest.mark.parametrize("hook", ["on_session_start", "before_llm", "before_each_tool", "after_tools"])
def test_a_plugin_that_failed_is_named_and_the_others_are_told(hook: str) -> None:
    told: list[tuple[BaseException, Any]] = []
    hears = made("hears", on_error=lambda error, tool_call: told.append((error, tool_call)))
    agent = make_agent([calls("ok"), ANSWER], made("broken", **{hook: fails}), hears)
    with pytest.raises(PluginError) as raised:
        agent.run_sync("go")
    assert raised.value.hook == hook
    assert errors_of(agent) == [("plugin", "broken", str(raised.value))]
    assert told == [(raised.value, None)]
    assert agent.last_result is not None
    assert (agent.last_result.status, agent.last_result.reason) == ("failed", str(raised.value))


def on_error_fails() -> Any:
    return made("broken", on_error=fails)


def on_event_fails() -> Any:
    def on_event(event: Any) -> None:
        if event.type == "tool_end":
            fails()

    return made("broken", on_event=on_event)


@pytest.mark.parametrize("make", [on_error_fails, on_event_fails])
def test_that_somebody_failed_who_was_told_of_something_is_told_to_nobody(make: Callable[[], Any]) -> None:
    told: list[str] = []
    hears = made("hears", on_error=lambda error: told.append(str(error)))
    agent = make_agent([calls("bad"), ANSWER], make(), hears)
    with pytest.raises(PluginError) as raised:
        agent.run_sync("go")
    assert errors_of(agent) == [("tool", "bad", "ValueError: no"), ("plugin", "broken", str(raised.value))]
    assert told == ["no"]


def test_what_fails_while_a_failure_is_told_is_listed() -> None:
    other = made("other", on_error=lambda error: 1 // 0)
    agent = make_agent([ANSWER], made("broken", before_llm=fails), other)
    with pytest.raises(PluginError) as raised:
        agent.run_sync("go")
    assert raised.value.plugin == "broken"
    assert agent.last_result is not None
    [listed] = agent.last_result.errors
    assert listed.startswith("plugin 'other': hook 'on_error' raised ZeroDivisionError: ")


def test_what_fails_while_the_round_is_closed_is_listed() -> None:
    other = made("other", after_each_tool=lambda tool_call, result: 1 // 0)
    agent = make_agent([calls("ok", "ok")], made("broken", before_tools=fails), other)
    with pytest.raises(PluginError) as raised:
        agent.run_sync("go")
    assert raised.value.plugin == "broken"
    assert {one.content for one in results(agent) if one} == {f"not run: {raised.value}"}
    assert (agent.pending_calls, agent.session.waiting) == ((), False)
    assert agent.last_result is not None
    [listed] = agent.last_result.errors
    assert listed.startswith("plugin 'other': hook 'after_each_tool' raised ZeroDivisionError: ")


# ---- neither a plugin nor an interrupt ----


def test_what_fails_of_the_program_itself_is_named_by_its_kind_where_it_has_no_words() -> None:
    clock, told = BrokenClock(), []
    hears = made("hears", before_llm=lambda: clock.break_once(), on_error=lambda error: told.append(type(error)))
    agent = make_agent([ANSWER], hears, clock=clock)
    with pytest.raises(WordlessError):
        agent.run_sync("go")
    assert errors_of(agent) == [("plugin", "hookagent", "WordlessError")]
    assert told == [WordlessError]
    assert agent.last_result is not None
    assert (agent.last_result.status, agent.last_result.reason) == ("failed", "WordlessError")


def test_what_fails_of_the_program_itself_as_the_end_is_told_is_listed_by_its_kind() -> None:
    clock = BrokenClock()
    agent = make_agent([ANSWER], made("hears", on_complete=lambda: clock.break_once()), clock=clock)
    result = agent.run_sync("go")
    assert (result.status, result.answer, result.errors) == ("completed", "done", ("WordlessError",))


# ---- an interrupt, and a cancellation of the run's own task ----


async def stopped_at(hook: str, by: type[BaseException], *plugins: Any) -> Agent:
    """An agent whose run was interrupted, or its own task cancelled, in a hook of a plugin listed before `plugins`."""
    tasks: list[asyncio.Task[Any] | None] = []
    begun = asyncio.Event()

    async def thinks() -> None:
        begun.set()
        await asyncio.Event().wait()

    def remembers() -> None:
        tasks.append(asyncio.current_task())

    function: Any = interrupts if by is KeyboardInterrupt else thinks
    stops = made("stops", on_session_start=remembers, **{hook: function})
    agent = make_agent([calls("ok", "ok"), ANSWER], stops, *plugins)
    if by is KeyboardInterrupt:
        with pytest.raises(by):
            await agent.run("go")
        return agent
    running = asyncio.ensure_future(agent.run("go"))
    await begun.wait()
    assert tasks[0] is not None
    tasks[0].cancel()
    with pytest.raises(by):
        await running
    return agent


def counts(*hooks: str) -> tuple[Any, list[int]]:
    """A plugin that counts at each of these hooks how many are cancelling the task it is called in."""
    counted: list[int] = []

    def count() -> None:
        task = asyncio.current_task()
        assert task is not None
        counted.append(task.cancelling())

    def hook() -> Callable[[], None]:
        return lambda: count()

    return made("counts", **{name: hook() for name in hooks}), counted


STOPS = pytest.mark.parametrize(
    ("by", "what"), [(KeyboardInterrupt, "interrupted"), (asyncio.CancelledError, "cancelled")]
)


@STOPS
def test_what_stops_a_run_is_said_to_the_model_and_in_the_result(by: type[BaseException], what: str) -> None:
    plugin, cancelling = counts("after_each_tool", "on_complete")
    agent = asyncio.run(stopped_at("before_each_tool", by, plugin))
    assert [(one.content, one.status) for one in results(agent) if one] == [(f"not run: {what}", "not_run")] * 2
    assert agent.last_result is not None
    assert (agent.last_result.status, agent.last_result.reason) == ("aborted", what)
    # Hooks that are called after that have a task which nobody is cancelling any more.
    assert cancelling == [0, 0, 0]


@STOPS
def test_what_stops_a_run_is_graver_than_an_on_event_that_failed_just_before(
    by: type[BaseException], what: str
) -> None:
    def on_event(event: Any) -> None:
        if event.type == "iteration_start":
            fails()

    agent = asyncio.run(stopped_at("before_llm", by, made("broken", on_event=on_event)))
    assert agent.last_result is not None
    assert (agent.last_result.status, agent.last_result.reason) == ("aborted", what)


@pytest.mark.parametrize("by", [KeyboardInterrupt, asyncio.CancelledError])
def test_what_stops_a_run_as_its_end_is_told_changes_nothing_else(by: type[BaseException]) -> None:
    plugin, cancelling = counts("on_complete")
    agent = asyncio.run(stopped_at("on_complete", by, plugin))
    assert agent.last_result is not None
    assert (agent.last_result.status, agent.last_result.answer, agent.last_result.errors) == ("completed", "done", ())
    assert cancelling == [0]


@pytest.mark.parametrize("at", ["turn_start", "iteration_start", "request", "message_end", "turn_end"])
def test_a_cancellation_that_was_taken_back_costs_no_time(at: str) -> None:
    """Wherever it arrives: where the run waits for a hook, or behind the end of the turn."""

    def on_event(event: Any) -> None:
        task = asyncio.current_task()
        if event.type == at and task is not None:
            task.cancel()

    async def waits() -> None:
        await asyncio.sleep(0)

    async def main() -> None:
        agent = make_agent([ANSWER], made("rude", on_event=on_event), made("waits", before_llm=waits))
        running = asyncio.ensure_future(agent.run("go"))
        for _ in range(300):
            await asyncio.sleep(0)
        assert running.done()
        if at == "turn_end":
            assert "cancelled the task of the run" in (await running).errors[0]
        else:
            with pytest.raises(PluginError, match="cancelled the task of the run"):
                await running

    asyncio.run(main())


# ---- nobody could be asked ----


@pytest.mark.parametrize(
    ("then", "limit", "status"),
    [
        (lambda: None, 9, "refused"),
        (lambda: Stop("enough"), 9, "refused"),
        (lambda: None, 1, "limit"),
        (lambda: fails(), 9, "failed"),
    ],
    ids=["answered", "stopped", "limit", "failed"],
)
def test_a_run_in_which_nobody_could_be_asked_is_no_success_and_no_stop(then: Any, limit: int, status: str) -> None:
    gate = made("gate", before_each_tool=lambda: Deny("nobody is there", unanswered=True), after_tools=then)
    agent = make_agent([calls("ok"), ANSWER], gate, limits={"max_iterations": limit})
    if status == "failed":
        with pytest.raises(PluginError):
            agent.run_sync("go")
    else:
        agent.run_sync("go")
    result = agent.last_result
    assert result is not None
    assert result.status == status
    assert (result.reason == "a call was refused: nobody is there") is (status == "refused")


# ---- what `on_complete` is told ----


STOPPED = "stopped after 1 iteration: the limit max_iterations is 1"


@pytest.mark.parametrize(
    ("limit", "expected"),
    [
        (9, Outcome("completed", "done", "", None, Usage(10, 0, 0, 5, requests=2), 2)),
        (1, Outcome("limit", STOPPED, STOPPED, "max_iterations", Usage(4, 0, 0, 2, requests=1), 2)),
    ],
)
def test_the_outcome_of_a_turn_says_all_there_is_to_say(limit: int, expected: Outcome) -> None:
    told: list[Outcome] = []
    script = [ANSWER, calls("ok") | {"usage": {"input_tokens": 4, "output_tokens": 2}}]
    script.append(ANSWER | {"usage": {"input_tokens": 6, "output_tokens": 3}})
    hears = made("hears", on_complete=lambda outcome: told.append(outcome))
    agent = make_agent(script, hears, limits={"max_iterations": limit})
    agent.run_sync("one")
    result = agent.run_sync("two")
    assert told[1] == expected
    assert (result.status, result.answer, result.limit) == (expected.status, expected.answer, expected.limit)


def test_what_is_added_at_the_end_of_an_aborted_turn_is_dropped() -> None:
    agent = make_agent([calls("ok"), ANSWER], made("adds", on_complete=lambda: "noted"))
    agent.run_sync("go")
    assert words(agent.transcript)[-2:] == ["A done", "U noted <adds>"]
    agent = make_agent([calls("ok")], made("adds", after_tools=lambda: agent.abort(), on_complete=lambda: "noted"))
    assert agent.run_sync("go").status == "aborted"
    assert words(agent.transcript)[-1] == "R c1 ok"
