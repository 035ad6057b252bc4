"""Calling hooks: one implementation at a time, knowing whose it is, how long it took and how it ended.

pluggy finds, validates and orders the implementations; calling them is ours, because pluggy is
synchronous, drops who answered, and stops at the first exception (design, "Hooks").
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable, Coroutine, Iterator
from typing import TYPE_CHECKING, Any

from hookagent.contract import Returned, WrongReturnError, read_return
from hookagent.errors import MessageOrderError, PluginError, describe_error
from hookagent.implementations import Implementation
from hookagent.supervise import Supervisor
from hookagent.work import take_back_cancellation

if TYPE_CHECKING:
    from hookagent.agent import Agent
    from hookagent.session import Session

SLOW_SECONDS = 1.0

_Ready = tuple[Implementation, "Callable[..., Any] | None", list[float]]


class Dispatcher:
    """Calls implementations for one run.

    `report` is told of every call that returned something, failed or was slow; all calls are counted in
    `charges`: plugin -> [calls, seconds].
    """

    __slots__ = (
        "_ready",
        "_task",
        "agent",
        "charges",
        "disabled",
        "failed",
        "monotonic",
        "report",
        "session",
        "stray",
        "supervisor",
    )

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
        self.stray = False
        """Whether a cancellation was taken back that has yet to arrive where the run's task waits next."""
        self.report = report
        self.monotonic = supervisor.clock.monotonic
        self._task: asyncio.Task[Any] | None = None
        self._ready: dict[int, list[_Ready]] = {}

    def voices(
        self, implementations: tuple[Implementation, ...], values: list[Any], *, failed: bool = True
    ) -> Iterator[tuple[Implementation, Coroutine[Any, Any, Returned | None]]]:
        """Call implementations in order, and give those that have something to say, with what is to be awaited at once.

        Plain ones that return nothing, the most by far, are through without a word. `values` are the hook's own
        arguments; the caller may change the list on the way. Without `failed`, plugins that failed are left out.
        What is awaited raises what `one` raises.
        """
        monotonic, abort = self.monotonic, self.supervisor.abort
        task = self._task or self._own_task()
        cancels = task.cancelling()
        ready = self._ready.get(id(implementations)) or self.ready_for(implementations)
        before = monotonic()
        for implementation, function, charge in ready:
            if self.failed and not failed and implementation.plugin in self.failed:
                continue
            if function is None or self.disabled:
                yield implementation, self.one(implementation, *values)
            else:
                value: Any = None
                error: BaseException | None = None
                try:
                    value = function(*values)
                except BaseException as raised:
                    error = raised
                now = monotonic()
                seconds = now - before
                before = now  # what one took ends where the next begins
                charge[0] += 1
                charge[1] += seconds
                quiet = value is None and error is None and seconds <= SLOW_SECONDS
                if quiet and task.cancelling() == cancels and not abort.aborted:
                    continue
                yield implementation, self._heard(implementation, value, error, seconds, cancels)
            before = monotonic()

    def _own_task(self) -> asyncio.Task[Any]:
        task = self._task
        if task is None:
            task = self._task = self.supervisor.task
        return task

    def ready_for(self, implementations: tuple[Implementation, ...]) -> list[_Ready]:
        """Each implementation with the function to call (None: it is `async`) and what its plugin is charged."""
        known = self._ready.get(id(implementations))
        if known is None:
            # The table of hooks keeps the tuple for as long as the run lives.
            known = self._ready[id(implementations)] = [
                (one, None if one.is_async else one.bound(self.agent, self.session), self._charge(one.plugin))
                for one in implementations
            ]
        return known

    def _charge(self, plugin: str) -> list[float]:
        return self.charges.setdefault(plugin, [0, 0.0])

    async def one(self, implementation: Implementation, *values: Any) -> Returned | None:
        """Call one implementation with the hook's own arguments; None when it returned nothing.

        Raises `PluginError` when it raised, overran or returned what the hook does not take, unless the
        plugin's `on_error` softens that (observing hooks only); `KeyboardInterrupt` as it is, and the
        cancellation of the run's own task.
        """
        if self.disabled and implementation.plugin in self.disabled and implementation.contract.softened:
            return None
        start = self.monotonic()
        cancels = self._own_task().cancelling()
        value: Any = None
        error: BaseException | None = None
        try:
            value = implementation.call(*values, self.agent, self.session)
        except BaseException as raised:
            error = raised
        if implementation.is_async and error is None:
            value, error = await self._awaited(implementation, value)
        return await self._heard(implementation, value, error, self.charge(implementation, start), cancels)

    async def _heard(
        self, implementation: Implementation, value: Any, error: BaseException | None, seconds: float, cancels: int
    ) -> Returned | None:
        """What a call of an implementation came to, and what follows from it."""
        task = self._own_task()
        if task.cancelling() > cancels and not implementation.is_async:
            await take_back_cancellation(task, cancels)  # it ran in the run's own task
            error = WrongReturnError(_CANCELLED)
        returned: Returned | None = None
        if error is None:
            try:
                returned = self._read(implementation, value)
            except BaseException as raised:
                error = raised
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

    def announce(
        self, implementations: tuple[Implementation, ...], event: Any, spares: Callable[[str], bool] | None
    ) -> BaseException | None:
        """Tell `on_event` implementations of an event; gives the first failure, when all have heard.

        `spares` says which plugins are not to hear of this one. Plugins that failed hear nothing any more.
        """
        monotonic = self.monotonic
        first: BaseException | None = None
        ready = self._ready.get(id(implementations)) or self.ready_for(implementations)
        task = self._own_task()
        cancels = task.cancelling()
        before = monotonic()
        for implementation, function, charge in ready:
            if self.failed or self.disabled or spares is not None:
                plugin = implementation.plugin
                if plugin in self.failed or plugin in self.disabled or (spares is not None and spares(plugin)):
                    continue
            assert function is not None  # `on_event` is a plain function: anything else was refused at load
            value: Any = None
            error: BaseException | None = None
            try:
                value = function(event)
            except BaseException as raised:
                error = raised
            now = monotonic()
            seconds = now - before
            before = now
            charge[0] += 1
            charge[1] += seconds
            if value is None and error is None and seconds <= SLOW_SECONDS and task.cancelling() == cancels:
                continue
            if task.cancelling() > cancels:
                # It still arrives where the run waits next, and finds there that nobody asked for it.
                while task.cancelling() > cancels:
                    task.uncancel()
                self.stray = True
                error = WrongReturnError(_CANCELLED)
            try:
                self._told(implementation, value, error, seconds)
            except (PluginError, KeyboardInterrupt) as failure:
                first = first or failure
            before = monotonic()
        return first

    def _told(self, implementation: Implementation, value: Any, error: BaseException | None, seconds: float) -> None:
        if error is None:
            try:
                self._read(implementation, value)
            except BaseException as raised:
                error = raised
        if error is not None:
            self._fail(implementation, error, seconds)
        else:  # it returned nothing, so that all there is to be told is how long it took
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

    def charge(self, implementation: Implementation, start: float) -> float:
        """Book one call that began at `start`. Returns its seconds."""
        seconds = self.monotonic() - start
        self.book(implementation, seconds)
        return seconds

    def book(self, implementation: Implementation, seconds: float) -> None:
        """Book one call that took so long itself."""
        charge = self._charge(implementation.plugin)
        charge[0] += 1
        charge[1] += seconds

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


_CANCELLED = "cancelled the task of the run; return Stop(reason) where the hook may, or call agent.abort()"


class OverranError(Exception):
    """A hook overran its time limit."""

    def __init__(self, limit: float | None) -> None:
        super().__init__(f"overran its time limit of {limit:g} s" if limit is not None else "overran its time limit")


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
