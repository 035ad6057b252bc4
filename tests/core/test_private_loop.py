"""Waiting for the private loop, also where no signal interrupts the waiting for a lock."""

from __future__ import annotations

import asyncio
import concurrent.futures
import os
import signal
import threading
from typing import Any

import pytest

from hookagent import private_loop
from hookagent.private_loop import run_in_private_loop


def test_it_looks_again_and_again_and_the_value_and_the_error_come_back(monkeypatch: pytest.MonkeyPatch) -> None:
    assert private_loop._PATIENCE_SECONDS <= 1.0  # longer than that no interrupt may wait
    monkeypatch.setattr(private_loop, "_PATIENCE_SECONDS", 0.001)
    looked_again = threading.Event()
    real_wait = concurrent.futures.wait
    looks: list[float | None] = []

    def wait(futures: Any, timeout: float | None = None) -> object:
        looks.append(timeout)
        if len(looks) > 2:
            looked_again.set()
        return real_wait(futures, timeout)

    monkeypatch.setattr(concurrent.futures, "wait", wait)

    async def work() -> str:
        await asyncio.to_thread(looked_again.wait, 60)
        return "done"

    async def fail() -> str:
        raise ValueError("no")

    assert run_in_private_loop(work, "") == "done"
    assert set(looks) == {0.001}
    assert len(looks) > 2
    with pytest.raises(ValueError, match="no"):
        run_in_private_loop(fail, "")


@pytest.mark.parametrize("patience", [0.1, 0.001])
def test_an_interrupt_tells_the_work_and_waits_for_its_end(patience: float, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(private_loop, "_PATIENCE_SECONDS", patience)
    told = threading.Event()
    ended: list[bool] = []

    async def work() -> None:
        os.kill(os.getpid(), signal.SIGINT)
        ended.append(await asyncio.to_thread(told.wait, 60))

    with pytest.raises(KeyboardInterrupt):
        run_in_private_loop(work, "", told.set)
    assert ended == [True]


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit])
def test_a_task_that_raises_what_ends_a_loop_does_not_end_this_one(error: type[BaseException]) -> None:
    async def fail() -> None:
        raise error

    async def work() -> str:
        task = asyncio.ensure_future(fail())
        await asyncio.wait({task})
        assert isinstance(task.exception(), error)
        return "still here"

    assert run_in_private_loop(work, "") == "still here"
    assert run_in_private_loop(work, "") == "still here"


def test_an_interrupt_is_told_again_to_work_that_could_not_hear_of_it_yet() -> None:
    told: list[int] = []
    heard = threading.Event()

    def tell() -> None:
        told.append(len(told))
        if len(told) > 1:  # the first comes too early
            heard.set()

    async def work() -> None:
        os.kill(os.getpid(), signal.SIGINT)
        await asyncio.to_thread(heard.wait, 60)

    with pytest.raises(KeyboardInterrupt):
        run_in_private_loop(work, "", tell)
    assert len(told) >= 2
