"""Time limits: each fires once and in time, pauses do not count, and one timer is enough for all."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from hypothesis import given, settings
from hypothesis import strategies as st

from hookagent.testing import FakeClock
from hookagent.watch import Deadline, Watch

Step = tuple[str, int, int]
# Eighths of a second, which floating point holds exactly.
steps = st.lists(
    st.tuples(
        st.sampled_from(["limit", "pause", "resume", "cancel", "advance"]), st.integers(0, 5), st.integers(1, 40)
    ),
    max_size=50,
)


class Model:
    """What a deadline should do: how much of its time is left, and whether it counts."""

    def __init__(self, left: float) -> None:
        self.left = left
        self.counting = True
        self.over = False

    def advance(self, seconds: float) -> None:
        if self.counting and not self.over:
            self.left -= seconds


def in_loop(body: Callable[[], object]) -> None:
    async def main() -> None:
        result = body()
        if asyncio.iscoroutine(result):
            await result

    asyncio.run(main())


@settings(max_examples=60, deadline=None)
@given(steps)
def test_deadlines_fire_once_when_their_own_time_is_over(script: list[Step]) -> None:
    async def body() -> None:
        clock = FakeClock()
        watch = Watch(clock)
        fired: list[int] = []
        deadlines: list[Deadline] = []
        models: list[Model] = []
        for what, which, eighths in script:
            seconds = eighths / 8
            if what == "limit":
                number = len(deadlines)
                deadlines.append(watch.limit(seconds, lambda number=number: fired.append(number)))  # type: ignore[misc]
                models.append(Model(seconds))
            elif what == "advance":
                clock.advance(seconds)
                for model in models:
                    model.advance(seconds)
                for _ in range(3):
                    await asyncio.sleep(0)
            elif deadlines:
                place = which % len(deadlines)
                deadline, model = deadlines[place], models[place]
                getattr(deadline, what)()
                if what == "cancel":
                    model.over = True
                elif not model.over:
                    model.counting = what == "resume"
                for _ in range(3):
                    await asyncio.sleep(0)
            for number, model in enumerate(models):
                due = model.counting and not model.over and model.left <= 0
                assert fired.count(number) <= 1
                if due:
                    assert number in fired
                    model.over = True
            assert all(models[number].over for number in fired)
            assert clock.waiting <= 1
        watch.close()
        assert clock.waiting == 0

    in_loop(body)


def test_deadlines_fire_in_the_order_of_their_times() -> None:
    async def body() -> None:
        clock, fired = FakeClock(), []
        watch = Watch(clock)
        for seconds in (3.0, 1.0, 2.0):
            watch.limit(seconds, lambda seconds=seconds: fired.append(seconds))  # type: ignore[misc]
        assert clock.waiting == 1
        clock.advance(5.0)
        await asyncio.sleep(0)
        assert fired == [1.0, 2.0, 3.0]
        assert clock.waiting == 0

    in_loop(body)


def test_a_limit_set_while_another_fires_is_watched_too() -> None:
    async def body() -> None:
        clock, fired = FakeClock(), []
        watch = Watch(clock)
        watch.limit(1.0, lambda: watch.limit(1.0, lambda: fired.append("second")))
        for _ in range(2):
            clock.advance(1.0)
            await asyncio.sleep(0)
        assert fired == ["second"]

    in_loop(body)


def test_limits_that_are_not_needed_any_more_do_not_pile_up() -> None:
    def body() -> None:
        clock = FakeClock()
        watch = Watch(clock)
        kept = watch.limit(9.0, lambda: None)
        for _ in range(5000):
            watch.limit(60.0, lambda: None).cancel()
        assert clock.waiting == 1
        assert len(watch._heap) < 300
        assert kept.when == 9.0

    in_loop(body)
