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


def raising(error: type[BaseException]) -> Act:
    """Raise it."""

    def act(given: dict[str, Any]) -> Any:
        raise error("broken")

    return act


def wrong_type(given: dict[str, Any]) -> Any:
    return object()


def reentering(given: dict[str, Any]) -> Any:
    return given["agent"].run_sync("again")


async def reentering_async(given: dict[str, Any]) -> Any:
    return await given["agent"].run("again")


def mutating(given: dict[str, Any]) -> Any:
    if "tool_calls" in given:
        given["tool_calls"][0].arguments["n"] = 5
    elif "pending" in given:
        given["pending"][0].call.arguments.update(n=5)
    elif "result" in given:
        given["result"].content = "mine"
    elif given.get("tool_call") is not None and "error" not in given:
        given["tool_call"].arguments["n"] = 5
    elif "response" in given:
        given["response"].parts = ()
    elif "request" in given:
        given["request"].summary = "mine"
    elif "message" in given:
        given["message"].text = "mine"
    elif "tool_round" in given:
        given["tool_round"].results = ()
    elif "outcome" in given:
        given["outcome"].status = "failed"
    elif "event" in given:
        given["event"].number = 0
    else:
        given["session"].turn = 7


def resetting(given: dict[str, Any]) -> Any:
    return given["agent"].reset()


def continuing(given: dict[str, Any]) -> Any:
    return given["agent"].continue_()


def closing(given: dict[str, Any]) -> Any:
    return given["agent"].close()


def cancelling(given: dict[str, Any]) -> Any:
    task = asyncio.current_task()
    assert task is not None
    task.cancel()


def cancelling_at_last(given: dict[str, Any]) -> Any:
    cancelling(given)


FAULTS: dict[str, Act] = {
    "exception": raising(ValueError),
    "SystemExit": raising(SystemExit),
    "CancelledError": raising(asyncio.CancelledError),
    "GeneratorExit": raising(GeneratorExit),
    "wrong type": wrong_type,
    "mutates": mutating,
    "re-enters by run": reentering,
    "re-enters by reset": resetting,
    "re-enters by continue_": continuing,
    "re-enters by close": closing,
    "cancels the task it runs in": cancelling,
    "cancels it and returns": cancelling_at_last,
}
OVERRAN = "overran its time limit of 60 s"
_SAYS = {
    "wrong type": "returned a object",
    "mutates": "",
    "cancels the task it runs in": "",
    "cancels it and returns": "",
}


def says(fault: str, act: Act) -> str:
    """How the error begins, behind the name of the hook; `act` is the form of the fault that was used."""
    if fault.startswith("re-enters"):
        waits = fault == "re-enters by run" or inspect.iscoroutinefunction(act)
        return "raised MisuseError: " if waits else "is a plain function that returned an awaitable"
    return _SAYS.get(fault, f"raised {fault.replace('exception', 'ValueError')}: broken")


def as_async(act: Act) -> Act:
    async def act_async(given: dict[str, Any]) -> Any:
        return act(given)

    async def act_and_wait(given: dict[str, Any]) -> Any:
        return await act(given)

    async def cancel_and_wait(given: dict[str, Any]) -> Any:
        act(given)
        await asyncio.sleep(0)

    own: dict[Act, Act] = {reentering: reentering_async, cancelling: cancel_and_wait}
    own |= dict.fromkeys((resetting, continuing, closing), act_and_wait)
    return own.get(act, act_async)


def forms(hook: str, act: Act) -> list[Act]:
    form = CONTRACTS[hook].form
    plain = [] if form == "async" else [act]
    return plain + ([] if form == "plain" else [as_async(act)])
