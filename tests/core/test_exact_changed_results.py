"""What hooks make of a call's result, and what it says of arguments that were changed."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

import pytest

from hookagent import Amend, Approve, Deny, Suspend, ToolResult
from hookagent.transcript import ToolRound
from tests.core.plugin_making import Around, made
from tests.core.scripts import calls, make_agent, quick
from tests.core.verdict_tables import both_modes

ANSWER = {"text": "done"}
PAIRS = pytest.mark.parametrize("names", [("quick",), ("quick", "ok")], ids=["alone", "beside"])


def results(agent: Any) -> list[Any]:
    return [one for block in agent.transcript if isinstance(block, ToolRound) for one in block.results]


def seen(result: ToolResult) -> tuple[str, bool, str, str | None]:
    return result.content, result.is_error, result.status, result.error_type


# ---- what hooks make of a result ----


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (ToolResult("mine"), ("mine", False, "ok", None)),
        (ToolResult("mine", True), ("mine", True, "error", None)),
        (ToolResult("mine", False, "error", error_type="Mine"), ("mine", True, "error", "Mine")),
        (ToolResult("mine", False, "denied"), ("mine", True, "denied", None)),
        (ToolResult(" "), ("(no output)", False, "ok", None)),
        (ToolResult("long " * 10), ("long long \n[… 30 of 50 characters left out …]\nlong long ", False, "ok", None)),
    ],
)
@PAIRS
def test_a_result_that_a_hook_around_a_call_made_is_whole_and_the_calls(
    given: ToolResult, expected: Any, names: Any
) -> None:
    async def makes(tool_call: Any, call_next: Any) -> Any:
        return given if tool_call.id == "c1" else await call_next()

    agent = make_agent([calls(*names), ANSWER], Around("makes", makes), tool_result_limit=20)
    agent.run_sync("go")
    assert seen(results(agent)[0]) == expected
    assert results(agent)[0].call_id == "c1"


@pytest.mark.parametrize(
    ("name", "given", "expected"),
    [
        ("ok", ToolResult("mine"), ("mine", False, "ok", None)),
        ("ok", ToolResult("mine", True), ("mine", True, "error", None)),
        ("ok", ToolResult("mine", False, "not_run"), ("mine", True, "error", None)),
        ("bad", ToolResult("mine", False), ("mine", False, "ok", None)),
        ("bad", ToolResult("mine", True, error_type="Mine"), ("mine", True, "error", "Mine")),
        ("nope", ToolResult("mine", False), ("mine", False, "ok", None)),
        (
            "ok",
            ToolResult("long " * 10),
            ("long long \n[… 30 of 50 characters left out …]\nlong long ", False, "ok", None),
        ),
    ],
)
def test_a_hook_after_a_call_may_say_whether_it_failed(name: str, given: ToolResult, expected: Any) -> None:
    changes = made("changes", after_each_tool=lambda tool_call, result: given)
    later: list[Any] = []
    sees = made("sees", after_each_tool=lambda tool_call, result: later.append(result))
    agent = make_agent([calls(name), ANSWER], changes, sees, tool_result_limit=20)
    agent.run_sync("go")
    assert seen(results(agent)[0]) == expected
    assert later == results(agent)
    assert results(agent)[0].call_id == "c1"


@pytest.mark.parametrize("stop", ["length", "end"])
def test_a_hook_after_a_call_cannot_say_that_it_ran_when_it_did_not(stop: str) -> None:
    denies = made("denies", before_each_tool=lambda tool_call: None if stop == "length" else Deny("no"))
    changes = made("changes", after_each_tool=lambda tool_call, result: ToolResult("all well", milliseconds=1.0))
    agent = make_agent([{**calls("ok"), "stop": stop}, ANSWER], denies, changes)
    agent.run_sync("go")
    expected = ("not_run", "CutReply") if stop == "length" else ("denied", None)
    assert seen(results(agent)[0]) == ("all well", True, *expected)
    assert results(agent)[0].milliseconds is None


@pytest.mark.parametrize("given", [None, 0.0, 7.5])
def test_the_time_a_call_took_stays_unless_a_hook_gives_another(given: float | None) -> None:
    before: list[float | None] = []

    def changes(tool_call: Any, result: ToolResult) -> ToolResult:
        before.append(result.milliseconds)
        return ToolResult("mine", milliseconds=given)

    agent = make_agent([calls("quick"), ANSWER], made("changes", after_each_tool=changes))
    agent.run_sync("go")
    assert before[0] is not None
    assert results(agent)[0].milliseconds == (before[0] if given is None else given)


# ---- arguments that were changed ----


@both_modes
@pytest.mark.parametrize(("length", "left_out"), [(1000, 0), (1988, 0), (1989, 1), (3000, 1012)])
@pytest.mark.parametrize("by", ["gate", "answerer"])
def test_changed_arguments_are_told_and_bounded(by: str, length: int, left_out: int, mode: Any) -> None:
    async def takes(text: str) -> str:
        """Take a text."""
        return f"{len(text)}"

    arguments = {"text": "x" * length}
    if by == "gate":
        plugin = made("mine", before_each_tool=lambda tool_call: Amend(arguments))
    else:
        plugin = made(
            "mine",
            before_each_tool=lambda tool_call: Suspend("?"),
            resolve_suspended=lambda pending: {one.call.id: Amend(arguments) for one in pending},
        )
    agent = make_agent([calls("takes", text="a"), ANSWER], plugin, tools=[takes], tool_execution=mode)
    agent.run_sync("go")
    content, _, note = results(agent)[0].content.partition("\n\n")
    assert content == str(length)
    shown = note.removeprefix("[the arguments were changed by 'mine' before it ran: ").removesuffix("]")
    assert shown.startswith('{"text": "xx')
    notice = f"[… {left_out:,} of {length + 12:,} characters left out …]"
    assert (notice in shown) is (left_out > 0)
    assert left_out or len(shown) == length + 12


@both_modes
@pytest.mark.parametrize(
    ("name", "denied", "expected"),
    [
        ("fails", False, "ValueError: 7\n\n[the arguments were changed by 'mine' before it ran: {\"n\": 7}]"),
        ("quick", False, "quick 7\n\n[the arguments were changed by 'mine' before it ran: {\"n\": 7}]"),
        ("quick", True, "denied by 'denies': no"),
    ],
)
def test_that_arguments_were_changed_is_told_of_calls_that_ran_alone(
    name: str, denied: bool, expected: str, mode: Any
) -> None:
    async def fails(n: int) -> str:
        """Fail."""
        raise ValueError(n)

    plugins = [
        made("mine", before_each_tool=lambda tool_call: Amend({"n": 7}) if tool_call.arguments["n"] == 3 else None)
    ]
    if denied:
        plugins.append(made("denies", before_each_tool=lambda tool_call: Deny("no")))
    agent = make_agent([calls(name, n=3), ANSWER], *plugins, tools=[fails, quick], tool_execution=mode)
    agent.run_sync("go")
    assert results(agent)[0].content == expected


@both_modes
def test_why_a_call_did_not_run_is_bounded_as_results_are(mode: Any) -> None:
    denies = made("denies", before_each_tool=lambda tool_call: Deny("no " * 100))
    agent = make_agent([calls("quick", "ok"), ANSWER], denies, tool_result_limit=20, tool_execution=mode)
    agent.run_sync("go")
    expected = "denied by \n[… 300 of 320 characters left out …]\n no no no "
    assert [one.content for one in results(agent)] == [expected] * 2


def test_where_it_is_not_known_who_changed_the_arguments_that_they_were_is_said_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOOKAGENT_HOME", str(tmp_path))

    def plugins(answer: Any) -> list[Any]:
        changes = made("mine", before_each_tool=lambda tool_call: Amend({"n": 7}))
        asks = made("asks", before_tools=lambda tool_calls: Suspend("?"), resolve_suspended=lambda pending: answer)
        return [changes, asks]

    first = make_agent([calls("quick", n=3)], *plugins(None))
    assert first.run_sync("go").status == "waiting"
    first.close_sync()
    with sqlite3.connect(tmp_path / "sessions.sqlite") as database:
        done = database.execute(
            "UPDATE records SET data = replace(data, ?, '') WHERE kind = 'waiting'",
            ('"amended_by":["mine","before_each_tool"],',),
        )
        assert done.rowcount > 0
    database.close()
    second = make_agent([ANSWER], *plugins({"c1": Approve()})[1:], session=first.session.id)
    assert second.run_sync("and?").status == "completed"
    assert results(second)[0].content == (
        "quick 7\n\n[the arguments were changed by 'a plugin' before it ran: {\"n\": 7}]"
    )
