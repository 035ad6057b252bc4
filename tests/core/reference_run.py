"""A run that uses everything, in which one chosen thing fails: the k-th model call, tool, hook, listener or write.

Three turns of two runs: text beside calls, parallel calls, a failing tool, an amended call, one that is suspended and
approved, steering, a follow-up, messages of plugins, every hook, two listeners, and the journal on disk. Then the
agent is asked once more, with nothing failing, closed, and its session is brought back from disk.
"""

from __future__ import annotations

import asyncio
import collections
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from typing import Any

from hookagent import Agent, current_call
from hookagent.messages import UserMessage
from hookagent.providers.base import Delta
from hookagent.providers.retry import RetryPolicy
from hookagent.requests import Request
from hookagent.result import RunResult
from hookagent.testing import FakeClock, Recorder, WireError
from tests.cases.checked_model import CheckedModel
from tests.core.faulty_plugin import Faults, Faulty

PROMPTS = ("first task", "second task")
LAST_PROMPT = "and now?"
RECOVERED = "recovered"


def _calls(text: str, **called: tuple[str, int]) -> dict[str, Any]:
    made = [
        {"name": name, "id": call_id, "arguments": {} if name == "bad" else {"n": n}}
        for call_id, (name, n) in called.items()
    ]
    return {"text": text, "calls": made} if text else {"calls": made}


SCRIPT: dict[str, tuple[Any, ...]] = {
    "first task": (
        _calls("I look at both.", c1=("look", 1), c2=("read", 2)),
        _calls("", c3=("bad", 0), c4=("look", 3)),
        _calls("Now I change it.", c5=("change", 0)),
    ),
    "steered": (
        _calls("", c6=("risky", 4), c7=("look", 5)),
        "The first answer.",
        _calls("I check it.", c8=("read", 6)),
        "The first answer, checked.",
    ),
    "afterwards": ("Afterwards answered.",),
    "one more": (_calls("", c9=("risky", 7)), "One more done."),
    "second task": (_calls("", c10=("bad", 0), c11=("read", 9)), "The second answer."),
}
"""What the model says, by what a person said last; so that its answers do not depend on how often it was asked."""


class Model(CheckedModel):
    """Answers from `SCRIPT`, its requests checked on all wires; somebody steers in the middle of its third answer."""

    def __init__(self, faults: Faults, steer: Callable[[str], None]) -> None:
        super().__init__(self._answer)
        self.faults, self.steer = faults, steer
        self.recovering = False
        self.refused: list[WireError] = []
        self._said: collections.Counter[str] = collections.Counter()

    def _answer(self, request: Request) -> Any:
        if self.recovering:
            return RECOVERED
        heard = next(
            block.text for block in reversed(tuple(request.blocks)) if type(block) is UserMessage and not block.origin
        )
        step = SCRIPT[heard][self._said[heard]]
        self._said[heard] += 1
        if heard == "first task" and self._said[heard] == 3:
            self.steer("steered")
        return step

    async def stream(self, request: Request) -> AsyncIterator[Any]:
        """Fail before anything was said, or behind a piece of it."""
        self.faults("model")
        try:
            async for item in super().stream(request):
                yield item
                if type(item) is Delta:
                    self.faults("delta")
        except WireError as refused:
            self.refused.append(refused)
            raise


@dataclass
class Seen:
    """What came of it; `ends` has each run's result and what it raised, the last of them with nothing failing."""

    faults: Faults
    agent: Agent
    model: Model
    plugin: Faulty
    neighbour: Recorder
    ran: list[str] = field(default_factory=list)
    said: list[str] = field(default_factory=list)
    ends: list[tuple[RunResult, BaseException | None]] = field(default_factory=list)
    closing: BaseException | None = None
    asked_before: int = 0

    @property
    def end(self) -> tuple[RunResult, BaseException | None]:
        """The end of the run in which it was struck, or of the one before the last."""
        return self.ends[-2]

    @property
    def warnings(self) -> list[str]:
        """What all runs warned of."""
        return [text for result, _ in self.ends for text in result.warnings]


def make_tools(faults: Faults, ran: list[str]) -> list[Callable[..., Any]]:
    """Tools that write down which calls ran."""

    def strike() -> None:
        call_id = current_call().call_id
        ran.append(call_id)
        faults("tool", call_id)

    async def look(n: int) -> str:
        """Look at something."""
        await asyncio.sleep(0)
        strike()
        return f"seen {n}"

    def read(n: int) -> str:
        """Read something, in a thread."""
        strike()
        return f"read {n}"

    def bad() -> str:
        """Always fail."""
        strike()
        raise LookupError("nothing there")

    def change(n: int) -> str:
        """Change something."""
        strike()
        return f"changed {n}"

    async def risky(n: int) -> str:
        """Do something risky."""
        strike()
        return f"risked {n}"

    return [look, read, bad, change, risky]


def observe(faults: Faults, mode: Any = "parallel") -> Seen:
    """Drive the run; see the module. Raises what making the agent raises."""
    ran: list[str] = []
    plugin, neighbour = Faulty(faults), Recorder(name="neighbour")
    model = Model(faults, lambda text: queue(agent.steer, text))
    agent = Agent(
        "reference",
        tools=make_tools(faults, ran),
        model=model,
        plugins=[plugin, neighbour],
        tool_execution=mode,
        limits={"max_iterations": 50},
        clock=FakeClock(),
        retry_policy=RetryPolicy(first_wait=0.0),
        quiet=True,
    )
    seen = Seen(faults, agent, model, plugin, neighbour, ran)

    def queue(how: Callable[[str], None], text: str) -> None:
        seen.said.append(text)
        how(text)

    def queue_one_more(given: dict[str, Any]) -> None:
        if given["outcome"].turn == 1 and given["outcome"].status == "completed":
            queue(agent.follow_up, "one more")

    def first_listener(event: Any) -> None:
        faults("listener", "first_listener")

    def second_listener(event: Any) -> None:
        faults("listener", "second_listener")

    neighbour.returns["on_complete"] = queue_one_more
    agent.subscribe(first_listener)
    agent.subscribe(second_listener)
    queue(agent.follow_up, "afterwards")
    asyncio.run(_drive(seen))
    return seen


async def _drive(seen: Seen) -> None:
    for prompt in PROMPTS:
        if not await _run(seen, prompt):
            break
    seen.faults.armed = False
    seen.model.recovering = True
    seen.asked_before = len(seen.model.requests)
    await _run(seen, LAST_PROMPT)
    seen.faults.armed = True
    try:
        await seen.agent.close()
    except Exception as error:
        seen.closing = error


async def _run(seen: Seen, prompt: str) -> bool:
    seen.said.append(prompt)
    raised: BaseException | None = None
    try:
        await seen.agent.run(prompt)
    except Exception as error:
        raised = error
    result = seen.agent.last_result
    assert result is not None, raised
    seen.ends.append((result, raised))
    return raised is None and result.ok
