"""Ways that hardly anything takes: requests refused twice, sessions halted from beside, views of another layout."""

from __future__ import annotations

import asyncio
from typing import Any

import hookagent
from hookagent import Agent, PluginEntry, Stop, hookimpl
from hookagent.abort import AbortSignal
from hookagent.errors import ProviderError, RequestRefusedError
from hookagent.events import HookReport
from hookagent.limits import Limits
from hookagent.messages import UserMessage
from hookagent.providers.scripted import ScriptedProvider
from hookagent.requests import BlockView
from hookagent.session import SessionState
from hookagent.supervise import Supervisor
from hookagent.testing import FakeClock
from hookagent.transcript import Transcript
from hookagent.work import take_back_cancellation
from tests.core.plugin_making import made
from tests.core.scripts import calls, make_agent, ok, words

ANSWER = {"text": "done"}


# ---- the model ----


def refusing(error: Exception, *plugins: Any) -> tuple[Any, list[int]]:
    asked: list[int] = []

    async def model(request: Any) -> Any:
        asked.append(len(request.blocks))
        raise error

    return Agent("tested", model=ScriptedProvider(model), plugins=plugins, log=False, quiet=True), asked


def test_a_request_that_is_too_long_is_shortened_once_and_not_for_ever() -> None:
    def shape_request(request: Any) -> Any:
        return request.dropping_before(2 * len(asked))

    agent, asked = refusing(ProviderError("too_long", "own", "too long"), made("drops", shape_request=shape_request))
    result = agent.run_sync(["one", "two", "three", "four"])
    assert (result.status, result.reason, result.error_kind) == ("failed", "own: too long", "too_long")
    assert asked == [4, 3]
    assert words(agent.transcript) == ["U one", "U two", "U three", "U four"]


def test_a_request_that_is_refused_and_that_nobody_shaped_is_a_failed_model() -> None:
    told: list[Any] = []
    hears = made("hears", on_error=lambda error, tool_call: told.append(error))
    error = RequestRefusedError("blank", "a message is blank")
    agent, asked = refusing(error, hears)
    result = agent.run_sync("go")
    assert (result.status, result.reason) == ("failed", str(error))
    assert (told, asked) == ([error], [1])


# ---- the session ----


def test_a_window_that_nobody_knows_stays_unknown_until_somebody_names_one() -> None:
    state = SessionState(Limits())
    state.lower_window(None)
    assert (state.window, state.lowered_window) == (None, None)
    state.lower_window(1_000)
    assert (state.window, state.lowered_window) == (1_000, 1_000)
    state.lower_window(2_000)
    assert (state.window, state.lowered_window) == (1_000, 1_000)
    state.lower_window(None)
    assert (state.window, state.lowered_window) == (900, 900)


def test_a_view_of_another_layout_is_filled_in_as_well() -> None:
    class Own(BlockView):
        extra: str

    task, note = UserMessage("task"), UserMessage("note")
    view = Own(Transcript([task, note]), 1, (0,))
    assert list(view) == [task, note]
    assert (view.start, view.kept, view.size) == (1, (0,), 2)
    assert type(view) is Own


def test_the_package_names_all_that_it_offers() -> None:
    names = dir(hookagent)
    assert {"Agent", "hookimpl", "complete"} <= set(names)
    assert all(hasattr(hookagent, name) for name in names)


# ---- hooks ----


def test_a_plugin_that_was_disabled_is_not_asked_by_its_observing_hooks() -> None:
    told: list[str] = []

    class Broken:
        name = "broken"

        @hookimpl
        def on_session_start(self) -> None:
            raise ValueError("no")

        @hookimpl
        def on_error(self, error: Any) -> None:
            told.append("error")

        @hookimpl
        def before_llm(self, iteration: int) -> None:
            told.append("llm")

    agent = make_agent([calls("bad"), ANSWER], PluginEntry(Broken(), on_error="disable"))
    assert agent.run_sync("go").answer == "done"
    assert told == ["llm", "llm"]
    assert [one.hook for one in agent.session.trace if isinstance(one, HookReport)] == ["on_session_start"]


def test_a_stop_of_an_agent_in_the_background_halts_the_run_whose_gate_it_was() -> None:
    inner_runs: list[Any] = []

    async def delegate() -> str:
        """Let another agent work on in the background."""
        inner = make_agent([calls("ok"), ANSWER], tools=[ok])
        inner_runs.append(asyncio.create_task(inner.run("inner")))
        return "it works on"

    async def model(request: Any) -> Any:
        if not inner_runs:
            return calls("delegate")
        agent.steer("and then?")
        await asyncio.wait(inner_runs)
        return {"text": "not the last word"}

    gate = made("gate", before_each_tool=lambda tool_call: Stop("enough") if tool_call.name == "ok" else None)
    agent: Any = make_agent(model, gate, tools=[delegate])  # type: ignore[arg-type]
    result = asyncio.run(agent.run("go"))
    assert (result.status, result.reason) == ("stopped", "'gate' stopped the run: enough")
    assert words(agent.transcript)[-1] == "A not the last word"
    assert [one.text for one in agent.peek_steering()] == ["and then?"]


# ---- tasks ----


def test_half_of_the_grace_time_is_over_for_what_hooks_are_around_alone() -> None:
    async def main() -> None:
        clock, abort = FakeClock(), AbortSignal()
        supervisor = Supervisor(clock, abort, 4.0)
        cancelled: list[str] = []

        async def stubborn(name: str) -> None:
            while len(cancelled) < 9:
                try:
                    await asyncio.Event().wait()
                except asyncio.CancelledError:
                    cancelled.append(name)

        bare, wrapped = (asyncio.create_task(stubborn(name)) for name in ("bare", "wrapped"))
        await asyncio.sleep(0)
        supervisor.cancelled_at_abort.update({bare: None, wrapped: None})
        supervisor.cancelled_after_grace[wrapped] = None
        abort.on_abort(supervisor.interrupt_soon)
        abort.set("enough")
        seen = []
        for _ in range(3):
            for _ in range(4):
                await asyncio.sleep(0)
            seen.append((clock.now, tuple(cancelled), supervisor.inner_grace_over, supervisor.is_grace_over()))
            cancelled.clear()
            clock.advance(2.0)
        assert seen == [
            (0.0, ("bare", "wrapped"), False, False),
            (2.0, ("wrapped",), True, False),
            (4.0, ("bare", "wrapped"), True, True),
        ]
        cancelled[:] = ["over"] * 9
        for task in (bare, wrapped):
            task.cancel()
            await task

    asyncio.run(main())


def test_a_task_of_another_making_that_was_not_cancelled_has_nothing_to_take_back() -> None:
    class Foreign:
        """A task that does not tell whether a cancellation is still to arrive."""

        count = 2

        def cancelling(self) -> int:
            return self.count

        def uncancel(self) -> None:
            self.count -= 1

    task: Any = Foreign()
    assert asyncio.run(take_back_cancellation(task, 1)) is False
    assert task.count == 1
