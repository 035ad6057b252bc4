"""What must not creep in: heavy imports, calls that grow with the transcript, walks over it, copies of large results.

Counts only, no times: they are the same on every machine. The benchmarks in `tests/benchmarks` print the times.
"""

from __future__ import annotations

import asyncio
import itertools
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from types import FrameType
from typing import Any

import pytest

from hookagent import Agent
from hookagent.frozen import FrozenDict
from hookagent.messages import AssistantMessage, TextPart, ToolCall
from hookagent.providers.base import Delta
from hookagent.requests import Request
from hookagent.transcript import Block, ToolRound

EARLY, LATE = 100, 5000
MOST_CALLS = 76
"""Python calls in a round of one async tool without plugins, asyncio's own included; there were 68 when it was set."""
HEAVY = (
    "anthropic",
    "openai",
    "httpx",
    "httpx2",
    "pydantic",
    "pydantic_core",
    "yaml",
    "rich",
    "genai_prices",
    "asyncio",
)


async def echo(text: str, n: int) -> str:
    """Answer at once."""
    return "ok"


class Counting:
    """A model that asks for one call in each round, and notes how many Python calls came before each request."""

    name, model, notice = "counting", "model", ""
    wire: str | None = None
    context_window: int | None = None

    def __init__(self, rounds: int, counted: list[int] | None = None, tool: str = "echo") -> None:
        self.rounds = rounds
        self.at: list[int] = []
        self._counted = counted if counted is not None else [0]
        self._tool = tool
        self._arguments = FrozenDict(text="hello", n=3)

    async def stream(self, request: Request) -> AsyncIterator[Delta | AssistantMessage]:
        number = len(self.at)
        self.at.append(self._counted[0])
        if number == self.rounds:
            yield AssistantMessage((TextPart("done"),))
        else:
            yield AssistantMessage((ToolCall(f"c{number}", self._tool, self._arguments),), "tool_calls")


def agent(model: Any, *tools: Any, **options: Any) -> Agent:
    options = {"log": False, "quiet": True, "limits": {"max_iterations": None}, **options}
    return Agent("guarded", tools=tools or (echo,), model=model, **options)


def modules_after(code: str) -> set[str]:
    script = f"{code}\nimport sys\nprint(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def test_importing_the_package_loads_nothing_heavy() -> None:
    assert modules_after("import hookagent").isdisjoint(HEAVY)


def test_a_run_with_plain_arguments_needs_neither_pydantic_nor_an_sdk() -> None:
    code = (
        "from hookagent import Agent\n"
        "from hookagent.providers.scripted import ScriptedProvider\n"
        "def add(a: int, b: int) -> str:\n"
        "    return str(a + b)\n"
        "script = [{'calls': [{'name': 'add', 'arguments': {'a': 1, 'b': 2}}]}, 'three']\n"
        "agent = Agent(tools=[add], model=ScriptedProvider(script), log=False)\n"
        "assert agent.run_sync('add').answer == 'three'\n"
    )
    assert modules_after(code).isdisjoint({"pydantic", "anthropic", "openai", "httpx2", "rich"})


def calls_per_round() -> list[int]:
    """How many Python calls each round of one long run makes."""
    counted = [0]

    def count(frame: FrameType, event: str, argument: object) -> None:
        if event == "call":
            counted[0] += 1

    model = Counting(LATE + 50, counted)

    async def run() -> None:
        made = agent(model)
        sys.setprofile(count)
        try:
            await made.run("go")
        finally:
            sys.setprofile(None)

    asyncio.run(run())
    return [after - before for before, after in itertools.pairwise(model.at)]


def test_a_round_makes_as_many_calls_late_as_early_and_not_many() -> None:
    per_round = calls_per_round()
    early, late = sorted(per_round[EARLY : EARLY + 50])[25], sorted(per_round[LATE : LATE + 50])[25]
    assert early == late
    assert early <= MOST_CALLS


class Watched(list[Block]):
    """The transcript's log, which notes how much of it is read at once."""

    walked = 0
    reads = 0

    def __iter__(self) -> Iterator[Block]:
        self.walked += len(self)
        return super().__iter__()

    def __getitem__(self, index: Any) -> Any:
        self.reads += 1
        if isinstance(index, slice):
            self.walked += len(range(*index.indices(len(self))))
        return super().__getitem__(index)


@pytest.mark.parametrize("rounds", [50, 200])
def test_no_round_walks_over_the_transcript(rounds: int) -> None:
    made = agent(Counting(rounds))
    log = Watched()
    made._state.transcript._log = log
    assert asyncio.run(made.run("go")).ok
    assert len(log) == rounds + 2  # the prompt, the rounds, the answer: nothing forked off
    assert log.walked == 0
    assert log.reads <= 8 * rounds


def test_a_large_result_is_not_copied() -> None:
    large = "x" * (10 * 1024 * 1024)

    async def big(text: str, n: int) -> str:
        return large

    made = agent(Counting(1, tool="big"), big, tool_result_limit=len(large))
    asyncio.run(made.run("go"))
    stored = next(block for block in made.transcript if isinstance(block, ToolRound))
    assert stored.results[0] is not None
    assert stored.results[0].content is large


def test_results_and_replies_are_the_same_objects_in_every_later_request() -> None:
    seen: list[list[Block]] = []

    class Keeping(Counting):
        async def stream(self, request: Request) -> AsyncIterator[Delta | AssistantMessage]:
            seen.append(list(request.blocks))
            async for item in super().stream(request):
                yield item

    asyncio.run(agent(Keeping(5)).run("go"))
    for before, after in itertools.pairwise(seen):
        assert all(mine is theirs for mine, theirs in zip(before, after, strict=False))
