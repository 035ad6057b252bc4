"""The hooks fire where the table of the design says, in its order, on every path, sequential and parallel."""

from __future__ import annotations

from typing import Any

import pytest

from hookagent import Deny, Suspend
from hookagent.testing import Recorder
from tests.core.scripts import calls, make_agent, words

Names = list[str]

START: Names = ["register_tools", "on_session_start", "after_user_input"]
MODEL: Names = ["before_llm", "shape_request", "wrap_model_call", "after_llm"]
END: Names = ["before_complete", "on_complete"]


def hooks(*groups: Names | str) -> Names:
    """Join groups and single names."""
    out: Names = []
    for group in groups:
        out.extend([group] if isinstance(group, str) else group)
    return out


RUN: Names = ["wrap_tool_call", "after_each_tool"]
REFUSED: Names = ["on_error", "after_each_tool"]

ANSWER = {"text": "done"}
# name -> (script, what the recorder returns, parallel order, sequential order, transcript)
SCENARIOS: dict[str, tuple[list[Any], dict[str, Any], Names, Names, Names]] = {
    "no tools": (
        [ANSWER],
        {},
        hooks(START, MODEL, END),
        hooks(START, MODEL, END),
        ["U go", "A done"],
    ),
    "three tools in a round": (
        [calls("quick", "quick", "quick"), ANSWER],
        {},
        hooks(
            START, MODEL, "before_tools", ["before_each_tool"] * 3, ["wrap_tool_call"] * 3, ["after_each_tool"] * 3,
            "after_tools", MODEL, END,
        ),
        hooks(START, MODEL, "before_tools", hooks("before_each_tool", RUN) * 3, "after_tools", MODEL, END),
        ["U go", "A c1 c2 c3", "R c1 ok", "R c2 ok", "R c3 ok", "A done"],
    ),
    "a failing tool": (
        [calls("bad"), ANSWER],
        {},
        hooks(START, MODEL, "before_tools", "before_each_tool", "wrap_tool_call", REFUSED, "after_tools", MODEL, END),
        hooks(START, MODEL, "before_tools", "before_each_tool", "wrap_tool_call", REFUSED, "after_tools", MODEL, END),
        ["U go", "A c1", "R c1 error", "A done"],
    ),
    "an unknown tool": (
        [calls("nope"), ANSWER],
        {},
        hooks(START, MODEL, "before_tools", "before_each_tool", REFUSED, "after_tools", MODEL, END),
        hooks(START, MODEL, "before_tools", "before_each_tool", REFUSED, "after_tools", MODEL, END),
        ["U go", "A c1", "R c1 error", "A done"],
    ),
    "bad arguments": (
        [calls("ok", n="many"), ANSWER],
        {},
        hooks(START, MODEL, "before_tools", "before_each_tool", REFUSED, "after_tools", MODEL, END),
        hooks(START, MODEL, "before_tools", "before_each_tool", REFUSED, "after_tools", MODEL, END),
        ["U go", "A c1", "R c1 error", "A done"],
    ),
    "a reply cut by the output limit": (
        [{**calls("ok"), "stop": "length"}, ANSWER],
        {},
        hooks(START, MODEL, "before_tools", "before_each_tool", REFUSED, "after_tools", MODEL, END),
        hooks(START, MODEL, "before_tools", "before_each_tool", REFUSED, "after_tools", MODEL, END),
        ["U go", "A c1", "R c1 not_run", "A done"],
    ),
    "a denied call among two": (
        [calls("quick", "ok"), ANSWER],
        {"before_each_tool": lambda a: Deny("not now") if a["tool_call"].name == "ok" else None},
        hooks(
            START, MODEL, "before_tools", ["before_each_tool"] * 2, "after_each_tool", "wrap_tool_call",
            "after_each_tool", "after_tools", MODEL, END,
        ),
        hooks(
            START, MODEL, "before_tools", "before_each_tool", RUN, "before_each_tool", "after_each_tool",
            "after_tools", MODEL, END,
        ),
        ["U go", "A c1 c2", "R c1 ok", "R c2 denied", "A done"],
    ),
    "a suspended call that nobody answers": (
        [calls("quick", "ok")],
        {"before_each_tool": lambda a: Suspend("who knows") if a["tool_call"].name == "ok" else None},
        hooks(
            START, MODEL, "before_tools", ["before_each_tool"] * 2, "resolve_suspended", RUN, "on_complete",
        ),
        hooks(
            START, MODEL, "before_tools", "before_each_tool", RUN, "before_each_tool", "resolve_suspended",
            "on_complete",
        ),
        ["U go", "A c1 c2", "R c1 ok"],
    ),
}  # fmt: skip


@pytest.mark.parametrize("mode", ["parallel", "sequential"])
@pytest.mark.parametrize("scenario", SCENARIOS)
def test_hooks_fire_in_order(scenario: str, mode: Any) -> None:
    script, returns, parallel, sequential, transcript = SCENARIOS[scenario]
    recorder = Recorder(returns)
    agent = make_agent(script, recorder, tool_execution=mode)
    result = agent.run_sync("go")
    assert recorder.names == (parallel if mode == "parallel" else sequential)
    assert words(result.session.transcript) == transcript


@pytest.mark.parametrize("mode", ["parallel", "sequential"])
def test_at_the_iteration_limit_every_round_is_closed_and_on_complete_fires(mode: Any) -> None:
    recorder = Recorder()
    script = [calls("quick"), calls("quick"), ANSWER]
    agent = make_agent(script, recorder, tool_execution=mode, limits={"max_iterations": 2})
    result = agent.run_sync("go")
    one_round = hooks(MODEL, "before_tools", "before_each_tool", RUN, "after_tools")
    assert recorder.names == hooks(START, one_round, one_round, "on_complete")
    assert (result.status, result.limit, result.iterations) == ("limit", "max_iterations", 2)
    assert "max_iterations" in result.answer
    assert result.session.transcript.open_round is None


def test_a_limit_of_one_still_offers_tools_and_runs_them() -> None:
    recorder = Recorder()
    result = make_agent([calls("quick")], recorder, limits={"max_iterations": 1}).run_sync("go")
    request = next(arguments["request"] for hook, arguments in recorder.calls if hook == "shape_request")
    assert [tool.name for tool in request.tools] == ["ok", "quick", "bad"]
    assert words(result.session.transcript) == ["U go", "A c1", "R c1 ok"]
    assert result.limit == "max_iterations"


def test_two_turns_the_second_remembers_the_first_answer() -> None:
    recorder = Recorder()
    agent = make_agent([{"text": "four"}, {"text": "twelve"}], recorder)
    first = agent.run_sync("2+2?")
    second = agent.run_sync("times 3?")
    assert (first.answer, second.answer) == ("four", "twelve")
    assert recorder.names == hooks(START, MODEL, END, "after_user_input", MODEL, END)
    requests = [arguments["request"] for hook, arguments in recorder.calls if hook == "shape_request"]
    assert [len(request.blocks) for request in requests] == [1, 3]
    assert second.session.turn == 2
    assert words(second.session.transcript) == ["U 2+2?", "A four", "U times 3?", "A twelve"]


def test_the_session_ends_once() -> None:
    recorder = Recorder()
    agent = make_agent([ANSWER], recorder)
    agent.run_sync("go")
    agent.close_sync()
    agent.close_sync()
    assert recorder.names[-2:] == ["on_complete", "on_session_end"]
    assert recorder.names.count("on_session_end") == 1


def test_an_agent_that_never_ran_has_no_session_to_end() -> None:
    recorder = Recorder()
    make_agent([], recorder).close_sync()
    assert recorder.names == ["register_tools"]


def test_a_model_error_fires_on_error_and_not_after_llm() -> None:
    recorder = Recorder()
    result = make_agent([{"error": "authentication"}], recorder).run_sync("go")
    assert recorder.names == hooks(START, MODEL[:3], "on_error", "on_complete")
    assert result.status == "failed"
    assert words(result.session.transcript) == ["U go"]


def test_list_order_is_call_order_before_and_after_alike() -> None:
    order: list[tuple[str, str]] = []

    def noting(name: str) -> Recorder:
        def note(hook: str) -> Any:
            return lambda arguments: order.append((name, hook))

        return Recorder({hook: note(hook) for hook in ("before_each_tool", "after_each_tool", "wrap_tool_call")}, name)

    make_agent([calls("quick"), ANSWER], noting("one"), noting("two"), noting("three")).run_sync("go")
    for hook in ("before_each_tool", "wrap_tool_call", "after_each_tool"):
        assert [name for name, called in order if called == hook] == ["one", "two", "three"]
