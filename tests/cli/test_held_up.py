"""What still holds a run up after the grace time is named, and nothing is said of a run that ends by itself."""

from __future__ import annotations

import asyncio
import io
import os
import signal
import threading
from collections.abc import Iterator

import pytest

from hookagent import Agent
from hookagent.cli.chat.signals import STILL_ENDING, still_ending
from hookagent.cli.console import Console
from hookagent.cli.held_up import Overdue, held_up_at
from hookagent.cli.signals import Interrupts
from hookagent.providers.scripted import ScriptedProvider


class Blocked:
    """A run in the private loop whose async tool blocks that loop until `let_go` is set."""

    def __init__(self) -> None:
        self.began, self.let_go = threading.Event(), threading.Event()
        self.agent = Agent(
            tools=[self.block], model=ScriptedProvider([{"calls": [{"name": "block"}]}, "done"]), log=False, quiet=True
        )
        self.thread = threading.Thread(target=self.agent.run_sync, args=("go",))

    async def block(self) -> str:
        """Block the loop, which no async tool should do."""
        self.began.set()
        self.let_go.wait()
        return "let go"

    @property
    def place(self) -> str:
        first = Blocked.block.__code__.co_firstlineno
        return f"{__file__}:{first + 3}"


@pytest.fixture
def blocked() -> Iterator[Blocked]:
    run = Blocked()
    run.thread.start()
    try:
        assert run.began.wait(60)
        yield run
    finally:
        run.let_go.set()
        run.thread.join()


def test_the_tool_that_blocks_the_loop_is_found(blocked: Blocked) -> None:
    assert held_up_at() == blocked.place
    assert still_ending() == (
        f"hookagent: the turn has not ended: {blocked.place} blocks the event loop; Ctrl-C again leaves at once"
    )
    blocked.let_go.set()
    blocked.thread.join()
    assert held_up_at() is None
    assert still_ending() == STILL_ENDING


def test_a_signal_names_what_the_run_hangs_in_once_the_grace_time_is_over(blocked: Blocked) -> None:
    said = io.StringIO()
    told = threading.Event()

    class Telling(Console):
        def say(self, text: str, *, whole: bool = False) -> None:
            super().say(text, whole=whole)
            if "blocks" in text:
                told.set()

    with Interrupts(blocked.agent.abort, Telling(None, said, {}), grace_seconds=0):
        os.kill(os.getpid(), signal.SIGINT)
        assert told.wait(60)
    assert said.getvalue().splitlines() == [
        "hookagent: interrupted; ending the run (Ctrl-C again leaves at once)",
        f"hookagent: the run has not ended: {blocked.place} blocks the event loop; Ctrl-C again leaves at once",
    ]


def test_nothing_is_said_of_a_loop_that_goes_on_by_itself() -> None:
    said: list[str] = []
    Agent(model=ScriptedProvider(["done"]), log=False, quiet=True).run_sync("go")
    overdue = Overdue(said.append, 0)
    with overdue:
        overdue.begin()
        overdue._begun.wait()
        overdue._thread.join()
    assert said == []


def test_nothing_is_said_once_it_is_over_or_where_nothing_began(blocked: Blocked) -> None:
    said: list[str] = []
    with Overdue(said.append, 0):
        assert held_up_at() == blocked.place
    with Overdue(said.append, 600) as overdue:
        overdue.begin()
    assert said == []


def test_a_loop_of_the_callers_own_is_none_of_its_business() -> None:
    async def main() -> str | None:
        return held_up_at()

    assert asyncio.run(main()) is None
