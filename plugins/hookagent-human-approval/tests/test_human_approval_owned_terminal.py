"""A terminal that somebody else reads: its owner is asked, and steps aside for $EDITOR."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

from hookagent import own_terminal, terminal_owner
from hookagent_human_approval import HumanApproval
from hookagent_human_approval.owned_terminal import OwnedTerminal
from hookagent_human_approval.terminal import open_terminal


class Owner:
    """Owns a terminal at which a person answers from a list; remembers what happened, in order."""

    width = 60

    def __init__(self, *answers: str | None) -> None:
        self.answers = list(answers)
        self.happened: list[str] = []

    async def ask(self, prompt_text: str) -> str | None:
        self.happened.append(f"asked: {prompt_text}")
        return self.answers.pop(0)

    def write(self, text: str) -> None:
        self.happened.append(f"written: {text}")

    @contextlib.asynccontextmanager
    async def stand_aside(self) -> AsyncIterator[None]:
        self.happened.append("aside")
        try:
            yield
        finally:
            self.happened.append("back")


def test_the_owner_is_asked_and_the_terminal_left_alone(
    bench: Any, call: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    def opened() -> None:
        raise AssertionError("the terminal was opened past its owner")

    monkeypatch.setattr("hookagent_human_approval.posix_terminal.open_controlling_terminal", opened)
    owner = Owner("y", "n")
    agent = bench.agent([[call("c1", "write", path="a"), call("c2", "write", path="b")], "Done."], None)
    bench.plugin._open_terminal = open_terminal
    with own_terminal(owner):
        result = agent.run_sync("go")
    assert (result.status, bench.ran) == ("completed", [("write", "a", 1)])
    assert len(owner.happened) == 2
    assert '| path: "a"' in owner.happened[0]
    assert "[2 of 2] write: run it?" in owner.happened[1]


def test_without_an_answer_of_the_owner_nothing_runs(bench: Any, call: Callable[..., Any]) -> None:
    agent = bench.agent([[call("c1", "write", path="a")], "Done."], None)
    bench.plugin._open_terminal = open_terminal
    with own_terminal(Owner(None)):
        assert agent.run_sync("go").status == "completed"
    assert bench.ran == []


def test_arguments_are_edited_in_one_line_without_an_editor(
    bench: Any, call: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EDITOR", " ")
    owner = Owner("e", '{"path": "b"}', "y")
    agent = bench.agent([[call("c1", "write", path="a")], "Done."], None)
    bench.plugin._open_terminal = open_terminal
    with own_terminal(owner):
        agent.run_sync("go")
    assert bench.ran == [("write", "b", 1)]
    assert owner.happened[1].startswith("asked:   new arguments, as one line of JSON")


def test_the_owner_stands_aside_for_an_editor(person: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EDITOR", "some-editor")
    owner = Owner()
    direct = person(edits=("edited",))

    def open_directly() -> Any:
        owner.happened.append("opened")
        return direct

    assert asyncio.run(OwnedTerminal(owner, open_directly).edit("text")) == "edited"
    assert (owner.happened, direct.offered) == (["aside", "opened", "back"], ["text"])


def test_a_terminal_that_cannot_be_opened_is_said_and_given_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EDITOR", "some-editor")
    owner = Owner()
    with pytest.raises(OSError, match="cannot be opened for \\$EDITOR"):
        asyncio.run(OwnedTerminal(owner, lambda: None).edit("text"))
    assert owner.happened == ["aside", "back"]


def test_the_owner_counts_only_for_as_long_as_it_owns_it() -> None:
    owner = Owner()
    with own_terminal(owner):
        terminal = open_terminal()
        assert isinstance(terminal, OwnedTerminal)
        assert terminal.width == 60
    assert terminal_owner() is None
    assert not isinstance(open_terminal(), OwnedTerminal)


def test_a_plugin_that_is_made_as_usual_asks_the_owner() -> None:
    plugin = HumanApproval()
    with own_terminal(Owner()):
        assert isinstance(plugin._open_terminal(), OwnedTerminal)
