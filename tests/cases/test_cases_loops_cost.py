"""Public cases about loops without end and about money: every limit ends a run by its name, every token costs once."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hookagent import Agent, ConfigurationError, Deny, UserMessage
from hookagent.providers import AnthropicProvider, OpenAIChatProvider, OpenAIResponsesProvider
from hookagent.testing import Call, Reply, StrictServer
from hookagent.testing import Usage as Reported
from tests.cases.checked_model import CheckedModel
from tests.cases.wires import WIRES, agent_on, assert_accepted, result_texts
from tests.core.plugin_making import made

SAME = {"calls": [{"name": "log", "arguments": {}}]}


def log() -> str:
    """Read the log."""
    return "no new output"


def a(x: int, y: int) -> str:
    """Do a."""
    return "did a"


def b() -> str:
    """Do b."""
    return "did b"


def called(*given: tuple[str, dict[str, Any]]) -> dict[str, Any]:
    return {"calls": [{"name": name, "arguments": arguments} for name, arguments in given]}


@pytest.mark.parametrize("same", [2, 5])
@pytest.mark.parametrize("count", [1, 3])
def test_loop_01_equal_calls_with_equal_results_are_warned_of_and_then_stopped(same: int, count: int) -> None:
    model = CheckedModel(lambda request: {"calls": SAME["calls"] * count})
    agent = Agent(tools=[log], model=model, limits={"max_equal_calls": same, "max_iterations": 20})
    result = agent.run_sync("Watch the log.")
    assert (result.status, result.limit, result.iterations) == ("limit", "max_equal_calls", same)
    warned = [
        (number, block.text)
        for number, request in enumerate(model.requests, 1)
        for block in request.blocks
        if isinstance(block, UserMessage) and block.origin == "hookagent"
    ]
    # The model reads it once, before its last try.
    assert [number for number, _ in warned] == [same]
    assert "The same calls gave the same results" in warned[0][1]
    assert result.session.transcript.open_round is None


@pytest.mark.parametrize(
    ("limits", "limit"),
    [
        ({"max_iterations": 7}, "max_iterations"),
        ({"max_tool_calls": 7, "max_iterations": None}, "max_tool_calls"),
        ({"max_tokens": 3_000, "max_iterations": None}, "max_tokens"),
        ({}, "max_iterations"),
    ],
)
def test_loop_01_some_limit_ends_every_loop(limits: dict[str, Any], limit: str) -> None:
    agent = Agent(tools=[log], model=CheckedModel(lambda request: SAME), limits=limits)
    result = agent.run_sync("Watch the log.")
    assert (result.status, result.limit) == ("limit", limit)
    assert limit in result.answer
    assert result.session.transcript.open_round is None


SECOND = [
    ([("b", {}), ("a", {"y": 2, "x": 1})], True),
    ([("a", {"y": 2, "x": 1}), ("b", {})], True),
    ([("a", {"x": 1, "y": 3}), ("b", {})], False),
    ([("a", {"x": 1, "y": 2})], False),
    ([("a", {"x": 1, "y": 2}), ("b", {}), ("b", {})], False),
]


@pytest.mark.parametrize(("second", "is_equal"), SECOND)
def test_loop_04_rounds_are_compared_without_the_order_of_keys_and_calls(second: Any, is_equal: bool) -> None:
    script = [called(("a", {"x": 1, "y": 2}), ("b", {})), called(*second), "end"]
    result = Agent(tools=[a, b], model=CheckedModel(script), limits={"max_equal_calls": 2}).run_sync("Go.")
    assert (result.limit, result.iterations) == (("max_equal_calls", 2) if is_equal else (None, 3))


@settings(max_examples=40, deadline=None)
@given(
    arguments=st.lists(
        st.dictionaries(st.sampled_from("pqr"), st.sampled_from([0, 1, "0", "1", None, True]), max_size=3),
        min_size=1,
        max_size=4,
    ),
    data=st.data(),
)
def test_loop_04_any_order_of_a_round_is_equal_and_any_other_content_is_not(arguments: Any, data: Any) -> None:
    def free(p: Any = None, q: Any = None, r: Any = None) -> str:
        """Do something."""
        return "did"

    def turned(one: dict[str, Any]) -> dict[str, Any]:
        return dict(data.draw(st.permutations(list(one.items()))))

    shuffled = data.draw(st.permutations(arguments).map(lambda order: [turned(one) for one in order]))
    other = [*arguments[:-1], {**arguments[-1], "p": "something else"}]
    for second, limit in ((shuffled, "max_equal_calls"), (other, None)):
        script = [called(*(("free", one) for one in round_)) for round_ in (arguments, second)]
        agent = Agent(tools=[free], model=CheckedModel([*script, "end"]), limits={"max_equal_calls": 2})
        assert agent.run_sync("Go.").limit == limit


@pytest.mark.parametrize("second", [SAME, called(("a", {"x": 1, "y": 2}))], ids=["the same", "another"])
def test_loop_04_a_refused_call_is_no_repetition(second: Any) -> None:
    gate = made("gate", before_each_tool=lambda: Deny("not now"))
    script = [SAME, second, SAME, "I stop."]
    agent = Agent(tools=[log, a], model=CheckedModel(script), plugins=[gate], limits={"max_equal_calls": 2})
    assert agent.run_sync("Go.").answer == "I stop."


def test_loop_05_a_run_at_its_limit_does_not_look_like_a_success(command: Any, script: Any) -> None:
    model = script("- calls: [{name: list_files}]\n" * 9)
    got = command("run", "--json", "-m", model, "-t", "list_files", "--max-iterations", "3", "x")
    assert got.code == 3
    events = [json.loads(line) for line in got.out.splitlines()]
    assert (events[-1]["status"], events[-1]["exit_code"]) == ("limit", 3)
    assert "max_iterations is 3" in got.err
    counts = {kind: sum(event["type"] == kind for event in events) for kind in ("request", "tool_start", "tool_end")}
    assert counts == {"request": 3, "tool_start": 3, "tool_end": 3}


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize("closing_calls", [0, 2])
@pytest.mark.parametrize("text", ["so far I found ...", ""])
def test_loop_06_at_a_limit_the_answer_is_never_empty(wire: str, closing_calls: int, text: str) -> None:
    ran: list[int] = []

    def t() -> str:
        """Look."""
        ran.append(1)
        return "found"

    rounds = [Reply(calls=[Call("t", {}, f"c{number}")]) for number in range(2)]
    closing = Reply(text=text, calls=[Call("t", {}, f"late{number}") for number in range(closing_calls)])
    with StrictServer([*rounds, closing, Reply(text="next turn")]) as server:
        agent = agent_on(wire, server, tools=[t], limits={"max_iterations": 2, "closing_answer": True})
        result = agent.run_sync("Go.")
        body = server.requests[2].body
        assert list(result_texts(server.requests[2])) == ["c0", "c1"]
        assert body["tool_choice"] in ("none", {"type": "none"})
        # The history is valid for the next request, whatever the closing reply held.
        assert agent.run_sync("And now?").answer == "next turn"
        assert_accepted(server)
    assert (result.status, result.limit, len(ran)) == ("limit", "max_iterations", 2)
    assert result.answer == text if text else "max_iterations" in result.answer


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize("limit", [1, 2, 3])
def test_loop_07_a_limit_of_n_is_n_model_calls_with_tools(wire: str, limit: int) -> None:
    with StrictServer([Reply(calls=[Call("log", {}, "c1")]), Reply(text="end")]) as server:
        result = agent_on(wire, server, tools=[log], limits={"max_iterations": limit}).run_sync("Go.")
        assert_accepted(server)
    assert all(len(request.body["tools"]) == 1 for request in server.requests)
    assert result.tool_calls == 1
    if limit == 1:
        assert (result.status, result.limit, len(server.requests)) == ("limit", "max_iterations", 1)
    else:
        assert (result.status, result.answer, len(server.requests)) == ("completed", "end", 2)


@pytest.mark.parametrize("value", ["0", "-1", "1.5", "true", "many"])
def test_loop_07_what_is_no_number_of_calls_is_a_configuration_error(value: str, command: Any, script: Any) -> None:
    model = script("- never asked for\n")
    got = command("run", "-m", model, "-o", f"limits.max_iterations={value}", "x")
    assert (got.code, got.out) == (2, "")
    assert "limits.max_iterations" in got.err
    assert command("run", "-m", model, "--max-iterations", value, "x").code == 2
    with pytest.raises(ConfigurationError, match=r"limits\.max_iterations"):
        Agent(limits={"max_iterations": json.loads(value) if value != "many" else value})


# Dollars for a million tokens: input, read from the cache, written to it, output.
PRICES: dict[str, tuple[Any, str, tuple[float, float, float, float]]] = {
    "openai": (OpenAIResponsesProvider, "gpt-5", (1.25, 0.125, 1.25, 10)),
    "openai-chat": (OpenAIChatProvider, "gpt-5", (1.25, 0.125, 1.25, 10)),
    "anthropic": (AnthropicProvider, "claude-sonnet-5", (2, 0.2, 2.5, 10)),
}


def cost_of(wire: str, usage: Reported) -> float | None:
    make, model, _ = PRICES[wire]
    with StrictServer([Reply(text="end", usage=usage)]) as server:
        url = server.anthropic_url if wire == "anthropic" else server.openai_url
        return Agent(model=make(model, api_key="k", base_url=url)).run_sync("Go.").usage.cost_usd


def expected_cost(wire: str, usage: Reported) -> float:
    counts = (usage.input_tokens, usage.cache_read_tokens, usage.cache_write_tokens, usage.output_tokens)
    return sum(count * price for count, price in zip(counts, PRICES[wire][2], strict=True)) / 1e6


@pytest.mark.parametrize("wire", PRICES)
@pytest.mark.parametrize("usage", [Reported(100, 10, 900), Reported(0, 10, 1_000), Reported(1_000, 10)])
def test_loop_09_tokens_from_the_cache_are_charged_once(wire: str, usage: Reported) -> None:
    assert cost_of(wire, usage) == pytest.approx(expected_cost(wire, usage))


@pytest.mark.parametrize(
    "usage", [Reported(3, 550, 0, 12_304), Reported(3, 550, 5_000, 12_304), Reported(0, 0, 0, 100)]
)
def test_loop_11_tokens_written_to_the_cache_are_charged_as_written_only(usage: Reported) -> None:
    assert cost_of("anthropic", usage) == pytest.approx(expected_cost("anthropic", usage))


@pytest.mark.parametrize("most", [3, 6])
def test_loop_13_agents_that_start_agents_end_at_the_limit_they_share(most: int) -> None:
    agents: list[Agent] = []

    async def spawn(task: str) -> str:
        """Give a task to another agent."""
        return (await new_agent().run(task)).answer

    def new_agent() -> Agent:
        model = CheckedModel(lambda request: called(("spawn", {"task": "x"})))
        agents.append(Agent(tools=[spawn], model=model, limits={"max_iterations": most}))
        return agents[-1]

    result = new_agent().run_sync("Go.")
    assert (result.status, result.limit) == ("limit", "max_iterations")
    assert len(agents) == most + 1
    for agent in agents:
        assert agent.last_result is not None
        assert (agent.last_result.status, agent.last_result.limit) == ("limit", "max_iterations")
        assert agent.session.transcript.open_round is None
    assert sum(agent.session.usage.requests for agent in agents) == most
