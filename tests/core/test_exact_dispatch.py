"""Calling hooks to the letter: who is still called after an abort, a failure or a switching off, and what is said."""

from __future__ import annotations

import asyncio
import types
from typing import Any

import pytest

from hookagent import Agent, MessageOrderError, PluginEntry, PluginError, discovery, hookimpl
from hookagent.events import HookReport
from hookagent.testing import FakeClock
from tests.core.faults import DISTRIBUTION, implementing, installed_as
from tests.core.plugin_making import made
from tests.core.scripts import calls, make_agent, words

ANSWER = {"text": "done"}
ROUND = [calls("ok", "quick"), ANSWER]


def reports(agent: Agent) -> list[tuple[str, str, str]]:
    return [(one.plugin, one.outcome, one.detail) for one in agent.session.trace if isinstance(one, HookReport)]


# ---- who is called ----


@pytest.mark.parametrize("hook", ["before_tools", "before_each_tool"])
def test_a_plain_gate_that_aborts_without_a_word_is_the_last_one_asked(hook: str) -> None:
    asked: list[str] = []

    def gate(name: str) -> Any:
        def ask(agent: Agent) -> None:
            asked.append(name)
            if name == "second":
                agent.abort("enough")

        return made(name, **{hook: ask})

    result = make_agent(ROUND, gate("first"), gate("second"), gate("third")).run_sync("go")
    assert result.status == "aborted"
    assert asked == ["first", "second"]
    assert words(result.session.transcript) == ["U go", "A c1 c2", "R c1 not_run", "R c2 not_run"]


def test_a_gate_whose_listening_failed_is_still_asked_until_the_run_stops() -> None:
    asked: list[int] = []

    def on_event(event: Any) -> None:
        if event.type == "iteration_start":
            raise ValueError("deaf")

    plugin = made("gate", on_event=on_event, before_llm=lambda iteration: asked.append(iteration))
    with pytest.raises(PluginError, match="plugin 'gate': hook 'on_event' raised ValueError: deaf"):
        make_agent([ANSWER], plugin).run_sync("go")
    assert asked == [1]


@pytest.mark.parametrize("fault", [ValueError("no"), KeyboardInterrupt()], ids=["failed", "interrupted"])
def test_a_plugin_that_failed_in_a_round_hears_no_more_of_it_and_the_others_do(fault: BaseException) -> None:
    heard: list[str] = []

    def plugin(name: str) -> Any:
        def before_each_tool(tool_call: Any) -> None:
            if name == "failing":
                raise fault

        def on_event(event: Any) -> None:
            if event.type == "tool_end":
                heard.append(f"{name} on_event {event.result.call_id}")

        return made(
            name,
            before_each_tool=before_each_tool,
            after_each_tool=lambda tool_call, result: heard.append(f"{name} after_each_tool {tool_call.id}"),
            on_event=on_event,
        )

    agent = make_agent([calls("ok"), ANSWER], plugin("other"), plugin("failing"))
    with pytest.raises((PluginError, KeyboardInterrupt)):
        agent.run_sync("go")
    assert heard == ["other after_each_tool c1", "other on_event c1"]


def test_where_one_plugin_is_switched_off_the_hooks_of_the_others_go_on_and_so_do_its_own_that_do_more_than_look() -> (
    None
):
    called: list[str] = []

    def plugin(name: str) -> Any:
        def on_error(error: Any) -> None:
            called.append(f"{name} on_error")
            if name == "off":
                raise ValueError("no")

        def noting(hook: str) -> Any:
            return lambda: called.append(f"{name} {hook}")

        return made(
            name,
            on_error=on_error,
            after_tools=noting("after_tools"),
            before_complete=noting("before_complete"),
            on_complete=noting("on_complete"),
            on_session_end=noting("on_session_end"),
        )

    script = [calls("bad", ids=["a"]), calls("bad", ids=["b"]), ANSWER]
    agent = make_agent(script, PluginEntry(plugin("off"), on_error="disable"), plugin("on"))
    assert agent.run_sync("go").status == "completed"
    agent.close_sync()
    both = ["off {}", "on {}"]
    assert called == [
        "off on_error",
        "on on_error",
        *(one.format("after_tools") for one in both),
        "on on_error",
        *(one.format(hook) for hook in ("after_tools", "before_complete", "on_complete") for one in both),
        "on on_session_end",
    ]


def test_nothing_comes_between_the_hooks_of_a_turn_that_never_waits_and_its_end() -> None:
    order: list[str] = []

    def before_complete(answer: str) -> None:
        asyncio.get_running_loop().call_soon(order.append, "somebody else")
        order.append("before_complete")

    plugin = made("notes", before_complete=before_complete, on_complete=lambda: order.append("on_complete"))
    make_agent([ANSWER], plugin).run_sync("go")
    assert order == ["before_complete", "on_complete", "somebody else"]


# ---- what is said ----


@pytest.mark.parametrize(
    ("returned", "detail"), [("note", "str"), (["one", "two"], "list"), (None, None)], ids=["text", "list", "nothing"]
)
@pytest.mark.parametrize("is_async", [False, True], ids=["plain", "async"])
def test_what_a_hook_returned_is_reported_by_its_type(is_async: bool, returned: Any, detail: str | None) -> None:
    async def later() -> Any:
        return returned

    agent = make_agent([ANSWER], made("says", before_llm=later if is_async else lambda: returned))
    agent.run_sync("go")
    assert reports(agent) == ([] if detail is None else [("says", "returned", detail)])


def test_a_second_is_not_slow_for_a_hook_that_says_something_either() -> None:
    clock = FakeClock()

    def before_llm() -> str:
        clock.advance(1.0)
        return "note"

    agent = make_agent([ANSWER], made("says", before_llm=before_llm), clock=clock)
    agent.run_sync("go")
    assert reports(agent) == [("says", "returned", "str")]


def test_a_message_where_none_is_allowed_and_no_call_is_open_says_so() -> None:
    agent = make_agent([{"error": "authentication"}], made("talks", on_error=lambda error: "a note"))
    with pytest.raises(MessageOrderError) as raised:
        agent.run_sync("go")
    assert raised.value.open_calls == ()
    assert str(raised.value).startswith(
        "plugin 'talks': hook 'on_error' returned a message, which cannot stand there; open calls: none. "
    )


@pytest.mark.parametrize("fault", ["a message", "overruns"])
def test_the_distribution_of_an_installed_plugin_is_named_whatever_it_did(
    fault: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = FakeClock()

    async def act(given: dict[str, Any]) -> Any:
        if fault == "a message":
            return "a note"
        asyncio.get_running_loop().call_soon(clock.advance, 61.0)
        return await asyncio.Event().wait()

    monkeypatch.setattr(discovery, "installed", installed_as(implementing("before_each_tool", act)))
    with pytest.raises(PluginError) as raised:
        make_agent([calls("ok"), ANSWER], "faulty", clock=clock).run_sync("go")
    said = "returned a message, which cannot stand there" if fault == "a message" else "overran its time limit of 60 s"
    assert str(raised.value).startswith(f"plugin 'faulty' ({DISTRIBUTION}): hook 'before_each_tool' {said}")
    assert raised.value.distribution == DISTRIBUTION


def test_a_hook_that_is_no_function_of_python_is_at_an_unknown_place() -> None:
    class Compiled:
        """Called like a method, as extension modules make them: without any code to be looked at."""

        def __call__(self, plugin: Any) -> None:
            raise ValueError("no")

    plugin = made("compiled", after_tools=lambda: None)
    plugin.before_llm = types.MethodType(hookimpl(Compiled()), plugin)
    with pytest.raises(PluginError) as raised:
        make_agent([ANSWER], plugin).run_sync("go")
    assert str(raised.value) == "plugin 'compiled': hook 'before_llm' raised ValueError: no (unknown place)"
