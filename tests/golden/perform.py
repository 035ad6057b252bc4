"""Playing a scenario in one cell of the matrix, to the end of its session."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from hookagent.errors import HookagentError
from hookagent.events import UNTRACED
from hookagent.private_loop import run_in_private_loop
from tests.golden.notes import Note, lay_out
from tests.golden.stage import Cell, Scenario, Stage
from tests.golden.words import transcript_lines


@dataclass(frozen=True)
class Played:
    """What came of it: the trace, the messages, and the stage it was played on."""

    trace: str
    messages: str
    stage: Stage


def play(scenario: Scenario, cell: Cell) -> Played:
    """Play a scenario in one way."""
    stage = Stage(scenario, cell)
    messages: list[str] = []
    if _noted(stage, "Agent(...)", stage.build):
        if cell.entry == "run_sync":
            for prompt in scenario.prompts:
                _noted(stage, _name(prompt), partial(_run_sync, stage, prompt))
            _noted(stage, "agent.close()", stage.agent.close_sync)
        else:
            asyncio.run(_play(stage))
        messages = transcript_lines(stage.agent.transcript)
    return Played(lay_out(stage.notes), "".join(f"{line}\n" for line in messages), stage)


async def _play(stage: Stage) -> None:
    for prompt in stage.scenario.prompts:
        await _noted_async(stage, _name(prompt), partial(_run, stage, prompt))
    await _noted_async(stage, "agent.close()", stage.agent.close)


def _run_sync(stage: Stage, prompt: str | None) -> Any:
    if prompt is None:  # it has no form of its own for callers without an event loop
        return run_in_private_loop(stage.agent.continue_, "")
    return stage.agent.run_sync(prompt)


async def _run(stage: Stage, prompt: str | None) -> Any:
    if prompt is None:
        return await stage.agent.continue_()
    if stage.cell.entry == "run":
        return await stage.agent.run(prompt)
    told = len(stage.heard)
    streamed: list[Any] = []
    try:
        async for event in stage.agent.stream(prompt):
            streamed.append(event)
    finally:
        assert streamed == stage.heard[told:]
    return stage.agent.last_result


def _name(prompt: str | None) -> str:
    return "agent.continue_()" if prompt is None else f"agent.run({prompt!r})"


def _noted(stage: Stage, what: str, call: Callable[[], Any]) -> bool:
    """Note a call from outside, and what came of it; whether it raised nothing."""
    _begin(stage, what)
    try:
        _end(stage, call())
    except HookagentError as error:
        _end(stage, error)
        return False
    return True


async def _noted_async(stage: Stage, what: str, call: Callable[[], Any]) -> None:
    _begin(stage, what)
    try:
        _end(stage, await call())
    except HookagentError as error:
        _end(stage, error)


def _begin(stage: Stage, what: str) -> None:
    stage.notes.append(Note("person", "outside", f"> {what}"))


def _end(stage: Stage, result: Any) -> None:
    words = f"raises {type(result).__name__}" if isinstance(result, HookagentError) else getattr(result, "status", None)
    if words is not None:
        stage.notes.append(Note("person", "outside", f"< {words}"))


def check_events(played: Played) -> None:
    """Whoever hears events hears the same ones, numbered without a gap, and the trace keeps them."""
    stage = played.stage
    assert stage.heard == stage.witness.events
    assert [event.number for event in stage.heard] == list(range(1, len(stage.heard) + 1))
    assert list(stage.agent.session.trace) == [event for event in stage.heard if type(event) not in UNTRACED]
