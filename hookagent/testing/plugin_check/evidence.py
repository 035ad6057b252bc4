"""Carrying out one reference run with a plugin between two witnesses, and keeping all that came of it."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from hookagent import Agent, HookagentError, PluginEntry, PluginLoadError, RunResult
from hookagent.providers import RetryPolicy
from hookagent.testing.plugin_check.model import SCRIPTED, Line, ReferenceModel
from hookagent.testing.plugin_check.runs import TOOLS, ReferenceRun
from hookagent.testing.plugin_check.witness import Watch, Witness

FIRST = "first witness"
LAST = "last witness"
_GRACE_SECONDS = 1.0


@dataclass
class Evidence:
    """What came of one run: results, what was raised, all hook `calls` as the last neighbour saw them, what was left.

    `refused` are requests that the strict server did not take, `tasks` the names of tasks that nobody ended, `untold`
    what the event loop was told of exceptions that nobody fetched.
    """

    run: ReferenceRun
    where: str
    watch: Watch
    calls: list[tuple[str, dict[str, Any]]]
    agent: Agent | None = None
    results: list[RunResult] = field(default_factory=list)
    raised: BaseException | None = None
    closing: BaseException | None = None
    too_long: bool = False
    refused: list[str] = field(default_factory=list)
    tasks: list[str] = field(default_factory=list)
    untold: list[str] = field(default_factory=list)
    requests: int = 0

    @property
    def name(self) -> str:
        """The run's name, and the wire form that it went over."""
        return f"run '{self.run.name}'" + ("" if self.where == SCRIPTED else f" over {self.where}")


class Neighbours:
    """The two witnesses; they stay the same from run to run, so that hooks are looked for once and not for each."""

    def __init__(self) -> None:
        self.first = Witness(FIRST, looks=False)
        self.last = Witness(LAST, looks=True)

    def prepare(
        self,
        run: ReferenceRun,
        use: Any,
        options: Mapping[str, Any] | None,
        line: Line | None,
        more: Mapping[str, Any],
        model: Any = None,
    ) -> Evidence:
        """Make the agent of a run, with the plugin between the two; `model` is asked instead of the reference model.

        Raises what making an agent raises.
        """
        watch = Watch()
        self.first.begin(watch, {})
        self.last.begin(watch, run.gates)
        evidence = Evidence(run, SCRIPTED if line is None else line.wire, watch, self.last.calls)
        evidence.agent = Agent(
            "reference",
            tools=TOOLS,
            system_prompt="You look at lists.",
            model=ReferenceModel(run.turns, line) if model is None else model,
            plugins=[self.first, PluginEntry(use, options), self.last],
            log=False,
            quiet=True,
            grace_seconds=_GRACE_SECONDS,
            retry_policy=RetryPolicy(max_attempts=1),
            **more,
            **run.options,
        )
        return evidence


async def carry_out(evidence: Evidence, line: Line | None, seconds: float) -> None:
    """Drive the run of `evidence` to its end and close the agent; `seconds` is the most that it may take."""
    agent, drive = evidence.agent, evidence.run.drive
    assert agent is not None
    assert drive is not None
    loop = asyncio.get_running_loop()
    before = asyncio.all_tasks()
    refused_before, asked_before = (len(line.server.refused), len(line.server.requests)) if line is not None else (0, 0)
    loop.set_exception_handler(lambda _, context: evidence.untold.append(_told(context)))
    keep = _keep_results(agent, evidence)
    try:
        try:
            async with asyncio.timeout(seconds):
                await drive(agent, evidence.run.prompts)
        except TimeoutError:
            evidence.too_long = True
        except (HookagentError, asyncio.CancelledError) as error:
            evidence.raised = error
        keep()
        try:
            await agent.close()
        except HookagentError as error:
            evidence.closing = error
        for _ in range(3):  # what was cancelled at the end may take a moment to go
            await asyncio.sleep(0)
        # Not those by which Python itself closes what a generator left open.
        left = [one for one in asyncio.all_tasks() if one not in before and inspect.iscoroutine(one.get_coro())]
        evidence.tasks = [_task_name(task) for task in left]
        for task in left:
            task.cancel()
        await asyncio.gather(*left, return_exceptions=True)
    finally:
        loop.set_exception_handler(None)
    evidence.watch.look_at_all()
    if line is not None:
        evidence.refused = [f"{one.message} (rule '{one.rule}')" for one in line.server.refused[refused_before:]]
        evidence.requests = len(line.server.requests) - asked_before


def carry_out_sync(evidence: Evidence) -> None:
    """Drive a run by `run_sync`, and close the agent in the same way."""
    agent = evidence.agent
    assert agent is not None
    keep = _keep_results(agent, evidence)
    try:
        for prompt in evidence.run.prompts:
            if not agent.run_sync(prompt).ok:
                break
    except HookagentError as error:
        evidence.raised = error
    keep()
    try:
        agent.close_sync()
    except HookagentError as error:
        evidence.closing = error
    evidence.watch.look_at_all()


def load_failure(error: BaseException) -> str:
    """Why an agent could not be made with the plugin."""
    return error.reason if isinstance(error, PluginLoadError) else str(error)


def _keep_results(agent: Agent, evidence: Evidence) -> Any:
    """Keep the result of each run as it ends; a run that raises has one, too."""

    def note(event: Any) -> None:
        if event.type == "agent_start" and agent.last_result is not None:
            keep()

    def keep() -> None:
        result = agent.last_result
        if result is not None and not any(result is one for one in evidence.results):
            evidence.results.append(result)

    agent.subscribe(note)
    return keep


def _told(context: Mapping[str, Any]) -> str:
    error = context.get("exception")
    return f"{context['message']}: {type(error).__name__}: {error}" if error is not None else str(context["message"])


def _task_name(task: asyncio.Task[Any]) -> str:
    coroutine = task.get_coro()
    return getattr(coroutine, "__qualname__", task.get_name())
