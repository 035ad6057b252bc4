"""Clock, watch, abort signal and supervisor at their edges: what comes too late, twice, or when all is over."""

from __future__ import annotations

import asyncio

import pytest

from hookagent.abort import AbortedError, AbortSignal
from hookagent.clock import SYSTEM_CLOCK, sleep
from hookagent.supervise import Supervisor
from hookagent.testing import FakeClock
from hookagent.watch import Watch
from hookagent.work import Work


async def turns(count: int = 3) -> None:
    for _ in range(count):
        await asyncio.sleep(0)


# ---- the clock ----


def test_a_sleep_that_was_cancelled_is_not_woken_by_its_timer() -> None:
    async def main() -> None:
        clock = FakeClock()
        task = asyncio.create_task(sleep(clock, 5.0))
        await turns()
        clock.advance(5.0)  # the timer is due in the next turn, and the cancellation comes first
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await turns()
        assert clock.waiting == 0

    asyncio.run(main())


def test_a_sleep_on_the_real_clock_ends_by_itself() -> None:
    asyncio.run(sleep(SYSTEM_CLOCK, 0.0))


# ---- the watch ----


def test_a_deadline_that_is_paused_when_it_is_due_does_not_fire_and_is_watched_again_later() -> None:
    async def main() -> None:
        clock, fired = FakeClock(), []
        watch = Watch(clock)
        deadline = watch.limit(5.0, lambda: fired.append(clock.now))
        clock.advance(3.0)
        deadline.pause()
        deadline.pause()
        clock.advance(10.0)
        await turns()
        assert (deadline.queued, deadline.when, deadline.cancelled, clock.waiting) == (None, None, False, 0)
        deadline.cancel()
        assert deadline.cancelled
        other = watch.limit(2.0, lambda: fired.append(clock.now))
        other.pause()
        clock.advance(2.0)
        await turns()
        other.resume()
        other.resume()
        clock.advance(1.0)
        await turns()
        assert fired == []
        clock.advance(1.0)
        await turns()
        assert fired == [17.0]
        other.fire()  # it is over: nobody is called twice
        other.pause()
        other.resume()
        assert fired == [17.0]
        assert clock.waiting == 0

    asyncio.run(main())


def test_a_deadline_that_was_paused_meanwhile_is_looked_at_again_when_its_time_has_moved() -> None:
    async def main() -> None:
        clock, fired = FakeClock(), []
        watch = Watch(clock)
        deadline = watch.limit(5.0, lambda: fired.append(clock.now))
        deadline.pause()
        clock.advance(2.0)
        deadline.resume()
        clock.advance(3.0)
        await turns()
        assert (fired, deadline.queued, clock.waiting) == ([], 7.0, 1)
        clock.advance(2.0)
        await turns()
        assert fired == [7.0]

    asyncio.run(main())


def test_a_watch_that_is_closed_twice_has_no_timer_left() -> None:
    async def main() -> None:
        clock, fired = FakeClock(), []
        watch = Watch(clock)
        watch.limit(1.0, lambda: fired.append("late"))
        watch.close()
        watch.close()
        clock.advance(2.0)
        await turns()
        assert (fired, clock.waiting) == ([], 0)

    asyncio.run(main())


# ---- the abort signal ----


def test_a_tool_that_asks_is_told_of_the_abort_and_of_nothing_before_it() -> None:
    signal = AbortSignal()
    signal.raise_if_aborted()
    assert signal.set("enough")
    assert not signal.set("more than enough")
    with pytest.raises(AbortedError, match=r"^enough$"):
        signal.raise_if_aborted()


def test_an_abort_of_a_loop_that_is_closed_is_nobodys_business() -> None:
    signal = AbortSignal()

    async def main() -> Supervisor:
        signal.on_abort(lambda: None)
        return Supervisor(FakeClock(), signal, 5.0)

    supervisor = asyncio.run(main())
    supervisor.interrupt_soon()
    assert signal.set("late")


# ---- the supervisor ----


def test_a_wait_that_both_the_limit_and_the_end_complete_ended_by_what_came_first() -> None:
    async def main() -> None:
        clock = FakeClock()
        supervisor = Supervisor(clock, AbortSignal(), 5.0)
        future: asyncio.Future[None] = supervisor.loop.create_future()
        waiting = asyncio.create_task(supervisor.asleep(future, 2.0))
        await turns()
        clock.advance(2.0)
        future.set_result(None)  # ahead of the timer, which is due in the next turn
        assert await waiting is False
        other: asyncio.Future[None] = supervisor.loop.create_future()
        waiting = asyncio.create_task(supervisor.asleep(other, 2.0))
        await turns()
        clock.advance(2.0)
        assert await waiting is True

    asyncio.run(main())


def test_of_two_that_end_in_one_turn_the_second_wakes_nobody_any_more() -> None:
    async def main() -> None:
        supervisor = Supervisor(FakeClock(), AbortSignal(), 5.0)
        futures = [supervisor.loop.create_future() for _ in range(2)]
        waiting = asyncio.create_task(supervisor.until(*futures))
        await turns()
        for future in futures:
            future.set_result(None)
        assert await waiting == "done"

    asyncio.run(main())


def test_work_that_ends_and_is_aborted_in_one_turn_is_done() -> None:
    async def main() -> None:
        abort = AbortSignal()
        supervisor = Supervisor(FakeClock(), abort, 5.0)
        abort.on_abort(supervisor.interrupt_soon)
        free = asyncio.Event()

        async def waits() -> str:
            await free.wait()
            return "done"

        work = Work(supervisor.loop, waits())
        waiting = asyncio.create_task(supervisor.ended(work))
        await turns()
        abort.set("enough")
        free.set()
        assert await waiting == "done"
        assert work.outcome is not None
        assert work.outcome.value == "done"

    asyncio.run(main())
