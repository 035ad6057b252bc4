"""What one `run` works with: the session, the hooks, the box's services, and what the run has counted so far."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol

from hookagent.dispatch import Dispatcher, HookTable, Implementation
from hookagent.emitter import Emitter
from hookagent.errors import PluginError
from hookagent.events import ErrorEvent, Event, HookReport
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

    def take(self, message: UserMessage) -> None:
        """Remove a message from its queue: it is in the transcript now, or reported as not stored."""


class Run:
    """One `run`, with all its turns. Made by the agent, used by the loop alone."""

    __slots__ = (
        "abort",
        "agent",
        "box",
        "budget",
        "closing",
        "detached",
        "dispatch",
        "emit",
        "emitter",
        "errors",
        "failure",
        "grants",
        "hooks",
        "interrupt",
        "iterations",
        "max_parallel",
        "not_stored",
        "result_limit",
        "retry_policy",
        "session",
        "state",
        "steered",
        "supervisor",
        "tool_calls",
        "tool_execution",
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
    ) -> None:
        self.agent = agent
        self.box = box
        self.state = state
        self.session = session
        self.hooks = hooks
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
        self.dispatch = Dispatcher(agent, session, supervisor, state.charges, state.disabled, self._report)
        self.usage = NO_USAGE
        self.iterations = 0
        self.tool_calls = 0
        self.errors: list[str] = []
        self.warnings: list[str] = []
        self.not_stored: list[UserMessage] = []
        self.unanswered: str | None = None
        self.grants: dict[str, int] = {}
        self.failure: BaseException | None = None
        self.interrupt: BaseException | None = None
        self.unread: list[UserMessage] = []
        emitter.hook = self._on_event if hooks.on_event else None
        emitter.on_fault = self.warnings.append

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
        if self.failure is not None:
            self.errors.append(str(self.failure) or type(self.failure).__name__)
            self.failure = None

    def _on_event(self, event: Event) -> None:
        dispatch = self.dispatch
        failed, may_be_about = dispatch.failed, type(event) in _ABOUT_PLUGINS
        for implementation in self.hooks.on_event:
            plugin = implementation.plugin
            if plugin in failed or (may_be_about and _about_listening(event, plugin)):
                continue
            try:
                dispatch.plain(implementation, event)
            except (PluginError, KeyboardInterrupt) as failure:
                # The run hears of it at its next step: raising here could leave a round open.
                if self.failure is None:
                    self.failure = failure

    def _report(self, implementation: Implementation, outcome: str, detail: str, seconds: float) -> None:
        plugin = implementation.plugin
        self.emit(HookReport, plugin, implementation.hook, outcome, detail, seconds * 1000.0)
        softened = implementation.on_error != "fail" and implementation.contract.softened
        if (outcome in ("failed", "overran") and softened) or (outcome == "overran" and self.aborted):
            self.emit(ErrorEvent, "plugin", plugin, detail)
            text = f"plugin '{plugin}': hook '{implementation.hook}' {detail}"
            if text not in self.warnings:
                self.warnings.append(text)


_ABOUT_PLUGINS = (HookReport, ErrorEvent)


def _about_listening(event: Event, plugin: str) -> bool:
    """Whether an event says how the plugin's own `on_event` went: told of that, it would never hear the end of it."""
    if type(event) is HookReport:
        return event.hook == "on_event" and event.plugin == plugin
    return type(event) is ErrorEvent and event.kind == "plugin" and event.source == plugin
