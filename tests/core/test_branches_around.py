"""Around hooks that do it otherwise: in tasks of their own, without heeding an abort, or with what is no request."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from hookagent import PluginError, ToolResult
from hookagent.events import HookReport
from hookagent.host import PluginEntry
from hookagent.messages import AssistantMessage, TextPart
from hookagent.testing import FakeClock
from tests.core.plugin_making import Around
from tests.core.scripts import calls, make_agent, words

ANSWER = {"text": "done"}


async def turns(count: int = 6) -> None:
    for _ in range(count):
        await asyncio.sleep(0)


class Waits:
    """A tool that waits, and heeds so many cancellations less than it gets."""

    def __init__(self, ignores: int = 0) -> None:
        self.ignores = ignores
        self.log: list[str] = []

    async def wait(self) -> str:
        """Wait."""
        self.log.append("began")
        while True:
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                self.log.append("cancelled")
                if len(self.log) > self.ignores + 1:
                    raise


def reports(agent: Any) -> list[tuple[str, str, str]]:
    return [(one.plugin, one.outcome, one.detail) for one in agent.session.trace if isinstance(one, HookReport)]


# ---- what goes on below ----


def test_while_what_was_given_up_still_runs_nothing_more_is_begun_below() -> None:
    clock, tool, said = FakeClock(), Waits(ignores=1), []

    async def impatient(tool_call: Any, call_next: Any) -> Any:
        waiting = asyncio.ensure_future(call_next())
        await turns()
        waiting.cancel()
        await turns()
        clock.advance(5.0)
        await asyncio.wait({waiting})
        try:
            await call_next()
        except Exception as error:
            said.append(str(error))
        return ToolResult("gave up")

    plugin = PluginEntry(Around("impatient", impatient), time_limit=None)
    agent = make_agent([calls("wait"), ANSWER], plugin, tools=[tool.wait], clock=clock, grace_seconds=5.0)
    result = asyncio.run(agent.run("go"))
    assert said == ["call_next(): what it called before is still running; one call at a time"]
    assert (result.status, words(result.session.transcript)[2]) == ("completed", "R c1 ok")
    assert tool.log == ["began", "cancelled", "cancelled"]  # once more, when the hook had returned


@pytest.mark.parametrize("beside", [False, True], ids=["in line", "beside"])
@pytest.mark.parametrize("ignores", [0, 9])
def test_hooks_get_their_word_after_half_of_the_grace_time_whatever_the_tool_does(ignores: int, beside: bool) -> None:
    clock, tool, got = FakeClock(), Waits(ignores), []

    async def looks(tool_call: Any, call_next: Any) -> Any:
        result = await (asyncio.ensure_future(call_next()) if beside else call_next())
        got.append((repr(result), clock.now))
        return result

    async def main() -> Any:
        agent = make_agent(
            [calls("wait"), ANSWER], Around("looks", looks), tools=[tool.wait], clock=clock, grace_seconds=5.0
        )
        task = asyncio.create_task(agent.run("go"))
        await turns(12)
        agent.abort("enough")
        await turns(12)
        assert got == ([("Aborted('enough')", 0.0)] if ignores == 0 else [])
        while not task.done():
            clock.advance(0.5)
            await turns()
        tool.ignores = 0  # what was left behind ends with the loop
        return await task

    result = asyncio.run(main())
    [(said, when)] = got
    assert said == "Aborted('enough')"
    assert when == (0.0 if ignores == 0 else 2.5)
    assert clock.now <= 5.5
    assert (result.status, words(result.session.transcript)[2]) == ("aborted", "R c1 interrupted")


def test_an_interrupt_of_a_tool_that_a_hook_runs_in_a_task_cannot_be_swallowed() -> None:
    async def interrupts() -> str:
        """Interrupt."""
        raise KeyboardInterrupt

    async def swallowing(tool_call: Any, call_next: Any) -> Any:
        await asyncio.wait({asyncio.ensure_future(call_next())})
        return ToolResult("all is well")

    agent = make_agent([calls("interrupts")], Around("outer", swallowing), tools=[interrupts])
    with pytest.raises(KeyboardInterrupt):
        asyncio.run(agent.run("go"))
    assert words(agent.session.transcript) == ["U go", "A c1", "R c1 interrupted"]


# ---- hooks that end otherwise ----


@pytest.mark.parametrize("kind", ["tool", "model"])
def test_a_hook_that_cancels_what_it_waits_for_and_lets_it_out_is_named(kind: str) -> None:
    tool = Waits()

    async def model(request: Any) -> Any:
        return calls("wait") if kind == "tool" else await tool.wait()

    async def cancels(given: Any, call_next: Any) -> Any:
        task = asyncio.ensure_future(call_next() if kind == "tool" else call_next(given))
        await turns()
        task.cancel()
        return await task

    agent = make_agent(model, Around("cancels", **{kind: cancels}), tools=[tool.wait])  # type: ignore[arg-type]
    with pytest.raises(PluginError, match=f"^plugin 'cancels': hook 'wrap_{kind}_call' raised CancelledError"):
        asyncio.run(agent.run("go"))
    assert tool.log == ["began", "cancelled"]
    assert [one[:2] for one in reports(agent)] == [("cancels", "failed")]
    assert words(agent.session.transcript) == (["U go", "A c1", "R c1 error"] if kind == "tool" else ["U go"])


@pytest.mark.parametrize("kind", ["tool", "model"])
@pytest.mark.parametrize("then", ["ends", "ends when told once more", "answers when told once more", "goes on"])
def test_a_hook_has_the_grace_time_after_an_abort_and_is_left_then(then: str, kind: str) -> None:
    clock, log = FakeClock(), []
    ignored = [{"ends": 0, "goes on": 9}.get(then, 1)]

    async def stays(given: Any, call_next: Any) -> Any:
        while True:
            try:
                log.append("waits")
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                if len(log) > ignored[0]:
                    if then.startswith("answers"):
                        return ToolResult("mine") if kind == "tool" else AssistantMessage((TextPart("mine"),))
                    raise

    async def main() -> Any:
        agent = make_agent([calls("ok"), ANSWER], Around("stays", **{kind: stays}), clock=clock, grace_seconds=5.0)
        task = asyncio.create_task(agent.run("go"))
        try:
            await turns()
            agent.abort("enough")
            await turns()
            clock.advance(4.0)
            await turns()
            assert log == ["waits"]
            assert not task.done()
            clock.advance(1.0)
            await turns(12)
            assert task.done()
            return await task
        finally:
            ignored[0] = 0  # what was left behind ends with the loop

    result = asyncio.run(main())
    assert (result.status, result.errors, len(log) > 1) == ("aborted", (), then != "ends")
    # What a hook made itself counts, where there is a call that wants a result.
    outcome = "ok" if then.startswith("answers") else "interrupted"
    assert words(result.session.transcript) == (["U go", "A c1", f"R c1 {outcome}"] if kind == "tool" else ["U go"])


@pytest.mark.parametrize("kind", ["tool", "model"])
def test_a_hook_that_overruns_and_does_not_heed_it_is_left_after_the_grace_time(kind: str) -> None:
    clock = FakeClock()
    free: list[asyncio.Event] = []

    async def stuck(given: Any, call_next: Any) -> Any:
        free.append(asyncio.Event())
        while not free[0].is_set():
            try:
                await free[0].wait()
            except asyncio.CancelledError:
                continue
        return None

    async def main() -> Any:
        plugin = PluginEntry(Around("stuck", **{kind: stuck}), time_limit=60.0)
        agent = make_agent([calls("ok"), ANSWER], plugin, clock=clock, grace_seconds=5.0)
        task = asyncio.create_task(agent.run("go"))
        await turns()
        clock.advance(60.0)
        await turns()
        assert not task.done()
        while not task.done():
            clock.advance(5.0)
            await turns()
        with pytest.raises(PluginError, match=f"'stuck': hook 'wrap_{kind}_call' overran its time limit of 60 s"):
            await task
        free[0].set()
        await turns()
        return agent

    agent = asyncio.run(main())
    [(plugin, outcome, detail)] = reports(agent)
    assert (plugin, outcome) == ("stuck", "overran")
    assert detail.startswith("overran its time limit of 60 s (")
    assert words(agent.session.transcript) == (["U go", "A c1", "R c1 error"] if kind == "tool" else ["U go"])
