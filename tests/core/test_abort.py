"""One abort: whatever the run is doing, every call gets its result, nothing more is started, no request is sent."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest

from hookagent import Agent, hookimpl
from hookagent.providers.scripted import ScriptedProvider
from hookagent.testing import FakeClock, Recorder
from tests.core.scripts import calls, make_agent, ok, quick, words

ANSWER = {"text": "done"}
WAITING_HOOKS = (
    "on_session_start",
    "after_user_input",
    "before_llm",
    "shape_request",
    "after_llm",
    "before_tools",
    "before_each_tool",
    "after_each_tool",
    "after_tools",
)


class Requests(ScriptedProvider):
    """A scripted model that counts its requests."""

    count = 0

    async def stream(self, request: Any) -> Any:
        type(self).count += 1
        async for item in super().stream(request):
            yield item


def waiting_plugin(hook: str, started: asyncio.Event) -> Any:
    """A plugin whose implementation of `hook` waits for ever."""

    async def wait() -> None:
        started.set()
        await asyncio.Event().wait()

    wait.__name__ = hook
    return hookimpl(wait)


@pytest.mark.parametrize("mode", ["parallel", "sequential"])
@pytest.mark.parametrize("hook", WAITING_HOOKS)
def test_an_abort_while_a_hook_waits(hook: str, mode: Any) -> None:
    """The hook is cancelled, the round is closed, `on_complete` fires once, and the session can be used again."""

    async def main() -> None:
        started = asyncio.Event()
        recorder = Recorder()
        plugins = [waiting_plugin(hook, started), recorder]
        # What comes after a tool belongs to it, and has its grace time.
        grace: dict[str, Any] = {"grace_seconds": 0.01} if hook == "after_each_tool" else {}
        agent = make_agent([calls("quick", "ok"), ANSWER, ANSWER], *plugins, tool_execution=mode, **grace)
        task = asyncio.create_task(agent.run("go"))
        await started.wait()
        agent.abort("enough")
        result = await task
        assert (result.status, result.reason) == ("aborted", "enough")
        assert recorder.names.count("on_complete") == 1
        assert agent.transcript.open_round is None
        lines = words(agent.transcript)
        assert len([line for line in lines if line.startswith("R")]) in (0, 2)
        assert "A done" not in lines

    asyncio.run(main())


def test_an_abort_cancels_the_model_stream_at_once_and_keeps_no_half_reply() -> None:
    async def main() -> None:
        closed = False
        started = asyncio.Event()

        class Hanging(ScriptedProvider):
            async def stream(self, request: Any) -> Any:
                nonlocal closed
                from hookagent import Delta

                try:
                    yield Delta("text", "half an ans")
                    started.set()
                    await asyncio.Event().wait()
                finally:
                    closed = True

        agent = Agent(model=Hanging([]))
        task = asyncio.create_task(agent.run("go"))
        await started.wait()
        assert agent.streaming_text == "half an ans"
        agent.abort("enough")
        result = await task
        assert result.status == "aborted"
        assert closed
        assert words(agent.transcript) == ["U go"]
        assert agent.streaming_text is None

    asyncio.run(main())


@pytest.mark.parametrize("mode", ["parallel", "sequential"])
def test_an_abort_in_mid_round_gives_every_call_its_result_and_starts_nothing_more(mode: Any) -> None:
    ran: list[str] = []
    agent: Agent

    async def stop() -> str:
        """Abort and wait."""
        agent.abort("enough")
        await asyncio.Event().wait()
        return "never"

    async def mark() -> str:
        """Leave a mark."""
        ran.append("mark")
        return "marked"

    agent = make_agent([calls("stop", "mark", "mark"), ANSWER], tools=[stop, mark], tool_execution=mode)
    result = agent.run_sync("go")
    assert result.status == "aborted"
    statuses = [line.split()[2] for line in words(agent.transcript) if line.startswith("R")]
    assert statuses[0] == "interrupted"
    assert len(statuses) == 3
    assert statuses[1:] == (["not_run"] * 2 if mode == "sequential" else statuses[1:])
    assert len(ran) == statuses.count("ok")
    assert agent.run_sync("and now?").answer == "done"


def test_a_plain_tool_that_ignores_the_abort_is_abandoned_after_the_grace_time() -> None:
    release = threading.Event()
    started = threading.Event()

    def stubborn() -> str:
        """Wait until the test lets it go."""
        started.set()
        release.wait(30)
        return "late"

    async def main() -> None:
        clock = FakeClock()
        agent = make_agent([calls("stubborn", "quick"), ANSWER], tools=[stubborn, quick], clock=clock, grace_seconds=5)
        task = asyncio.create_task(agent.run("go"))
        await asyncio.to_thread(started.wait, 30)
        agent.abort("enough")
        while not clock.waiting:
            await asyncio.sleep(0)
        assert not task.done()
        clock.advance(5)
        result = await task
        assert result.status == "aborted"
        contents = [one.content for one in agent.transcript.messages() if hasattr(one, "content")]
        assert "it may still be running" in contents[0]
        assert words(agent.transcript)[2].startswith("R c1 interrupted")

    try:
        asyncio.run(main())
    finally:
        release.set()


def test_a_plain_tool_that_heeds_the_signal_ends_by_itself_and_its_result_counts() -> None:
    from hookagent import current_call

    started = threading.Event()

    def heeding() -> str:
        """Wait for the signal."""
        started.set()
        assert current_call().abort.wait(30)
        return "stopped in time"

    async def main() -> None:
        agent = make_agent([calls("heeding"), ANSWER], tools=[heeding], clock=FakeClock())
        task = asyncio.create_task(agent.run("go"))
        await asyncio.to_thread(started.wait, 30)
        agent.abort("enough")
        assert (await task).status == "aborted"
        assert words(agent.transcript) == ["U go", "A c1", "R c1 ok"]

    asyncio.run(main())


def test_no_request_follows_an_abort() -> None:
    agent: Agent

    async def stop() -> str:
        """Abort, and end at once."""
        agent.abort("enough")
        return "ended"

    Requests.count = 0
    agent = Agent(tools=[stop], model=Requests([calls("stop"), ANSWER]))
    assert agent.run_sync("go").status == "aborted"
    assert Requests.count == 1


def test_the_callers_time_out_ends_the_run_and_leaves_a_session_that_goes_on() -> None:
    async def main() -> None:
        started = asyncio.Event()

        async def wait() -> str:
            """Wait for ever."""
            started.set()
            await asyncio.Event().wait()
            return "never"

        agent = make_agent([calls("wait", "ok"), ANSWER], tools=[wait, ok])
        task = asyncio.create_task(agent.run("go"))
        await started.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert not agent.running
        assert agent.last_result is not None
        assert (agent.last_result.status, agent.last_result.reason) == ("aborted", "cancelled by the caller")
        assert agent.transcript.open_round is None
        assert (await agent.run("again")).answer == "done"

    asyncio.run(main())


def test_steered_messages_survive_an_abort_and_are_delivered_once() -> None:
    agent: Agent

    async def stop() -> str:
        """Queue, then abort."""
        agent.steer("s")
        agent.follow_up("f")
        agent.abort("enough")
        agent.follow_up("after the abort")
        return "ended"

    agent = make_agent([calls("stop"), *({"text": f"{n}"} for n in range(4))], tools=[stop])
    assert agent.run_sync("go").status == "aborted"
    assert [one.text for one in (*agent.steering.peek(), *agent.follow_ups.peek())] == ["s", "f", "after the abort"]
    agent.run_sync("(continue)")
    lines = words(agent.transcript)
    assert [lines.count(f"U {text}") for text in ("s", "f", "after the abort")] == [1, 1, 1]


def test_an_abort_when_idle_does_nothing() -> None:
    agent = make_agent([ANSWER])
    agent.abort()
    assert agent.run_sync("go").status == "completed"
    agent.abort()
    assert agent.last_result is not None
    assert agent.last_result.status == "completed"
