"""A piece of work says how it ended, whatever way that was, and also when it never began."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any

import pytest

from hookagent.work import Contained, Work


async def fine() -> str:
    return "fine"


async def broken() -> None:
    raise ValueError("no")


async def leaves() -> None:
    raise SystemExit(3)


async def cancels_itself_and_returns() -> str:
    task = asyncio.current_task()
    assert task is not None
    task.cancel()
    return "returned"


async def heeds_nothing() -> str:
    try:
        await asyncio.Event().wait()
    except asyncio.CancelledError:
        return "kept on"
    return "never"


def ended(coroutine: Coroutine[Any, Any, Any], *, cancel: str = "") -> tuple[Contained, int]:
    """How it ended, and how often that was said; `cancel` "early" is before its first step, "late" behind it."""

    async def main() -> tuple[Contained, int]:
        said: list[Work] = []
        work = Work(asyncio.get_running_loop(), coroutine, said.append)
        if cancel == "early":
            work.cancel()
        await asyncio.sleep(0)
        if cancel == "late":
            work.cancel()
        for _ in range(4):
            await asyncio.sleep(0)
        assert work.outcome is not None
        return work.outcome, len(said)

    return asyncio.run(main())


@pytest.mark.parametrize(
    ("make", "cancel", "value", "error"),
    [
        (fine, "", "fine", None),
        (broken, "", None, ValueError),
        (leaves, "", None, SystemExit),
        (cancels_itself_and_returns, "", None, asyncio.CancelledError),
        (heeds_nothing, "late", "kept on", None),
        (heeds_nothing, "early", None, asyncio.CancelledError),
        (fine, "early", None, asyncio.CancelledError),
    ],
)
def test_every_end_is_said_once(make: Any, cancel: str, value: Any, error: type[BaseException] | None) -> None:
    outcome, times = ended(make(), cancel=cancel)
    assert outcome.value == value
    assert outcome.error is None if error is None else isinstance(outcome.error, error)
    assert times == 1
