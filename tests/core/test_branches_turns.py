"""Turns that end on their rarer ways: by a stop, an abort, a limit, an interrupt."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from hookagent import Stop
from hookagent.events import ErrorEvent
from hookagent.providers.scripted import ScriptedProvider
from tests.core.plugin_making import made
from tests.core.scripts import calls, make_agent, words

ANSWER = {"text": "done"}


async def turns(count: int = 6) -> None:
    for _ in range(count):
        await asyncio.sleep(0)


def with_model(model: Any, *plugins: Any, **options: Any) -> Any:
    """An agent with a model of its own making: a provider, or a function of a request."""
    agent = make_agent([], *plugins, **options)
    agent._provider = model if hasattr(model, "stream") else ScriptedProvider(model)
    return agent


@pytest.mark.parametrize("limits", [None, {"max_iterations": 1, "closing_answer": True}], ids=["first", "closing"])
def test_a_stop_before_the_model_is_asked_ends_the_turn(limits: Any) -> None:
    seen: list[int] = []

    def before_llm(iteration: int) -> Any:
        seen.append(iteration)
        return [Stop("enough"), "a note"] if limits is None or iteration == 2 else None

    agent = make_agent([calls("ok"), ANSWER], made("gate", before_llm=before_llm), limits=limits)
    result = agent.run_sync("go")
    assert (result.status, result.reason) == ("stopped", "'gate' stopped the run: enough")
    assert seen == ([1] if limits is None else [1, 2])
    assert words(agent.transcript)[-1] == "U a note <gate>"


def test_an_abort_before_the_last_answer_is_asked_for_ends_the_turn() -> None:
    def before_llm(iteration: int) -> None:
        if iteration == 2:
            agent.abort("enough")

    agent = make_agent(
        [calls("ok"), ANSWER],
        made("gate", before_llm=before_llm),
        limits={"max_iterations": 1, "closing_answer": True},
    )
    assert (agent.run_sync("go").status, words(agent.transcript)[-1]) == ("aborted", "R c1 ok")


def test_a_last_answer_without_words_leaves_the_programs_own() -> None:
    agent = make_agent([calls("ok"), {"text": " "}], limits={"max_iterations": 1, "closing_answer": True})
    result = agent.run_sync("go")
    assert result.answer == "stopped after 1 iteration: the limit max_iterations is 1"
    assert (result.status, result.limit) == ("limit", "max_iterations")
    assert words(agent.transcript)[-1] == "R c1 ok"


def test_a_plugin_may_go_on_three_times_and_is_told_then() -> None:
    asked: list[str] = []

    def more(answer: str) -> str:
        asked.append(answer)
        return "more"

    agent = make_agent([{"text": f"answer {number}"} for number in range(4)], made("more", before_complete=more))
    result = agent.run_sync("go")
    assert (result.status, result.answer) == ("completed", "answer 3")
    assert len(asked) == 4
    [error] = [one for one in agent.session.trace if isinstance(one, ErrorEvent)]
    assert (error.kind, error.source) == ("plugin", "more")
    assert error.message == "asked to go on more than 3 times in this turn; the turn ends"


def test_an_abort_when_the_turn_would_end_drops_what_was_to_be_added() -> None:
    def before_complete(answer: str) -> str:
        agent.abort("enough")
        return "more"

    agent = make_agent([ANSWER], made("more", before_complete=before_complete))
    result = agent.run_sync("go")
    assert (result.status, result.reason) == ("aborted", "enough")
    assert words(agent.transcript) == ["U go", "A done"]


@pytest.mark.parametrize(
    ("first", "second", "raised"),
    [(KeyboardInterrupt, KeyboardInterrupt, KeyboardInterrupt), (ValueError, KeyboardInterrupt, KeyboardInterrupt)],
)
def test_an_interrupt_of_a_listener_comes_before_what_plugins_did_and_comes_once(
    first: type[BaseException], second: type[BaseException], raised: type[BaseException]
) -> None:
    def on_event(event: Any) -> None:
        if event.type == "turn_start":
            raise first("plugin")

    def listener(event: Any) -> None:
        if event.type == "turn_start":
            raise second("listener")

    agent = make_agent([ANSWER], made("listens", on_event=on_event))
    agent.subscribe(listener)
    with pytest.raises(raised) as caught:
        asyncio.run(agent.run("go"))
    assert str(caught.value) == ("plugin" if first is KeyboardInterrupt else "listener")
    assert not agent.running
