"""Answers to what gates suspended: who is asked, what counts, and how a session waits and goes on."""

from __future__ import annotations

from typing import Any

import pytest

from hookagent import Amend, Approve, Deny, PluginError, Stop, Suspend
from hookagent.transcript import ToolRound
from tests.core.plugin_making import made
from tests.core.scripts import calls, make_agent, words
from tests.core.verdict_tables import (
    AMEND,
    ANSWER,
    DENY,
    EXPECTED,
    STOP,
    STRICTER,
    SUSPEND,
    VERDICTS,
    both_modes,
    gate,
    outcome,
)

# ---- answers ----


def asks(name: str = "asks", only: str = "") -> Any:
    """A gate that suspends every call, or those of one id."""
    return made(name, before_each_tool=lambda tool_call: SUSPEND if not only or tool_call.id == only else None)


def answers(name: str, log: list[Any], **by_id: Any) -> Any:
    """Answers for some calls, and logs for which it was asked."""

    def resolve(pending: Any) -> Any:
        log.append((name, [one.call.id for one in pending]))
        return {one.call.id: by_id[one.call.id] for one in pending if one.call.id in by_id} or None

    return made(name, resolve_suspended=resolve)


def test_answerers_are_asked_in_order_for_what_is_left_never_for_what_is_denied() -> None:
    log: list[Any] = []
    result = make_agent(
        [calls("ok", "ok", "quick", "quick"), ANSWER],
        asks(),
        made("rule", before_tools=lambda tool_calls: {"c4": Deny("rule")}),
        answers("first", log, c1=Approve()),
        answers("second", log, c2=Deny("by second")),
        answers("third", log, c3=Approve()),
        answers("fourth", log, c1=Deny("too late")),
    ).run_sync("go")
    assert log == [("first", ["c1", "c2", "c3"]), ("second", ["c2", "c3"]), ("third", ["c3"])]
    assert words(result.session.transcript)[2:6] == ["R c1 ok", "R c2 denied", "R c3 ok", "R c4 denied"]


def test_pending_calls_say_who_asked_why_and_what_the_model_sent() -> None:
    seen: list[Any] = []
    make_agent(
        [calls("ok", n=1)],
        made("x", before_each_tool=lambda tool_call: Suspend("reason x")),
        made("y", before_each_tool=lambda tool_call: Amend({"n": 7})),
        made("z", before_tools=lambda tool_calls: Suspend("reason z")),
        made("person", resolve_suspended=lambda pending: seen.extend(pending)),
    ).run_sync("go")
    assert [one.asked_by for one in seen] == [(("z", "reason z"), ("x", "reason x"))]
    assert (seen[0].call.arguments, seen[0].original.arguments, seen[0].tool.name) == ({"n": 7}, {"n": 1}, "ok")


@both_modes
def test_nobody_is_asked_twice_for_one_call(mode: Any) -> None:
    log: list[Any] = []
    plugins = [gate("round", "all", SUSPEND), asks("each"), answers("a", log), answers("b", log, c1=Approve())]
    result = make_agent([calls("ok", "ok"), ANSWER], *plugins, tool_execution=mode).run_sync("go")
    for name in ("a", "b"):
        asked = [call_id for who, ids in log if who == name for call_id in ids]
        assert len(asked) == len(set(asked)), log
    assert (result.status, words(result.session.transcript)) == ("waiting", ["U go", "A c1 c2", "R c1 ok"])


def test_an_answer_for_a_call_it_was_not_asked_for_is_refused() -> None:
    plugin = made("guesses", resolve_suspended=lambda pending: {"c1": Approve(), "c9": Approve()})
    agent = make_agent([calls("ok")], asks(), plugin)
    with pytest.raises(PluginError, match="'guesses': hook 'resolve_suspended' answered for call 'c9'"):
        agent.run_sync("go")
    assert words(agent.session.transcript) == ["U go", "A c1", "R c1 not_run"]


@pytest.mark.parametrize("late", STRICTER)
def test_after_a_person_amended_every_gate_is_asked_the_answering_plugin_too(late: str) -> None:
    asked: list[tuple[str, int]] = []

    def gates(name: str) -> Any:
        def each(tool_call: Any) -> Any:
            number = tool_call.arguments.get("n", 0)
            asked.append((name, number))
            return SUSPEND if number == 0 else VERDICTS[late] if number == 3 else None

        return each

    person = made(
        "person",
        before_each_tool=gates("person"),
        resolve_suspended=lambda pending: {one.call.id: Amend({"n": 3}) for one in pending},
    )
    result = make_agent([calls("ok"), ANSWER], made("gate", before_each_tool=gates("gate")), person).run_sync("go")
    assert asked == [("gate", 0), ("person", 0), ("gate", 3), ("person", 3)]
    runs = ("completed", "ok", 3)
    assert outcome(result) == {"none": runs, "suspend": runs, "amend": EXPECTED["deny"]}.get(late, EXPECTED.get(late))


def test_a_sibling_that_was_approved_is_not_suspended_again_by_an_edit() -> None:
    log: list[Any] = []
    plugins = [gate("round", "all", SUSPEND), answers("person", log, c1=Approve(), c2=Amend({"n": 3}))]
    result = make_agent([calls("ok", "ok"), ANSWER], *plugins).run_sync("go")
    assert log == [("person", ["c1", "c2"])]
    assert (result.status, words(result.session.transcript)[2:4]) == ("completed", ["R c1 ok", "R c2 ok"])


def test_an_edit_that_does_not_fit_fails_closed() -> None:
    agent = make_agent([calls("ok")], asks(), answers("person", [], c1=Amend({"n": "many"})))
    with pytest.raises(PluginError, match="'person': hook 'resolve_suspended' amended call 'ok'"):
        agent.run_sync("go")
    assert words(agent.session.transcript) == ["U go", "A c1", "R c1 not_run"]


@pytest.mark.parametrize("source", ["resolve", "each", "all"])
@both_modes
def test_denied_because_nobody_could_be_asked_makes_the_run_refused(source: str, mode: Any) -> None:
    verdict = Deny("nobody there", unanswered=True)
    plugins = [asks(), answers("p", [], c1=verdict)] if source == "resolve" else [gate("p", source, verdict)]
    result = make_agent([calls("ok"), ANSWER], *plugins, tool_execution=mode).run_sync("go")
    assert (result.status, result.answer) == ("refused", "done")
    assert "nobody there" in result.reason
    assert words(result.session.transcript) == ["U go", "A c1", "R c1 denied", "A done"]


@both_modes
def test_a_stop_from_an_answerer_makes_the_run_refused_and_its_other_answers_count(mode: Any) -> None:
    plugins = [gate("round", "all", SUSPEND), answers("person", [], c1=Stop("quit"), c2=Deny("nor this"))]
    agent = make_agent([calls("ok", "quick")], *plugins, tool_execution=mode)
    result = agent.run_sync("go")
    assert (result.status, result.reason) == ("refused", "'person' stopped the run: quit")
    assert words(result.session.transcript) == ["U go", "A c1 c2", "R c1 not_run", "R c2 denied"]
    assert not agent.session.waiting


# ---- waiting ----


def waiting_agent(mode: Any, *plugins: Any, script: Any = None) -> Any:
    return make_agent(script or [calls("ok", "quick", "ok"), ANSWER], *plugins, tool_execution=mode)


def test_while_a_parallel_round_waits_its_allowed_siblings_run() -> None:
    result = waiting_agent("parallel", asks(only="c2")).run_sync("go")
    assert result.status == "waiting"
    assert result.reason == "waiting for an answer to: quick (c2)"
    assert words(result.session.transcript) == ["U go", "A c1 c2 c3", "R c1 ok", "R c3 ok"]


def test_a_sequential_round_stops_where_it_waits() -> None:
    asked: list[str] = []
    plugin = made("later", before_each_tool=lambda tool_call: asked.append(tool_call.id))
    result = waiting_agent("sequential", asks(only="c2"), plugin).run_sync("go")
    assert result.status == "waiting"
    assert words(result.session.transcript) == ["U go", "A c1 c2 c3", "R c1 ok"]
    assert asked == ["c1", "c2"]


@both_modes
def test_a_prompt_on_a_waiting_session_is_held_until_it_is_answered(mode: Any) -> None:
    log: list[Any] = []
    reply: dict[str, Any] = {}

    def resolve(pending: Any) -> Any:
        log.append([one.call.id for one in pending])
        return reply

    person = made("person", resolve_suspended=resolve)
    agent = waiting_agent(mode, asks(only="c2"), person)
    agent.run_sync("go")
    second = agent.run_sync("and then?")
    assert second.status == "waiting"
    assert [one.text for one in agent.session.transcript.held] == ["and then?"]
    reply["c2"] = Approve()
    third = agent.run_sync("well?")
    assert log == [["c2"]] * 3
    assert third.status == "completed"
    assert words(third.session.transcript) == [
        "U go", "A c1 c2 c3", "R c1 ok", "R c2 ok", "R c3 ok", "U and then?", "U well?", "A done",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("now", "status", "result"),
    [
        (None, "waiting", ""),
        (DENY, "completed", "denied"),
        (STOP, "stopped", "not_run"),
        (AMEND, "completed", "denied"),
    ],
)
@both_modes
def test_on_resume_a_call_keeps_its_verdict_and_can_only_be_judged_more_strictly(
    now: Any, status: str, result: str, mode: Any
) -> None:
    first = [True]
    gate_ = made("gate", before_each_tool=lambda tool_call: SUSPEND if first[0] else now)
    agent = make_agent([calls("ok"), ANSWER], gate_, tool_execution=mode)
    assert agent.run_sync("go").status == "waiting"
    first[0] = False
    second = agent.run_sync("next")
    assert second.status == status
    assert words(second.session.transcript)[2:3] == ([f"R c1 {result}"] if result else ["U next"])


@both_modes
def test_on_resume_the_gate_that_amended_is_not_held_against_itself(mode: Any) -> None:
    reply: dict[str, Any] = {}
    grows = made("grows", before_each_tool=lambda tool_call: Amend({"n": tool_call.arguments.get("n", 0) + 1}))
    plugins = [asks(), grows, made("person", resolve_suspended=lambda pending: reply)]
    agent = make_agent([calls("ok"), ANSWER], *plugins, tool_execution=mode)
    assert agent.run_sync("go").status == "waiting"
    reply["c1"] = Approve()
    assert outcome(agent.run_sync("next")) == ("completed", "ok", 1)


@both_modes
def test_on_resume_each_gate_is_asked_once_for_each_call(mode: Any) -> None:
    log: list[Any] = []
    counting = made("counting", before_each_tool=lambda tool_call: log.append(("gate", tool_call.id)))
    agent = waiting_agent(mode, gate("round", "all", SUSPEND), counting, answers("person", log))
    agent.run_sync("go")
    log.clear()
    agent.run_sync("next")
    assert len(log) == len(set(map(str, log)))
    assert log[-1] == ("person", ["c1", "c2", "c3"])


@both_modes
@pytest.mark.parametrize("change", ["gone", "changed"])
def test_a_tool_that_is_not_what_it_was_is_said_to_the_model_on_resume(change: str, mode: Any) -> None:
    log: list[Any] = []
    agent = make_agent([calls("ok", n=1), ANSWER], asks(), answers("person", log, c9=DENY), tool_execution=mode)
    assert agent.run_sync("go").status == "waiting"
    agent.tools.remove("ok")
    if change == "changed":

        def other(path: str) -> str:
            return path

        other.__name__ = "ok"
        agent.tools.add(other)
    log.clear()
    result = agent.run_sync("next")
    round_ = result.session.transcript[1]
    assert isinstance(round_, ToolRound)
    assert round_.results[0] is not None
    kind = "UnknownTool" if change == "gone" else "BadArguments"
    assert (result.status, round_.results[0].error_type, log) == ("completed", kind, [])


def test_a_stop_from_after_user_input_leaves_a_waiting_round_open() -> None:
    stop = [False]
    door = made("door", after_user_input=lambda message: Stop("closed") if stop[0] else None)
    agent = make_agent([calls("ok")], asks(), door)
    agent.run_sync("go")
    stop[0] = True
    result = agent.run_sync("next")
    assert result.status == "stopped"
    assert [one.text for one in result.not_stored] == ["next"]
    assert agent.session.transcript.open_round is not None


def test_a_gate_that_amended_is_asked_again_when_a_person_changed_what_it_chose() -> None:
    seen: list[int] = []

    def each(tool_call: Any) -> Any:
        number = tool_call.arguments.get("n", 0)
        seen.append(number)
        return Amend({"n": 7}) if number == 0 else Deny("only seven") if number != 7 else None

    plugins = [asks(), made("seven", before_each_tool=each), answers("person", [], c1=Amend({"n": 3}))]
    result = make_agent([calls("ok"), ANSWER], *plugins).run_sync("go")
    assert seen == [0, 3]
    assert outcome(result) == EXPECTED["deny"]
