"""What a running tool may know of its call: the agent, the session, the abort signal, a way to report progress.

A parameter annotated `ToolContext` is filled in by the loop and unseen by the model; `current_call()` gives the
same anywhere inside a tool. The value travels by type and by context variable, never by a parameter's name.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from contextvars import ContextVar
from typing import Any

from hookagent.abort import AbortSignal
from hookagent.errors import MisuseError

CURRENT_CALL: ContextVar[ToolContext | None] = ContextVar("hookagent_current_call", default=None)
"""What `current_call()` gives; set around each call, and then given back what it was."""


def _nothing(value: Any) -> None:
    """Take a progress report that nobody listens to."""


class ToolContext:
    """One call, as the tool that answers it sees it.

    Attributes: `agent` and `session` (the agent that runs the tool, and its session), `task` (the text of the prompt
    that this turn works on), `iteration` (from 1, in this turn), `call_id`, `tool_name`, `abort` (the run's abort
    signal: ask `abort.aborted` in long work).

    The loop makes one for each call; make one yourself to call a tool's function in a test. `report` is called with
    what the tool reports, in the thread of the event loop that made the context.
    """

    __slots__ = (
        "_finished",
        "_loop",
        "_previous",
        "_report",
        "_run",
        "_thread",
        "abort",
        "agent",
        "call_id",
        "iteration",
        "session",
        "task",
        "tool_name",
    )

    def __init__(
        self,
        *,
        agent: Any = None,
        session: Any = None,
        task: str = "",
        iteration: int = 0,
        call_id: str = "",
        tool_name: str = "",
        previous_tools: tuple[str, ...] = (),
        abort: AbortSignal | None = None,
        report: Callable[[Any], object] | None = None,
    ) -> None:
        self._run: Any = None
        self.agent = agent
        self.session = session
        self.task = task
        self.iteration = iteration
        self.call_id = call_id
        self.tool_name = tool_name
        self.abort = AbortSignal() if abort is None else abort
        self._previous = previous_tools
        self._report = _nothing if report is None else report
        self._finished = False
        self._thread = threading.get_ident()
        try:
            self._loop: asyncio.AbstractEventLoop | None = asyncio.get_running_loop()
        except RuntimeError:
            self._loop = None

    @property
    def previous_tools(self) -> tuple[str, ...]:
        """The names of the tools that were called before this call in this turn, in call order."""
        return self._previous

    @property
    def finished(self) -> bool:
        """Whether the call has its result, or was given up: what is reported from then on goes nowhere."""
        return self._finished

    def finish(self) -> None:
        """Ignore every later report. Called when the call ends, and for a call that was given up."""
        self._finished = True

    def report_progress(self, value: Any) -> None:
        """Tell the listeners how far the tool is; any value, from any thread, at any time.

        Reports keep their order and arrive before the call's result; a report after the call's end is ignored.
        """
        self.hand_over(self._hear, value)

    def _hear(self, value: Any) -> None:
        self._report(value)

    def hand_over(self, function: Callable[..., object], *arguments: Any) -> None:
        """For the loop: call `function` in the thread of its event loop, in order; nothing once the call has ended."""
        if self._finished:
            return
        loop = self._loop
        if loop is None or threading.get_ident() == self._thread:
            function(*arguments)
            return
        try:
            loop.call_soon_threadsafe(self._deliver, function, arguments)
        except RuntimeError:
            # The loop is closed: the run is over, and so is everybody who would have listened.
            self._finished = True

    def _deliver(self, function: Callable[..., object], arguments: tuple[Any, ...]) -> None:
        if not self._finished:
            function(*arguments)

    def __repr__(self) -> str:
        return f"ToolContext(tool_name={self.tool_name!r}, call_id={self.call_id!r}, iteration={self.iteration})"


def calling_context() -> ToolContext | None:
    """Return the `ToolContext` of the tool call that this code runs in, or None outside of a tool."""
    return CURRENT_CALL.get()


def calling_run() -> Any:
    """For the loop: the run (a `Run` of the loop) whose tool call this code runs in, or None outside of a tool."""
    context = CURRENT_CALL.get()
    return None if context is None else context._run


def current_call() -> ToolContext:
    """Return the `ToolContext` of the tool call that this code runs in, also under parallel calls and nested agents.

    Raises `MisuseError` outside of a tool.
    """
    context = CURRENT_CALL.get()
    if context is None:
        raise MisuseError(
            "current_call() was called outside of a tool: call it while a tool runs, or give the tool a parameter "
            "of type hookagent.ToolContext"
        )
    return context
