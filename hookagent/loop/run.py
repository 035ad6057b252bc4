"""What one `run` works with: the session, the hooks, the box's services, and what the run has counted so far."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol

from hookagent.abort import AbortSignal
from hookagent.dispatch import Dispatcher
from hookagent.emitter import Emitter
from hookagent.errors import PluginError
from hookagent.events import ErrorEvent, Event, HookReport
from hookagent.implementations import HookTable, Implementation
from hookagent.loop.budget import Budget
from hookagent.messages import UserMessage
from hookagent.providers.base import Provider
from hookagent.providers.retry import RetryPolicy
from hookagent.result import Status
from hookagent.session import Session, SessionState
from hookagent.supervise import Supervisor
from hookagent.tools.registry import ToolRegistry
from hookagent.usage import NO_USAGE

if TYPE_CHECKING:
    from hookagent.agent import Agent

ToolExecution = Literal["parallel", "sequential"]
BEFORE_COMPLETE_AT_MOST = 3


class End(NamedTuple):
    """How a turn ends, as a value of the loop."""

    status: Status
    reason: str = ""
    answer: str = ""
    limit: str | None = None
    error_kind: str | None = None


class Box(Protocol):
    """What the loop asks of the agent, anew each time, so that changes in mid-run take effect at the next request."""

    @property
    def provider(self) -> Provider:
        """The model."""

    @property
    def tools(self) -> ToolRegistry:
        """The tool table."""

    @property
    def system_prompt(self) -> str:
        """The system text."""

    @property
    def model_settings(self) -> Mapping[str, Any]:
        """Settings in the common vocabulary."""

    def peek_steering(self) -> tuple[UserMessage, ...]:
        """The steering messages that may go in now, left in their queue."""

    def peek_follow_up(self) -> tuple[UserMessage, ...]:
        """The follow-up messages that may go in now, left in their queue."""

    def still_wanted(self, message: UserMessage) -> bool:
        """Whether a message that came from a queue was not taken back since; true for any other one."""

    def take(self, message: UserMessage) -> None:
        """Remove a message from its queue: it is in the transcript now, or reported as not stored."""


class Run:
    """One `run`, with all its turns. Made by the agent, used by the loop alone."""

    __slots__ = (
        "abort",
        "agent",
        "asks_unseen",
        "box",
        "budget",
        "closing",
        "detached",
        "dispatch",
        "emit",
        "emitter",
        "errors",
        "failure",
        "goes_on_for_queue",
        "grants",
        "halted",
        "hooks",
        "interrupt",
        "iterations",
        "max_parallel",
        "not_stored",
        "parent",
        "result_limit",
        "retry_policy",
        "session",
        "state",
        "steered",
        "supervisor",
        "tool_calls",
        "tool_execution",
        "tools",
        "unanswered",
        "unread",
        "usage",
        "warnings",
    )

    def __init__(
        self,
        agent: Agent,
        box: Box,
        state: SessionState,
        session: Session,
        hooks: HookTable,
        emitter: Emitter,
        supervisor: Supervisor,
        tool_execution: ToolExecution,
        result_limit: int,
        retry_policy: RetryPolicy,
        max_parallel: int | None,
        budget: Budget,
        parent: Run | None = None,
    ) -> None:
        self.parent = parent
        self.halted: End | None = None
        self.agent = agent
        self.box = box
        self.tools = box.tools
        self.state = state
        self.session = session
        self.hooks = hooks
        self.asks_unseen = not (hooks.before_llm or hooks.shape_request or hooks.wrap_model_call)
        """Whether no hook sees anything between the beginning of an iteration and that of its reply."""
        self.emitter = emitter
        self.emit = emitter.emit
        self.supervisor = supervisor
        self.abort = supervisor.abort
        self.tool_execution: ToolExecution = tool_execution
        self.result_limit = result_limit
        self.retry_policy = retry_policy
        self.max_parallel = max_parallel
        self.budget = budget
        self.closing = False
        self.detached = False
        self.steered = False
        self.goes_on_for_queue = False
        self.usage = NO_USAGE
        self.iterations = 0
        self.tool_calls = 0
        self.errors: list[str] = []
        self.warnings: list[str] = []
        report = _reporter(self.emit, self.abort, self.warnings)
        self.dispatch = Dispatcher(agent, session, supervisor, state.charges, state.disabled, report)
        self.not_stored: list[UserMessage] = []
        self.unanswered: str | None = None
        self.grants: dict[str, int] = {}
        self.failure: BaseException | None = None
        self.interrupt: BaseException | None = None
        self.unread: list[UserMessage] = []

    def hear_events(self) -> None:
        """Let the plugins' `on_event` hear what is announced from now on."""
        self.emitter.hook = self._on_event if self.hooks.on_event else None
        self.emitter.on_fault = self.warnings.append
        self.emitter.on_interrupt = self._interrupted

    def obey(self, implementation: Implementation, end: End) -> End:
        """A gate ends the run so; where it is a gate of the run that this one is nested in, it ends that one too."""
        outer = self.parent
        if outer is not None and outer.hooks.has(implementation):
            outer.halted = outer.halted or outer.obey(implementation, end)
        return end

    def fail_outer(self, failure: PluginError) -> None:
        """Where a gate of the run that this one is nested in failed, let that one fail at its next step too."""
        outer = self.parent
        if outer is not None and outer.hooks.has_gate(failure.plugin, failure.hook):
            outer.dispatch.failed.add(failure.plugin)
            outer.failure = outer.failure or failure

    def refuse(self, implementation: Implementation, reason: str) -> None:
        """A gate denied a call since nobody could be asked: neither this run nor one whose gate it is completes."""
        run: Run | None = self
        while run is not None and run.hooks.has(implementation):
            run.unanswered = run.unanswered or reason
            run = run.parent

    def leave_open(self, plugin: str, reason: str) -> None:
        """A call waits for an answer: this run goes on with it some day, but not the one whose gate it waits at."""
        outer = self.parent
        while outer is not None and (
            outer.hooks.has_gate(plugin, "before_tools") or outer.hooks.has_gate(plugin, "before_each_tool")
        ):
            outer.unanswered = outer.unanswered or reason
            outer = outer.parent

    @property
    def aborted(self) -> bool:
        """Whether the abort signal was given."""
        return self.abort.aborted

    def abort_end(self) -> End:
        """The end of an aborted turn."""
        return End("aborted", self.abort.reason or "aborted")

    def check_failure(self) -> None:
        """Raise what an `on_event` implementation did since the last step."""
        if self.failure is not None:
            failure, self.failure = self.failure, None
            raise failure

    def list_failure(self) -> None:
        """List what an `on_event` implementation did when it is too late for it to change anything."""
        failure, self.failure = self.failure, None
        if isinstance(failure, KeyboardInterrupt):
            self.interrupt = self.interrupt or failure
        elif failure is not None:
            self.errors.append(str(failure))

    def _interrupted(self, interrupt: KeyboardInterrupt) -> None:
        """An interrupt came while listeners were told: nothing more is started, and it is raised at the next step."""
        if not isinstance(self.failure, KeyboardInterrupt):
            self.failure = interrupt
        self.abort.set("interrupted")

    def _on_event(self, event: Event) -> None:
        spares = functools.partial(_about_listening, event) if type(event) in _ABOUT_PLUGINS else None
        failure = self.dispatch.announce(self.hooks.on_event, event, spares)
        if failure is not None and self.failure is None:
            # The run hears of it at its next step: raising here could leave a round open.
            self.failure = failure


def _reporter(
    emit: Callable[..., None], abort: AbortSignal, warnings: list[str]
) -> Callable[[Implementation, str, str, float], None]:
    """Say how calls of hooks went. It does not know the run, which knows it: so both go as soon as the run is over."""

    def report(implementation: Implementation, outcome: str, detail: str, seconds: float) -> None:
        plugin = implementation.plugin
        emit(HookReport, plugin, implementation.hook, outcome, detail, seconds * 1000.0)
        softened = implementation.on_error != "fail" and implementation.contract.softened
        if (outcome in ("failed", "overran") and softened) or (outcome == "overran" and abort.aborted):
            emit(ErrorEvent, "plugin", plugin, detail)
            text = f"plugin '{plugin}': hook '{implementation.hook}' {detail}"
            if text not in warnings:
                warnings.append(text)

    return report


_ABOUT_PLUGINS = (HookReport, ErrorEvent)


def _about_listening(event: Event, plugin: str) -> bool:
    """Whether an event says how the plugin's own `on_event` went: told of that, it would never hear the end of it."""
    if type(event) is HookReport:
        return event.hook == "on_event" and event.plugin == plugin
    return type(event) is ErrorEvent and event.kind == "plugin" and event.source == plugin
