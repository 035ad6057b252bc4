"""What an agent says at a terminal by itself: plain lines, its own and those of agents inside of its tools."""

from __future__ import annotations

import asyncio
import io
import sys

import pytest

from hookagent import Agent
from hookagent.console import Console
from hookagent.providers.scripted import ScriptedProvider
from tests.core.nested import Inside
from tests.core.scripts import calls, ok


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def inner() -> Agent:
    return Agent("inner", tools=[ok], model=ScriptedProvider([calls("ok"), "deep"]), log=False)


def outer(inside: Inside, *, quiet: bool = False) -> Agent:
    return Agent("outer", tools=inside.tools, model=ScriptedProvider([calls("here"), "done"]), log=False, quiet=quiet)


def lines_of(agent: Agent, terminal: Terminal) -> list[str]:
    asyncio.run(agent.run("go"))
    return [line.partition(", ")[0] for line in terminal.getvalue().splitlines()]


@pytest.mark.parametrize("made_outside", [False, True])
def test_an_inner_agent_is_shown_by_the_outer_one_and_once(made_outside: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    ready = inner()
    inside = Inside((lambda: ready) if made_outside else inner)
    assert lines_of(outer(inside), terminal) == [
        "outer: model scripted:script",
        "iteration 1 of 10",
        "  here ...",
        "  inner: inner: model scripted:script",
        "  inner: iteration 1 of 10",
        "  inner: ok ...",
        "  inner: ok: ok",
        "  inner: iteration 2 of 10",
        "  inner: completed: 0 tokens in",
        "  here: ok",
        "iteration 2 of 10",
        "completed: 0 tokens in",
    ]


def test_a_quiet_outer_agent_keeps_the_inner_one_quiet(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    assert lines_of(outer(Inside(inner), quiet=True), terminal) == []


def test_nothing_is_said_where_nobody_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    elsewhere = io.StringIO()
    monkeypatch.setattr(sys, "stderr", elsewhere)
    asyncio.run(outer(Inside(inner)).run("go"))
    monkeypatch.setattr(sys, "stderr", None)
    asyncio.run(outer(Inside(inner)).run("go"))
    assert elsewhere.getvalue() == ""


def test_what_would_steer_the_terminal_is_shown_and_not_obeyed() -> None:
    terminal = Terminal()
    agent = Agent("a\x1b[2Jb", model=ScriptedProvider(["done"]), log=False, quiet=True)
    agent.subscribe(Console(terminal))
    agent.run_sync("go")
    assert terminal.getvalue().startswith("a\\x1b[2Jb: model")
