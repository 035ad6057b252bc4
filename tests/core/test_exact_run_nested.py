"""Runs inside of the tools of other runs: what gates, failures and open calls in there do to the runs around them."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from hookagent import Agent, Deny, PluginError, Stop, Suspend
from hookagent.providers.scripted import ScriptedProvider
from tests.core.nested import WAYS, Gate, Inside, outer_of, plain_inner
from tests.core.plugin_making import made
from tests.core.scripts import calls, words


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOOKAGENT_HOME", str(tmp_path))
    return tmp_path


@WAYS
def test_a_gate_of_the_outer_run_that_failed_inside_is_not_told_of_its_own_failure(way: str) -> None:
    heard: list[str] = []

    def fails(tool_call: Any) -> None:
        if tool_call.name == "ok":
            raise ValueError("broken")

    def listening(name: str) -> Any:
        return lambda error, tool_call: heard.append(f"{name}: {tool_call.name if tool_call else 'the run'}")

    failing = made("failing", before_each_tool=fails, on_error=listening("failing"))
    other = made("other", on_error=listening("other"))
    outer = outer_of(Inside(plain_inner), way, failing, other)
    with pytest.raises(PluginError, match="plugin 'failing': hook 'before_each_tool' raised ValueError: broken"):
        asyncio.run(outer.run("go"))
    assert heard == [f"other: {way}", "other: the run"]


def suspending(hook: str) -> Any:
    """A gate that suspends each call of `ok`, in one of the two hooks that may."""
    if hook == "before_each_tool":
        return made("asks", before_each_tool=lambda tool_call: Suspend("?") if tool_call.name == "ok" else None)
    return made(
        "asks", before_tools=lambda tool_calls: {one.id: Suspend("?") for one in tool_calls if one.name == "ok"}
    )


OPEN = "a call was refused: nobody answered for ok (in1), a call of a nested agent"


@pytest.mark.parametrize("hook", ["before_tools", "before_each_tool"])
@pytest.mark.parametrize("levels", [1, 2])
def test_a_call_that_waits_at_an_outer_gate_makes_every_run_around_it_refused(hook: str, levels: int) -> None:
    inside = Inside(plain_inner)
    middle = Inside(
        lambda: Agent("middle", tools=inside.tools, model=ScriptedProvider([calls("here"), "m"]), quiet=True)
    )
    result = asyncio.run(outer_of(inside if levels == 1 else middle, "here", suspending(hook)).run("go"))
    assert inside.results[0].status == "waiting"
    assert (result.status, result.reason) == ("refused", OPEN)
    assert [(one.status, one.reason) for one in middle.results] == [("refused", OPEN)] * (levels - 1)


def test_a_call_that_waits_at_a_gate_of_its_own_agent_leaves_the_outer_run_alone() -> None:
    gate = suspending("before_each_tool")
    inside = Inside(lambda: plain_inner(plugins=[gate]))
    named_alike = made("asks", before_llm=lambda iteration: None)
    assert asyncio.run(outer_of(inside, "here", named_alike).run("go")).status == "completed"
    assert inside.results[0].status == "waiting"


@pytest.mark.parametrize(
    ("verdict", "status", "reason"),
    [
        (Stop("enough"), "stopped", "'Gate' stopped the run: enough"),
        (Deny("nobody", unanswered=True), "refused", "a call was refused: nobody"),
    ],
)
def test_what_a_gate_decides_ends_every_run_up_to_the_one_whose_gate_it_is(
    verdict: Any, status: str, reason: str
) -> None:
    gate = Gate(verdict)
    inside = Inside(plain_inner)
    middle = Inside(
        lambda: Agent(
            "middle", tools=inside.tools, model=ScriptedProvider([calls("here"), "m"]), plugins=[gate], quiet=True
        )
    )
    outer = outer_of(middle, "here")
    result = asyncio.run(outer.run("go"))
    assert [(one.status, one.reason) for one in (*inside.results, *middle.results)] == [(status, reason)] * 2
    assert (result.status, result.reason) == ("completed", "")
    assert words(outer.transcript)[-1] == "A outer answer"
