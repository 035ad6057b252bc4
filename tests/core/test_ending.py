"""However a run ends, the round is closed, on_complete fires once, and no message of a person is lost."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from hookagent import Agent, Approve, Deny, PluginError, Stop, Suspend, ToolResult, tool
from hookagent.events import HookReport
from hookagent.providers.scripted import ScriptedProvider
from hookagent.testing import FakeClock, Recorder
from hookagent.transcript import ToolRound
from tests.core.plugin_making import made
from tests.core.scripts import calls, make_agent, quick, words

ANSWER = {"text": "done"}


def first_result(agent: Agent) -> ToolResult:
    round_ = agent.session.transcript[1]
    assert isinstance(round_, ToolRound)
    assert round_.results[0] is not None
    return round_.results[0]


# ---- the run's own task is cancelled ----


@pytest.mark.parametrize("place", ["gate", "tool", "after", "complete"])
def test_a_cancelled_run_is_closed_and_the_cancellation_is_raised(place: str) -> None:
    """Somebody else's code cancels every task it finds, as a server does that shuts down."""
    recorder = Recorder(name="recorder")
    ended: list[str] = []

    async def hang() -> None:
        for task in asyncio.all_tasks():
            if "run_turns" in repr(task):
                task.cancel()
        try:
            await asyncio.get_running_loop().create_future()
        except asyncio.CancelledError:
            ended.append("cancelled")
            raise

    async def slow() -> str:
        if place == "tool":
            await hang()
        return "slow"

    async def waits() -> None:
        await hang()

    hooks: Any = {
        "gate": {"before_each_tool": waits},
        "tool": {"on_session_start": lambda: None},
        "after": {"after_each_tool": waits},
        "complete": {"on_complete": waits},
    }
    agent = make_agent([calls("slow", "quick"), ANSWER], made("hangs", **hooks[place]), recorder, tools=[slow, quick])

    async def main() -> None:
        with pytest.raises(asyncio.CancelledError):
            await agent.run("go")
        await asyncio.sleep(0)
        assert ended

    asyncio.run(main())
    said = words(agent.session.transcript)
    expected = {
        "gate": ["R c1 not_run", "R c2 not_run"],
        "tool": ["R c1 interrupted", "R c2 ok"],
        "after": ["R c1 ok", "R c2 ok"],
        "complete": ["R c1 ok", "R c2 ok", "A done"],
    }
    assert said[2:] == expected[place] or (place == "after" and said[2:] == ["R c1 ok", "R c2 interrupted"])
    assert agent.session.transcript.open_round is None
    assert recorder.names.count("on_complete") == 1
    assert not agent.running


def test_a_tool_with_a_time_limit_of_its_own_hears_of_an_abort() -> None:
    log: list[str] = []

    @tool(time_limit=30.0)
    async def slow() -> str:
        agent.abort("enough")
        try:
            await asyncio.get_running_loop().create_future()
        finally:
            log.append("stopped")
        return "never"

    agent = Agent(model=ScriptedProvider([calls("slow")]), tools=[slow], clock=FakeClock())
    result = asyncio.run(agent.run("go"))
    assert log == ["stopped"]
    assert (result.status, words(result.session.transcript)[2:]) == ("aborted", ["R c1 interrupted"])


def test_a_hook_that_outlasts_the_grace_time_after_an_abort_is_named_and_changes_nothing() -> None:
    clock = FakeClock()

    async def hangs(outcome: Any) -> None:
        asyncio.get_running_loop().call_soon(clock.advance, 6.0)
        await asyncio.get_running_loop().create_future()

    aborts = made("aborts", before_tools=lambda agent: agent.abort("enough"))
    agent = make_agent([calls("quick")], aborts, made("hangs", on_complete=hangs), clock=clock, grace_seconds=5.0)
    result = asyncio.run(agent.run("go"))
    assert result.status == "aborted"
    assert len(result.warnings) == 1
    assert result.warnings[0].startswith("plugin 'hangs': hook 'on_complete' did not end in the grace time (")
    assert [one.plugin for one in agent.session.trace if isinstance(one, HookReport) and one.outcome == "overran"] == [
        "hangs"
    ]


def test_an_abort_cuts_the_end_of_a_session_short() -> None:
    ended: list[str] = []

    async def hangs(agent: Agent) -> None:
        asyncio.get_running_loop().call_soon(agent.abort, "enough")
        try:
            await asyncio.get_running_loop().create_future()
        finally:
            ended.append("cut short")

    last = made("last", on_session_end=lambda: ended.append("told all the same"))
    agent = make_agent([ANSWER], made("hangs", on_session_end=hangs), last)
    assert asyncio.run(agent.run("go")).status == "completed"
    asyncio.run(agent.close())
    assert ended == ["cut short", "told all the same"]
    agent.abort("there is nothing left")


def test_a_running_sibling_with_a_time_limit_hears_that_the_run_failed() -> None:
    log: list[str] = []

    @tool(time_limit=30.0)
    async def slow() -> str:
        try:
            await asyncio.get_running_loop().create_future()
        finally:
            log.append("stopped")
        return "never"

    def fails(tool_call: Any) -> None:
        if tool_call.name == "quick":
            raise ValueError("no")

    agent = make_agent([calls("quick", "slow")], made("fails", after_each_tool=fails), tools=[quick, slow])

    async def main() -> None:
        with pytest.raises(PluginError):
            await agent.run("go")
        assert log == ["stopped"]

    asyncio.run(main())
    assert words(agent.session.transcript)[2:] == ["R c1 ok", "R c2 interrupted"]


def test_a_call_that_was_started_when_an_interrupt_came_may_have_run() -> None:
    async def endless() -> str:
        """Wait for ever."""
        await asyncio.Event().wait()
        return "never"

    def listen(event: Any) -> None:
        if event.type == "tool_start":
            raise KeyboardInterrupt

    agent = make_agent([calls("endless", "endless")], tools=[endless])
    agent.subscribe(listen)

    async def main() -> None:
        with pytest.raises(KeyboardInterrupt):
            await agent.run("go")

    asyncio.run(main())
    assert words(agent.session.transcript)[2:] == ["R c1 interrupted", "R c2 not_run"]


def test_a_plugin_that_failed_is_not_asked_again_in_that_run() -> None:
    called: list[str] = []

    def fails() -> None:
        called.append("after")
        raise KeyboardInterrupt

    plugin = made("fails", after_each_tool=fails, on_error=lambda: called.append("on_error"))
    agent = make_agent([calls("quick", "quick")], plugin)

    async def main() -> None:
        with pytest.raises(KeyboardInterrupt):
            await agent.run("go")

    asyncio.run(main())
    assert called == ["after"]
    called.clear()
    plugin = made("fails", before_llm=lambda: 1 / 0, on_error=lambda: called.append("on_error"))
    with pytest.raises(PluginError):
        make_agent([ANSWER], plugin).run_sync("go")
    assert called == []


# ---- what a person said is stored, or reported ----


@pytest.mark.parametrize("verdict", [Stop("closed"), None])
def test_prompts_behind_one_that_was_refused_are_reported_too(verdict: Any) -> None:
    def door(message: Any) -> Any:
        if message.text == "two":
            if verdict is None:
                raise ValueError("jammed")
            return verdict
        return None

    agent = make_agent([ANSWER], made("door", after_user_input=door))
    if verdict is None:
        with pytest.raises(PluginError):
            agent.run_sync(["one", "two", "three"])
    else:
        assert agent.run_sync(["one", "two", "three"]).status == "stopped"
    assert agent.last_result is not None
    assert [one.text for one in agent.last_result.not_stored] == ["two", "three"]
    assert words(agent.session.transcript) == ["U one"]


def test_a_prompt_is_reported_when_the_session_cannot_even_start() -> None:
    agent = make_agent([ANSWER], made("broken", on_session_start=lambda: 1 / 0))
    with pytest.raises(PluginError):
        agent.run_sync("go")
    assert agent.last_result is not None
    assert [one.text for one in agent.last_result.not_stored] == ["go"]


def test_a_prompt_is_reported_when_what_waited_ends_the_run() -> None:
    answers: list[Any] = [None, Stop("quit")]
    plugin = made(
        "person",
        before_each_tool=lambda: Suspend("?"),
        resolve_suspended=lambda pending: {pending[0].call.id: answers[0]} if answers[0] else None,
    )
    agent = make_agent([calls("quick")], plugin)
    agent.run_sync("go")
    answers.reverse()
    result = agent.run_sync("next")
    assert (result.status, [one.text for one in result.not_stored]) == ("refused", ["next"])
    assert words(agent.session.transcript) == ["U go", "A c1", "R c1 not_run"]


def test_a_queued_message_that_is_not_reached_stays_in_its_queue() -> None:
    def door(message: Any) -> Any:
        return Stop("closed") if message.text == "first" else None

    agent = make_agent([calls("quick"), ANSWER], made("door", after_user_input=door), steering_mode="all")
    agent.steer("first")
    agent.steer("second")
    result = agent.run_sync("go")
    assert [one.text for one in result.not_stored] == ["first"]
    assert [one.text for one in agent.steering.peek()] == ["second"]


# ---- failures at the very end ----


def test_an_on_event_that_fails_when_all_is_over_is_listed() -> None:
    def listen(event: Any) -> None:
        if event.type == "agent_end":
            raise ValueError("too late")

    result = make_agent([ANSWER], made("listens", on_event=listen)).run_sync("go")
    assert (result.status, result.answer) == ("completed", "done")
    assert len(result.errors) == 1
    assert "plugin 'listens': hook 'on_event' raised ValueError: too late" in result.errors[0]


def test_every_on_complete_is_called_though_some_fail() -> None:
    called: list[str] = []

    def fails() -> None:
        called.append("fails")
        raise ValueError("no")

    plugins = [made("one", on_complete=fails), made("two", on_complete=lambda: called.append("two"))]
    result = make_agent([ANSWER], *plugins).run_sync("go")
    assert (called, result.status, len(result.errors)) == (["fails", "two"], "completed", 1)


# ---- what happened to a call is a fact ----


@pytest.mark.parametrize("claim", [ToolResult("fine"), ToolResult("fine", True, "interrupted"), ToolResult("")])
def test_after_each_tool_changes_the_text_of_a_refused_call_and_not_that_it_was_refused(claim: ToolResult) -> None:
    plugins = [made("no", before_each_tool=lambda: Deny("no")), made("claims", after_each_tool=lambda: claim)]
    agent = make_agent([calls("quick"), ANSWER], *plugins)
    agent.run_sync("go")
    result = first_result(agent)
    assert (result.status, result.is_error) == ("denied", True)
    assert result.content == (claim.content or "(no output)")


@pytest.mark.parametrize(
    ("claim", "status", "is_error"),
    [
        (ToolResult("bad after all", True), "error", True),
        (ToolResult("denied?", True, "denied"), "error", True),
        (ToolResult("\ud800", False, "ok"), "ok", False),
    ],
)
@pytest.mark.parametrize("hook", ["after_each_tool", "wrap_tool_call"])
def test_a_result_of_a_plugin_is_clean_and_says_one_thing(
    hook: str, claim: ToolResult, status: str, is_error: bool
) -> None:
    async def wrap(call_next: Any) -> Any:
        await call_next()
        return claim

    plugin = made("claims", wrap_tool_call=wrap) if hook == "wrap_tool_call" else made(
        "claims", after_each_tool=lambda: claim
    )  # fmt: skip
    agent = make_agent([calls("quick"), ANSWER], plugin)
    agent.run_sync("go")
    result = first_result(agent)
    result.content.encode()
    if not (hook == "wrap_tool_call" and claim.status == "denied"):
        assert (result.status, result.is_error) == (status, is_error)


def test_an_approval_runs_exactly_what_was_asked_for() -> None:
    asked: list[Any] = []

    def resolve(pending: Any) -> Any:
        asked.extend(one.call for one in pending)
        return {one.call.id: Approve() for one in pending}

    ran: list[int] = []

    async def noted(n: int = 0) -> str:
        ran.append(n)
        return "ran"

    plugin = made("person", before_each_tool=lambda: Suspend("?"), resolve_suspended=resolve)
    make_agent([calls("noted", n=3), ANSWER], plugin, tools=[noted]).run_sync("go")
    assert ([dict(one.arguments) for one in asked], ran) == ([{"n": 3}], [3])
