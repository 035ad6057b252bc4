from __future__ import annotations

import asyncio
import os
import pty
import select
import signal
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from hookagent import Agent, tool
from hookagent.testing import ScriptedProvider
from hookagent_human_approval import HumanApproval

# A shell lets what it starts in the background ignore Ctrl-C, and so all that this starts: here it is tested.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

PATIENCE_SECONDS = 60  # only ever used up by a test that fails
AWAY = object()
"""As an answer: nobody types anything."""


class FakeTerminal:
    """A person who answers from a list, and remembers what was shown."""

    def __init__(self, *answers: Any, edits: tuple[str | OSError | None, ...] = ()) -> None:
        self.answers = list(answers)
        self.edits = list(edits)
        self.shown: list[str] = []
        self.offered: list[str] = []
        self.waiting = asyncio.Event()
        self.width = 100

    @property
    def text(self) -> str:
        return "".join(self.shown)

    async def ask(self, text: str) -> str | None:
        self.shown.append(text)
        answer = self.answers.pop(0)
        if answer is AWAY:
            self.waiting.set()
            await asyncio.get_running_loop().create_future()
        assert answer is None or isinstance(answer, str)
        return answer

    async def edit(self, text: str) -> str | None:
        self.offered.append(text)
        edit = self.edits.pop(0)
        if isinstance(edit, OSError):
            raise edit
        return edit


class Bench:
    """An agent with a few tools, and what they did."""

    def __init__(self) -> None:
        self.ran: list[tuple[Any, ...]] = []
        self.plugin: HumanApproval | None = None

    def tools(self) -> list[Any]:
        @tool(effect="reads")
        def look(path: str) -> str:
            """Look."""
            self.ran.append(("look", path))
            return "seen"

        @tool(effect="writes")
        def write(path: str, n: int = 1) -> str:
            """Write."""
            self.ran.append(("write", path, n))
            return "written"

        @tool(effect="sends")
        def send(to: str) -> str:
            """Send."""
            self.ran.append(("send", to))
            return "sent"

        def sh(command: str) -> str:
            """Run a command."""
            self.ran.append(("sh", command))
            return "done"

        return [look, write, send, sh]

    def agent(
        self, steps: list[Any], terminal: FakeTerminal | None, *, before: Any = (), after: Any = (), **options: Any
    ) -> Agent:
        """An agent that plays `steps`; a list of calls is a reply with these calls."""
        settings = {key: options.pop(key) for key in ("tool_execution", "grace_seconds") if key in options}
        self.plugin = HumanApproval(HumanApproval.Options(**options), open_terminal=lambda: terminal)
        replies = [{"calls": step} if isinstance(step, list) else step for step in steps]
        return Agent(
            "test",
            tools=self.tools(),
            model=ScriptedProvider(replies),
            plugins=[*before, self.plugin, *after],
            **settings,
        )


class AtTerminal:
    """The other end of a terminal: reads what is shown, types what is answered."""

    def __init__(self) -> None:
        self.end, self.terminal = pty.openpty()
        self.path = os.ttyname(self.terminal)
        self.seen = ""
        self.closed = False

    def types(self, text: str) -> None:
        os.write(self.end, text.encode())

    def waits_for(self, text: str) -> str:
        """Read until `text` is on the screen; return all since the last time."""
        seen = ""
        while text not in seen:
            ready, _, _ = select.select([self.end], [], [], PATIENCE_SECONDS)
            assert ready, f"not shown: {text!r}; shown: {seen!r}"
            seen += os.read(self.end, 65_536).decode()
        self.seen += seen
        return seen

    def close(self) -> None:
        if not self.closed:
            self.closed = True
            for descriptor in (self.end, self.terminal):
                os.close(descriptor)


@pytest.fixture
def at_terminal() -> Iterator[AtTerminal]:
    made = AtTerminal()
    yield made
    made.close()


@pytest.fixture
def bench() -> Bench:
    return Bench()


@pytest.fixture
def person() -> Callable[..., FakeTerminal]:
    return FakeTerminal


@pytest.fixture
def away() -> object:
    return AWAY


def made_call(call_id: str, name: str, **arguments: Any) -> dict[str, Any]:
    return {"id": call_id, "name": name, "arguments": arguments}


@pytest.fixture
def call() -> Callable[..., dict[str, Any]]:
    return made_call
