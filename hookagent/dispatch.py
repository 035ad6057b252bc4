"""Calling hooks: one implementation at a time, knowing whose it is, how long it took and how it ended.

pluggy finds, validates and orders the implementations; calling them is ours, because pluggy is
synchronous, drops who answered, and stops at the first exception (design, "Hooks").
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal

import pluggy

from hookagent.contract import CONTRACTS, Returned, WrongReturnError, read_return
from hookagent.errors import MessageOrderError, PluginError
from hookagent.supervise import Supervisor

if TYPE_CHECKING:
    from hookagent.agent import Agent
    from hookagent.session import Session

OnError = Literal["fail", "warn", "disable"]
DEFAULT_TIME_LIMIT = 60.0
SLOW_SECONDS = 1.0
_LONGEST_ERROR = 2000


class Implementation:
    """One plugin's implementation of one hook, ready to be called with the hookspec's arguments in order."""

    __slots__ = (
        "call",
        "contract",
        "distribution",
        "function",
        "hook",
        "is_async",
        "on_error",
        "plugin",
        "takes_values",
        "time_limit",
    )

    def __init__(
        self,
        implementation: pluggy.HookImpl,
        spec_arguments: tuple[str, ...],
        distribution: str | None,
        on_error: OnError,
        time_limit: float | None,
        hook: str,
    ) -> None:
        self.plugin = implementation.plugin_name
        self.distribution = distribution
        self.hook = hook
        self.contract = CONTRACTS[hook]
        self.function = implementation.function
        self.is_async = inspect.iscoroutinefunction(self.function)
        self.on_error: OnError = on_error
        self.time_limit = time_limit
        # Most want exactly the hook's own arguments, in order: `function` can then be called without an adapter.
        self.takes_values = (*implementation.argnames, "agent", "session") == spec_arguments
        self.call: Callable[..., Any] = _adapter(spec_arguments, tuple(implementation.argnames))(self.function)

    @property
    def place(self) -> str:
        """Where it is written, as file:line."""
        code = getattr(inspect.unwrap(self.function), "__code__", None)
        return f"{code.co_filename}:{code.co_firstlineno}" if code is not None else "unknown place"


@functools.cache
def _adapter(
    spec_arguments: tuple[str, ...], wanted: tuple[str, ...]
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Make `lambda f: lambda <all arguments>: f(<the wanted ones>)`, of names that come from signatures."""
    source = f"lambda f: lambda {', '.join(spec_arguments)}: f({', '.join(wanted)})"
    adapter: Callable[[Callable[..., Any]], Callable[..., Any]] = eval(source, {})
    return adapter


class HookTable:
    """The implementations of every hook, in call order; an empty tuple where there is none."""

    __slots__ = (*CONTRACTS, "plugins")

    def __init__(self, implementations: dict[str, tuple[Implementation, ...]], plugins: tuple[str, ...] = ()) -> None:
        self.plugins = plugins
        for hook in CONTRACTS:
            setattr(self, hook, implementations.get(hook, ()))

    if TYPE_CHECKING:

        def __getattr__(self, hook: str) -> tuple[Implementation, ...]: ...


EMPTY_TABLE = HookTable({})
_GATES = ("before_tools", "before_each_tool", "resolve_suspended")


def with_gates_of(outer: HookTable, own: HookTable) -> HookTable:
    """The hooks of a nested agent: its own, and ahead of them the gates of the agent whose tool it runs in."""
    merged = {hook: getattr(own, hook) for hook in CONTRACTS}
    for hook in _GATES:
        known = {one.function for one in merged[hook]}
        merged[hook] = (*(one for one in getattr(outer, hook) if one.function not in known), *merged[hook])
    return HookTable(merged, own.plugins)


class Dispatcher:
    """Calls implementations for one run.

    `report` is told of every call that returned something, failed or was slow; all calls are counted in
    `charges`: plugin -> [calls, seconds].
    """

    __slots__ = ("_task", "agent", "charges", "disabled", "failed", "monotonic", "report", "session", "supervisor")

    def __init__(
        self,
        agent: Agent,
        session: Session,
        supervisor: Supervisor,
        charges: dict[str, list[float]],
        disabled: set[str],
        report: Callable[[Implementation, str, str, float], object],
    ) -> None:
        self.agent = agent
        self.session = session
        self.supervisor = supervisor
        self.charges = charges
        self.disabled = disabled
        self.failed: set[str] = set()
        self.report = report
        self.monotonic = supervisor.clock.monotonic
        self._task: asyncio.Task[Any] | None = None

    async def one(self, implementation: Implementation, *values: Any) -> Returned | None:
        """Call one implementation with the hook's own arguments; None when it returned nothing.

        Raises `PluginError` when it raised, overran or returned what the hook does not take, unless the
        plugin's `on_error` softens that (observing hooks only); `KeyboardInterrupt` as it is, and the
        cancellation of the run's own task.
        """
        if self.disabled and implementation.plugin in self.disabled and implementation.contract.softened:
            return None
        start = self.monotonic()
        task = self._task
        if task is None:
            task = self._task = self.supervisor.task
        cancels = task.cancelling()
        returned: Returned | None = None
        coroutine: Any = None
        value: Any = None
        error: BaseException | None = None
        try:
            if implementation.takes_values:
                value = implementation.function(*values)
            else:
                value = implementation.call(*values, self.agent, self.session)
            if implementation.is_async:
                coroutine = value
            elif value is not None:
                returned = self._read(implementation, value)
        except BaseException as raised:
            error = raised
        if task.cancelling() > cancels:
            error = await _undo_cancel(task, cancels) or error
        if coroutine is not None:
            value, error = await self._awaited(implementation, coroutine)
            if error is None:
                try:
                    returned = self._read(implementation, value)
                except BaseException as raised:
                    error = raised
        seconds = self.charge(implementation, start)
        if error is not None:
            self._fail(implementation, error, seconds)
            return None
        if returned is not None:
            self.report(implementation, "returned", type(value).__name__, seconds)
        # Without a time limit it may take as long as it likes: somebody is being asked.
        hurried = seconds > SLOW_SECONDS and implementation.time_limit is not None
        if hurried and (returned is None or not implementation.is_async):
            self.report(implementation, "slow", self.slowness(implementation, seconds), seconds)
        return returned

    def plain(self, implementation: Implementation, *values: Any) -> None:
        """Call an `on_event` implementation: synchronous, returns nothing. Raises `PluginError` as `one` does."""
        if self.disabled and implementation.plugin in self.disabled:
            return
        start = self.monotonic()
        error: BaseException | None = None
        try:
            if implementation.takes_values:
                value = implementation.function(*values)
            else:
                value = implementation.call(*values, self.agent, self.session)
            if value is not None:
                self._read(implementation, value)
        except BaseException as raised:
            error = raised
        seconds = self.charge(implementation, start)
        if error is not None:
            self._fail(implementation, error, seconds)
        elif seconds > SLOW_SECONDS:
            self.report(implementation, "slow", self.slowness(implementation, seconds), seconds)

    @staticmethod
    def _read(implementation: Implementation, value: Any) -> Returned | None:
        if value is None:
            return None
        if inspect.isawaitable(value):
            _dispose(value)
            raise WrongReturnError("is a plain function that returned an awaitable; write it as 'async def'")
        return read_return(implementation.hook, implementation.plugin, value)

    async def _awaited(self, implementation: Implementation, coroutine: Any) -> tuple[Any, BaseException | None]:
        """What a coroutine gave, or raised; a cancellation that is raised here is the run's own."""
        late = self.supervisor.abort.aborted
        ended, outcome = await self.supervisor.run(coroutine, implementation.time_limit)
        if ended == "overran":
            return None, OverranError(implementation.time_limit)
        if ended == "aborted" or outcome is None:
            if late:
                text = f"did not end in the grace time ({implementation.place})"
                self.report(implementation, "overran", text, self.supervisor.grace_seconds)
            return None, None
        return outcome.value, outcome.error

    def charge(self, implementation: Implementation, start: float, others: float = 0.0) -> float:
        """Book one call; `others` are seconds spent in what it called. Returns its own seconds."""
        seconds = self.monotonic() - start - others
        try:
            charge = self.charges[implementation.plugin]
        except KeyError:
            charge = self.charges[implementation.plugin] = [0, 0.0]
        charge[0] += 1
        charge[1] += seconds
        return seconds

    def slowness(self, implementation: Implementation, seconds: float) -> str:
        """Say how slow a call was, and where it is written."""
        limit = implementation.time_limit
        over = f", over its limit of {limit:g} s" if limit is not None and seconds > limit else ""
        return f"took {seconds:.1f} s{over} ({implementation.place})"

    def _fail(self, implementation: Implementation, error: BaseException, seconds: float) -> None:
        if isinstance(error, KeyboardInterrupt):
            self.failed.add(implementation.plugin)
            raise error
        failure = self.failure(implementation, error)
        outcome = "overran" if isinstance(error, OverranError) else "failed"
        softened = implementation.contract.softened and not isinstance(failure, MessageOrderError)
        softened = softened and implementation.on_error != "fail"
        # Before the report, which the plugin's own `on_event` would be told of.
        if not softened:
            self.failed.add(implementation.plugin)
        elif implementation.on_error == "disable":
            self.disabled.add(implementation.plugin)
        self.report(implementation, outcome, failure.what, seconds)
        if not softened:
            raise failure from error

    def failure(self, implementation: Implementation, error: BaseException) -> PluginError:
        """The `PluginError` for what an implementation did."""
        plugin, distribution, hook = implementation.plugin, implementation.distribution, implementation.hook
        if isinstance(error, WrongReturnError):
            if error.message_refused:
                open_round = self.session.transcript.open_round
                calls = open_round.open_calls if open_round is not None else ()
                return MessageOrderError(plugin, distribution, hook, [f"{call.name} ({call.id})" for call in calls])
            return PluginError(plugin, distribution, hook, f"{error} ({implementation.place})")
        if isinstance(error, OverranError):
            return PluginError(plugin, distribution, hook, f"{error} ({implementation.place})")
        where = _raised_at(error, implementation)
        return PluginError(plugin, distribution, hook, f"raised {describe_error(error)} ({where})")


class OverranError(Exception):
    """A hook overran its time limit."""

    def __init__(self, limit: float | None) -> None:
        super().__init__(f"overran its time limit of {limit:g} s" if limit is not None else "overran its time limit")


def describe_error(error: BaseException) -> str:
    """A foreign exception in words: its type, and its text where it has one, whatever its `__str__` does."""
    try:
        text = str(error).strip()
    except Exception as broken:
        text = f"its text form raised {type(broken).__name__}"
    if len(text) > _LONGEST_ERROR:
        text = f"{text[:_LONGEST_ERROR]}…"
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


async def _undo_cancel(task: asyncio.Task[Any], cancels: int) -> WrongReturnError:
    """A plain hook runs in the run's own task, and cancelled it: take that back, and say what it did."""
    while task.cancelling() > cancels:
        task.uncancel()
    with contextlib.suppress(asyncio.CancelledError):
        await asyncio.sleep(0)
    return WrongReturnError("cancelled the task of the run; return Stop(reason), or call agent.abort()")


def _dispose(awaitable: Any) -> None:
    """Close a coroutine that nobody will await, so that Python does not warn about it."""
    close = getattr(awaitable, "close", None)
    if close is not None:
        close()


def _raised_at(error: BaseException, implementation: Implementation) -> str:
    """The innermost place in the plugin's own file, with the host's frames left out."""
    code = getattr(inspect.unwrap(implementation.function), "__code__", None)
    place = implementation.place
    traceback = error.__traceback__
    while traceback is not None:
        frame_code = traceback.tb_frame.f_code
        if code is not None and frame_code.co_filename == code.co_filename:
            place = f"{frame_code.co_filename}:{traceback.tb_lineno}"
        traceback = traceback.tb_next
    return place
