"""The gates of an agent judge what runs inside of its tools too, and what they decide there counts outside."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from hookagent import Agent, Deny, PluginError, Stop
from hookagent.events import Event, Nested
from hookagent.providers.scripted import ScriptedProvider
from tests.core.nested import ALL_WAYS, WAYS, Gate, Inside, outer_of, plain_inner
from tests.core.scripts import calls, make_agent


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOOKAGENT_HOME", str(tmp_path))
    return tmp_path


@ALL_WAYS
@pytest.mark.parametrize(
    ("verdict", "status", "reason"),
    [
        (None, "completed", ""),
        (Deny("not that"), "completed", ""),
        (Deny("nobody there", unanswered=True), "refused", "a call was refused: nobody there"),
        (Stop("that is enough"), "stopped", "'Gate' stopped the run: that is enough"),
    ],
)
def test_it_obeys_the_outer_gates_and_what_they_decide_counts_outside_too(
    way: str, verdict: Any, status: str, reason: str
) -> None:
    inside = Inside(plain_inner)
    gate = Gate(verdict)
    outer = outer_of(inside, way, gate)
    result = asyncio.run(outer.run("go"))
    assert (result.status, result.reason) == (status, reason)
    assert len(gate.seen) == 2
    assert gate.seen[1] == f"ok in {inside.agents[0].session.id}"
    if way != "directly":
        stored = inside.agents[0].session.transcript[1]
        assert (stored.results[0].status == "ok") == (verdict is None)  # type: ignore[union-attr]


@ALL_WAYS
def test_an_outer_gate_that_fails_fails_the_outer_run_too(way: str) -> None:
    inside = Inside(plain_inner)
    outer = outer_of(inside, way, Gate(ValueError("broken")))
    with pytest.raises(PluginError, match="broken"):
        asyncio.run(outer.run("go"))
    assert outer.last_result is not None
    assert outer.last_result.status == "failed"
    assert outer.session.transcript.open_round is None


@WAYS
def test_a_stop_in_a_sequential_round_lets_no_later_call_run(way: str) -> None:
    inside = Inside(plain_inner)
    ran: list[str] = []

    def later() -> str:
        """Come too late."""
        ran.append("later")
        return "ran"

    outer = make_agent(
        [calls(way, "later"), "never"], Gate(Stop("no")), tools=[*inside.tools, later], tool_execution="sequential"
    )
    assert asyncio.run(outer.run("go")).status == "stopped"
    assert ran == []
    assert [one.status for one in outer.session.transcript[1].results] == ["ok", "not_run"]  # type: ignore[union-attr]


def test_what_an_inner_gate_decides_stays_inside() -> None:
    for verdict in (Stop("inner business"), Deny("nobody", unanswered=True)):
        gate = Gate(verdict)
        inside = Inside(lambda gate=gate: plain_inner(plugins=[gate]))  # type: ignore[misc]
        assert asyncio.run(outer_of(inside, "here").run("go")).status == "completed"
        assert inside.results[0].status in ("stopped", "refused")


def test_a_gate_of_both_agents_is_asked_once_and_a_stop_of_it_ends_both() -> None:
    gate = Gate(Stop("both"))
    inside = Inside(lambda: plain_inner(plugins=[gate]))
    result = asyncio.run(outer_of(inside, "here", gate).run("go"))
    assert [inside.results[0].status, result.status] == ["stopped", "stopped"]
    assert len(gate.seen) == 2


def test_gates_reach_through_several_levels() -> None:
    gate = Gate(Stop("from far out"))
    innermost = Inside(plain_inner)
    middle = Inside(
        lambda: Agent("middle", tools=innermost.tools, model=ScriptedProvider([calls("here"), "m"]), quiet=True)
    )
    outer = outer_of(middle, "here", gate)
    heard: list[Event] = []
    outer.subscribe(heard.append)
    assert asyncio.run(outer.run("go")).status == "stopped"
    assert (middle.results[0].status, innermost.results[0].status) == ("stopped", "stopped")
    [deep] = [
        event.event.event
        for event in heard
        if isinstance(event, Nested) and isinstance(event.event, Nested) and event.event.event.type == "turn_end"
    ]
    assert deep.status == "stopped"


def test_an_inner_run_of_a_direct_call_stands_under_its_gates() -> None:
    gate = Gate(Deny("not inside either"))
    inside = Inside(plain_inner)
    outer = make_agent(["unused"], gate, tools=inside.tools)
    result = asyncio.run(outer.call_tool("here"))
    assert result.content == "inner answer"
    stored = inside.agents[0].session.transcript[1]
    assert stored.results[0].status == "denied"  # type: ignore[union-attr]
