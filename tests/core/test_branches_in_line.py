"""Others' code carried out in line: what is left of it, and whose cancellation it was that came out."""

from __future__ import annotations

import asyncio
import contextvars
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from hookagent.work import Left, call_directly, from_outside, in_line, is_disturbed, take_back_cancellation


async def turns(count: int = 3) -> None:
    for _ in range(count):
        await asyncio.sleep(0)


def carried(coroutine: Coroutine[Any, Any, Any], leaves: Callable[[], bool] = lambda: False) -> Any:
    task = asyncio.current_task()
    assert task is not None
    return in_line(coroutine, contextvars.copy_context().run, task, leaves)


def test_what_does_not_heed_its_cancellation_is_left_and_its_rest_goes_on_in_a_task_of_its_own() -> None:
    free: list[asyncio.Event] = []

    async def stubborn() -> str:
        free.append(asyncio.Event())
        try:
            await free[0].wait()
        except asyncio.CancelledError:
            await free[0].wait()
        return "late"

    async def main() -> None:
        async def body() -> Any:
            return await carried(stubborn(), lambda: True)

        task = asyncio.create_task(body())
        await turns()
        task.cancel()
        left = await task
        assert type(left) is Left
        rest = asyncio.create_task(left.go_on())
        await turns()
        assert not rest.done()
        free[0].set()
        assert await rest == "late"

    asyncio.run(main())


@pytest.mark.parametrize("own", [True, False])
def test_a_cancellation_says_whether_it_came_from_outside(own: bool) -> None:
    async def work() -> None:
        if own:
            raise asyncio.CancelledError
        await asyncio.Event().wait()

    async def main() -> None:
        async def body() -> None:
            task = asyncio.current_task()
            assert task is not None
            cancels = task.cancelling()
            with pytest.raises(asyncio.CancelledError) as raised:
                await carried(work())
            assert from_outside(raised.value) is not own
            assert is_disturbed(task, cancels) is not own
            assert await take_back_cancellation(task, cancels) is False
            assert not is_disturbed(task, cancels)

        task = asyncio.create_task(body())
        await turns()
        if not own:
            task.cancel()
        await task

    asyncio.run(main())


def test_a_cancellation_that_is_still_to_arrive_is_taken_back_too() -> None:
    async def main() -> None:
        async def body() -> None:
            task = asyncio.current_task()
            assert task is not None
            assert call_directly(task.cancel)
            assert is_disturbed(task, 0)
            assert await take_back_cancellation(task, 0) is True
            await turns()
            assert task.cancelling() == 0

        await asyncio.create_task(body())

    asyncio.run(main())
