"""One around hook while it runs: its own time is watched, and what it gives, raises and overruns is judged."""

from __future__ import annotations

import asyncio
import sys
from typing import TYPE_CHECKING, Any

from hookagent.abort import Aborted
from hookagent.contract import WrongReturnError, read_return
from hookagent.dispatch import SLOW_SECONDS, OverranError
from hookagent.errors import MisuseError
from hookagent.implementations import Implementation
from hookagent.watch import Deadline
from hookagent.work import from_outside

if TYPE_CHECKING:
    from hookagent.around import Chain

EAGER_TASKS = sys.version_info >= (3, 12)
"""Whether a task may begin in the midst of the one that makes it."""


class MiscalledError(MisuseError):
    """A hook called `call_next` as it cannot be called: that is its own failure, and not that of what is below."""


class Layer:
    """One hook of a nesting while it runs: its own time is watched, what it gives is checked, what it got is known."""

    # What most hooks never need stands here once for all of them.
    below = 0.0
    busy = False
    start: float
    _task: asyncio.Task[Any]
    _overran = False
    _saw_abort = False
    _deadline: Deadline | None = None
    _from_below: tuple[BaseException, ...] = ()
    _given: tuple[Any, ...] = ()

    def __init__(self, chain: Chain, index: int, value: Any) -> None:
        self._chain = chain
        self.index = index
        self.implementation, _, self._charge = chain.ready[index]
        self.value = value

    async def run(self) -> Any:
        """Call the hook; raises its `PluginError`, and what came from below as it is."""
        chain, implementation = self._chain, self.implementation
        dispatcher, abort = chain.dispatcher, chain.supervisor.abort
        if chain.waits or (EAGER_TASKS and chain.is_elsewhere()):
            current = asyncio.current_task()
            assert current is not None
            self._task, self.start = current, dispatcher.monotonic()
            self.watch()
        else:
            self._task, self.start = chain.task, chain.now
            chain.active = self
        task = self._task
        cancels = task.cancelling()
        error: BaseException | None = None
        result: Any = None
        try:
            if implementation.takes_values:
                result = await implementation.function(self.value, self.call_next)
            else:
                result = await implementation.call(self.value, self.call_next, dispatcher.agent, dispatcher.session)
            given = self._given
            # Mostly it is what it got, and got once.
            as_got = self._saw_abort or (given and result is given[-1]) or any(result is one for one in given)
            if not as_got:
                _check(implementation, result, abort.aborted)
        except BaseException as raised:
            error = raised
        if self._deadline is not None:
            self.unwatch()
        if chain.active is self:
            chain.active = None
        now = chain.now = dispatcher.monotonic()
        seconds = now - self.start - self.below
        charge = self._charge
        charge[0] += 1
        charge[1] += seconds
        if self._overran:
            task.uncancel()
            error = OverranError(implementation.time_limit)
        elif self._saw_abort:
            error, result = None, Aborted(abort.reason)
        if error is None:
            if seconds > SLOW_SECONDS and not self._saw_abort and not chain.closed:
                dispatcher.report(implementation, "slow", dispatcher.slowness(implementation, seconds), seconds)
            return result
        try:
            by_others = from_outside(error) if task is chain.task else task.cancelling() > cancels
            raise self._judged(error, seconds, by_others)
        finally:
            # What was raised knows this frame, and would keep itself alive.
            self._from_below = ()
            del error

    def _judged(self, error: BaseException, seconds: float, by_others: bool) -> BaseException:
        """What is to be raised: a `PluginError` where the hook itself failed, and what is not its own as it is."""
        chain, implementation, dispatcher = self._chain, self.implementation, self._chain.dispatcher
        if any(error is one for one in self._from_below) and not isinstance(error, MiscalledError):
            return error
        if isinstance(error, KeyboardInterrupt):
            chain.interrupt = error
            return error
        if isinstance(error, asyncio.CancelledError) and (by_others or chain.supervisor.abort.aborted):
            return error  # somebody outside of this hook ended it
        failure = dispatcher.failure(implementation, error)
        dispatcher.failed.add(implementation.plugin)
        if not chain.closed:  # else it was left behind, and the run is over or has gone on without it
            dispatcher.report(implementation, "overran" if self._overran else "failed", failure.what, seconds)
        chain.unreported = None
        chain.failure = chain.failure or failure
        failure.__cause__ = error
        return failure

    async def call_next(self, *given: Any) -> Any:
        """What the hook calls to go on, one call at a time; the time in it is not the hook's."""
        chain = self._chain
        if self.busy or chain.over:
            what = "the hook has returned" if chain.over else "call_next() is still running; one call at a time"
            raise MiscalledError(f"plugin '{self.implementation.plugin}': {what}")
        if getattr(self._task, "_must_cancel", False):
            await asyncio.sleep(0)  # it cancelled itself: that is to end it, and not what it calls
        self.busy = True
        beside = chain.waits or (EAGER_TASKS and chain.is_elsewhere())
        if not beside:
            chain.active = None
        if self._deadline is not None:
            self._deadline.pause()
        monotonic = chain.dispatcher.monotonic
        entered = chain.now = monotonic()
        try:
            result = await chain.down(self, *given)
        except BaseException as error:
            self._from_below = (*self._from_below, error)
            raise
        finally:
            self.busy = False
            self.below += (monotonic() if beside else chain.now) - entered
            if not beside and not chain.waits:
                chain.active = self
            if self._deadline is not None:
                self._deadline.resume()
        if type(result) is Aborted:
            self._saw_abort = True
        self._given = (*self._given, result)
        return result

    def watch(self) -> None:
        """Watch the hook's time limit from now on: others have their turn while it waits."""
        limit = self.implementation.time_limit
        if limit is None:
            return
        left = limit - (self._chain.dispatcher.monotonic() - self.start - self.below)
        if left > 0.0:
            self._deadline = self._chain.supervisor.watch.limit(left, self._overrun)
        else:
            self._overrun()

    def unwatch(self) -> None:
        """Its time limit need not be watched: nothing else can run now."""
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _overrun(self) -> None:
        chain, implementation = self._chain, self.implementation
        if self._overran:
            return
        self._overran = True
        failure = chain.dispatcher.failure(implementation, OverranError(implementation.time_limit))
        chain.failure = chain.failure or failure
        seconds = chain.dispatcher.monotonic() - self.start - self.below
        chain.unreported = implementation, failure, seconds
        chain.watched = chain.supervisor.watch.limit(chain.supervisor.grace_seconds, chain.give_up)
        self._task.cancel()


def _check(implementation: Implementation, value: Any, aborted: bool) -> None:
    """Check what a hook returned instead of what `call_next` gave it."""
    if isinstance(value, Aborted):
        if aborted:
            return
        raise WrongReturnError("returned an Aborted, but nobody aborted the run; call agent.abort(reason) to do that")
    if value is None:
        raise WrongReturnError("returned None; it must return what call_next() gave (forgotten the return?)")
    read_return(implementation.hook, implementation.plugin, value)
