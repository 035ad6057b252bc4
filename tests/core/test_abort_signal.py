"""The abort signal: read by hooks through the session, waited for without blocking, safe from signal handlers."""

from __future__ import annotations

import asyncio
import sys
import threading
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from hookagent import abort, hookimpl
from hookagent.abort import AbortSignal
from hookagent.messages import ToolResult
from hookagent.session import Session
from tests.core.scripts import calls, make_agent, ok


class Around:
    """Waits around a tool or a model call until the abort comes."""

    def __init__(self, started: asyncio.Event) -> None:
        self.started = started
        self.seen: list[Any] = []

    @hookimpl
    async def wrap_tool_call(self, call_next: Callable[[], Awaitable[ToolResult]], session: Session) -> ToolResult:
        self.seen.append(session.abort_signal.aborted)
        self.started.set()
        self.seen.append(await session.abort_signal.until_aborted())
        return await call_next()

    @hookimpl
    def on_complete(self, session: Session) -> None:
        self.seen.append(session.abort_signal.aborted)


def test_a_hook_reads_the_signal_and_waits_for_it() -> None:
    async def main() -> None:
        around = Around(asyncio.Event())
        agent = make_agent([calls("ok"), {"text": "again"}, {"text": "fine"}], around)
        task = asyncio.create_task(agent.run("go"))
        await around.started.wait()
        agent.abort("enough")
        assert (await task).status == "aborted"
        assert around.seen == [False, "enough", True]
        assert agent.session.abort_signal.aborted  # the last run's, until the next one begins
        await agent.run("go on")
        assert not agent.session.abort_signal.aborted
        assert around.seen[3:] == [False]

    asyncio.run(main())


def test_the_signal_of_a_call_without_a_run_is_that_call_s() -> None:
    seen: list[Any] = []

    class Looking:
        @hookimpl
        def before_each_tool(self, session: Session) -> None:
            seen.append(session.abort_signal.aborted)
            agent.abort("no more")

        @hookimpl
        def after_each_tool(self, session: Session) -> None:
            seen.append(session.abort_signal.reason)

    agent = make_agent([], Looking(), tools=[ok])
    result = asyncio.run(agent.call_tool("ok"))
    assert result.is_error
    assert seen == [False, "no more"]


def test_waiting_ends_at_once_after_the_abort_and_leaves_nothing_behind() -> None:
    signal = AbortSignal()

    async def main() -> None:
        waiting = asyncio.ensure_future(signal.until_aborted())
        given_up = asyncio.ensure_future(signal.until_aborted())
        await asyncio.sleep(0)
        assert len(signal._callbacks) == 2
        given_up.cancel()
        threading.Thread(target=signal.set, args=("from a thread",)).start()
        assert await waiting == "from a thread"
        with pytest.raises(asyncio.CancelledError):
            await given_up
        assert await signal.until_aborted() == "from a thread"

    asyncio.run(main())
    assert signal._callbacks == []


def test_what_hears_an_abort_can_be_forgotten() -> None:
    signal = AbortSignal()
    heard: list[str] = []
    forget = signal.on_abort(lambda: heard.append("first"))
    signal.on_abort(lambda: heard.append("second"))
    forget()
    forget()
    assert signal.set("now")
    assert heard == ["second"]
    signal.on_abort(lambda: heard.append("late"))
    assert heard == ["second", "late"]


def test_a_signal_handler_may_abort_at_any_line_of_an_abort() -> None:
    """With a lock in the way, the second call would wait for the first one, which it interrupts."""
    for line in range(12):
        signal = AbortSignal()
        heard: list[str] = []
        signal.on_abort(lambda signal=signal, heard=heard: heard.append(signal.reason))  # type: ignore[misc]
        passed = 0

        def handler(frame: Any, event: str, argument: Any, line: int = line, signal: AbortSignal = signal) -> Any:
            nonlocal passed
            if frame.f_code.co_filename not in (abort.__file__, threading.__file__):
                return None
            if event == "line":
                passed += 1
                if passed == line:
                    signal.set("handler")
            return handler

        before = sys.gettrace()
        sys.settrace(handler)
        try:
            signal.set("caller")
        finally:
            sys.settrace(before)
        assert signal.aborted
        assert signal.wait(0)
        assert set(heard) <= {"caller", "handler"}
        assert heard


def test_a_callback_that_raises_keeps_nobody_from_hearing_of_the_abort(caplog: pytest.LogCaptureFixture) -> None:
    signal = AbortSignal()
    heard: list[str] = []

    def fail() -> None:
        raise ValueError("not now")

    signal.on_abort(fail)
    signal.on_abort(lambda: heard.append("told"))
    assert signal.set("stop")
    assert heard == ["told"]
    assert caplog.messages == ["abort: what waited for it raised ValueError: not now"]
