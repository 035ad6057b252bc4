"""The stage of one cell of the matrix: an agent with a witness, an actor and a scripted model."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from hookagent import Agent
from hookagent.events import ToolEnd
from hookagent.providers.base import Delta
from hookagent.providers.retry import RetryPolicy
from hookagent.testing import FakeClock
from tests.cases.checked_model import CheckedModel
from tests.golden.notes import Note
from tests.golden.tools import make_tools
from tests.golden.witness import Given, Witness, acting

Mode = Literal["parallel", "sequential"]
Entry = Literal["run_sync", "run", "stream"]
StageAct = Callable[["Stage", Given], Any]
GRACE_SECONDS = 5.0


@dataclass(frozen=True)
class Scenario:
    """One row of the table: what the model says, what a plugin and people do.

    `name` is the golden file's, `happens` tells a reader what happens. `script` are the model's steps; one that is a
    function of the request may be made by a function of the stage, where it acts. `acts` are the hooks of the plugin
    'actor', which comes behind the witness. `prompts` are the runs, one after the other; None continues without a
    prompt. `options` are the agent's.
    """

    name: str
    family: str
    title: str
    happens: str
    script: Sequence[Any] | Callable[[Stage], Sequence[Any]]
    acts: Mapping[str, StageAct] = field(default_factory=dict)
    prompts: tuple[str | None, ...] = ("go",)
    options: Mapping[str, Any] = field(default_factory=dict)


class Cell(NamedTuple):
    """How a scenario is run; `streamed`: the model gives its reply in pieces; `is_async`: hooks are `async def`."""

    mode: Mode
    entry: Entry
    streamed: bool
    is_async: bool


class Model(CheckedModel):
    """Answers from a script, in pieces or at once; every request passes the checkers of all wires."""

    streamed = True

    async def stream(self, request: Any) -> AsyncIterator[Any]:
        """Answer with the next step."""
        async for item in super().stream(request):
            if self.streamed or type(item) is not Delta:
                yield item


class Stage:
    """Where a scenario is played: `build` makes the agent; `notes` are what its witness noted.

    `heard` are the events as a listener heard them; `counted` is a number for a tool that counts.
    """

    def __init__(self, scenario: Scenario, cell: Cell) -> None:
        self.scenario, self.cell = scenario, cell
        self.clock = FakeClock()
        self.witness = Witness(cell.is_async, self._note_end)
        self.notes = self.witness.notes
        self.heard: list[Any] = []
        self.counted = 0
        self._ended: dict[str, asyncio.Event] = {}
        steps = scenario.script(self) if callable(scenario.script) else scenario.script
        self.model = Model(steps)
        self.model.streamed = cell.streamed
        called = [one["name"] for step in steps if isinstance(step, Mapping) for one in step.get("calls", ())]
        self._tools = [one for one in make_tools(self) if one.__name__ in called]
        self._agent: Agent | None = None

    @property
    def built(self) -> bool:
        """Whether there is an agent."""
        return self._agent is not None

    @property
    def agent(self) -> Agent:
        """The agent, once it is built."""
        assert self._agent is not None
        return self._agent

    def build(self) -> None:
        """Make the agent. Raises what making it raises."""
        acts = {hook: self._bound(act) for hook, act in self.scenario.acts.items()}
        self._agent = Agent(
            "golden",
            tools=self._tools,
            model=self.model,
            plugins=[self.witness, *([acting(acts, self.cell.is_async)] if acts else [])],
            tool_execution=self.cell.mode,
            clock=self.clock,
            grace_seconds=GRACE_SECONDS,
            retry_policy=RetryPolicy(first_wait=0.0),
            log=False,
            quiet=True,
            **self.scenario.options,
        )
        self._agent.subscribe(self.heard.append)

    # ---- what people do meanwhile ----

    def abort(self) -> None:
        """Somebody aborts the run."""
        self.note("> agent.abort()")
        self.agent.abort("enough")

    def steer(self, text: str) -> None:
        """Somebody steers."""
        self.note(f"> agent.steer({text!r})")
        self.agent.steer(text)

    def follow_up(self, text: str) -> None:
        """Somebody queues a follow-up message."""
        self.note(f"> agent.follow_up({text!r})")
        self.agent.follow_up(text)

    def note(self, words: str) -> None:
        """Note what somebody did in the course of a run."""
        self.notes.append(Note("person", "during", words))

    # ---- time, and the order of calls ----

    def later(self, seconds: float) -> None:
        """Let time go by, as soon as whatever runs now waits for something."""
        asyncio.get_running_loop().call_soon(self.clock.advance, seconds)

    async def end_of(self, call_id: str) -> None:
        """Wait until a call has its result, but not in a sequential round, where that one waits for this."""
        if self.cell.mode == "parallel":
            await self.result_of(call_id)

    async def result_of(self, call_id: str) -> None:
        """Wait until a call has its result."""
        await self._ended.setdefault(call_id, asyncio.Event()).wait()

    def _note_end(self, event: Any) -> None:
        if type(event) is ToolEnd:
            self._ended.setdefault(event.call.id, asyncio.Event()).set()

    def _bound(self, act: StageAct) -> Callable[[Given], Any]:
        return lambda given: act(self, given)
