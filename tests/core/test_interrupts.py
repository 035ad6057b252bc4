"""Ctrl-C while a question is open is the answer to it, wherever the event loop runs."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import threading
from typing import Any

import pytest

from hookagent import Agent, hookimpl, pass_interrupt, take_interrupts
from hookagent.testing import ScriptedProvider
from tests.core.plugin_making import made
from tests.core.scripts import make_agent
from tests.core.verdict_tables import ANSWER


def press_ctrl_c() -> None:
    os.kill(os.getpid(), signal.SIGINT)


class Asks:
    """A plugin with a question; Ctrl-C is pressed when it is open, and `again` when it is answered."""

    name = "asks"

    def __init__(self, again: bool = False) -> None:
        self.answers: list[str] = []
        self.again = again

    @hookimpl
    async def before_llm(self, iteration: int) -> None:
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[str] = loop.create_future()
        with take_interrupts(lambda: loop.call_soon_threadsafe(answer.set_result, "no")):
            loop.call_soon(press_ctrl_c)
            self.answers.append(await answer)
        if self.again:
            press_ctrl_c()
            await asyncio.Event().wait()


def test_nobody_takes_an_interrupt_without_a_question() -> None:
    assert not pass_interrupt()


def test_the_newest_question_has_it_in_whatever_order_they_end() -> None:
    told: list[str] = []
    first, second = take_interrupts(lambda: told.append("first")), take_interrupts(lambda: told.append("second"))
    first.__enter__()
    second.__enter__()
    assert pass_interrupt()
    first.__exit__(None, None, None)
    assert pass_interrupt()
    second.__exit__(None, None, None)
    assert not pass_interrupt()
    assert told == ["second", "second"]


def test_the_handler_of_the_program_comes_back() -> None:
    before = signal.getsignal(signal.SIGINT)
    with contextlib.suppress(RuntimeError), take_interrupts(lambda: None), take_interrupts(lambda: None):
        assert signal.getsignal(signal.SIGINT) is not before
        raise RuntimeError("the question fails")
    assert signal.getsignal(signal.SIGINT) is before


def test_a_handler_that_was_set_meanwhile_stays() -> None:
    def mine(number: int, frame: Any) -> None:
        pass

    before = signal.getsignal(signal.SIGINT)
    try:
        with take_interrupts(lambda: None):
            signal.signal(signal.SIGINT, mine)
        assert signal.getsignal(signal.SIGINT) is mine
    finally:
        signal.signal(signal.SIGINT, before)


@pytest.mark.parametrize("handler", [signal.SIG_IGN, signal.SIG_DFL])
def test_a_signal_that_no_handler_of_the_program_has_is_left_alone(handler: signal.Handlers) -> None:
    before = signal.signal(signal.SIGINT, handler)
    try:
        with take_interrupts(lambda: None):
            assert signal.getsignal(signal.SIGINT) is handler
    finally:
        signal.signal(signal.SIGINT, before)


def test_a_question_of_another_thread_is_found_by_who_handles_the_signal() -> None:
    opened, done, told = threading.Event(), threading.Event(), threading.Event()

    def ask() -> None:
        with take_interrupts(told.set):
            opened.set()
            done.wait()

    before = signal.getsignal(signal.SIGINT)
    thread = threading.Thread(target=ask)
    thread.start()
    opened.wait()
    assert signal.getsignal(signal.SIGINT) is before
    assert pass_interrupt()
    done.set()
    thread.join()
    assert told.is_set()
    assert not pass_interrupt()


def test_it_answers_under_run_sync() -> None:
    asks = Asks()
    assert Agent(model=ScriptedProvider(["Done."]), plugins=[asks]).run_sync("go").answer == "Done."
    assert asks.answers == ["no"]


def test_it_answers_in_an_event_loop_of_the_main_thread() -> None:
    asks = Asks()

    async def main() -> str:
        return (await Agent(model=ScriptedProvider(["Done."]), plugins=[asks]).run("go")).answer

    assert asyncio.run(main()) == "Done."
    assert asks.answers == ["no"]


@pytest.mark.parametrize("own_loop", [False, True], ids=["run_sync", "asyncio"])
def test_behind_the_question_it_ends_the_run_again(own_loop: bool) -> None:
    asks = Asks(again=True)
    agent = Agent(model=ScriptedProvider(["Done."]), plugins=[asks])

    def run() -> object:
        return asyncio.run(agent.run("go")) if own_loop else agent.run_sync("go")

    with pytest.raises(KeyboardInterrupt):
        run()
    assert asks.answers == ["no"]
    assert agent.last_result is None or agent.last_result.status == "aborted"


def test_an_interrupt_cuts_the_end_of_a_session_short_and_is_raised_when_that_is_over() -> None:
    ended: list[str] = []

    async def hangs() -> None:
        press_ctrl_c()
        try:
            await asyncio.get_running_loop().create_future()
        finally:
            ended.append("cut short")

    last = made("last", on_session_end=lambda: ended.append("told all the same"))
    agent = make_agent([ANSWER], made("hangs", on_session_end=hangs), last)
    assert agent.run_sync("go").status == "completed"
    with pytest.raises(KeyboardInterrupt):
        agent.close_sync()
    assert ended == ["cut short", "told all the same"]
