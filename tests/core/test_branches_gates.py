"""Gates and answers, the rarer ways: who is asked again and who is not, what a late amendment says, who is named."""

from __future__ import annotations

from typing import Any

import pytest

from hookagent import Amend, Approve, Deny, PluginError, Stop, Suspend
from hookagent.events import ResolveEnd, ResolveStart
from hookagent.transcript import ToolRound
from tests.core.plugin_making import made
from tests.core.scripts import calls, make_agent, words
from tests.core.verdict_tables import ANSWER, EXPECTED, SUSPEND, both_modes, outcome


def contents(transcript: Any) -> list[str]:
    """The texts of the first round's results, those that are there."""
    open_round = transcript.open_round
    tool_round = open_round or next(block for block in transcript if isinstance(block, ToolRound))
    return [result.content for result in tool_round.results if result is not None]


@both_modes
def test_gates_that_have_nothing_to_say_let_a_call_pass_in_both_forms(mode: Any) -> None:
    asked: list[str] = []

    async def later(tool_call: Any) -> None:
        asked.append(f"later {tool_call.id}")

    gates = [made("later", before_each_tool=later), made("now", before_each_tool=lambda tool_call: None)]
    result = make_agent([calls("ok", "ok"), ANSWER], *gates, tool_execution=mode).run_sync("go")
    assert (result.status, asked) == ("completed", ["later c1", "later c2"])
    assert words(result.session.transcript)[2:4] == ["R c1 ok", "R c2 ok"]


# ---- who is asked again ----


def test_two_calls_amended_at_once_are_shown_to_the_gates_of_the_round_once_more_and_not_twice() -> None:
    asked: list[tuple[str, list[int]]] = []

    def whole(name: str) -> Any:
        def look(tool_calls: Any) -> Any:
            asked.append((name, [one.arguments.get("n", 0) for one in tool_calls]))
            return {one.id: Amend({"n": 7}) for one in tool_calls} if name == "amends" else None

        return look

    plugins = [made(name, before_tools=whole(name)) for name in ("amends", "looks")]
    result = make_agent([calls("ok", "ok"), ANSWER], *plugins, tool_execution="sequential").run_sync("go")
    assert words(result.session.transcript)[2:4] == ["R c1 ok", "R c2 ok"]
    assert asked == [("amends", [0, 0]), ("looks", [7, 7]), ("looks", [7, 7])]


@both_modes
def test_gates_behind_the_one_that_amended_are_asked_again_too(mode: Any) -> None:
    asked: list[tuple[str, str, int]] = []

    def gates(name: str) -> Any:
        return made(
            name,
            before_tools=lambda tool_calls: asked.append((name, "round", tool_calls[0].arguments.get("n", 0))),
            before_each_tool=lambda tool_call: asked.append((name, "each", tool_call.arguments.get("n", 0))),
        )

    amends = made("amends", before_tools=lambda tool_calls: {"c1": Amend({"n": 7})})
    make_agent([calls("ok"), ANSWER], amends, gates("one"), gates("two"), tool_execution=mode).run_sync("go")
    assert asked[:4] == [("one", "round", 7), ("two", "round", 7), ("one", "each", 7), ("two", "each", 7)]
    assert asked[4:] == [("one", "round", 7), ("two", "round", 7), ("one", "each", 7), ("two", "each", 7)]


@both_modes
@pytest.mark.parametrize("answer", [Approve(), Deny("no")])
def test_an_answer_that_changes_nothing_asks_no_gate_again(answer: Any, mode: Any) -> None:
    asked: list[str] = []

    def each(tool_call: Any) -> Suspend:
        asked.append(tool_call.id)
        return SUSPEND

    person = made("person", resolve_suspended=lambda pending: {one.call.id: answer for one in pending})
    make_agent(
        [calls("ok", "quick"), ANSWER], made("gate", before_each_tool=each), person, tool_execution=mode
    ).run_sync("go")
    assert asked == ["c1", "c2"]


def test_what_a_gate_of_the_round_says_the_second_time_of_other_arguments_is_a_denial_that_names_both() -> None:
    def whole(tool_calls: Any) -> Any:
        return {"c1": Amend({"n": 3})} if tool_calls[0].arguments.get("n") == 7 else None

    plugins = [made("round", before_tools=whole), made("each", before_each_tool=lambda tool_call: Amend({"n": 7}))]
    result = make_agent([calls("ok"), ANSWER], *plugins).run_sync("go")
    assert outcome(result) == EXPECTED["deny"]
    assert contents(result.session.transcript) == [
        "denied by 'round': 'each' and 'round' want different arguments for this call"
    ]


@pytest.mark.parametrize("hook", ["before_tools", "before_each_tool"])
def test_nobody_to_ask_of_the_final_arguments_makes_the_run_refused(hook: str) -> None:
    def second(given: Any) -> Any:
        call = given[0] if isinstance(given, tuple) else given
        return Deny("nobody there", unanswered=True) if call.arguments.get("n") == 7 else None

    if hook == "before_tools":
        first = made("first", before_tools=lambda tool_calls: second(tool_calls))
    else:
        first = made("first", before_each_tool=lambda tool_call: second(tool_call))
    amends = made("amends", before_each_tool=lambda tool_call: Amend({"n": 7}))
    result = make_agent([calls("ok"), ANSWER], first, amends).run_sync("go")
    assert (result.status, result.reason) == ("refused", "a call was refused: nobody there")


def test_messages_of_a_round_that_is_looked_at_again_are_held_once() -> None:
    amends = made("amends", before_each_tool=lambda tool_call: Amend({"n": 7}))
    notes = made(
        "notes",
        before_tools=lambda tool_calls: ["always", f"n is {tool_calls[0].arguments.get('n', 0)}"],
    )
    result = make_agent([calls("ok"), ANSWER], notes, amends).run_sync("go")
    assert words(result.session.transcript)[3:6] == ["U always <notes>", "U n is 0 <notes>", "U n is 7 <notes>"]


def test_what_was_looked_at_before_somebody_was_asked_is_not_looked_at_again() -> None:
    asked: list[int] = []

    def amends_and_asks(tool_calls: Any) -> Any:
        return [{"c1": Amend({"n": 7})}, SUSPEND] if tool_calls[0].arguments.get("n", 0) == 0 else None

    plugins = [
        made("round", before_tools=amends_and_asks),
        made("each", before_each_tool=lambda tool_call: asked.append(tool_call.arguments["n"])),
        made("person", resolve_suspended=lambda pending: {"c1": Approve()}),
    ]
    result = make_agent([calls("ok"), ANSWER], *plugins, tool_execution="sequential").run_sync("go")
    assert outcome(result) == EXPECTED["amend"]
    # Once with the others before the person was asked, and once in its turn.
    assert asked == [7, 7]


def test_a_call_that_has_its_result_keeps_no_other_from_being_judged_once_more() -> None:
    def whole(tool_calls: Any) -> Any:
        return Deny("not seven") if any(one.arguments.get("n") == 7 for one in tool_calls) else None

    plugins = [
        made("round", before_tools=whole),
        made("each", before_each_tool=lambda tool_call: Amend({"n": 7}) if tool_call.id == "c2" else None),
    ]
    result = make_agent([calls("ok", "ok"), ANSWER], *plugins, tool_execution="sequential").run_sync("go")
    assert words(result.session.transcript)[2:4] == ["R c1 ok", "R c2 denied"]


def test_a_late_amendment_that_does_not_fit_fails_closed_too() -> None:
    def late(tool_call: Any) -> Any:
        return Amend({"n": "many"}) if tool_call.arguments.get("n") == 7 else None

    plugins = [
        made("late", before_each_tool=late),
        made("early", before_each_tool=lambda tool_call: Amend({"n": 7})),
    ]
    with pytest.raises(PluginError, match=r"^plugin 'late': hook 'before_each_tool' amended call 'ok' \(c1\) with"):
        make_agent([calls("ok"), ANSWER], *plugins).run_sync("go")


# ---- what is said of a late amendment ----


def test_an_amendment_after_the_answer_is_a_denial_that_says_so() -> None:
    plugins = [
        made("round", before_tools=lambda tool_calls: SUSPEND),
        made("late", before_each_tool=lambda tool_call: Amend({"n": 7})),
        made("person", resolve_suspended=lambda pending: {"c1": Approve()}),
    ]
    result = make_agent([calls("ok"), ANSWER], *plugins, tool_execution="sequential").run_sync("go")
    assert contents(result.session.transcript) == [
        "denied by 'late': 'late' wants different arguments for this call after it was answered for"
    ]


@both_modes
def test_an_amendment_on_resume_is_a_denial_that_says_so(mode: Any) -> None:
    first = [True]
    gate = made("gate", before_each_tool=lambda tool_call: SUSPEND if first[0] else Amend({"n": 7}))
    agent = make_agent([calls("ok"), ANSWER], gate, tool_execution=mode)
    assert agent.run_sync("go").status == "waiting"
    first[0] = False
    assert contents(agent.run_sync("next").session.transcript) == [
        "denied by 'gate': 'gate' wants different arguments for this call after all gates have spoken"
    ]


def test_an_amendment_of_what_a_person_chose_is_a_denial_that_names_both() -> None:
    def each(tool_call: Any) -> Any:
        return SUSPEND if tool_call.arguments.get("n", 0) == 0 else Amend({"n": 9})

    person = made("person", resolve_suspended=lambda pending: {"c1": Amend({"n": 3})})
    result = make_agent([calls("ok"), ANSWER], made("gate", before_each_tool=each), person).run_sync("go")
    assert contents(result.session.transcript) == [
        "denied by 'gate': 'person' and 'gate' want different arguments for this call"
    ]


# ---- answers ----


def test_a_denial_by_a_person_names_the_person_and_not_the_gate() -> None:
    gate = made("gate", before_each_tool=lambda tool_call: SUSPEND)
    person = made("person", resolve_suspended=lambda pending: {"c1": Deny("not now")})
    result = make_agent([calls("ok"), ANSWER], gate, person).run_sync("go")
    assert contents(result.session.transcript) == ["denied by 'person': not now"]


def test_events_say_who_is_asked_for_and_what_still_waits() -> None:
    gate = made("gate", before_each_tool=lambda tool_call: SUSPEND if tool_call.id != "c3" else None)
    person = made("person", resolve_suspended=lambda pending: {"c1": Approve()})
    agent = make_agent([calls("ok", "quick", "ok")], gate, person)
    assert agent.run_sync("go").status == "waiting"
    started = [event for event in agent.session.trace if isinstance(event, ResolveStart)]
    ended = [event for event in agent.session.trace if isinstance(event, ResolveEnd)]
    assert [[call.id for call in event.calls] for event in started] == [["c1", "c2"]]
    assert [event.open for event in ended] == [("c2",)]


@pytest.mark.parametrize(
    "plugins",
    [
        [made("gate", before_each_tool=lambda tool_call: SUSPEND)],
        [made("gate", before_each_tool=lambda tool_call: None), made("person", resolve_suspended=lambda pending: None)],
    ],
    ids=["nobody answers", "nothing waits"],
)
def test_where_nobody_is_asked_nothing_is_said(plugins: list[Any]) -> None:
    agent = make_agent([calls("ok"), ANSWER], *plugins)
    agent.run_sync("go")
    assert not [event for event in agent.session.trace if isinstance(event, ResolveStart | ResolveEnd)]


# ---- who is named ----


@pytest.mark.parametrize("wrong", [{"c9": Deny("x")}, {"c1": Amend({"n": "many"})}])
def test_a_gate_that_gave_a_wrong_verdict_is_not_told_of_its_own_error(wrong: Any) -> None:
    told: list[str] = []
    failing = made(
        "failing", before_tools=lambda tool_calls: wrong, on_error=lambda error, tool_call: told.append("failing")
    )
    other = made("other", on_error=lambda error, tool_call: told.append("other"))
    agent = make_agent([calls("ok")], failing, other)
    agent._hooks.before_tools[0].distribution = "hookagent-failing 1.0"
    with pytest.raises(
        PluginError, match=r"^plugin 'failing' \(hookagent-failing 1\.0\): hook 'before_tools' "
    ) as raised:
        agent.run_sync("go")
    assert (raised.value.plugin, raised.value.hook) == ("failing", "before_tools")
    assert told == ["other"]


def test_a_stop_ends_the_asking_and_says_whose_it_was() -> None:
    asked: list[str] = []
    plugins = [
        made("first", before_each_tool=lambda tool_call: Stop("enough") if tool_call.id == "c2" else None),
        made("second", before_each_tool=lambda tool_call: asked.append(tool_call.id)),
    ]
    result = make_agent([calls("ok", "quick", "ok"), ANSWER], *plugins).run_sync("go")
    assert (result.status, result.reason) == ("stopped", "'first' stopped the run: enough")
    assert asked == ["c1"]
    assert words(result.session.transcript)[2:] == ["R c1 not_run", "R c2 not_run", "R c3 not_run"]
