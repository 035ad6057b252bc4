"""Making the agent of an example."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hookagent import Agent
from hookagent.host import PluginEntry
from hookagent.providers import RetryPolicy
from tests.machine.actor import Actor, Watch
from tests.machine.model import MachineModel
from tests.machine.oracle_ends import MAX_WAIT
from tests.machine.oracle_window import KEEP_ROUNDS
from tests.machine.plans import Setup
from tests.machine.toolbox import BOXES, TOOLS, Toolbox
from tests.machine.world import World

_RETRIES = RetryPolicy(max_attempts=3, first_wait=1.0, max_wait=MAX_WAIT, random_fraction=lambda: 0.0)
_HOOK_SECONDS = 10.0
"""The time limit of the first plugin's hooks; the second has none, so that only an abort ends what hangs there."""


def make_agent(world: World, setup: Setup, model: MachineModel, actors: Sequence[Actor], session: str | None) -> Agent:
    """An agent as `setup` says, with a session of its own or one that is on disk.

    In call order come an actor, `context-window` where there is a window, the other actor, and one who only looks.
    """
    plugins: list[Any] = [] if setup.bare else [PluginEntry(actors[0], time_limit=_HOOK_SECONDS)]
    if setup.window is not None:
        options = {"window": setup.window, "strategy": setup.strategy, "keep_rounds": KEEP_ROUNDS}
        plugins.append({"context-window": {**options, "summary_words": 20}})
    if not setup.bare:
        plugins += [PluginEntry(actors[1], time_limit=None), Watch(world)]
    agent = Agent(
        "machine",
        tools=TOOLS,
        system_prompt="Be brief.",
        model=model,
        plugins=plugins,
        limits={
            "max_iterations": setup.max_iterations,
            "max_tool_calls": setup.max_tool_calls,
            "closing_answer": setup.closing_answer,
        },
        tool_execution=setup.mode,
        max_parallel_tools=setup.max_parallel,
        steering_mode=setup.steering,
        follow_up_mode=setup.follow_ups,
        session=session,
        log=setup.log,
        quiet=True,
        clock=world.clock,
        retry_policy=_RETRIES,
    )
    BOXES[agent] = Toolbox(world)
    return agent
