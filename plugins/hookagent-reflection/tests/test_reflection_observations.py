"""What `after_tools` adds: when it asks, what it shows, how it takes failures."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from typing import Any

import pytest
from pydantic import ValidationError

from hookagent import Agent, PluginError, Request, Stop, UserMessage, hookimpl
from hookagent.testing import ScriptedProvider
from hookagent_reflection import Reflection


def look(path: str) -> str:
    """Look at a file."""
    if path.startswith("missing"):
        raise FileNotFoundError(path)
    return f"contents of {path}"


def calls(*paths: str) -> dict[str, Any]:
    return {"calls": [{"name": "look", "arguments": {"path": path}} for path in paths]}


class SideModel(ScriptedProvider):
    """A model that says what it is told to, and remembers what it was asked."""

    def __init__(self, *answers: Any) -> None:
        super().__init__(list(answers))
        self.prompts: list[str] = []
        self.systems: list[str] = []

    async def stream(self, request: Request) -> AsyncIterator[Any]:
        self.prompts.append("\n".join(block.text for block in request.blocks if isinstance(block, UserMessage)))
        self.systems.append(request.system)
        async for item in super().stream(request):
            yield item


class SilentModel(ScriptedProvider):
    """A model that never answers."""

    def __init__(self) -> None:
        super().__init__([])

    async def stream(self, request: Request) -> AsyncIterator[Any]:
        await asyncio.Event().wait()
        yield


def agent_of(script: list[Any], *plugins: Any, **more: Any) -> Agent:
    return Agent(tools=[look], model=ScriptedProvider(script), plugins=plugins, **more)


def observations(agent: Agent) -> list[str]:
    return [block.text for block in agent.session.transcript if isinstance(block, UserMessage) and block.origin]


def test_an_observation_stands_behind_the_round_and_is_booked_to_the_plugin() -> None:
    side = SideModel({"text": "a.txt is small", "usage": {"input_tokens": 40, "output_tokens": 5, "cost_usd": 0.25}})
    main = [{**calls("a.txt"), "usage": {"input_tokens": 10, "output_tokens": 1}}, {"text": "done"}]
    agent = agent_of(main, Reflection(Reflection.Options(model=side)))

    result = agent.run_sync("describe a.txt")

    assert result.answer == "done"
    kinds = [type(block).__name__ for block in agent.session.transcript]
    assert kinds == ["UserMessage", "ToolRound", "UserMessage", "AssistantMessage"]
    note = agent.session.transcript[2]
    assert note == UserMessage("Observation: a.txt is small", origin="reflection", via="plugin")
    booked = agent.session.plugin_usage["reflection"]
    assert (booked.input_tokens, booked.output_tokens, booked.cost_usd, booked.requests) == (40, 5, 0.25, 1)
    assert result.usage.total_tokens == 56
    assert "describe a.txt" in side.prompts[0]
    assert 'look {"path": "a.txt"}\n-> ok: contents of a.txt' in side.prompts[0]


def test_the_agents_own_model_is_asked_where_no_other_is_named() -> None:
    agent = agent_of([calls("a.txt"), "all is well", "done"], Reflection())
    assert agent.run_sync("look").answer == "done"
    assert observations(agent) == ["Observation: all is well"]


def test_every_second_round_shows_both_rounds() -> None:
    side = SideModel("first two", "next two")
    script = [calls("a"), calls("b"), calls("c"), calls("d"), calls("e"), "done"]
    agent = agent_of(script, Reflection(Reflection.Options(model=side, every=2)))
    agent.run_sync("look")
    side.assert_finished()
    assert observations(agent) == ["Observation: first two", "Observation: next two"]
    shown = [[f"contents of {path}" in prompt for path in "abcde"] for prompt in side.prompts]
    assert shown == [[True, True, False, False, False], [False, False, True, True, False]]


def test_only_failed_rounds_are_reflected_on_where_that_is_wanted() -> None:
    side = SideModel("missing.txt is not there")
    script = [calls("a"), calls("b", "missing.txt"), calls("c"), "done"]
    agent = agent_of(script, Reflection(Reflection.Options(model=side, when="errors")))
    agent.run_sync("look")
    side.assert_finished()
    assert observations(agent) == ["Observation: missing.txt is not there"]
    assert "-> error: " in side.prompts[0]
    assert "contents of a" not in side.prompts[0]


def test_long_results_and_tasks_are_cut_and_keep_both_ends() -> None:
    side = SideModel("long")

    def read() -> str:
        """Read."""
        return "HEAD" + "x" * 90_000 + "TAIL"

    script = [{"calls": [{"name": "read", "arguments": {}}]}, "done"]
    plugin = Reflection(Reflection.Options(model=side, max_result_chars=300))
    Agent(tools=[read], model=ScriptedProvider(script), plugins=[plugin]).run_sync("BEGIN" + "y" * 90_000 + "END")
    prompt = side.prompts[0]
    assert len(prompt) < 10_000
    assert all(word in prompt for word in ("HEAD", "TAIL", "BEGIN", "END", "characters left out"))


def test_a_long_observation_is_cut() -> None:
    agent = agent_of([calls("a"), "done"], Reflection(Reflection.Options(model=SideModel("z" * 50_000))))
    agent.run_sync("look")
    assert len(observations(agent)[0]) < 2_200


def test_a_blank_observation_adds_nothing() -> None:
    agent = agent_of([calls("a"), "done"], Reflection(Reflection.Options(model=SideModel("  \n "))))
    assert agent.run_sync("look").answer == "done"
    assert observations(agent) == []


def test_a_failing_side_model_is_logged_and_left_in_peace_after_three_failures(
    caplog: pytest.LogCaptureFixture,
) -> None:
    side = SideModel(*[{"error": "authentication", "message": "bad key"}] * 3)
    plugin = Reflection(Reflection.Options(model=side))
    agent = agent_of([*(calls(str(number)) for number in range(5)), "done"], plugin)
    with caplog.at_level(logging.WARNING, "hookagent.reflection"):
        result = agent.run_sync("look")
    assert result.ok
    assert (result.answer, observations(agent), plugin.failures) == ("done", [], 3)
    assert [record.message for record in caplog.records] == [
        "reflection: no observation: scripted: bad key; the run goes on",
        "reflection: no observation: scripted: bad key; the run goes on",
        "reflection: no observation: scripted: bad key; not asked again in this session",
    ]


def test_a_success_ends_a_row_of_failures() -> None:
    bad = {"error": "authentication"}
    side = SideModel(bad, bad, "seen", bad, bad, "seen again")
    plugin = Reflection(Reflection.Options(model=side))
    agent = agent_of([*(calls(str(number)) for number in range(6)), "done"], plugin)
    agent.run_sync("look")
    assert observations(agent) == ["Observation: seen", "Observation: seen again"]
    assert plugin.failures == 4


def test_a_required_observation_that_fails_stops_the_run_and_closes_the_transcript() -> None:
    side = SideModel({"error": "authentication", "message": "bad key"})
    agent = agent_of([calls("a"), "done"], Reflection(Reflection.Options(model=side, required=True)))
    with pytest.raises(PluginError, match=r"plugin 'reflection'.*'after_tools'.*bad key"):
        agent.run_sync("look")
    assert agent.session.transcript.open_round is None


def test_a_side_model_that_never_answers_costs_its_time_limit_and_no_more() -> None:
    plugin = Reflection(Reflection.Options(model=SilentModel(), timeout_seconds=0.01))
    agent = agent_of([calls("a"), "done"], plugin)
    assert agent.run_sync("look").answer == "done"
    assert plugin.failures == 1


def test_an_abort_while_asking_ends_the_run() -> None:
    class Asked(SilentModel):
        async def stream(self, request: Request) -> AsyncIterator[Any]:
            agent.abort("enough")
            await asyncio.Event().wait()
            yield

    agent = agent_of([calls("a"), "done"], Reflection(Reflection.Options(model=Asked())), grace_seconds=0.01)
    result = agent.run_sync("look")
    assert (result.status, result.reason, observations(agent)) == ("aborted", "enough", [])


def test_a_round_that_a_stop_ended_is_not_reflected_on() -> None:
    side = SideModel()

    @hookimpl
    def before_each_tool(tool_call: Any) -> Stop:
        return Stop("not today")

    agent = agent_of([calls("a"), "done"], before_each_tool, Reflection(Reflection.Options(model=side)))
    assert agent.run_sync("look").status == "stopped"
    assert side.prompts == []


def test_a_denied_or_cut_call_is_reflected_on_for_the_run_goes_on() -> None:
    side = SideModel("the reply was too long")
    plugin = Reflection(Reflection.Options(model=side, when="errors"))
    agent = agent_of([{**calls("a"), "stop": "length"}, "done"], plugin)
    assert agent.run_sync("look").answer == "done"
    assert observations(agent) == ["Observation: the reply was too long"]


def test_sessions_do_not_mix() -> None:
    side = SideModel("one", "two")
    plugin = Reflection(Reflection.Options(model=side, every=2))
    first, second = (agent_of([calls(name), calls(name), "done"], plugin) for name in ("a", "b"))

    async def both() -> None:
        await asyncio.gather(first.run("look at a"), second.run("look at b"))
        await first.close()
        await second.close()

    asyncio.run(both())
    assert len(observations(first)) == len(observations(second)) == 1
    for prompt in side.prompts:
        assert ("contents of a" in prompt) != ("contents of b" in prompt)


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"every": 0}, "greater than or equal to 1"),
        ({"when": "never"}, "'always' or 'errors'"),
        ({"evrey": 2}, "Extra inputs"),
        ({"max_checks": 4}, "less than or equal to 3"),
        ({"model": " "}, "provider:model"),
        ({"model": 7}, "provider:model"),
    ],
)
def test_bad_options_are_refused(options: dict[str, Any], problem: str) -> None:
    with pytest.raises(ValidationError, match=problem):
        Reflection.Options.model_validate(options)
