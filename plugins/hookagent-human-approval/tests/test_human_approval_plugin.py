from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Any

import pytest
from pydantic import ValidationError

from hookagent import Amend, Approve, Deny, PendingCall, ToolCall, ToolResult, hookimpl
from hookagent_human_approval import HumanApproval

Person = Callable[..., Any]
Call = Callable[..., dict[str, Any]]


def results(session: Any) -> dict[str, ToolResult]:
    return {one.call_id: one for one in session.transcript.messages() if isinstance(one, ToolResult)}


# ---- rules and questions ----


def test_what_only_reads_runs_and_everything_else_is_asked(bench: Any, person: Person, call: Call) -> None:
    terminal = person("y", "y", "n")
    calls = [
        call("c1", "look", path="a"),
        call("c2", "write", path="b"),
        call("c3", "send", to="c"),
        call("c4", "sh", command="d"),
    ]
    result = bench.agent([calls, "end"], terminal).run_sync("go")
    assert result.status == "completed"
    assert sorted(bench.ran) == [("look", "a"), ("send", "c"), ("write", "b", 1)]
    denied = results(result.session)["c4"]
    assert (denied.status, denied.content) == ("denied", "denied by 'human-approval': a person said no")
    assert "3 calls of this round need your answer." in terminal.text
    assert "asked by human-approval: the tool sends, and no rule allows it" in terminal.text


@pytest.mark.parametrize("tool_execution", ["parallel", "sequential"])
def test_all_open_calls_are_shown_before_any_runs(bench: Any, person: Person, call: Call, tool_execution: str) -> None:
    ran_when_shown: list[int] = []

    class Watching:
        width = 80

        async def ask(self, text: str) -> str:
            first = not ran_when_shown
            ran_when_shown.append(len(bench.ran))
            assert ("2 calls of this round need your answer" in text) is first
            if first:
                assert 'path: "a"' in text
                assert 'path: "b"' in text
            return "y"

    terminal = Watching()
    agent = bench.agent(
        [[call("c1", "write", path="a"), call("c2", "write", path="b")], "end"], terminal, tool_execution=tool_execution
    )
    assert agent.run_sync("go").status == "completed"
    assert ran_when_shown == [0, 0]
    assert sorted(bench.ran) == [("write", "a", 1), ("write", "b", 1)]


def test_a_rule_that_denies_asks_nobody_and_tells_the_model(bench: Any, person: Person, call: Call) -> None:
    agent = bench.agent(
        [[call("c1", "look", path="secrets/a")], {"expect": "deny: look(path=secrets/*)", "text": "end"}],
        person(),
        deny=["look(path=secrets/*)"],
    )
    result = agent.run_sync("go")
    assert (result.status, bench.ran) == ("completed", [])
    assert bench.plugin.decisions[0].by == "the rule 'look(path=secrets/*)'"


def test_a_permission_for_one_command_does_not_cover_a_chain(bench: Any, person: Person, call: Call) -> None:
    commands = ["git add a && git push", "git add a; rm b", "git add $(rm b)", "git add a\nrm b", "git add a"]
    calls = [call(f"c{number}", "sh", command=command) for number, command in enumerate(commands)]
    terminal = person("n", "n", "n", "n")
    bench.agent([calls, "end"], terminal, allow=["sh(command=git add *)"]).run_sync("go")
    assert bench.ran == [("sh", "git add a")]
    assert terminal.answers == []


def test_a_default_and_a_converted_value_are_judged_as_they_will_run(bench: Any, person: Person, call: Call) -> None:
    calls = [call("c1", "write", path="a"), call("c2", "write", path="b", n="1"), call("c3", "write", path="c", n=2)]
    bench.agent([calls, "end"], person(), deny=["write(n=1)"], allow=["write"]).run_sync("go")
    assert bench.ran == [("write", "c", 2)]


# ---- what is shown is what runs ----


def test_the_person_sees_what_a_plugin_made_of_the_call(bench: Any, person: Person, call: Call) -> None:
    @hookimpl
    def before_each_tool(tool_call: ToolCall) -> Amend:
        return Amend({"to": "evil"})

    terminal = person("y")
    bench.agent([[call("c1", "send", to="good")], "end"], terminal, after=[before_each_tool]).run_sync("go")
    assert '  | to: "evil"\n  a plugin changed the arguments; the model had sent:\n  | to: "good"\n' in terminal.text
    assert bench.ran == [("send", "evil")]


def test_a_change_after_the_answer_does_not_run(bench: Any, person: Person, call: Call) -> None:
    # In a sequential round the gates of a call speak after the round as a whole was answered.
    @hookimpl
    def before_each_tool(tool_call: ToolCall) -> Amend | None:
        return Amend({"to": "evil"}) if tool_call.id == "c2" else None

    calls = [call("c1", "send", to="good"), call("c2", "send", to="good"), call("c3", "send", to="also")]
    agent = bench.agent([calls, "end"], person("y", "y", "y"), after=[before_each_tool], tool_execution="sequential")
    result = agent.run_sync("go")
    assert result.status == "completed"
    assert bench.ran == [("send", "good"), ("send", "also")]
    assert "wants different arguments for this call after it was answered for" in results(result.session)["c2"].content


def test_an_approval_is_used_up_by_its_call(bench: Any, person: Person, call: Call) -> None:
    steps = [[call("c1", "send", to="x")], [call("c2", "send", to="x")]]
    terminal = person("y", "n")
    bench.agent([*steps, "end"], terminal).run_sync("go")
    assert bench.ran == [("send", "x")]


def test_calls_that_cannot_run_are_not_asked_about(bench: Any, person: Person, call: Call) -> None:
    calls = [
        call("c1", "wrte", path="a"),
        call("c2", "write", path=5),
        {"id": "c3", "name": "write", "raw_arguments": "{"},
    ]
    result = bench.agent([calls, "end"], person(), ask=["*"]).run_sync("go")
    assert result.status == "completed"
    assert {one.error_type for one in results(result.session).values()} == {"UnknownTool", "BadArguments"}


def test_another_plugin_can_answer_before(bench: Any, person: Person, call: Call) -> None:
    class Chat:
        name = "chat"

        @hookimpl
        async def resolve_suspended(self, pending: tuple[PendingCall, ...]) -> Mapping[str, Approve]:
            return {one.call.id: Approve() for one in pending if one.call.name == "send"}

    terminal = person("n")
    calls = [call("c1", "send", to="x"), call("c2", "write", path="a")]
    bench.agent([calls, "end"], terminal, before=[Chat()]).run_sync("go")
    assert bench.ran == [("send", "x")]
    assert "1 call of this round needs your answer." in terminal.text


# ---- nobody there ----


def test_nobody_to_ask_means_no_and_the_run_is_refused(bench: Any, call: Call) -> None:
    steps = [
        [call("c1", "write", path="a"), call("c2", "look", path="b")],
        {"expect": "nobody can be asked", "text": "end"},
    ]
    result = bench.agent(steps, None).run_sync("go")
    assert (result.status, bench.ran) == ("refused", [("look", "b")])
    assert "nobody can be asked" in result.reason
    assert "no rule allows this call of 'write'" in result.reason
    assert [one.by for one in bench.plugin.decisions] == ["nobody"]


def test_by_option_the_session_waits_and_is_asked_later(bench: Any, person: Person, call: Call) -> None:
    there: list[Any] = [None]
    agent = bench.agent([[call("c1", "write", path="a"), call("c2", "look", path="b")], "end"], None, unattended="wait")
    bench.plugin._open_terminal = lambda: there[0]
    result = agent.run_sync("go")
    assert (result.status, bench.ran) == ("waiting", [("look", "b")])
    there[0] = person("y")
    result = agent.run_sync("are you done?")
    assert result.status == "completed"
    assert bench.ran == [("look", "b"), ("write", "a", 1)]
    assert there[0].text.count("asked by human-approval") == 1


def test_no_answer_in_time_is_a_no_for_this_call_alone(bench: Any, person: Person, call: Call, away: Any) -> None:
    calls = [call("c1", "write", path="a"), call("c2", "write", path="a")]
    steps = [calls, {"expect": "not approved in time (0.01 s)", "text": "end"}]
    result = bench.agent(steps, person("y", away), timeout_seconds=0.01).run_sync("go")
    assert bench.ran == [("write", "a", 1)]
    assert result.status == "refused"
    assert bench.plugin.decisions[-1].by == "nobody"


def test_an_abort_ends_the_question_at_once(bench: Any, person: Person, call: Call, away: Any) -> None:
    terminal = person(away)
    agent = bench.agent([[call("c1", "write", path="a")]], terminal, grace_seconds=1e9)

    async def main() -> Any:
        run = asyncio.ensure_future(agent.run("go"))
        await terminal.waiting.wait()
        agent.abort("enough")
        return await run

    result = asyncio.run(main())
    assert (result.status, bench.ran) == ("aborted", [])
    assert results(result.session)["c1"].status == "not_run"


def test_two_agents_ask_one_after_the_other(bench: Any, person: Person, call: Call) -> None:
    terminal = person("y", "n", "y", "n")
    steps = [[call("c1", "write", path="a"), call("c2", "write", path="b")], "end"]
    first, second = bench.agent(steps, terminal), bench.agent(steps, terminal)

    async def main() -> None:
        await asyncio.gather(first.run("go"), second.run("go"))

    asyncio.run(main())
    assert [text.lstrip()[:8] for text in terminal.shown] == ["2 calls ", "[2 of 2]"] * 2
    assert bench.ran == [("write", "a", 1)] * 2


# ---- options ----


@pytest.mark.parametrize(
    "wrong",
    [
        {"ask": ["a("]},
        {"allow": ["a b"]},
        {"deny": "write"},
        {"unattended": "allow"},
        {"timeout_seconds": 0},
        {"aks": []},
    ],
)
def test_bad_options_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        HumanApproval.Options.model_validate(wrong)


def test_a_bad_pattern_is_found_by_its_place() -> None:
    with pytest.raises(ValidationError) as caught:
        HumanApproval.Options.model_validate({"allow": ["ok", "shell(command"]})
    (error,) = caught.value.errors()
    assert error["loc"] == ("allow", 1)
    assert "pattern 'shell(command' is not understood" in error["msg"]


def test_every_option_is_described() -> None:
    assert all(field.description for field in HumanApproval.Options.model_fields.values())


def test_a_denial_of_another_gate_is_not_asked_about(bench: Any, person: Person, call: Call) -> None:
    @hookimpl
    def before_each_tool() -> Deny:
        return Deny("no")

    result = bench.agent([[call("c1", "write", path="a")], "end"], person(), after=[before_each_tool]).run_sync("go")
    assert (result.status, bench.ran) == ("completed", [])
