"""Verdicts: the strictest wins in every order and from every hook; amendments; answers; waiting and going on."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hookagent import Amend, Approve, Deny, PluginError, Stop, Suspend
from hookagent.transcript import ToolRound
from hookagent.verdicts import stricter
from tests.core.plugin_making import made
from tests.core.scripts import calls, make_agent, words
from tests.core.verdict_tables import (
    AMEND,
    ANSWER,
    EXPECTED,
    SOURCES,
    STRICTER,
    SUSPEND,
    VERDICTS,
    both_modes,
    gate,
    outcome,
)


@both_modes
@pytest.mark.parametrize("second", STRICTER)
@pytest.mark.parametrize("first", STRICTER)
def test_of_two_verdicts_the_stricter_holds_from_every_pair_of_hooks(first: str, second: str, mode: Any) -> None:
    expected = EXPECTED[max(first, second, key=STRICTER.index)]
    for one in SOURCES:
        for other in SOURCES:
            plugins = gate("a", one, VERDICTS[first]), gate("b", other, VERDICTS[second])
            result = make_agent([calls("ok"), ANSWER], *plugins, tool_execution=mode).run_sync("go")
            assert outcome(result) == expected, (one, other)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(STRICTER), st.sampled_from(SOURCES)), min_size=3, max_size=3), st.booleans())
def test_of_three_verdicts_the_strictest_holds(picked: list[tuple[str, str]], parallel: bool) -> None:
    plugins = [gate(f"p{index}", source, VERDICTS[kind]) for index, (kind, source) in enumerate(picked)]
    mode: Any = "parallel" if parallel else "sequential"
    result = make_agent([calls("ok"), ANSWER], *plugins, tool_execution=mode).run_sync("go")
    assert outcome(result) == EXPECTED[max((kind for kind, _ in picked), key=STRICTER.index)]


def test_a_subclass_of_a_verdict_is_as_strict_as_its_parent() -> None:
    class Softer(Deny):
        """Somebody's own kind of denial."""

    plugin = made("own", before_each_tool=lambda tool_call: Softer("mine"))
    assert outcome(make_agent([calls("ok"), ANSWER], plugin).run_sync("go")) == EXPECTED["deny"]


def test_verdicts_by_call_id_leave_the_other_calls_alone() -> None:
    plugin = made("picky", before_tools=lambda tool_calls: {"c2": Deny("not this one")})
    result = make_agent([calls("ok", "ok", "quick"), ANSWER], plugin).run_sync("go")
    assert words(result.session.transcript) == ["U go", "A c1 c2 c3", "R c1 ok", "R c2 denied", "R c3 ok", "A done"]


@pytest.mark.parametrize(
    ("returned", "expected"),
    [
        ({"zz": Deny("x")}, "gave a verdict for call 'zz', which is not in the round"),
        ([Deny("x"), Stop("y")], "returned two verdicts, Deny and Stop"),
        ([{"c1": Deny("x")}, {"c1": AMEND}], "returned two verdicts for call 'c1'"),
        ({"c1": Approve()}, "returned a Approve for call 'c1'; expected Stop, Deny, Suspend, Amend"),
        (AMEND, "returned a Amend; it may return Stop, Deny, Suspend"),
        (Deny(5), "returned a Deny whose reason is a int, not text"),  # type: ignore[arg-type]
        ({"c1": Amend([("n", 1)])}, "returned an Amend with a list, not a mapping"),  # type: ignore[arg-type]
        (Deny, "returned the class Deny (forgotten the ()?)"),
        (True, "returned a bool; it may return"),
    ],
)
def test_a_verdict_that_cannot_be_stops_the_run_and_no_call_runs(returned: Any, expected: str) -> None:
    ran: list[int] = []

    def noted(n: int = 0) -> str:
        ran.append(n)
        return "ran"

    agent = make_agent([calls("noted")], made("odd", before_tools=lambda tool_calls: returned), tools=[noted])
    with pytest.raises(PluginError) as raised:
        agent.run_sync("go")
    assert expected in str(raised.value)
    assert ran == []
    assert words(agent.session.transcript) == ["U go", "A c1", "R c1 not_run"]


# ---- amendments ----


def test_an_amendment_is_what_the_next_gate_sees_and_what_runs() -> None:
    seen: list[tuple[str, Any]] = []

    def look(tool_call: Any) -> None:
        seen.append(("b", dict(tool_call.arguments)))

    first = made("a", before_each_tool=lambda tool_call: Amend({"n": 7}))
    result = make_agent([calls("ok"), ANSWER], first, made("b", before_each_tool=look)).run_sync("go")
    assert seen == [("b", {"n": 7}), ("b", {"n": 7})]
    assert outcome(result) == EXPECTED["amend"]
    content = next(b for b in result.session.transcript if isinstance(b, ToolRound)).results[0].content  # type: ignore[union-attr]
    assert content == "ok 7\n\n[the arguments were changed by 'a' before it ran: {\"n\": 7}]"


@pytest.mark.parametrize("arguments", [{"n": "many"}, {"m": 1}, {"n": {1, 2}}, {"n": float("nan")}])
@both_modes
def test_an_amendment_that_does_not_fit_fails_closed(arguments: Any, mode: Any) -> None:
    asked: list[str] = []
    agent = make_agent(
        [calls("ok")],
        made("bender", before_each_tool=lambda tool_call: Amend(arguments)),
        made("later", before_each_tool=lambda tool_call: asked.append(tool_call.id)),
        tool_execution=mode,
    )
    with pytest.raises(PluginError, match=r"plugin 'bender': hook 'before_each_tool' amended call 'ok' \(c1\)"):
        agent.run_sync("go")
    assert asked == []
    round_ = agent.session.transcript[1]
    assert isinstance(round_, ToolRound)
    result = round_.results[0]
    assert result is not None
    assert result.status == "not_run"
    assert "'bender'" in result.content


def test_an_amendment_that_changes_nothing_is_none() -> None:
    asked: list[str] = []
    result = make_agent(
        [calls("ok", n=1), ANSWER],
        made("same", before_each_tool=lambda tool_call: Amend({"n": 1})),
        made("other", before_each_tool=lambda tool_call: asked.append(tool_call.id)),
    ).run_sync("go")
    assert asked == ["c1"]
    assert "changed by" not in str(list(result.session.transcript))


def test_true_for_one_is_a_change_though_python_calls_them_equal() -> None:
    def flag(value: bool | int = 0) -> str:
        return f"{value!r}"

    plugin = made("strict", before_each_tool=lambda tool_call: Amend({"value": True}))
    result = make_agent([calls("flag", value=1), ANSWER], plugin, tools=[flag]).run_sync("go")
    round_ = result.session.transcript[1]
    assert isinstance(round_, ToolRound)
    assert round_.results[0] is not None
    assert round_.results[0].content.startswith("True\n")


@both_modes
def test_after_an_amendment_every_gate_but_that_one_is_asked_once_more(mode: Any) -> None:
    asked: list[tuple[str, str, int]] = []

    def watcher(name: str, amends: bool = False) -> Any:
        def each(tool_call: Any) -> Any:
            asked.append((name, "each", tool_call.arguments.get("n", 0)))
            return Amend({"n": 7}) if amends else None

        def whole(tool_calls: Any) -> None:
            asked.append((name, "round", tool_calls[0].arguments.get("n", 0)))

        return made(name, before_each_tool=each, before_tools=whole)

    make_agent([calls("ok"), ANSWER], watcher("a"), watcher("b", True), watcher("c"), tool_execution=mode).run_sync(
        "go"
    )
    assert asked == [
        ("a", "round", 0), ("b", "round", 0), ("c", "round", 0),
        ("a", "each", 0), ("b", "each", 0), ("c", "each", 7),
        ("a", "round", 7), ("b", "round", 7), ("c", "round", 7),
        ("a", "each", 7), ("c", "each", 7),
    ]  # fmt: skip


def test_an_amendment_of_an_amendment_is_a_denial_that_names_both() -> None:
    plugins = [
        made("three", before_each_tool=lambda tool_call: Amend({"n": 3})),
        made("four", before_each_tool=lambda tool_call: Amend({"n": 4})),
    ]
    result = make_agent([calls("ok"), ANSWER], *plugins).run_sync("go")
    assert outcome(result) == EXPECTED["deny"]
    assert "denied by 'three': 'four' and 'three' want different arguments" in str(list(result.session.transcript))


@pytest.mark.parametrize("late", [Deny("not seven"), Stop("not seven"), Suspend("seven?")])
@pytest.mark.parametrize("hook", ["each", "round"])
def test_what_a_gate_says_of_the_final_arguments_holds(late: Any, hook: str) -> None:
    def each(tool_call: Any) -> Any:
        return late if tool_call.arguments.get("n") == 7 else None

    first = made("early", before_each_tool=each) if hook == "each" else made(
        "early", before_tools=lambda tool_calls: each(tool_calls[0])
    )  # fmt: skip
    plugins = [first, made("amends", before_each_tool=lambda tool_call: Amend({"n": 7}))]
    result = make_agent([calls("ok"), ANSWER], *plugins).run_sync("go")
    assert outcome(result) == EXPECTED[type(late).__name__.lower()]


@pytest.mark.parametrize("broken", [{"arguments": {"n": "many"}}, {"raw_arguments": '{"n": '}])
@both_modes
def test_an_amendment_repairs_bad_arguments(broken: dict[str, Any], mode: Any) -> None:
    script = [{"calls": [{"name": "ok", "id": "c1", **broken}]}, ANSWER]
    asked: list[str] = []
    repair = made("repair", before_each_tool=lambda tool_call: Amend({"n": 7}))
    resolver = made("person", resolve_suspended=lambda pending: asked.append("asked"))
    result = make_agent(script, repair, resolver, tool_execution=mode).run_sync("go")
    assert outcome(result) == EXPECTED["amend"]
    # What repairs can suspend what it repaired, whatever the order in which it says so.
    repair = made("both", before_tools=lambda tool_calls: [Suspend("seven?"), {"c1": Amend({"n": 7})}])
    result = make_agent(script, repair, resolver, tool_execution=mode).run_sync("go")
    assert (result.status, asked) == ("waiting", ["asked"])


@pytest.mark.parametrize(
    ("step", "kind"),
    [
        (calls("nope"), "UnknownTool"),
        (calls("ok", n="many"), "BadArguments"),
        ({**calls("ok"), "stop": "length"}, "CutReply"),
    ],
)
@pytest.mark.parametrize("source", ["each", "all"])
@both_modes
def test_a_suspension_of_what_cannot_run_is_dropped(step: Any, kind: str, source: str, mode: Any) -> None:
    asked: list[Any] = []
    plugins = [gate("asks", source, SUSPEND), made("person", resolve_suspended=lambda pending: asked.append(pending))]
    result = make_agent([step, ANSWER], *plugins, tool_execution=mode).run_sync("go")
    assert asked == []
    round_ = result.session.transcript[1]
    assert isinstance(round_, ToolRound)
    assert round_.results[0] is not None
    assert (result.status, round_.results[0].error_type) == ("completed", kind)


def test_what_a_denial_says_reaches_the_model_bounded_and_clean() -> None:
    plugin = made("wordy", before_each_tool=lambda tool_call: Deny("\ud800" + "x" * 5000))
    result = make_agent([calls("ok"), ANSWER], plugin, tool_result_limit=1000).run_sync("go")
    round_ = result.session.transcript[1]
    assert isinstance(round_, ToolRound)
    assert round_.results[0] is not None
    content = round_.results[0].content
    content.encode()
    assert 900 < len(content) < 1200


def test_an_amendment_is_frozen_through_and_through_whoever_made_it() -> None:
    from hookagent.frozen import FrozenDict

    inner = [1, 2]
    seen: list[Any] = []

    def many(n: list[int]) -> str:
        return str(sum(n))

    plugins = [
        made("sly", before_each_tool=lambda tool_call: Amend(FrozenDict({"n": inner}))),
        made("sees", before_each_tool=lambda tool_call: seen.append(tool_call.arguments["n"])),
    ]
    make_agent([calls("many", n=[3]), ANSWER], *plugins, tools=[many]).run_sync("go")
    with pytest.raises(TypeError, match="frozen"):
        seen[-1].append(9)


def test_a_suspension_that_was_dropped_does_not_come_back_when_the_arguments_are_repaired() -> None:
    """The gate is asked once more with what will run; what it said of what could not run is void."""
    asked: list[Any] = []

    def of_broken(tool_call: Any) -> Any:
        return SUSPEND if tool_call.arguments["n"] == "many" else None

    plugins = [
        made("careful", before_each_tool=of_broken),
        made("repairs", before_each_tool=lambda tool_call: Amend({"n": 7})),
        made("person", resolve_suspended=lambda pending: asked.append(pending)),
    ]
    result = make_agent([calls("ok", n="many"), ANSWER], *plugins).run_sync("go")
    assert outcome(result) == EXPECTED["amend"]
    assert asked == []


def test_of_two_equally_strict_verdicts_the_first_holds_but_an_unanswered_denial_before_another() -> None:
    first, second, unanswered = Deny("first"), Deny("second"), Deny("nobody", unanswered=True)
    assert stricter(first, second) is first
    assert stricter(first, unanswered) is unanswered
    assert stricter(unanswered, first) is unanswered
    assert stricter(Stop("x"), unanswered) == Stop("x")
