from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import Any

import pytest

from hookagent import Suspend, ToolResult, hookimpl

Person = Callable[..., Any]
Call = Callable[..., dict[str, Any]]


def results(session: Any) -> dict[str, ToolResult]:
    return {one.call_id: one for one in session.transcript.messages() if isinstance(one, ToolResult)}


# ---- answers ----


@pytest.mark.parametrize("no", ["", None, "n", "N", "no", " ", "\x03", "y\x03"])
def test_enter_end_of_file_and_interrupt_are_a_no(bench: Any, person: Person, call: Call, no: str | None) -> None:
    result = bench.agent([[call("c1", "write", path="a")], "end"], person(no)).run_sync("go")
    assert (result.status, bench.ran) == ("completed", [])
    assert results(result.session)["c1"].status == "denied"


@pytest.mark.parametrize("yes", ["y", "Y", "yes", " YES "])
def test_a_clear_yes_is_a_yes(bench: Any, person: Person, call: Call, yes: str) -> None:
    bench.agent([[call("c1", "write", path="a")], "end"], person(yes)).run_sync("go")
    assert bench.ran == [("write", "a", 1)]


def test_an_unknown_answer_is_asked_again_and_then_a_no(bench: Any, person: Person, call: Call) -> None:
    terminal = person("yes please", "ok\x1b[2K", "\uff59")
    result = bench.agent([[call("c1", "write", path="a")], "end"], terminal).run_sync("go")
    assert bench.ran == []
    assert r"'ok\x1b[2K' is no answer." in terminal.text
    assert "no clear answer" in results(result.session)["c1"].content
    terminal = person("what", "y")
    bench.agent([[call("c1", "write", path="a")], "end"], terminal).run_sync("go")
    assert bench.ran == [("write", "a", 1)]


@pytest.mark.parametrize("answers", [("r", "wrong file"), ("r wrong file",), ("no: wrong file",), ("n wrong file",)])
def test_a_reason_reaches_the_model(bench: Any, person: Person, call: Call, answers: tuple[str, ...]) -> None:
    steps = [[call("c1", "write", path="a")], {"expect": "a person said no: wrong file", "text": "end"}]
    result = bench.agent(steps, person(*answers)).run_sync("go")
    assert (result.status, bench.ran) == ("completed", [])


def test_quit_ends_the_run_as_refused_and_nothing_of_the_round_runs(bench: Any, person: Person, call: Call) -> None:
    calls = [call("c1", "write", path="a"), call("c2", "write", path="b"), call("c3", "look", path="c")]
    result = bench.agent([calls], person("y", "q")).run_sync("go")
    assert (result.status, bench.ran) == ("refused", [])
    assert {one.status for one in results(result.session).values()} == {"not_run"}
    assert result.session.transcript.open_round is None


def test_always_is_for_exactly_this_call_in_this_session(
    bench: Any, person: Person, call: Call, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "hookagent.approval")
    commands = ["python3 -c 1", "python3 -c 2", "python3 -c 1"]
    steps = [[call(f"c{number}", "sh", command=command)] for number, command in enumerate(commands, 1)]
    terminal = person("a", "n", "n")
    agent = bench.agent([*steps, "end", [call("c4", "sh", command="python3 -c 1")], "end"], terminal)
    agent.run_sync("go")
    assert bench.ran == [("sh", "python3 -c 1"), ("sh", "python3 -c 1")]
    decided = list(bench.plugin.decisions)
    always = "exactly this call, in this session"
    assert [(one.call_id, one.answer, one.by, one.scope) for one in decided] == [
        ("c1", "approved", "the person at the terminal", always),
        ("c2", "denied", "the person at the terminal", "this call only"),
        ("c3", "approved", "the person at the terminal", always),
    ]
    assert "a always exactly this call in this session" in terminal.text
    assert always in caplog.messages[0]
    assert "python3" not in caplog.text  # the log names calls by fingerprint
    asyncio.run(agent.reset())
    agent.run_sync("again")
    assert len(bench.ran) == 2
    assert terminal.answers == []


def test_always_covers_the_same_call_of_the_same_round_but_no_other(bench: Any, person: Person, call: Call) -> None:
    calls = [call("c1", "write", path="a"), call("c2", "write", path="a"), call("c3", "write", path="a", n=1)]
    terminal = person("a", "n")
    bench.agent([calls, "end"], terminal).run_sync("go")
    assert bench.ran == [("write", "a", 1), ("write", "a", 1)]
    assert terminal.answers == []


def test_always_does_not_answer_what_another_plugin_asks_later(bench: Any, person: Person, call: Call) -> None:
    class Policy:
        name = "policy"
        rounds = 0

        @hookimpl
        def before_tools(self) -> Suspend | None:
            self.rounds += 1
            return Suspend("office hours are over") if self.rounds == 2 else None

    steps = [[call(f"c{number}", "write", path="a")] for number in range(1, 4)]
    terminal = person("a", "n")
    bench.agent([*steps, "end"], terminal, before=[Policy()]).run_sync("go")
    assert bench.ran == [("write", "a", 1), ("write", "a", 1)]
    assert "asked by policy: office hours are over" in terminal.shown[1]


# ---- editing ----


def test_an_edit_is_validated_shown_and_what_was_shown_runs(bench: Any, person: Person, call: Call) -> None:
    terminal = person("e", "e", "y", edits=('{"n": "many", "path": "a"}', '{"n": 2, "path": "a"}'))
    steps = [[call("c1", "write", n=1, path="a")], {"expect": '"n": 2', "text": "end"}]
    result = bench.agent(steps, terminal).run_sync("go")
    assert bench.ran == [("write", "a", 2)]
    assert "the edit is refused" in terminal.shown[1]
    assert "'n'" in terminal.shown[1]
    assert "the call would now run with:\n  | n: 2\n" in terminal.shown[2]
    assert "changed by 'human-approval'" in results(result.session)["c1"].content
    (decided,) = bench.plugin.decisions
    assert (decided.arguments, decided.edited) == ({"n": 1, "path": "a"}, {"n": 2, "path": "a"})


@pytest.mark.parametrize(
    ("edit", "said"),
    [
        (None, "nothing was edited"),
        (" ", "nothing was edited"),
        ("{", "this is not JSON (line 1, column 2: expecting property name"),
        ("[1]", "must be a JSON object"),
        ('{"path": NaN}', "NaN is not a JSON number"),
        ('{"path": "a", "path": "b"}', "a key stands twice"),
        ('{"path": "a", "x\\u001b": 1}', "the edit is refused"),
        ("[" * 100_000, "the edit is refused"),
        (OSError("no editor"), "no editor"),
    ],
)
def test_a_bad_edit_leaves_the_question_open(bench: Any, person: Person, call: Call, edit: Any, said: str) -> None:
    terminal = person("e", "y", edits=(edit,))
    bench.agent([[call("c1", "write", path="a")], "end"], terminal).run_sync("go")
    assert said in terminal.shown[1]
    assert "\x1b" not in terminal.text
    assert bench.ran == [("write", "a", 1)]


def test_editing_again_begins_where_the_last_edit_ended(bench: Any, person: Person, call: Call) -> None:
    terminal = person("e", "e", "y", edits=('{"path": "b"}', '{"path": "a"}'))
    result = bench.agent([[call("c1", "write", path="a")], "end"], terminal).run_sync("go")
    assert terminal.offered == ['{\n  "path": "a"\n}', '{\n  "path": "b"\n}']
    assert bench.ran == [("write", "a", 1)]
    assert results(result.session)["c1"].content == "written"  # back to what the model sent: nothing was changed


def test_an_edit_does_not_get_round_a_rule(bench: Any, person: Person, call: Call) -> None:
    terminal = person("e", "y", edits=('{"command": "rm -rf x"}',))
    result = bench.agent([[call("c1", "sh", command="ls")], "end"], terminal, deny=["sh(command=rm *)"]).run_sync("go")
    assert bench.ran == []
    assert "deny: sh(command=rm *)" in results(result.session)["c1"].content


@pytest.mark.parametrize("tool_execution", ["parallel", "sequential"])
def test_an_edit_of_one_call_asks_nothing_again(bench: Any, person: Person, call: Call, tool_execution: str) -> None:
    calls = [call("c1", "write", path="a"), call("c2", "write", path="b"), call("c3", "write", path="c")]
    terminal = person("y", "e", "y", "n", edits=('{"path": "B"}',))
    result = bench.agent([calls, "end"], terminal, tool_execution=tool_execution).run_sync("go")
    assert result.status == "completed"
    assert sorted(bench.ran) == [("write", "B", 1), ("write", "a", 1)]
    assert terminal.answers == []


def test_always_after_an_edit_is_for_what_was_edited(bench: Any, person: Person, call: Call) -> None:
    steps = [[call("c1", "write", path="a")], [call("c2", "write", path="b")], [call("c3", "write", path="a")]]
    terminal = person("e", "a", "n", edits=('{"path": "b"}',))
    bench.agent([*steps, "end"], terminal).run_sync("go")
    assert bench.ran == [("write", "b", 1), ("write", "b", 1)]
