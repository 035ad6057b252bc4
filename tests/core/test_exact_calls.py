"""What an amendment changes and what it leaves: unreadable calls, cut replies, unknown tools, calls on disk."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from hookagent import Amend, Approve, Deny, Replace, Suspend
from hookagent.events import ToolStart
from hookagent.messages import ToolCall
from hookagent.pending import PendingCall
from hookagent.transcript import ToolRound
from tests.core.plugin_making import made
from tests.core.scripts import calls, make_agent, words
from tests.core.verdict_tables import both_modes

ANSWER = {"text": "done"}


def results(agent: Any) -> list[Any]:
    return [one for block in agent.transcript if isinstance(block, ToolRound) for one in block.results]


def started(agent: Any) -> list[ToolCall]:
    return [one.call for one in agent.session.trace if isinstance(one, ToolStart)]


def amends(arguments: Any) -> Any:
    return made("amends", before_each_tool=lambda tool_call: Amend(arguments))


async def pair(a: int = 0, b: int = 0) -> str:
    """Give two numbers back."""
    return f"{a} and {b}"


async def deep(values: dict[str, Any]) -> str:
    """Give the keys back."""
    return ",".join(values)


# ---- what cannot run ----


def test_a_call_that_could_not_be_read_runs_as_amended_and_nothing_of_the_fault_is_left() -> None:
    script = [{"calls": [{"name": "quick", "raw_arguments": "{n: 3", "id": "c1"}]}, ANSWER]
    heard: list[ToolCall] = []
    hears = made("hears", after_each_tool=lambda tool_call, result: heard.append(tool_call))
    agent = make_agent(script, amends({"n": 7}), hears)
    agent.run_sync("go")
    [call] = started(agent)
    assert heard == [call]
    assert (call.arguments, call.raw, call.problem) == ({"n": 7}, None, None)
    assert results(agent)[0].content == "quick 7\n\n[the arguments were changed by 'amends' before it ran: {\"n\": 7}]"


@pytest.mark.parametrize(
    ("arguments", "beginning"),
    [
        ({"raw_arguments": "{n: 3"}, "arguments cannot be understood: "),
        ({"arguments": {"n": "many"}}, "arguments do not fit"),
    ],
)
def test_a_call_that_does_not_fit_says_what_was_wrong_and_what_was_expected(arguments: Any, beginning: str) -> None:
    agent = make_agent([{"calls": [{"name": "quick", "id": "c1", **arguments}]}, ANSWER])
    agent.run_sync("go")
    [result] = results(agent)
    assert (result.status, result.error_type, result.is_error) == ("error", "BadArguments", True)
    assert result.content.startswith(beginning)
    assert started(agent) == []


def test_a_call_that_a_plugin_made_without_arguments_is_said_to_be_no_object() -> None:
    gives = made(
        "gives",
        after_llm=lambda response: (
            Replace(response.changed(tool_calls=[ToolCall("c1", "quick", None)])) if response.tool_calls else None
        ),
    )
    agent = make_agent([calls("ok"), ANSWER], gives)
    agent.run_sync("go")
    assert results(agent)[0].content.startswith("arguments cannot be understood: not a JSON object\nexpected: ")


@both_modes
def test_an_unknown_tool_stays_unknown_whatever_arguments_a_gate_wants(mode: Any) -> None:
    agent = make_agent([calls("nope", "quick"), ANSWER], amends({"n": 7}), tool_execution=mode)
    agent.run_sync("go")
    first, second = results(agent)
    assert (first.status, first.error_type, first.is_error) == ("error", "UnknownTool", True)
    assert first.content.startswith("unknown tool 'nope'")
    assert "changed" not in first.content
    assert second.content.startswith("quick 7")


@both_modes
@pytest.mark.parametrize("names", [("quick",), ("quick", "ok")])
@pytest.mark.parametrize(
    ("stop", "content"),
    [
        (
            "length",
            "not run: the reply was cut by the output limit, so this call may be incomplete. "
            "answer with less text, or split the work into smaller calls",
        ),
        ("too_long", "not run: the reply was cut where the context window ended, so this call may be incomplete"),
        ("refusal", "not run: the reply was stopped as a refusal, so its calls cannot be trusted"),
        ("filtered", "not run: the reply was stopped by a filter, so its calls cannot be trusted"),
    ],
)
def test_no_call_of_a_cut_reply_runs_though_it_is_amended(stop: str, content: str, names: Any, mode: Any) -> None:
    agent = make_agent([{**calls(*names), "stop": stop}, ANSWER], amends({"n": 7}), tool_execution=mode)
    agent.run_sync("go")
    assert [(one.content, one.status, one.error_type, one.is_error) for one in results(agent)] == [
        (content, "not_run", "CutReply", True)
    ] * len(names)
    assert started(agent) == []
    assert [one.arguments for one in agent.transcript[1].calls] == [{}] * len(names)  # type: ignore[union-attr]


# ---- what changes nothing ----


@pytest.mark.parametrize(
    ("name", "sent", "wanted"),
    [
        ("pair", {"a": 1, "b": 2}, {"b": 2, "a": 1}),
        ("pair", {"b": 2, "a": 1}, {"a": 1, "b": 2}),
        ("deep", {"values": {"x": 1, "y": {"p": 1, "q": 2}}}, {"values": {"y": {"q": 2, "p": 1}, "x": 1}}),
        ("deep", {"values": {"y": 1, "x": 2}}, {"values": {"x": 2, "y": 1}}),
    ],
)
def test_the_same_arguments_in_another_order_are_no_amendment(name: str, sent: Any, wanted: Any) -> None:
    asked: list[str] = []
    hears = made("hears", before_each_tool=lambda tool_call: asked.append(tool_call.id))
    agent = make_agent([calls(name, **sent), ANSWER], hears, amends(wanted), tools=[pair, deep])
    agent.run_sync("go")
    assert asked == ["c1"]
    assert "changed" not in results(agent)[0].content
    assert list(started(agent)[0].arguments or ()) == list(sent)


@pytest.mark.parametrize(("sent", "wanted"), [(1, True), (1, 1.0), (True, 1), (0, False)])
def test_what_python_calls_equal_is_another_value_all_the_same(sent: Any, wanted: Any) -> None:
    async def tell(value: Any) -> str:
        """Say what it got."""
        return repr(value)

    agent = make_agent([calls("tell", value=sent), ANSWER], amends({"value": wanted}), tools=[tell])
    agent.run_sync("go")
    first, _, note = results(agent)[0].content.partition("\n\n")
    assert first == repr(wanted)
    assert note.startswith("[the arguments were changed by 'amends' before it ran: ")


# ---- what an answerer sees ----


@pytest.mark.parametrize("amended", [False, True])
def test_an_answerer_sees_the_call_as_the_model_sent_it_only_where_it_was_changed(amended: bool) -> None:
    seen: list[PendingCall] = []

    def answer(pending: Any) -> Any:
        seen.extend(pending)
        return {one.call.id: Approve() for one in pending}

    asks = made("asks", before_tools=lambda tool_calls: Suspend("sure?"), resolve_suspended=answer)
    agent = make_agent([calls("quick", n=3), ANSWER], *([amends({"n": 7})] if amended else []), asks)
    assert agent.run_sync("go").status == "completed"
    [one] = seen
    assert (one.call.arguments, one.tool.name, one.asked_by) == (
        {"n": 7 if amended else 3},
        "quick",
        (("asks", "sure?"),),
    )
    if amended:
        assert one.original is not None
        assert (one.original.id, one.original.arguments) == ("c1", {"n": 3})
    else:
        assert one.original is None


# ---- what a session on disk knows of a call ----


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home folder of the test's own."""
    monkeypatch.setenv("HOOKAGENT_HOME", str(tmp_path / "home"))
    return tmp_path


def judging(answers: Any = None, asked: list[PendingCall] | None = None) -> list[Any]:
    """A gate that amends what c1 has at first, and one that asks for c1 and c2 and answers as it is told."""

    def each(tool_call: Any) -> Any:
        return Amend({"n": 7}) if tool_call.id == "c1" and tool_call.arguments == {"n": 3} else None

    def resolve(pending: Any) -> Any:
        if asked is not None:
            asked.extend(pending)
        return {one.call.id: answers[one.call.id] for one in pending if one.call.id in (answers or {})}

    def all_of_them(tool_calls: Any) -> Any:
        return {one.id: Suspend("sure?") for one in tool_calls if one.id in ("c1", "c2")}

    return [made("amends", before_each_tool=each), made("asks", before_tools=all_of_them, resolve_suspended=resolve)]


def come_back(plugins: list[Any], others: list[Any], mode: Any) -> Any:
    """Let a round wait under `plugins`, and go on with it from the disk under `others`; the agent afterwards."""
    first = make_agent([calls("quick", "ok", "quick", n=3)], *plugins, tool_execution=mode)
    assert first.run_sync("go").status == "waiting"
    first.close_sync()
    second = make_agent([ANSWER], *others, session=first.session.id, tool_execution=mode)
    assert second.run_sync("and?").status == "completed"
    assert words(second.transcript)[-2:] == ["U and?", "A done"]
    return second


@pytest.mark.usefixtures("home")
@both_modes
@pytest.mark.parametrize(
    ("answer", "content", "who"),
    [
        (Approve(), "quick 7", "amends"),
        (Amend({"n": 9}), "quick 9", "asks"),
        (Deny("not today"), "denied by 'asks': not today", None),
    ],
)
def test_a_call_that_waited_on_disk_comes_back_with_all_that_was_said_of_it(
    answer: Any, content: str, who: str | None, mode: Any
) -> None:
    asked: list[PendingCall] = []
    agent = come_back(judging(), judging({"c1": answer, "c2": Approve()}, asked), mode)
    one, other = asked
    assert (one.call.arguments, one.asked_by) == ({"n": 7}, (("asks", "sure?"),))
    assert one.original is not None
    assert one.original.arguments == {"n": 3}
    assert other.original is None
    text, _, note = results(agent)[0].content.partition("\n\n")
    assert text == content
    assert note.partition(" before")[0] == (f"[the arguments were changed by '{who}'" if who is not None else "")
    assert [result.status for result in results(agent)[1:]] == ["ok", "ok"]


@pytest.mark.usefixtures("home")
def test_what_was_answered_before_it_waited_is_not_asked_again() -> None:
    edited = judging({"c2": Amend({"n": 9})})
    asked: list[PendingCall] = []
    suspends = made("suspends", before_each_tool=lambda tool_call: Suspend("really?") if tool_call.id == "c2" else None)
    agent = come_back(edited, [*judging({"c1": Approve()}, asked), suspends], "sequential")
    assert [one.call.id for one in asked] == ["c1"]
    assert results(agent)[1].content == "ok 9\n\n[the arguments were changed by 'asks' before it ran: {\"n\": 9}]"


@pytest.mark.usefixtures("home")
def test_a_gate_that_spoke_before_the_round_waited_can_change_nothing_any_more() -> None:
    late = made("late", before_each_tool=lambda tool_call: Amend({"n": 8}) if tool_call.id == "c2" else None)
    agent = come_back(judging(), [*judging({"c1": Approve(), "c2": Approve()}), late], "parallel")
    assert results(agent)[1].content == (
        "denied by 'late': 'late' wants different arguments for this call after all gates have spoken"
    )
