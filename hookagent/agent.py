"""The agent: the box around the loop. It holds the transcript, the tools, the queues and the one abort signal."""

from __future__ import annotations

import asyncio
import contextvars
import sys
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from types import TracebackType
from typing import Any

from hookagent.abort import AbortSignal
from hookagent.assembly import check_options, check_priced, check_settings, make_registry, register_plugin_tools
from hookagent.clock import SYSTEM_CLOCK, Clock
from hookagent.console import Console
from hookagent.emitter import Listener
from hookagent.errors import MisuseError
from hookagent.events import Event
from hookagent.frozen import JsonValue
from hookagent.host import LoadedPlugin, load_plugins
from hookagent.implementations import with_gates_of
from hookagent.limits import Limits
from hookagent.loop.budget import Budget
from hookagent.loop.run import Run, ToolExecution
from hookagent.messages import Image, ToolResult, UserMessage
from hookagent.nesting import told_outside
from hookagent.private_loop import run_in_private_loop
from hookagent.prompts import Prompt, as_messages, prompts_to_continue
from hookagent.providers.base import Provider
from hookagent.providers.retry import DEFAULT_RETRY_POLICY, RetryPolicy
from hookagent.queues import MessageQueue, QueueMode, TwoQueues
from hookagent.readings import Readings
from hookagent.registering import hook_table
from hookagent.result import RunResult
from hookagent.running import call_directly, carry_out, check_place, check_waiting, result_of
from hookagent.session_box import SessionBox
from hookagent.session_end import check_end, end_forgotten, end_session, expect_end
from hookagent.streaming import refuse_async_listener, stream_events
from hookagent.supervise import Supervisor
from hookagent.tools.context import calling_run
from hookagent.usage import Usage

DEFAULT_GRACE_SECONDS = 5.0
DEFAULT_RESULT_LIMIT = 100_000
_ACTIVE = "a run is active; wait for it, or queue the message with steer(...) or follow_up(...)"


class Agent(Readings, TwoQueues):
    """An LLM agent.

    `name` shows in logs; `tools` are functions, `Tool` objects or names ("files", "shell", "module:function");
    `model` is a name such as "anthropic:claude-sonnet-5" or a provider object (None: see the design, "No
    model named"); `plugins` are names, `{name: options}`, objects, or single functions marked `@hookimpl`,
    in call order, none by default. `limits` hold for each `run` with all its turns; `model_settings` are in
    the common vocabulary; `tool_execution` is "parallel" or "sequential"; `tool_result_limit` is in
    characters; `max_parallel_tools` is the most calls at once (None: as many as a round has).
    `session` is the id of a session to go on from, or a unique beginning of it; without `log` nothing is kept on
    disk, and `quiet` says nothing on a terminal. `grace_seconds` is what running tools and hooks get after an
    abort; `clock` and `retry_policy` are for tests. Of what is not an argument, `last_result` is the result of the last
    run that ended, or None; `steering` and `follow_ups` are the two queues.

    Raises `ConfigurationError` (and under it `PluginLoadError`, `ToolDefinitionError`) for what cannot be used.
    `steer`, `follow_up` and `abort` may be called from any thread; everything else belongs to the event
    loop in which the agent runs.
    """

    def __init__(
        self,
        name: str = "agent",
        *,
        tools: Iterable[Any] = (),
        system_prompt: str = "",
        model: str | Provider | None = None,
        plugins: Iterable[Any] = (),
        limits: Limits | Mapping[str, Any] | None = None,
        model_settings: Mapping[str, Any] | None = None,
        tool_execution: ToolExecution = "parallel",
        tool_result_limit: int = DEFAULT_RESULT_LIMIT,
        max_parallel_tools: int | None = None,
        steering_mode: QueueMode = "one-at-a-time",
        follow_up_mode: QueueMode = "one-at-a-time",
        grace_seconds: float = DEFAULT_GRACE_SECONDS,
        session: str | None = None,
        log: bool = True,
        quiet: bool = False,
        clock: Clock = SYSTEM_CLOCK,
        retry_policy: RetryPolicy = DEFAULT_RETRY_POLICY,
    ) -> None:
        check_options(name, model, system_prompt, tool_execution, tool_result_limit, max_parallel_tools, grace_seconds)
        self.name = name
        self.system_prompt = system_prompt
        self.model_settings: Mapping[str, Any] = check_settings(model_settings)
        self.tool_execution: ToolExecution = tool_execution
        self.tool_result_limit = tool_result_limit
        self.max_parallel_tools = max_parallel_tools
        self.grace_seconds = grace_seconds
        self.steering = MessageQueue(steering_mode)
        self.follow_ups = MessageQueue(follow_up_mode)
        self.last_result: RunResult | None = None
        self._clock = clock
        self._retry_policy = retry_policy
        self._limits = Limits.of(limits)
        self._model = model
        self._provider: Provider | None = None if isinstance(model, str) or model is None else model
        self._plugin_entries = plugins if isinstance(plugins, str) else tuple(plugins)
        self._load_plugins()
        self._tools = make_registry(tools, self._hooks)
        self._listeners: list[Listener] = []
        self._run = self._ending = None
        self._direct: set[Run] = set()
        self._log = log
        self._console = Console() if not quiet and sys.stderr is not None and sys.stderr.isatty() else None
        self._streaming = False
        self._idle: asyncio.Future[None] | None = None
        self._new_session(session)

    # ---- running it ----

    async def run(self, prompt: Prompt, *, images: Sequence[Image] = ()) -> RunResult:
        """Work on a prompt until the model has answered, and give the result.

        `prompt` is text (with `images`, if there are any), a `UserMessage`, or a list of them. Raises `MisuseError`
        when it is empty or a run is active, `PluginError` when a plugin failed, `ConfigurationError` when there is no
        model; everything else is `RunResult.status`.
        """
        return await self._start(as_messages(prompt, "prompt", images))

    input = run

    async def continue_(self) -> RunResult:
        """Run on from the transcript as it is, without a new prompt.

        After a user message or tool results the model is asked again; a waiting session's open calls are put
        to their answerers; after an answer, what is queued is taken as the prompt. Raises `MisuseError`
        when there is nothing to continue from.
        """
        if self._run is not None and not self._streaming:
            raise MisuseError(_ACTIVE)
        return await self._start(prompts_to_continue(self._state.transcript, self))

    async def call_tool(self, name: str, arguments: Mapping[str, Any] | None = None) -> ToolResult:
        """Run a tool without the model, through all gates and hooks that a call has; nothing enters the transcript.

        These are `before_tools`, `before_each_tool`, `resolve_suspended`, `wrap_tool_call`, `on_error` and
        `after_each_tool`; what a call that waits for an answer gets is a refusal. Also from inside of an async tool.
        Raises `MisuseError` for arguments that are no mapping, `PluginError` when a plugin failed; everything else
        is in the result.
        """
        check_place("call_tool()", self._run, self._state)
        run = self._make_run(AbortSignal(), contextvars.copy_context())
        self._direct.add(run)
        try:
            with told_outside(run):
                return await call_directly(run, name, arguments or {})
        finally:
            self._direct.discard(run)
            self._let_go()

    async def wait_idle(self) -> None:
        """Wait until no run is active; at once when none is."""
        while self._run is not None:
            check_waiting(self._run)
            if self._idle is None:
                self._idle = asyncio.get_running_loop().create_future()
            await asyncio.shield(self._idle)

    def run_sync(self, prompt: Prompt, *, images: Sequence[Image] = ()) -> RunResult:
        """`run`, for callers without an event loop. In a running one it refuses: use `await agent.run(...)`."""
        return run_in_private_loop(
            lambda: self.run(prompt, images=images),
            "use 'await agent.run(...)' there",
            lambda: self.abort("interrupted"),
        )

    async def stream(self, prompt: Prompt) -> AsyncIterator[Event]:
        """Run, and yield every event as it happens; leaving early aborts the run.

        The result is `agent.last_result`. Raises what `run` raises, at the end.
        """
        messages = as_messages(prompt, "prompt")
        self._streaming = True
        events = stream_events(lambda: self._start(messages), self.subscribe, self.abort)
        try:
            async for event in events:
                yield event
        finally:
            await events.aclose()
            self._streaming = False

    def abort(self, reason: str = "aborted by the caller") -> None:
        """Stop a run, or a session's end: cancel the model, start nothing more, ask tools to stop. From any thread."""
        run = self._run or self._ending
        for one in (*([] if run is None else [run]), *self._direct):
            one.supervisor.abort.set(reason)

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        """Call `listener` with every event, at once and in order; returns what ends it.

        A listener is plain: it is not waited for (`MisuseError` for `async def`; use `stream`). One that raises is
        reported by name and never changes a run; after three faults it is dropped.
        """
        refuse_async_listener(listener)
        self._listeners.append(listener)
        unsubscribe = self._emitter.subscribe(listener)

        def end() -> None:
            if listener in self._listeners:
                self._listeners.remove(listener)
            unsubscribe()

        return end

    def book(self, usage: Usage, plugin: str) -> None:
        """Add what a plugin's own model call used to the session's usage, under the plugin's name."""
        self._box.book(usage, plugin)
        if self._run is not None:
            self._run.usage = self._run.usage + usage
            self._run.budget.add(usage)

    def store_state(self, plugin: str, value: JsonValue) -> None:
        """Keep a plugin's own state (JSON) in the session, where it survives the process; never sent to the model.

        `session.stored_state(plugin)` gives it back. Raises TypeError when it is no JSON.
        """
        self._box.store_state(plugin, value)

    async def reset(self) -> None:
        """End the session and begin a new one with empty queues. Refused while running (`MisuseError`)."""
        await self._end_session("reset()")
        self.steering.clear()
        self.follow_ups.clear()
        self._load_plugins()
        register_plugin_tools(self._hooks, self._tools)
        self._new_session()

    async def close(self) -> None:
        """End the session: `on_session_end` of every plugin. Refused while running; a second call does nothing."""
        await self._end_session("close()")

    def close_sync(self) -> None:
        """`close`, for callers without an event loop."""
        run_in_private_loop(self.close, "use 'await agent.close()' there", lambda: self.abort("interrupted"))

    # What it needs is bound early: at the end of the process a module's names are gone before its objects.
    def __del__(self, finalizing: Callable[[], bool] = sys.is_finalizing, end: Any = end_forgotten) -> None:
        box = getattr(self, "_box", None)
        if box is not None and not finalizing():
            end(self, box, self._hooks)

    async def __aenter__(self) -> Agent:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._run is not None:
            self.abort("the agent was closed")
            await self.wait_idle()
        await self.close()

    # ---- inside ----

    def _new_session(self, session: str | None = None) -> None:
        queues = (self.steering, self.follow_ups)
        self._box = SessionBox(self.name, self._limits, self._clock, queues, self._listeners, self._log)
        if session is not None:
            self._box.resume(session, self._plugins)
        self._state, self._session, self._emitter = self._box.state, self._box.session, self._box.emitter

    async def _end_session(self, what: str) -> None:
        check_end(what, self._run or next(iter(self._direct), None), self._state)
        self._ending = self._make_run(AbortSignal())
        try:
            await end_session(self, self._state, self._hooks, self._ending)
        finally:
            self._ending = None
            self._let_go()
            self._box.close()

    def _let_go(self) -> None:
        # A run that is over, and the agent in it, would be kept alive by what listens for it.
        if self._run is None and not self._direct:
            self._emitter.hook = self._emitter.on_interrupt = None

    def _make_run(self, abort: AbortSignal, context: contextvars.Context | None = None) -> Run:
        supervisor = Supervisor(self._clock, abort, self.grace_seconds, context)
        parent: Run | None = calling_run()
        run = Run(
            agent=self,
            box=self,
            state=self._state,
            session=self._session,
            hooks=self._hooks if parent is None else with_gates_of(parent.hooks, self._hooks),
            emitter=self._emitter,
            supervisor=supervisor,
            tool_execution=self.tool_execution,
            result_limit=self.tool_result_limit,
            retry_policy=self._retry_policy,
            max_parallel=self.max_parallel_tools,
            budget=Budget(self._limits, self._clock.monotonic, parent.budget if parent is not None else None),
            parent=parent,
        )
        if self._run is None:
            self._state.abort = abort
            run.hear_events()
        return run

    def _load_plugins(self) -> None:
        self._plugins: tuple[LoadedPlugin, ...] = load_plugins(self._plugin_entries)
        self._hooks = hook_table(self._plugins)

    async def _start(self, prompts: Sequence[UserMessage]) -> RunResult:
        if self._run is not None and self._streaming:
            await asyncio.sleep(0)  # a stream that was just left has yet to say so
            await asyncio.sleep(0)
            if self._run is not None and self._run.aborted:
                await self.wait_idle()
        self._tools.check()
        check_priced(self.provider, self._limits)  # a model that cannot be had is said before anything begins
        # Behind what may take long: somebody in another thread may begin meanwhile.
        if self._run is not None:
            raise MisuseError(_ACTIVE)
        if self._state.ended:
            raise MisuseError("the session was closed; call reset() to begin a new one")
        context = contextvars.copy_context()
        run = self._run = self._make_run(AbortSignal(), context)
        try:
            if not self._state.started:
                expect_end(self, self._hooks)
            self._box.keep(run.parent.session.id if run.parent is not None else None)
            start = self._clock.monotonic()
            with told_outside(run, self._console):
                finished, cancellation = await carry_out(run, prompts, context)
            run.warnings.extend(self._box.take_warnings())
            self.last_result = result_of(run, finished, self._clock.monotonic() - start)
        finally:
            self._run = None
            self._let_go()
            if self._idle is not None:
                self._idle.set_result(None)
                self._idle = None
        if cancellation is not None:
            raise cancellation
        if finished.error is not None:
            raise finished.error
        return self.last_result

    def __repr__(self) -> str:
        return f"Agent({self.name!r}, {'running' if self.running else 'idle'})"
