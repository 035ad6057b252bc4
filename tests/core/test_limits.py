"""Every limit stops the run by its own name, with a valid transcript, nested agents and all."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from hookagent import Agent, Approve, AssistantMessage, ConfigurationError, Deny, Limits, Suspend
from hookagent.providers import AnthropicProvider
from hookagent.providers.scripted import ScriptedProvider
from hookagent.testing import FakeClock, Recorder
from tests.core.scripts import calls, make_agent, ok, quick, words

ANSWER = {"text": "done"}
USAGE = {"input_tokens": 60, "cache_read_tokens": 20, "cache_write_tokens": 10, "output_tokens": 10}


def rounds(count: int, *names: str, **extra: Any) -> list[Any]:
    """So many rounds with these calls, each with ids of its own, then an answer."""
    steps = [
        {**calls(*names, ids=[f"r{number}c{place}" for place in range(len(names))]), **extra} for number in range(count)
    ]
    return [*steps, {**ANSWER, **extra}]


@pytest.mark.parametrize(
    ("limit", "iterations"),
    [
        ({"max_iterations": 3}, 3),
        ({"max_tokens": 150}, 2),
        ({"max_input_tokens": 91}, 2),
        ({"max_output_tokens": 30}, 3),
        ({"max_equal_calls": 2}, 2),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else "",
)
def test_a_limit_stops_the_run_by_its_own_name(limit: dict[str, int], iterations: int) -> None:
    result = make_agent(rounds(8, "quick", usage=USAGE), limits=limit).run_sync("go")
    name = next(iter(limit))
    assert (result.status, result.limit, result.iterations) == ("limit", name, iterations)
    assert name in result.answer
    assert result.reason == result.answer
    assert result.session.transcript.open_round is None


def test_a_round_that_crosses_the_tool_call_limit_runs_the_first_calls() -> None:
    script = [calls("quick", "quick", ids=["a", "b"]), calls("quick", "ok", "quick", ids=["c", "d", "e"]), ANSWER]
    result = make_agent(script, limits={"max_tool_calls": 3}).run_sync("go")
    assert words(result.session.transcript) == [
        "U go", "A a b", "R a ok", "R b ok", "A c d e", "R c ok", "R d not_run", "R e not_run",
    ]  # fmt: skip
    assert (result.limit, result.tool_calls) == ("max_tool_calls", 3)


@pytest.mark.parametrize("mode", ["parallel", "sequential"])
def test_a_round_that_is_wholly_over_the_limit_ends(mode: Any) -> None:
    agent = make_agent(rounds(3, "quick"), limits={"max_tool_calls": 1}, tool_execution=mode)
    result = agent.run_sync("go")
    assert (result.limit, result.tool_calls, result.iterations) == ("max_tool_calls", 1, 2)
    assert words(agent.transcript)[-1] == "R r1c0 not_run"


def test_exactly_as_many_tool_calls_as_allowed_may_still_be_answered() -> None:
    result = make_agent([calls("quick", "ok"), ANSWER], limits={"max_tool_calls": 2}).run_sync("go")
    assert (result.status, result.answer) == ("completed", "done")


def test_seconds_do_not_count_while_people_are_waited_for() -> None:
    clock = FakeClock()

    async def slow() -> str:
        """Take six seconds."""
        clock.advance(6)
        return "slow"

    def think(arguments: Any) -> Any:
        clock.advance(1000)
        return {one.call.id: Approve() for one in arguments["pending"]}

    recorder = Recorder({"before_each_tool": lambda _: Suspend("?"), "resolve_suspended": think})
    script = rounds(3, "slow")
    result = make_agent(script, recorder, tools=[slow], clock=clock, limits={"max_seconds": 10}).run_sync("go")
    assert (result.limit, result.iterations) == ("max_seconds", 2)
    assert "12.0 s" in result.answer


def test_a_cost_limit_counts_and_an_unknown_price_is_an_error_at_the_start() -> None:
    class Priced(ScriptedProvider):
        """A scripted model that costs a dollar a call."""

        async def stream(self, request: Any) -> Any:
            from dataclasses import replace

            async for item in super().stream(request):
                if isinstance(item, AssistantMessage):
                    item = replace(item, usage=replace(item.usage, cost_usd=1.0, requests=1))
                yield item

    agent = Agent(tools=[quick], model=Priced(rounds(5, "quick")), limits={"max_cost_usd": 1.5})
    result = agent.run_sync("go")
    assert (result.limit, result.iterations) == ("max_cost_usd", 2)
    unpriced = Agent(model=AnthropicProvider("my-own-model", api_key="k"), limits={"max_cost_usd": 1.0})
    with pytest.raises(ConfigurationError, match="the price of 'anthropic:my-own-model' is unknown"):
        unpriced.run_sync("go")
    assert unpriced.session.turn == 0


def test_the_model_is_warned_before_the_last_of_equal_rounds_whatever_their_order() -> None:
    script = [
        calls("quick", "ok", ids=["a", "b"]),
        calls("ok", "quick", ids=["c", "d"]),
        calls("quick", "ok", ids=["e", "f"]),
        ANSWER,
    ]
    result = make_agent(script, limits={"max_equal_calls": 3}).run_sync("go")
    assert result.limit == "max_equal_calls"
    warned = [line for line in words(result.session.transcript) if line.startswith("U The same calls")]
    assert len(warned) == 1
    assert warned[0].endswith("<hookagent>")
    assert words(result.session.transcript).index(warned[0]) == 7


def test_other_arguments_other_results_and_denied_calls_are_not_equal() -> None:
    count = 0

    async def counting(n: int = 0) -> str:
        """Give a new number each time."""
        nonlocal count
        count += 1
        return str(count)

    assert make_agent(rounds(5, "counting"), tools=[counting], limits={"max_equal_calls": 2}).run_sync("go").ok
    different = [{"calls": [{"name": "quick", "arguments": {"n": number}}]} for number in range(5)]
    assert make_agent([*different, ANSWER], limits={"max_equal_calls": 2}).run_sync("go").ok


@pytest.mark.parametrize("closing", [{"text": "so far: half"}, {**calls("ok", ids=["z"]), "text": "so far: half"}])
def test_by_option_one_last_answer_with_tools_switched_off(closing: dict[str, Any]) -> None:
    recorder = Recorder()
    script = [calls("quick"), closing]
    agent = make_agent(script, recorder, limits={"max_iterations": 1, "closing_answer": True})
    result = agent.run_sync("go")
    assert (result.status, result.limit, result.answer) == ("limit", "max_iterations", "so far: half")
    choices = [arguments["request"].tool_choice for hook, arguments in recorder.calls if hook == "shape_request"]
    assert choices == ["auto", "none"]
    assert result.session.transcript.open_round is None
    assert recorder.names.count("wrap_tool_call") == 1


def test_a_closing_answer_that_fails_leaves_the_programs_own_words() -> None:
    agent = make_agent(
        [calls("quick"), {"error": "authentication"}], limits={"max_iterations": 1, "closing_answer": True}
    )
    result = agent.run_sync("go")
    assert (result.status, result.limit) == ("limit", "max_iterations")
    assert "max_iterations" in result.answer


def test_what_is_queued_at_a_limit_stays_queued() -> None:
    agent = make_agent([calls("quick"), ANSWER], limits={"max_iterations": 1})
    agent.steer("later")
    agent.steer("even later")
    result = agent.run_sync("go")
    assert result.limit == "max_iterations"
    assert [one.text for one in agent.steering.peek()] == ["even later"]


def test_nested_agents_share_the_limits_and_the_abort_and_obey_the_gates() -> None:
    inner = make_agent(rounds(9, "ok"), tools=[ok], limits={"max_iterations": 100})
    seen: list[Any] = []

    async def nest() -> str:
        """Run the inner agent."""
        result = await inner.run("inner")
        seen.append((result.status, result.limit, result.iterations))
        return result.answer

    recorder = Recorder({"before_each_tool": lambda a: Deny("not here") if a["tool_call"].name == "ok" else None})
    outer = make_agent([calls("nest"), ANSWER], recorder, tools=[nest], limits={"max_iterations": 4})
    result = outer.run_sync("go")
    assert seen == [("limit", "max_iterations", 3)]
    assert (result.status, result.limit) == ("limit", "max_iterations")
    assert inner.session.parent_id == outer.session.id
    assert {line for line in words(inner.session.transcript) if line.startswith("R")} == {
        f"R r{number}c0 denied" for number in range(3)
    }


def test_an_abort_of_the_outer_agent_aborts_the_inner_one() -> None:
    outer: Agent

    async def stop() -> str:
        """Abort the outer agent and wait."""
        outer.abort("enough")
        await asyncio.Event().wait()
        return "never"

    inner = make_agent([calls("stop"), ANSWER], tools=[stop])

    async def nest() -> str:
        """Run the inner agent."""
        return (await inner.run("inner")).status

    outer = make_agent([calls("nest"), ANSWER], tools=[nest], grace_seconds=30)
    assert outer.run_sync("go").status == "aborted"
    assert inner.last_result is not None
    assert (inner.last_result.status, inner.last_result.reason) == ("aborted", "enough")
    assert inner.session.transcript.open_round is None


@pytest.mark.parametrize(
    ("limits", "says"),
    [
        ({"max_iterations": 0}, "limits.max_iterations: expected a whole number of at least 1, got 0"),
        ({"max_tokens": True}, "limits.max_tokens: expected a whole number of at least 1, got True"),
        ({"max_seconds": -1}, "limits.max_seconds: expected a number above 0, got -1"),
        ({"max_cost_usd": float("nan")}, "limits.max_cost_usd: expected a number above 0, got nan"),
        ({"max_equal_calls": 1}, "limits.max_equal_calls: expected a whole number of at least 2, got 1"),
        ({"closing_answer": 1}, "limits.closing_answer: expected true or false, got 1"),
        ({"max_turns": 1}, "limits: unknown limit 'max_turns'"),
    ],
)
def test_what_is_no_limit_is_refused(limits: dict[str, Any], says: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        Agent(limits=limits)
    assert says in str(caught.value)
    if "max_turns" not in limits:
        with pytest.raises(ConfigurationError):
            Limits(**limits)
