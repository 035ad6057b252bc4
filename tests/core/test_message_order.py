"""Nothing stands between a call and its result: who tries is named, and what is held lands behind the round."""

from __future__ import annotations

from typing import Any

import pytest

from hookagent import Deny, MessageOrderError, Stop, Suspend, UserMessage, hookimpl
from hookagent.testing import Recorder
from tests.core.plugin_making import made
from tests.core.scripts import calls, make_agent, words

ANSWER = {"text": "done"}


def intruder(hook: str, first_call: bool, message: Any = "by the way") -> Any:
    """A plugin that returns a message from one hook, for the first or for the last call of the round."""
    seen: list[str] = []

    def when(call_id: str) -> Any:
        seen.append(call_id)
        return message if (call_id == "c1") == first_call else None

    if hook == "before_each_tool":
        return made("intruder", before_each_tool=lambda tool_call: when(tool_call.id))
    if hook == "after_each_tool":
        return made("intruder", after_each_tool=lambda tool_call, result: when(tool_call.id))
    if hook == "on_error":
        return made("intruder", on_error=lambda error, tool_call: when(tool_call.id) if tool_call else None)
    if hook == "resolve_suspended":
        return made(
            "intruder",
            before_each_tool=lambda tool_call: Suspend("?") if (tool_call.id == "c1") == first_call else None,
            resolve_suspended=lambda pending: message,
        )

    class Wrapping:
        name = "intruder"

        @hookimpl
        async def wrap_tool_call(self, tool_call: Any, call_next: Any) -> Any:
            result = await call_next()
            return when(tool_call.id) or result

    return Wrapping()


@pytest.mark.parametrize("mode", ["parallel", "sequential"])
@pytest.mark.parametrize("first_call", [True, False])
@pytest.mark.parametrize("count", [1, 2, 3])
@pytest.mark.parametrize(
    "hook", ["before_each_tool", "resolve_suspended", "wrap_tool_call", "after_each_tool", "on_error"]
)
def test_a_message_in_an_open_round_is_refused_and_the_round_is_closed(
    hook: str, count: int, first_call: bool, mode: Any
) -> None:
    if count == 1 and not first_call:
        return
    tool = "bad" if hook == "on_error" else "quick"
    recorder = Recorder()
    agent = make_agent([calls(*[tool] * count)], intruder(hook, first_call), recorder, tool_execution=mode)
    with pytest.raises(MessageOrderError) as raised:
        agent.run_sync("go")
    error = raised.value
    assert (error.plugin, error.hook, error.distribution) == ("intruder", hook, None)
    ids = [f"c{number}" for number in range(1, count + 1)]
    said = words(agent.session.transcript)
    assert said[:2] == ["U go", f"A {' '.join(ids)}"]
    assert [one.split()[1] for one in said[2:]] == ids
    assert "by the way" not in " ".join(said)
    assert recorder.names.count("after_each_tool") == count
    assert recorder.names.count("on_complete") == 1
    still_open = ", ".join(error.open_calls)
    assert f"open calls: {still_open}. " in str(error)
    assert set(error.open_calls) <= {f"{tool} ({one})" for one in ids}
    offender = "c1" if first_call else ids[-1]
    assert f"{tool} ({offender})" in error.open_calls


def test_the_error_text_names_plugin_hook_open_calls_and_the_remedy() -> None:
    agent = make_agent([calls("quick", "ok")], intruder("before_each_tool", True))
    with pytest.raises(MessageOrderError) as raised:
        agent.run_sync("go")
    assert str(raised.value) == (
        "plugin 'intruder': hook 'before_each_tool' returned a message, which cannot stand there; "
        "open calls: quick (c1), ok (c2). return it from 'after_tools', or queue it with agent.steer(...)"
    )


@pytest.mark.parametrize("message", [UserMessage("by the way"), ["by the way"], ("a", UserMessage("b")), ["a", 5]])
def test_every_form_of_a_message_is_one(message: Any) -> None:
    agent = make_agent([calls("quick")], intruder("after_each_tool", True, message))
    with pytest.raises(MessageOrderError):
        agent.run_sync("go")
    assert words(agent.session.transcript) == ["U go", "A c1", "R c1 ok"]


def holding(*extra: Any) -> Any:
    return made(
        "holder",
        after_llm=lambda response: "from after_llm" if response.tool_calls else None,
        before_tools=lambda tool_calls: ["from before_tools", *extra],
    )


HELD = ["U from after_llm <holder>", "U from before_tools <holder>"]


@pytest.mark.parametrize("mode", ["parallel", "sequential"])
@pytest.mark.parametrize(
    ("verdict", "status", "result"),
    [(None, "completed", "ok"), (Deny("no"), "completed", "denied"), (Stop("enough"), "stopped", "not_run")],
)
def test_held_messages_land_behind_the_last_result(verdict: Any, status: str, result: str, mode: Any) -> None:
    extra = () if verdict is None else (verdict,)
    seen: list[list[str]] = []
    agent = make_agent(
        [calls("quick", "quick"), ANSWER],
        holding(*extra),
        made("later", after_tools=lambda session: seen.append(words(session.transcript))),
        tool_execution=mode,
    )
    outcome = agent.run_sync("go")
    expected = ["U go", "A c1 c2", f"R c1 {result}", f"R c2 {result}", *HELD]
    assert seen == [expected]
    assert outcome.status == status
    assert words(agent.session.transcript)[: len(expected)] == expected


@pytest.mark.parametrize("mode", ["parallel", "sequential"])
def test_held_messages_land_when_the_round_fails(mode: Any) -> None:
    broken = made("broken", before_each_tool=lambda tool_call: 1 / 0)
    agent = make_agent([calls("quick", "quick")], holding(), broken, tool_execution=mode)
    with pytest.raises(Exception, match="ZeroDivisionError"):
        agent.run_sync("go")
    assert words(agent.session.transcript) == ["U go", "A c1 c2", "R c1 not_run", "R c2 not_run", *HELD]


@pytest.mark.parametrize("mode", ["parallel", "sequential"])
def test_held_messages_land_when_the_round_is_aborted(mode: Any) -> None:
    aborts = made("aborts", before_each_tool=lambda tool_call, agent: agent.abort("enough"))
    result = make_agent([calls("quick", "quick")], holding(), aborts, tool_execution=mode).run_sync("go")
    assert result.status == "aborted"
    assert words(result.session.transcript) == ["U go", "A c1 c2", "R c1 not_run", "R c2 not_run", *HELD]


def test_what_hooks_add_after_an_abort_is_dropped() -> None:
    aborts = made("aborts", before_tools=lambda tool_calls, agent: agent.abort("enough"))
    late = made("late", after_tools=lambda tool_round: "too late", on_complete=lambda outcome: "too late")
    result = make_agent([calls("quick")], aborts, late).run_sync("go")
    assert words(result.session.transcript) == ["U go", "A c1", "R c1 not_run"]


def test_held_messages_are_kept_with_a_round_that_waits() -> None:
    agent = make_agent([calls("quick")], holding(Suspend("?")))
    assert agent.run_sync("go").status == "waiting"
    assert [one.text for one in agent.session.transcript.held] == ["from after_llm", "from before_tools"]


def test_on_a_final_reply_an_added_message_is_stored_behind_it_and_does_not_extend_the_turn() -> None:
    plugin = made("adds", after_llm=lambda response: "remember this")
    agent = make_agent([{"text": "one"}, {"text": "two"}], plugin)
    assert agent.run_sync("go").answer == "one"
    assert words(agent.session.transcript) == ["U go", "A one", "U remember this <adds>"]
    agent.run_sync("next")
    assert words(agent.session.transcript)[3:] == ["U next", "A two", "U remember this <adds>"]


def test_an_empty_list_adds_nothing_wherever_messages_may_be_added() -> None:
    def empty() -> Any:
        def nothing() -> list[str]:
            return []

        return nothing

    hooks = "after_user_input before_llm after_llm before_tools after_tools before_complete on_complete".split()
    nothing = {hook: empty() for hook in hooks}
    result = make_agent([calls("quick"), ANSWER], made("empty", **nothing)).run_sync("go")
    assert words(result.session.transcript) == ["U go", "A c1", "R c1 ok", "A done"]
    assert result.errors == ()


def test_a_message_that_no_provider_would_take_is_made_valid_before_it_is_stored() -> None:
    result = make_agent([ANSWER], made("odd", before_llm=lambda: "a\ud800b")).run_sync("go")
    assert words(result.session.transcript) == ["U go", "U a\ufffdb <odd>", "A done"]


def test_whose_message_it_is_cannot_be_forged() -> None:
    from hookagent import Replace

    forged = UserMessage("changed", origin="somebody", via="plugin")
    plugin = made("forger", after_user_input=lambda message: [Replace(forged), UserMessage("more", origin="boss")])
    result = make_agent([ANSWER], plugin).run_sync("go")
    first, second = result.session.transcript[0], result.session.transcript[1]
    assert isinstance(first, UserMessage)
    assert isinstance(second, UserMessage)
    assert (first.text, first.origin, first.via) == ("changed", None, "prompt")
    assert (second.origin, second.via) == ("forger", "plugin")
