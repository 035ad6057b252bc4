"""Whether a plugin keeps two sessions apart, and leaves the process around it as it was."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import sys
import threading
from collections.abc import AsyncIterator, Collection, Iterator, Mapping
from typing import Any, Final

from hookagent import Agent, HookagentError, PluginEntry, Request, ToolContext, tool
from hookagent.providers import RetryPolicy
from hookagent.testing.plugin_check.judging import Problem
from hookagent.testing.plugin_check.model import ReferenceModel, Step

ENVIRONMENT: Final = "the environment"
MARKS: Final = ("alpaca", "ocelot")
"""A word for each of the two sessions, which nothing of the other session may hold."""
_AGENT: Final = "reference-"


class _Meeting:
    """Lets the two sessions go on together, or alone once the other one has ended."""

    def __init__(self) -> None:
        self._here: set[str] = set()
        self._go = asyncio.Event()

    async def come(self, mark: str) -> None:
        """Wait for the other one."""
        self.leave(mark)
        await self._go.wait()

    def leave(self, mark: str) -> None:
        """Do not let the other one wait any longer."""
        self._here.add(mark)
        if len(self._here) == len(MARKS):
            self._go.set()


class _Overheard(ReferenceModel):
    """The model of one session, which keeps what it was sent as texts."""

    def __init__(self, mark: str) -> None:
        call = {"name": "reference_meet", "arguments": {"item": mark}, "id": f"call_{mark}"}
        turn: tuple[Step, ...] = ({"text": f"I look at the {mark}.", "calls": [call]}, {"text": f"A fine {mark}."})
        super().__init__((turn, ({"text": "Nothing more."},)))
        self.heard: list[str] = []

    async def stream(self, request: Request) -> AsyncIterator[Any]:
        """Write down, and answer."""
        notes = [note.text for note in request.notes]
        self.heard += [request.system, request.summary or "", *notes, *_texts(request.blocks.transcript)]
        async for item in super().stream(request):
            yield item


async def leaks(use: Any, options: Mapping[str, Any] | None, more: Mapping[str, Any], seconds: float) -> list[Problem]:
    """Run two agents with one plugin object at the same time, and look for words of one in what the other says."""
    agents: dict[str, Agent] = {}
    models = {mark: _Overheard(mark) for mark in MARKS}
    meeting = _Meeting()

    @tool(effect="reads")
    async def reference_meet(item: str, context: ToolContext) -> str:
        """Look at one item while the other session looks at another.

        Args:
            item: which one.
        """
        # By whose tool it is: the item may be what a plugin made of it.
        await meeting.come(context.agent.name.removeprefix(_AGENT))
        return f"the {item} is there"

    entry = PluginEntry(use, options)
    for mark in MARKS:
        agents[mark] = Agent(
            f"{_AGENT}{mark}",
            tools=[reference_meet],
            model=models[mark],
            plugins=[entry],
            log=False,
            quiet=True,
            retry_policy=RetryPolicy(max_attempts=1),
            **more,
        )
        entry = PluginEntry(agents[mark].plugins[0].plugin)

    async def drive(mark: str) -> None:
        try:
            if (await agents[mark].run(f"Look at the {mark}.")).ok:
                await agents[mark].run("And then?")
        finally:
            meeting.leave(mark)

    try:
        async with asyncio.timeout(seconds):
            failed = await asyncio.gather(*map(drive, MARKS), return_exceptions=True)
    except TimeoutError:
        return [Problem("two sessions at the same time did not end", "do not let one session wait for another one")]
    problems = [
        Problem(str(error), "keep what belongs to a session by 'session.id', not in the plugin itself")
        for error in failed
        if isinstance(error, HookagentError)
    ]
    for mark, other in (MARKS, MARKS[::-1]):
        texts = [*models[mark].heard, *_texts(agents[mark].session.transcript)]
        found = next((text for text in texts if other in text), None)
        if found is not None:
            problems.append(
                Problem(
                    f"what one session said was told in another one: {found[:200]!r}",
                    "keep what belongs to a session by 'session.id', not in the plugin itself",
                )
            )
    for agent in agents.values():
        try:
            await agent.close()
        except HookagentError as error:
            problems.append(Problem(str(error), "catch what may fail there", "on_session_end"))
    return problems


def _texts(transcript: Any) -> Iterator[str]:
    for message in transcript.messages():
        yield message.content if hasattr(message, "content") else message.text


class Surroundings:
    """What a plugin has no business with: the process around the agent, as it was."""

    def __init__(self) -> None:
        root = logging.getLogger()
        self._seen: dict[str, Any] = {
            ENVIRONMENT: dict(os.environ),
            "the working directory": os.getcwd(),
            "the import path": list(sys.path),
            "the level of the root logger": root.level,
            "the handlers of the root logger": list(root.handlers),
            "standard output": sys.stdout,
            "standard error": sys.stderr,
            "the threads that hold the process": {
                one.name for one in threading.enumerate() if not one.daemon and one.is_alive()
            },
        }
        if threading.current_thread() is threading.main_thread():
            self._seen["the handler of SIGINT"] = signal.getsignal(signal.SIGINT)
            self._seen["the handler of SIGTERM"] = signal.getsignal(signal.SIGTERM)

    def changes(self, but: Collection[str] = ()) -> list[Problem]:
        """What is different now, but for what may be."""
        now = Surroundings()._seen
        return [
            Problem(
                f"{_named(what, before, now.get(what))} changed while the plugin was at work",
                "leave the process as it is; it belongs to the user",
            )
            for what, before in self._seen.items()
            if now.get(what) != before and what not in but
        ]


def _named(what: str, before: Any, now: Any) -> str:
    if not isinstance(before, dict) or not isinstance(now, dict):
        return what
    return f"{what} ({', '.join(sorted(key for key in {*before, *now} if before.get(key) != now.get(key)))})"
