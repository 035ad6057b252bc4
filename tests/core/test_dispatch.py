"""Calling hooks: in list order, with the arguments they name, timed and charged."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hookagent import PluginError
from hookagent.contract import CONTRACTS
from hookagent.events import HookReport
from hookagent.testing import FakeClock, Recorder
from tests.core.plugin_making import hook, made
from tests.core.scripts import calls, make_agent, words

ANSWER = {"text": "done"}


def noting(name: str, log: list[str], **options: bool) -> Any:
    """A plugin that logs its name from `before_llm`."""

    def before_llm() -> None:
        log.append(name)

    plugin = made(name)
    plugin.before_llm = hook(before_llm, **options)
    return plugin


@settings(max_examples=30, deadline=None)
@given(st.permutations(["a", "b", "c", "d"]))
def test_list_order_is_call_order(names: list[str]) -> None:
    log: list[str] = []
    make_agent([ANSWER], *[noting(name, log) for name in names]).run_sync("go")
    assert log == names


def test_tryfirst_and_trylast_are_honoured() -> None:
    log: list[str] = []
    plugins = [
        noting("last", log, trylast=True),
        noting("one", log),
        noting("first", log, tryfirst=True),
        noting("two", log),
    ]
    make_agent([ANSWER], *plugins).run_sync("go")
    assert log == ["first", "one", "two", "last"]


def test_an_implementation_names_only_the_arguments_it_wants_in_any_order() -> None:
    seen: list[Any] = []
    plugins = [
        made("none", after_each_tool=lambda: seen.append(())),
        made("one", after_each_tool=lambda result: seen.append(result.content)),
        made("turned", after_each_tool=lambda session, tool_call: seen.append((session.turn, tool_call.id))),
        made("agent", after_each_tool=lambda agent, result, tool_call: seen.append((agent.name, tool_call.name))),
    ]
    make_agent([calls("quick"), ANSWER], *plugins).run_sync("go")
    assert seen == [(), "quick 0", (1, "c1"), ("tested", "quick")]


def test_plain_and_async_do_the_same_in_run_and_run_sync() -> None:
    async def add(iteration: int) -> str:
        return f"note {iteration}"

    for function in (lambda iteration: f"note {iteration}", add):
        agent = make_agent([ANSWER], made("adds", before_llm=function))
        assert words(agent.run_sync("go").session.transcript) == ["U go", "U note 1 <adds>", "A done"]
        agent = make_agent([ANSWER], made("adds", before_llm=function))
        assert words(asyncio.run(agent.run("go")).session.transcript) == ["U go", "U note 1 <adds>", "A done"]


def test_calls_and_seconds_are_charged_to_the_plugin() -> None:
    clock = FakeClock()

    async def waits() -> None:
        asyncio.get_running_loop().call_soon(clock.advance, 3.0)
        await asyncio.sleep(0)
        await asyncio.sleep(0)

    plugin = made("busy", before_llm=waits, before_tools=lambda: clock.advance(0.5), after_tools=lambda: None)
    agent = make_agent([calls("quick"), ANSWER], plugin, clock=clock)
    agent.run_sync("go")
    assert agent.session.hook_calls == {"busy": (4, 6.5)}


def test_a_plain_hook_that_is_slow_and_returns_something_is_named_too() -> None:
    clock = FakeClock()

    def slow() -> str:
        clock.advance(2.0)
        return "note"

    agent = make_agent([ANSWER], made("slow", before_llm=slow), clock=clock)
    agent.run_sync("go")
    reports = [(one.outcome, one.milliseconds) for one in agent.session.trace if isinstance(one, HookReport)]
    assert reports == [("returned", 2000.0), ("slow", 2000.0)]


def test_a_hook_that_says_nothing_is_only_counted() -> None:
    agent = make_agent([calls("quick"), ANSWER], Recorder())
    agent.run_sync("go")
    assert not [one for one in agent.session.trace if isinstance(one, HookReport)]
    assert agent.session.hook_calls["recorder"][0] > 15


def test_hooks_without_an_implementation_are_not_called(monkeypatch: pytest.MonkeyPatch) -> None:
    from hookagent import dispatch

    called: list[str] = []
    real = dispatch.Dispatcher.ready_for

    agent = make_agent([calls("quick"), ANSWER], made("few", after_tools=lambda: None))

    def counting(self: Any, implementations: Any) -> Any:
        if self.agent is agent:
            called.extend(one.hook for one in implementations)
        return real(self, implementations)

    monkeypatch.setattr(dispatch.Dispatcher, "ready_for", counting)
    agent.run_sync("go")
    assert called == ["after_tools"]


def test_an_error_whose_text_cannot_be_had_is_named_all_the_same() -> None:
    class Mute(Exception):
        def __str__(self) -> str:
            raise RuntimeError("no text")

    def fails() -> None:
        raise Mute

    with pytest.raises(PluginError, match="raised Mute: its text form raised RuntimeError"):
        make_agent([ANSWER], made("mute", before_llm=fails)).run_sync("go")


def test_the_table_of_kinds_is_the_designs() -> None:
    gates = {name for name, contract in CONTRACTS.items() if "decide" in contract.kinds}
    assert gates == {
        "after_user_input", "before_llm", "before_tools", "before_each_tool", "resolve_suspended", "after_tools",
    }  # fmt: skip
    assert {name for name, contract in CONTRACTS.items() if contract.form == "plain"} == {"register_tools", "on_event"}
    assert {name for name, contract in CONTRACTS.items() if contract.form == "async"} == {
        "wrap_model_call", "wrap_tool_call",
    }  # fmt: skip
