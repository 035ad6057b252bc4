"""A run that reaches every hook, with one hook of one plugin at fault, and what came of it."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from hookagent import Agent, Approve, Suspend, hookimpl, hookspecs
from hookagent.contract import CONTRACTS
from hookagent.discovery import Installed
from hookagent.host import PluginEntry
from hookagent.providers.scripted import ScriptedProvider
from hookagent.testing import FakeClock, Recorder
from tests.core.plugin_making import Made
from tests.core.scripts import calls, quick

Act = Callable[[dict[str, Any]], Any]
DISTRIBUTION = "hookagent-faulty 1.2"


async def failing() -> str:
    """Fail, asynchronously."""
    raise ValueError("no")


def implementing(hook: str, act: Act) -> Any:
    """A plugin with one hook, which takes all its arguments and hands them to `act`."""
    names = list(inspect.signature(getattr(hookspecs, hook)).parameters)
    is_async = inspect.iscoroutinefunction(act)
    given = ", ".join(f"{name}={name}" for name in names)
    source = f"def {hook}({', '.join(names)}):\n    return {'await ' if is_async else ''}act(dict({given}))"
    scope: dict[str, Any] = {"act": act}
    exec(("async " if is_async else "") + source, scope)
    plugin = Made("faulty")
    setattr(plugin, hook, hookimpl(scope[hook]))
    return plugin


class EntryPoint:
    """Stands for an entry point whose object is at hand."""

    def __init__(self, plugin: Any) -> None:
        self.plugin = plugin

    def load(self) -> Any:
        return self.plugin


def installed_as(plugin: Any) -> Callable[..., tuple[Installed, ...]]:
    """What `discovery.installed` says when `plugin` is the only one, called 'faulty'."""
    entry: Any = EntryPoint(plugin)
    return lambda group="hookagent": (Installed("faulty", DISTRIBUTION, "faulty:plugin", entry),)


@dataclass
class Seen:
    """What came of a run and of the end of its session."""

    agent: Agent
    neighbour: Recorder
    raised: BaseException | None = None
    closing: BaseException | None = None
    result: Any = None
    counts: dict[str, int] = field(default_factory=dict)

    @property
    def failure(self) -> BaseException | None:
        return self.raised or self.closing


def observe(plugin: Any, mode: Any, clock: FakeClock, on_error: Any = "fail", time_limit: Any = 60.0) -> Seen:
    """Run a script that reaches every hook, with the faulty plugin first and a recording neighbour behind it.

    Two calls, one of which fails; the first is suspended, and the neighbour says yes to it.
    """
    neighbour = Recorder(
        {
            "before_each_tool": lambda given: Suspend("sure?") if given["tool_call"].name == "quick" else None,
            "resolve_suspended": lambda given: {one.call.id: Approve() for one in given["pending"]},
        },
        "neighbour",
    )
    agent = Agent(
        tools=[quick, failing],
        model=ScriptedProvider([calls("quick", "failing"), {"text": "done"}]),
        plugins=[PluginEntry("faulty", on_error=on_error, time_limit=time_limit), neighbour],
        tool_execution=mode,
        clock=clock,
        grace_seconds=5.0,
    )
    seen = Seen(agent, neighbour)

    async def main() -> None:
        try:
            seen.result = await agent.run("go")
        except BaseException as error:
            seen.raised = error
            seen.result = agent.last_result
        try:
            await agent.close()
        except BaseException as error:
            seen.closing = error

    asyncio.run(main())
    seen.counts = {hook: neighbour.names.count(hook) for hook in CONTRACTS}
    return seen
