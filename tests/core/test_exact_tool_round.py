"""Rounds of calls to their end: equal ones, stopped ones, those that wait and are resumed; what `after_tools` says."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from hookagent import Amend, Approve, Deny, PluginError, Stop, Suspend, UserMessage
from hookagent.events import MessageEnd, ResolveStart, ToolStart
from hookagent.transcript import ToolRound
from tests.core.plugin_making import made
from tests.core.scripts import calls, make_agent, ok, quick, words
from tests.core.verdict_tables import both_modes

ANSWER = {"text": "done"}


def results(agent: Any) -> list[Any]:
    return [one for block in agent.transcript if isinstance(block, ToolRound) for one in block.results]


def started(agent: Any) -> list[str]:
    return [one.call.id for one in agent.session.trace if isinstance(one, ToolStart)]


async def constant(a: int = 0, b: int = 0) -> str:
    """Give the same, whatever comes."""
    return "same"


def made_of(*rounds: list[dict[str, Any]]) -> list[Any]:
    """A script with one reply for each list of arguments, with a call of `constant` for each of its members."""
    return [{"calls": [{"name": "constant", "arguments": one} for one in arguments]} for arguments in rounds]


# ---- equal rounds ----


@pytest.mark.parametrize(
    ("rounds", "equal"),
    [
        ([[{"a": 1}], [{"a": 1}], [{"a": 1}]], True),
        ([[{"a": 1, "b": 2}], [{"b": 2, "a": 1}], [{"a": 1, "b": 2}]], True),
        ([[{"b": 2, "a": 1}], [{"a": 1, "b": 2}], [{"b": 2, "a": 1}]], True),
        ([[{"a": 1}], [{"a": 2}], [{"a": 3}]], False),
        ([[{"a": 1}], [{"b": 1}], [{"a": 1}]], False),
        ([[{"a": 1}], [{"a": 1}, {"a": 1}], [{"a": 1}]], False),
        ([[{"a": 1}, {"a": 2}], [{"a": 2}, {"a": 1}], [{"a": 1}, {"a": 2}]], True),
        ([[{"a": 1}, {"a": 1}, {"a": 2}], [{"a": 1}, {"a": 2}, {"a": 2}], [{"a": 1}, {"a": 1}, {"a": 2}]], False),
    ],
)
def test_rounds_are_equal_by_their_calls_and_results_alone(rounds: Any, equal: bool) -> None:
    agent = make_agent([*made_of(*rounds), ANSWER], tools=[constant], limits={"max_equal_calls": 3})
    result = agent.run_sync("go")
    assert (result.status, result.limit) == (("limit", "max_equal_calls") if equal else ("completed", None))
    warnings = [
        one.message
        for one in agent.session.trace
        if isinstance(one, MessageEnd) and isinstance(one.message, UserMessage) and one.message.origin is not None
    ]
    assert warnings == [
        UserMessage(
            "The same calls gave the same results 2 times in a row. Once more, and the run is stopped: try something "
            "else, or answer with what you have.",
            origin="hookagent",
            via="plugin",
        )
    ] * int(equal)


@both_modes
@pytest.mark.parametrize(("denied", "status"), [((), "limit"), (("c1",), "limit"), (("c1", "c2"), "completed")])
def test_what_was_denied_is_not_compared(denied: tuple[str, ...], status: str, mode: Any) -> None:
    def gate(tool_call: Any) -> Any:
        return Deny("no") if tool_call.name in denied_names else None

    denied_names = {{"c1": "quick", "c2": "ok"}[one] for one in denied}
    rounds = [calls("quick", "ok", ids=[f"a{number}", f"b{number}"]) for number in range(2)]
    agent = make_agent(
        [*rounds, ANSWER], made("gate", before_each_tool=gate), limits={"max_equal_calls": 2}, tool_execution=mode
    )
    assert agent.run_sync("go").status == status


# ---- a round that ends in the middle ----


def test_nobody_is_asked_for_a_call_whose_judging_an_abort_ended() -> None:
    def abort(tool_call: Any) -> None:
        agent.abort("enough")

    asked: list[Any] = []
    asks = made(
        "asks", before_each_tool=lambda tool_call: Suspend("?"), resolve_suspended=lambda pending: asked.append(pending)
    )
    agent = make_agent(
        [calls("quick", "ok")], asks, made("aborts", before_each_tool=abort), tool_execution="sequential"
    )
    result = agent.run_sync("go")
    assert (result.status, result.reason) == ("aborted", "enough")
    assert asked == []
    assert not [one for one in agent.session.trace if isinstance(one, ResolveStart)]
    assert [one.content for one in results(agent)] == ["not run: aborted by user before it started"] * 2


@pytest.mark.parametrize("gated", [False, True])
def test_when_a_listening_hook_failed_no_later_call_is_judged_or_run(gated: bool) -> None:
    def hear(event: Any) -> None:
        if event.type == "tool_end" and event.call.id == "c1":
            raise ValueError("cannot listen")

    judged: list[str] = []
    plugins = [made("gate", before_each_tool=lambda tool_call: judged.append(tool_call.id))] if gated else []
    agent = make_agent([calls("quick", "ok")], made("hears", on_event=hear), *plugins, tool_execution="sequential")
    with pytest.raises(PluginError, match="cannot listen") as raised:
        agent.run_sync("go")
    assert started(agent) == ["c1"]
    assert judged == (["c1"] if gated else [])
    assert [one.status for one in results(agent)] == ["ok", "not_run"]
    assert results(agent)[1].content == f"not run: {raised.value}"


@both_modes
@pytest.mark.parametrize("at", ["c1", "c2"])
def test_a_stop_lets_no_call_of_a_parallel_round_run_and_no_later_one_of_a_sequential_round(at: str, mode: Any) -> None:
    gate = made("gate", before_each_tool=lambda tool_call: Stop("enough") if tool_call.id == at else None)
    agent = make_agent([calls("quick", "ok", "quick")], gate, tool_execution=mode)
    result = agent.run_sync("go")
    assert (result.status, result.reason) == ("stopped", "'gate' stopped the run: enough")
    ran = ["c1"] if (at, mode) == ("c2", "sequential") else []
    assert started(agent) == ran
    assert [one.content for one in results(agent)] == ["quick 0"] * len(ran) + [
        "not run: 'gate' stopped the run: enough"
    ] * (3 - len(ran))
    assert {(one.status, one.is_error) for one in results(agent)[len(ran) :]} == {("not_run", True)}


# ---- rounds that wait ----


@both_modes
def test_a_round_that_waits_says_for_what_and_what_may_run_ran(mode: Any) -> None:
    asks = made("asks", before_each_tool=lambda tool_call: Suspend("?") if tool_call.id != "c1" else None)
    agent = make_agent([calls("quick", "ok", "ok")], asks, tool_execution=mode)
    result = agent.run_sync("go")
    waits = "ok (c2), ok (c3)" if mode == "parallel" else "ok (c2)"
    assert (result.status, result.reason) == ("waiting", f"waiting for an answer to: {waits}")
    assert started(agent) == ["c1"]


@both_modes
def test_a_resumed_round_keeps_what_was_said_and_asks_its_answerers_again(mode: Any) -> None:
    answers: list[Any] = [None, {"c1": Approve(), "c2": Deny("not that")}]
    asked: list[list[str]] = []

    def resolve(pending: Any) -> Any:
        asked.append([one.call.id for one in pending])
        given = answers[len(asked) - 1] if len(asked) <= len(answers) else None
        return given and {one: verdict for one, verdict in given.items() if one in asked[-1]}

    judged: list[str] = []

    def judge(tool_calls: Any) -> Any:
        return {one.id: Suspend("?") for one in tool_calls if one.id != "c3"}

    asks = made("asks", before_tools=judge, resolve_suspended=resolve)
    counts = made("counts", before_each_tool=lambda tool_call: judged.append(tool_call.id))
    agent = make_agent([calls("quick", "quick", "ok"), ANSWER], asks, counts, tool_execution=mode)
    assert agent.run_sync("go").status == "waiting"
    before = list(judged)
    assert agent.run_sync("and?").status == "completed"
    assert asked == [["c1", "c2"], ["c1", "c2"]]
    assert [(one.status, one.content) for one in results(agent)] == [
        ("ok", "quick 0"),
        ("denied", "denied by 'asks': not that"),
        ("ok", "ok 0"),
    ]
    if mode == "parallel":
        assert (before, judged[3:]) == (["c1", "c2", "c3"], ["c1", "c2"])
    else:
        assert (before, judged[1:]) == (["c1"], ["c1", "c2", "c3"])
    assert words(agent.transcript)[-2:] == ["U and?", "A done"]


@both_modes
@pytest.mark.parametrize("names", [("quick",), ("quick", "ok")])
def test_a_round_is_resumed_with_the_tools_in_force_then(names: Any, mode: Any) -> None:
    asks = made("asks", before_tools=lambda tool_calls: Suspend("?"))
    agent = make_agent([calls(*names), ANSWER], asks, tools=[quick, ok], tool_execution=mode)
    assert agent.run_sync("go").status == "waiting"
    agent.tools.remove("quick")
    result = agent.run_sync("and?")
    assert result.status == ("completed" if len(names) == 1 else "waiting")
    round_now = agent.transcript.open_round or agent.transcript[1]
    assert isinstance(round_now, ToolRound)
    first, *others = round_now.results
    assert first is not None
    assert (first.error_type, first.content.partition("'")[0]) == ("UnknownTool", "unknown tool ")
    assert others == [None] * (len(names) - 1)


@both_modes
@pytest.mark.parametrize("verdict", [Stop("enough"), Deny("no")])
def test_a_gate_may_judge_a_call_more_strictly_when_its_round_is_resumed(verdict: Any, mode: Any) -> None:
    times: list[int] = []

    def judge(tool_call: Any) -> Any:
        times.append(1)
        return Suspend("?") if len(times) == 1 else verdict

    answers: list[Any] = []
    asks = made("asks", before_each_tool=judge, resolve_suspended=lambda pending: answers.append(pending))
    agent = make_agent([calls("quick"), ANSWER], asks, tool_execution=mode)
    assert agent.run_sync("go").status == "waiting"
    result = agent.run_sync("and?")
    assert len(answers) == 1
    if isinstance(verdict, Stop):
        assert (result.status, result.reason) == ("stopped", "'asks' stopped the run: enough")
        assert results(agent)[0].content == "not run: 'asks' stopped the run: enough"
    else:
        assert result.status == "completed"
        assert results(agent)[0].content == "denied by 'asks': no"


# ---- what is said behind a round ----


@both_modes
@pytest.mark.parametrize("names", [("quick",), ("quick", "ok")])
def test_after_tools_sees_the_closed_round_and_its_messages_stand_behind_what_was_held(names: Any, mode: Any) -> None:
    closed: list[ToolRound] = []

    def after(tool_round: ToolRound) -> str:
        closed.append(tool_round)
        return "noted"

    holds = made("holds", before_tools=lambda tool_calls: ["held", "held too"])
    agent = make_agent([calls(*names), ANSWER], holds, made("after", after_tools=after), tool_execution=mode)
    agent.run_sync("go")
    assert closed == [agent.transcript[1]]
    assert words(agent.transcript)[-4:] == ["U held <holds>", "U held too <holds>", "U noted <after>", "A done"]


@both_modes
@pytest.mark.parametrize("held", [[0, 0, 0], [1, 1, 1], [0, 1, 2, 3], [3, 0, 1], [2, 2]])
def test_after_tools_sees_the_newest_round_however_much_was_held_behind_it(held: list[int], mode: Any) -> None:
    closed: list[str] = []
    left = list(held)
    holds = made("holds", before_tools=lambda tool_calls: [f"held {number}" for number in range(left.pop(0))])
    after = made("after", after_tools=lambda tool_round: closed.append(tool_round.calls[0].id))
    ids = [f"r{number}" for number in range(len(held))]
    agent = make_agent([*[calls("quick", ids=[one]) for one in ids], ANSWER], holds, after, tool_execution=mode)
    agent.run_sync("go")
    assert closed == ids


@both_modes
@pytest.mark.parametrize("gated", [False, True])
@pytest.mark.parametrize("names", [("quick",), ("quick", "ok")])
def test_the_first_stop_behind_a_round_ends_the_run_and_every_hook_is_heard(names: Any, gated: bool, mode: Any) -> None:
    first = made("first", after_tools=lambda tool_round: [Stop("seen enough"), "why"])
    second = made("second", after_tools=lambda tool_round: Stop("so have I"))
    last = made("last", after_tools=lambda tool_round: "said all the same")
    gates = [made("gate", before_each_tool=lambda tool_call: Amend({"n": 2}))] if gated else []

    async def silent(tool_round: Any) -> None:
        heard.append(len(tool_round.results))

    heard: list[int] = []
    agent = make_agent(
        [calls(*names)], made("silent", after_tools=silent), first, second, last, *gates, tool_execution=mode
    )
    result = agent.run_sync("go")
    assert (result.status, result.reason) == ("stopped", "'first' stopped the run: seen enough")
    assert words(agent.transcript)[-2:] == ["U why <first>", "U said all the same <last>"]
    assert heard == [len(names)]


@both_modes
def test_an_end_that_came_before_stays_though_a_hook_behind_the_round_would_stop_too(mode: Any) -> None:
    gate = made("gate", before_each_tool=lambda tool_call: Stop("enough"))
    after = made("after", after_tools=lambda tool_round: Stop("too late"))
    agent = make_agent([calls("quick", "ok")], gate, after, tool_execution=mode)
    assert agent.run_sync("go").reason == "'gate' stopped the run: enough"


# ---- calls without a result ----


@both_modes
@pytest.mark.parametrize("kinds", [(ValueError, ValueError), (KeyboardInterrupt, ValueError)])
def test_hooks_that_fail_one_after_the_other_while_a_round_is_closed_the_first_or_graver_reason_is_raised(
    kinds: Any, mode: Any
) -> None:
    def fails(call_id: str, kind: type[BaseException]) -> Any:
        def after_each_tool(tool_call: Any, result: Any) -> None:
            heard.append((call_id, tool_call.id))
            if tool_call.id == call_id:
                raise kind(f"at {call_id}")

        return made(f"at-{call_id}", after_each_tool=after_each_tool)

    heard: list[tuple[str, str]] = []
    gate = made("gate", before_each_tool=lambda tool_call: Stop("enough"))
    plugins = [gate, fails("c1", kinds[0]), fails("c2", kinds[1])]
    agent = make_agent([calls("ok", "quick", "ok")], *plugins, tool_execution=mode)
    with pytest.raises((PluginError, KeyboardInterrupt)) as raised:
        asyncio.run(agent.run("go"))
    assert "at c1" in str(raised.value)
    if kinds[0] is ValueError:  # who failed is not called again
        assert heard == [("c1", "c1"), ("c2", "c1"), ("c2", "c2")]
    assert [(one.content, one.status, one.is_error) for one in results(agent)] == [
        ("not run: 'gate' stopped the run: enough", "not_run", True)
    ] * 3


def test_a_call_that_had_begun_when_the_run_broke_down_may_have_run() -> None:
    agent = make_agent([calls("ok", "quick", "ok")], log=False)

    def journal(event: Any) -> None:
        if event.type == "tool_start" and event.call.id == "c2":
            raise OSError("disk full")

    agent._emitter.journal = journal
    with pytest.raises(OSError, match="disk full"):
        asyncio.run(agent.run("go"))
    begun = ("interrupted: it was started, and may have run: not run: disk full", "interrupted", True)
    assert [(one.content, one.status, one.is_error) for one in results(agent)] == [
        begun,
        begun,
        ("not run: disk full", "not_run", True),
    ]


@both_modes
@pytest.mark.parametrize("names", [("quick",), ("quick", "ok")])
def test_between_rounds_no_call_is_pending(names: Any, mode: Any) -> None:
    pending: list[Any] = []
    sees = made("sees", before_llm=lambda iteration: pending.append((agent.pending_calls, agent.session.waiting)))
    agent = make_agent([calls(*names), ANSWER], sees, tool_execution=mode)
    agent.run_sync("go")
    assert pending == [((), False)] * 2
    assert (agent.pending_calls, agent.session.waiting) == ((), False)
