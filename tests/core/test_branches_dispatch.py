"""Dispatch, word by word: what a failure says and where, what is slow, softened, disabled and charged."""

from __future__ import annotations

import asyncio
import functools
import inspect
import json
from collections.abc import Callable
from typing import Any

import pytest

from hookagent import Deny, PluginError, hookimpl
from hookagent.contract import CONTRACTS
from hookagent.dispatch import OverranError
from hookagent.errors import describe_error
from hookagent.events import HookReport
from hookagent.host import PluginEntry
from hookagent.implementations import EMPTY_TABLE, HookTable, with_gates_of
from hookagent.testing import FakeClock
from tests.core.plugin_making import made
from tests.core.scripts import calls, make_agent, ok, words

ANSWER = {"text": "done"}


def line_of(function: Callable[..., Any], offset: int = 0) -> str:
    """Where a function is written, as file:line; `offset` lines below its first one."""
    code = inspect.unwrap(function).__code__
    return f"{code.co_filename}:{code.co_firstlineno + offset}"


def failure_of(*plugins: Any, script: list[Any] | None = None, **options: Any) -> PluginError:
    with pytest.raises(PluginError) as raised:
        make_agent(script or [calls("ok"), ANSWER], *plugins, **options).run_sync("go")
    return raised.value


def reports(agent: Any) -> list[tuple[str, str, str, str]]:
    return [
        (one.plugin, one.hook, one.outcome, one.detail) for one in agent.session.trace if isinstance(one, HookReport)
    ]


# ---- what a failure says ----


def test_what_was_raised_is_named_with_its_type_its_text_and_its_line() -> None:
    def before_llm(iteration: int) -> None:
        raise ValueError("  no luck  ")

    failure = failure_of(made("unlucky", before_llm=before_llm))
    assert str(failure) == (
        f"plugin 'unlucky': hook 'before_llm' raised ValueError: no luck ({line_of(before_llm, 1)})"
    )
    assert isinstance(failure.__cause__, ValueError)


def test_the_line_is_the_innermost_one_in_the_plugins_own_file() -> None:
    def deeper() -> None:
        int("many")

    def before_llm(iteration: int) -> None:
        deeper()

    failure = failure_of(made("deep", before_llm=before_llm))
    assert str(failure).endswith(f"({line_of(deeper, 1)})")


def test_frames_of_other_files_are_left_out() -> None:
    def before_llm(iteration: int) -> None:
        json.loads("{")

    failure = failure_of(made("reads", before_llm=before_llm))
    assert str(failure).endswith(f"({line_of(before_llm, 1)})")


def test_what_a_foreign_wrapper_raises_is_at_the_hook_that_it_wraps() -> None:
    def before_llm(iteration: int) -> None:
        raise AssertionError("never called")

    foreign: dict[str, Any] = {}
    exec(compile("def wrapper(iteration):\n    raise ValueError('theirs')\n", "theirs.py", "exec"), foreign)
    wrapper = functools.wraps(before_llm)(foreign["wrapper"])
    failure = failure_of(made("wrapped", before_llm=wrapper))
    assert str(failure).endswith(f"raised ValueError: theirs ({line_of(before_llm)})")


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (ValueError("no"), "ValueError: no"),
        (ValueError("  no \n"), "ValueError: no"),
        (ValueError(), "ValueError"),
        (ValueError("  "), "ValueError"),
        (KeyError("x"), "KeyError: 'x'"),
        (SystemExit(3), "SystemExit: 3"),
        (ValueError("x" * 2_000), "ValueError: " + "x" * 2_000),
        (ValueError("x" * 2_001), "ValueError: " + "x" * 2_000 + "…"),
    ],
)
def test_an_error_in_words(error: BaseException, words: str) -> None:
    assert describe_error(error) == words


def test_what_is_overrun_says_its_limit() -> None:
    assert str(OverranError(60.0)) == "overran its time limit of 60 s"
    assert str(OverranError(0.25)) == "overran its time limit of 0.25 s"
    assert str(OverranError(None)) == "overran its time limit"


def test_a_hook_that_overruns_is_named_with_its_limit_and_place() -> None:
    clock = FakeClock()

    async def before_llm(iteration: int) -> None:
        asyncio.get_running_loop().call_soon(clock.advance, 61.0)
        await asyncio.Event().wait()

    agent = make_agent([ANSWER], made("stuck", before_llm=before_llm), clock=clock)
    with pytest.raises(PluginError) as raised:
        agent.run_sync("go")
    what = f"overran its time limit of 60 s ({line_of(before_llm)})"
    assert str(raised.value) == f"plugin 'stuck': hook 'before_llm' {what}"
    assert reports(agent)[0] == ("stuck", "before_llm", "overran", what)


def test_a_wrong_return_is_named_with_the_place_of_the_hook() -> None:
    def before_llm(iteration: int) -> Any:
        return 5

    failure = failure_of(made("wrong", before_llm=before_llm))
    assert str(failure).startswith("plugin 'wrong': hook 'before_llm' returned a int; it may return ")
    assert str(failure).endswith(f"({line_of(before_llm)})")


def test_a_plain_hook_that_returns_an_awaitable_is_told_how_to_be_written() -> None:
    async def later() -> None:
        raise AssertionError("nobody awaits it")

    def before_llm(iteration: int) -> Any:
        return later()

    failure = failure_of(made("plain", before_llm=before_llm))
    assert str(failure) == (
        "plugin 'plain': hook 'before_llm' is a plain function that returned an awaitable; write it as 'async def' "
        f"({line_of(before_llm)})"
    )


def test_an_awaitable_that_cannot_be_closed_is_refused_all_the_same() -> None:
    class Awaitable:
        def __await__(self) -> Any:
            yield

    assert "returned an awaitable" in str(failure_of(made("plain", before_llm=lambda iteration: Awaitable())))


def test_a_hook_that_cancels_the_run_is_told_what_to_do_and_the_run_ends_in_order() -> None:
    def cancel() -> None:
        task = asyncio.current_task()
        assert task is not None
        task.cancel()
        task.cancel()

    agent = make_agent([ANSWER], made("rude", before_llm=lambda iteration: cancel()))
    with pytest.raises(PluginError) as raised:
        agent.run_sync("go")
    said = "cancelled the task of the run; return Stop(reason) where the hook may, or call agent.abort() ("
    assert str(raised.value).startswith(f"plugin 'rude': hook 'before_llm' {said}")
    assert words(agent.session.transcript) == ["U go"]


def test_a_message_where_none_can_stand_names_the_open_calls() -> None:
    plugin = made("talks", after_each_tool=lambda tool_call, result: "a note")
    failure = failure_of(plugin, script=[calls("ok", "quick"), ANSWER], tool_execution="sequential")
    assert str(failure).startswith(
        "plugin 'talks': hook 'after_each_tool' returned a message, which cannot stand there; open calls: "
        "ok (c1), quick (c2). return it from 'after_tools'"
    )


# ---- what is softened ----


class Soft:
    """A plugin whose observing hook fails; its options say how that is taken."""

    name = "soft"

    def __init__(self) -> None:
        self.heard = 0

    @hookimpl
    def on_event(self, event: Any) -> None:
        self.heard += 1
        raise ValueError("deaf")


@pytest.mark.parametrize(("on_error", "heard"), [("warn", "each"), ("disable", "once")])
def test_an_observing_hook_is_softened(on_error: Any, heard: str) -> None:
    plugin = Soft()
    agent = make_agent([ANSWER], PluginEntry(plugin, on_error=on_error))
    assert agent.run_sync("go").answer == "done"
    assert (plugin.heard == 1) is (heard == "once")
    failed = [report for report in reports(agent) if report[2] == "failed"]
    assert failed[0][:3] == ("soft", "on_event", "failed")
    assert failed[0][3].startswith("raised ValueError: deaf (")


@pytest.mark.parametrize("on_error", ["warn", "disable"])
def test_a_gate_is_never_softened(on_error: Any) -> None:
    plugin = made("gate", before_each_tool=lambda tool_call: 1 // 0)
    agent = make_agent([calls("ok"), ANSWER], PluginEntry(plugin, on_error=on_error))
    with pytest.raises(PluginError, match="raised ZeroDivisionError"):
        agent.run_sync("go")
    assert words(agent.session.transcript) == ["U go", "A c1", "R c1 not_run"]


# ---- tables ----


def test_a_table_has_an_entry_for_each_hook() -> None:
    assert all(getattr(EMPTY_TABLE, hook) == () for hook in CONTRACTS)
    assert HookTable({}, ("one",)).plugins == ("one",)
    assert EMPTY_TABLE.plugins == ()


def test_a_merged_table_is_of_the_nested_agents_own_plugins() -> None:
    outer, own = HookTable({}, ("outer",)), HookTable({}, ("own",))
    assert with_gates_of(outer, own).plugins == ("own",)


def test_a_nested_agent_asks_the_gates_of_the_outer_one_first_and_a_shared_one_once() -> None:
    asked: list[str] = []

    def gate(name: str) -> Any:
        return made(name, before_each_tool=lambda tool_call: asked.append(f"{name} {tool_call.name}"))

    shared, own = gate("shared"), gate("own")

    async def delegate() -> str:
        """Ask another agent."""
        inner = make_agent([calls("ok"), ANSWER], own, shared)
        return (await inner.run("inner")).answer

    make_agent([calls("delegate"), ANSWER], gate("outer"), shared, tools=[ok, delegate]).run_sync("go")
    assert asked == ["outer delegate", "shared delegate", "outer ok", "own ok", "shared ok"]


def test_only_gates_reach_into_nested_agents() -> None:
    heard: list[str] = []

    async def delegate() -> str:
        """Ask another agent."""
        return (await make_agent([calls("ok"), ANSWER]).run("inner")).answer

    outer = made(
        "outer",
        before_tools=lambda tool_calls: {one.id: Deny("no") for one in tool_calls if one.name == "ok"},
        before_llm=lambda agent: heard.append("before_llm"),
    )
    result = make_agent([calls("delegate"), ANSWER], outer, tools=[ok, delegate]).run_sync("go")
    assert result.answer == "done"
    assert heard == ["before_llm", "before_llm"]
