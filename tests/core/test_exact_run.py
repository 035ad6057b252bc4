"""What a run reports of its hooks, to the letter: what is softened, what listens, what is too late to matter."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from hookagent import Agent, Deny, PluginEntry, PluginError
from hookagent.events import ErrorEvent, HookReport
from hookagent.testing import FakeClock
from tests.core.plugin_making import made
from tests.core.scripts import calls, make_agent

ANSWER = {"text": "done"}


def told(agent: Agent, kind: type[Any]) -> list[Any]:
    return [event for event in agent.session.trace if type(event) is kind]


# ---- what is softened ----


def failing(*_: Any) -> None:
    raise ValueError("no")


def test_a_softened_failure_is_one_warning_of_the_run_and_an_error_each_time() -> None:
    script = [calls("bad", ids=["a"]), calls("bad", ids=["b"]), ANSWER]
    plugin = PluginEntry(made("soft", on_error=lambda error, tool_call: failing()), on_error="warn")
    agent = make_agent(script, plugin)
    result = agent.run_sync("go")
    assert result.status == "completed"
    reports = told(agent, HookReport)
    assert [(one.plugin, one.hook, one.outcome) for one in reports] == [("soft", "on_error", "failed")] * 2
    detail = reports[0].detail
    assert detail.startswith("raised ValueError: no (")
    errors = [one for one in told(agent, ErrorEvent) if one.kind == "plugin"]
    assert [(one.kind, one.source, one.message) for one in errors] == [("plugin", "soft", detail)] * 2
    assert result.warnings == (f"plugin 'soft': hook 'on_error' {detail}",)


def test_a_softened_hook_that_overruns_is_a_warning_too() -> None:
    clock = FakeClock()

    async def on_session_start() -> None:
        asyncio.get_running_loop().call_soon(clock.advance, 61.0)
        await asyncio.Event().wait()

    agent = make_agent(
        [ANSWER], PluginEntry(made("slow", on_session_start=on_session_start), on_error="warn"), clock=clock
    )
    result = agent.run_sync("go")
    assert (result.status, result.answer) == ("completed", "done")
    [warning] = result.warnings
    assert warning.startswith("plugin 'slow': hook 'on_session_start' overran its time limit of 60 s (")
    [error] = told(agent, ErrorEvent)
    assert f"plugin 'slow': hook 'on_session_start' {error.message}" == warning


def test_a_failure_that_is_not_softened_is_an_error_of_the_run_and_no_warning() -> None:
    agent = make_agent([ANSWER], made("hard", on_session_start=lambda: failing()))
    with pytest.raises(PluginError) as raised:
        agent.run_sync("go")
    assert agent.last_result is not None
    assert (agent.last_result.warnings, agent.last_result.reason) == ((), str(raised.value))
    [error] = told(agent, ErrorEvent)
    assert (error.source, error.message) == ("hard", str(raised.value))


@pytest.mark.parametrize("on_error", ["fail", "warn"])
def test_what_outlasts_the_grace_time_is_a_warning_of_an_aborted_run(on_error: Any) -> None:
    clock = FakeClock()

    async def stuck(outcome: Any) -> None:
        await asyncio.Event().wait()

    async def main() -> tuple[Agent, Any]:
        plugin = made("stuck", before_llm=lambda agent: agent.abort("enough"), on_complete=stuck)
        agent = make_agent([ANSWER], PluginEntry(plugin, on_error=on_error), clock=clock, grace_seconds=5)
        task = asyncio.create_task(agent.run("go"))
        while not clock.waiting:
            await asyncio.sleep(0)
        clock.advance(5)
        return agent, await task

    agent, result = asyncio.run(main())
    assert result.status == "aborted"
    [error] = told(agent, ErrorEvent)
    assert (error.kind, error.source) == ("plugin", "stuck")
    assert error.message.startswith("did not end in the grace time (")
    assert result.warnings == (f"plugin 'stuck': hook 'on_complete' {error.message}",)


# ---- what listens ----


def test_a_listening_hook_is_told_all_but_how_its_own_listening_went() -> None:
    heard: dict[str, list[str]] = {"deaf": [], "other": []}

    def listening(name: str) -> Any:
        def on_event(event: Any) -> None:
            if type(event) is HookReport:
                heard[name].append(f"{event.plugin} {event.hook} {event.outcome}")
            elif type(event) is ErrorEvent:
                heard[name].append(f"{event.kind} {event.source}")
            if name == "deaf" and event.type == "turn_start":
                raise ValueError("deaf")

        return on_event

    def listener(event: Any) -> None:
        if event.type == "turn_start":
            raise ValueError("broken")

    listener.__qualname__ = "deaf"  # a listener may be called like a plugin
    deaf = made("deaf", on_event=listening("deaf"), before_llm=lambda iteration: "note")
    other = made("other", on_event=listening("other"), after_llm=lambda response: "note")
    agent = make_agent([ANSWER], PluginEntry(deaf, on_error="warn"), other)
    agent.subscribe(listener)
    result = agent.run_sync("go")
    notes = ["deaf before_llm returned", "other after_llm returned"]
    assert heard["deaf"] == ["listener deaf", *notes]
    assert heard["other"] == ["deaf on_event failed", "plugin deaf", "listener deaf", *notes]
    assert len(result.warnings) == 2
    assert result.warnings[0].startswith("plugin 'deaf': hook 'on_event' raised ValueError: deaf (")
    assert result.warnings[1] == "listener 'deaf' raised ValueError: broken"


@pytest.mark.parametrize("at", ["turn_start", "message_end", "iteration_start"])
def test_an_interrupt_of_a_listener_aborts_the_run_as_interrupted(at: str) -> None:
    def listener(event: Any) -> None:
        if event.type == at:
            raise KeyboardInterrupt

    agent = make_agent([calls("quick"), ANSWER])
    agent.subscribe(listener)
    with pytest.raises(KeyboardInterrupt):
        asyncio.run(agent.run("go"))
    assert agent.last_result is not None
    assert (agent.last_result.status, agent.last_result.reason) == ("aborted", "interrupted")


@pytest.mark.parametrize(("first", "second"), [("turn_start", "turn_start"), ("turn_start", "message_start")])
def test_the_first_failure_of_those_who_listen_is_the_one_that_counts(first: str, second: str) -> None:
    def fails(at: str, text: str) -> Any:
        def on_event(event: Any) -> None:
            if event.type == at:
                raise ValueError(text)

        return on_event

    plugins = [made("one", on_event=fails(first, "first")), made("two", on_event=fails(second, "second"))]
    with pytest.raises(PluginError, match="plugin 'one': hook 'on_event' raised ValueError: first"):
        make_agent([ANSWER], *plugins).run_sync("go")


@pytest.mark.parametrize("at", ["agent_end", "turn_end"])
@pytest.mark.parametrize("who", ["plugin", "listener"])
def test_an_interrupt_while_the_very_end_is_told_is_raised_when_all_is_told(at: str, who: str) -> None:
    heard: list[str] = []

    def interrupting(event: Any) -> None:
        if event.type == at:
            raise KeyboardInterrupt

    agent = make_agent([ANSWER], *([made("rude", on_event=interrupting)] if who == "plugin" else []))
    if who == "listener":
        agent.subscribe(interrupting)
    agent.subscribe(lambda event: heard.append(event.type))
    with pytest.raises(KeyboardInterrupt):
        asyncio.run(agent.run("go"))
    assert agent.last_result is not None
    assert (agent.last_result.status, agent.last_result.answer, agent.last_result.errors) == ("completed", "done", ())
    assert heard[-2:] == ["turn_end", "agent_end"]


@pytest.mark.parametrize("at", ["agent_end", "turn_end"])
def test_what_fails_at_the_very_end_is_listed_word_for_word(at: str) -> None:
    def on_event(event: Any) -> None:
        if event.type == at:
            raise ValueError("too late")

    agent = make_agent([ANSWER], made("late", on_event=on_event))
    result = agent.run_sync("go")
    assert (result.status, result.answer) == ("completed", "done")
    [error] = result.errors
    assert error.startswith("plugin 'late': hook 'on_event' raised ValueError: too late (")


def test_of_two_calls_that_nobody_could_be_asked_for_the_first_is_the_reason() -> None:
    def gate(tool_call: Any) -> Deny:
        return Deny(f"nobody for {tool_call.name}", unanswered=True)

    result = make_agent([calls("ok", "quick"), ANSWER], made("gate", before_each_tool=gate)).run_sync("go")
    assert (result.status, result.reason) == ("refused", "a call was refused: nobody for ok")


# ---- what hooks can see, and why a run was aborted ----


@pytest.mark.parametrize("hook", ["before_llm", "shape_request", "wrap_model_call"])
def test_a_hook_before_the_model_finds_in_the_trace_all_that_was_said_before_it(hook: str) -> None:
    seen: list[list[str]] = []

    def look(session: Any) -> None:
        seen.append([event.type for event in session.trace][-2:])

    async def wrap(request: Any, call_next: Any, session: Any) -> Any:
        look(session)
        return await call_next(request)

    make_agent([ANSWER], made("looks", **{hook: wrap if hook == "wrap_model_call" else look})).run_sync("go")
    said = ["message_end", "iteration_start", "request"]
    assert seen == [said[1:] if hook == "wrap_model_call" else said[:2]]


@pytest.mark.parametrize(("given", "said"), [("", "aborted"), ("enough", "enough")])
def test_an_aborted_run_has_a_reason_whatever_was_given(given: str, said: str) -> None:
    plugin = made("aborts", before_llm=lambda agent: agent.abort(given))
    result = make_agent([ANSWER], plugin).run_sync("go")
    assert (result.status, result.reason) == ("aborted", said)


def test_a_report_says_how_long_a_call_took_and_its_warning_stands_beside_others() -> None:
    clock = FakeClock()

    def fails(text: str) -> Any:
        def on_error(error: Any) -> None:
            clock.advance(0.5)
            raise ValueError(text)

        return on_error

    plugins = [PluginEntry(made(name, on_error=fails(name)), on_error="warn") for name in ("one", "two")]
    agent = make_agent([calls("bad"), ANSWER], *plugins, clock=clock)
    result = agent.run_sync("go")
    reports = told(agent, HookReport)
    assert [(one.plugin, one.hook, one.outcome, one.milliseconds) for one in reports] == [
        ("one", "on_error", "failed", 500.0),
        ("two", "on_error", "failed", 500.0),
    ]
    assert result.warnings == tuple(f"plugin '{one.plugin}': hook 'on_error' {one.detail}" for one in reports)
