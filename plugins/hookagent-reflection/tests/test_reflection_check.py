"""The check of the final answer: what it is shown, and when the turn may end."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping
from typing import Any

import pytest

from hookagent import Agent, Request, UserMessage
from hookagent.testing import Call, Reply, ScriptedProvider, StrictServer
from hookagent_reflection import Reflection

COMPLETE = json.dumps({"complete": True, "missing": ""})
SHORT = json.dumps({"complete": False, "missing": "The unit is missing."})


def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


class Checker(ScriptedProvider):
    """A model that judges as it is told to, and remembers what it was asked."""

    def __init__(self, *answers: Any) -> None:
        super().__init__(list(answers))
        self.requests: list[Request] = []

    async def stream(self, request: Request) -> AsyncIterator[Any]:
        self.requests.append(request)
        async for item in super().stream(request):
            yield item

    def prompt(self, index: int) -> str:
        block = self.requests[index].blocks[0]
        assert isinstance(block, UserMessage)
        return block.text


def agent_of(script: list[Any], checker: Checker, **options: Any) -> Agent:
    # Only failed rounds are reflected on, so that the checker is asked for checks alone.
    set_options = Reflection.Options(model=checker, check_answer=True, when="errors", **options)
    return Agent(tools=[add], model=ScriptedProvider(script), plugins=[Reflection(set_options)])


def test_a_complete_answer_ends_the_turn() -> None:
    checker = Checker(COMPLETE)
    calls = {"calls": [{"name": "add", "arguments": {"a": 40, "b": 2}}]}
    agent = agent_of([calls, "It is 42."], checker)
    assert agent.run_sync("Add 40 and 2.").answer == "It is 42."
    prompt = checker.prompt(0)
    assert all(text in prompt for text in ("Add 40 and 2.", "-> ok: 42", "It is 42."))
    schema = checker.requests[0].output_schema
    assert schema is not None
    assert set(schema["properties"]) == {"complete", "missing"}


def test_an_answer_that_falls_short_is_sent_back_once() -> None:
    checker = Checker(SHORT)
    agent = agent_of(["42", "42 m"], checker)
    result = agent.run_sync("Add 40 m and 2 m.")
    assert (result.answer, result.iterations) == ("42 m", 2)
    sent_back = agent.session.transcript[2]
    assert isinstance(sent_back, UserMessage)
    assert sent_back.origin == "reflection"
    assert "The unit is missing." in sent_back.text


def test_it_is_sent_back_as_often_as_max_checks_says() -> None:
    checker = Checker(SHORT, SHORT, COMPLETE)
    agent = agent_of(["1", "2", "3"], checker, max_checks=3)
    assert agent.run_sync("Count.").answer == "3"
    checker.assert_finished()


def test_even_a_checker_that_is_never_content_lets_the_turn_end() -> None:
    checker = Checker(*[SHORT] * 3)
    agent = agent_of(["1", "2", "3", "4"], checker, max_checks=3)
    result = agent.run_sync("Count.")
    assert (result.status, result.answer) == ("completed", "4")


def test_each_turn_has_checks_of_its_own_and_its_own_task() -> None:
    checker = Checker(SHORT, COMPLETE)
    agent = agent_of(["1", "one", "2"], checker)
    agent.run_sync("Say one.")
    agent.run_sync("Say two.")
    checker.assert_finished()
    assert "Say one." not in checker.prompt(1)
    assert "Say two." in checker.prompt(1)


def test_a_follow_up_is_checked_with_all_that_was_asked() -> None:
    checker = Checker(COMPLETE, COMPLETE)
    agent = agent_of(["1", "2"], checker)
    agent.follow_up("Then say two.")
    assert agent.run_sync("Say one.").answer == "2"
    assert "Say one." in checker.prompt(1)
    assert "Then say two." in checker.prompt(1)


def test_nothing_is_checked_by_default() -> None:
    agent = Agent(model=ScriptedProvider(["done"]), plugins=[Reflection()])
    assert agent.run_sync("Go.").answer == "done"


def test_a_check_that_is_no_verdict_is_a_failure_and_the_answer_stands() -> None:
    checker = Checker("Looks fine to me!")
    set_options = Reflection.Options(model=checker, check_answer=True)
    plugin = Reflection(set_options)
    agent = Agent(model=ScriptedProvider(["done"]), plugins=[plugin])
    result = agent.run_sync("Go.")
    assert (result.status, result.answer, plugin.failures) == ("completed", "done", 1)


@pytest.mark.parametrize("wire", ["anthropic:claude-sonnet-5", "openai:gpt-5.1", "openai-chat:gpt-5.1"])
def test_every_wire_takes_the_observation_and_the_check(wire: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def answer(body: Mapping[str, Any]) -> Reply:
        text = json.dumps(body)
        if "You check whether" in text:
            return Reply(COMPLETE if "km" in text.split("The answer:")[1] else SHORT)
        if "look over the shoulder" in text:
            return Reply("The sum is 42.")
        if "The unit is missing." in text:
            return Reply("42 km")
        return Reply("42") if "Observation: The sum is 42." in text else Reply(calls=[Call("add", {"a": 40, "b": 2})])

    with StrictServer(answer) as server:
        for name, value in (
            ("ANTHROPIC_API_KEY", "key"),
            ("ANTHROPIC_BASE_URL", server.anthropic_url),
            ("OPENAI_API_KEY", "key"),
            ("OPENAI_BASE_URL", server.openai_url),
        ):
            monkeypatch.setenv(name, value)
        plugin = Reflection(Reflection.Options(check_answer=True, max_checks=2))
        agent = Agent(tools=[add], model=wire, plugins=[plugin])
        result = agent.run_sync("Add 40 km and 2 km.")
        agent.close_sync()
        assert (result.status, result.answer) == ("completed", "42 km")
        assert (server.refused, server.failures, plugin.failures) == ([], [], 0)
        assert len(server.requests) == 6
        usage = result.session.plugin_usage["reflection"]
        assert usage.requests == 3
        assert 0 < usage.input_tokens < result.usage.input_tokens
