"""What the box promises beside the loop: its state, what is sent, who is waited for."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from hookagent import Agent, MisuseError, Tool, UserMessage, hookimpl
from hookagent.events import Event
from hookagent.testing import Recorder
from tests.core.asked import asking
from tests.core.scripts import make_agent, ok, quick, words

ANSWER = {"text": "done"}


# ---- state ----


def test_an_agent_of_nothing_is_empty_idle_and_parallel() -> None:
    agent = Agent()
    assert (agent.status, agent.running, agent.streaming_text, agent.last_error) == ("idle", False, None, None)
    assert (agent.system_prompt, dict(agent.model_settings), agent.tool_execution) == ("", {}, "parallel")
    assert (len(agent.transcript), len(agent.tools), agent.pending_calls, agent.plugins) == (0, 0, (), ())
    assert (agent.steering.mode, agent.follow_ups.mode) == ("one-at-a-time", "one-at-a-time")


def test_what_an_agent_is_made_of_can_be_read_and_is_sent() -> None:
    agent, asked = asking(system_prompt="Be brief.", model_settings={"effort": "low"}, steering_mode="all")
    assert (agent.model, agent.tools.names, agent.steering.mode) == ("scripted:script", ("ok", "quick"), "all")
    agent.run_sync("go")
    (request,) = asked.requests
    assert (request.system, request.settings, [one.name for one in request.tools]) == (
        "Be brief.",
        {"effort": "low"},
        ["ok", "quick"],
    )


def test_listening_and_changing_the_state_announce_nothing_and_an_unsubscribed_listener_hears_nothing() -> None:
    agent, _ = asking()
    kept: list[Event] = []
    gone: list[Event] = []
    agent.subscribe(kept.append)
    unsubscribe = agent.subscribe(gone.append)
    agent.system_prompt = "other"
    agent.tools.remove("ok")
    agent.steer("s")
    agent.steering.clear()
    unsubscribe()
    unsubscribe()
    assert kept == []
    agent.run_sync("go")
    assert kept
    assert gone == []


def test_lists_that_are_given_are_copied_and_tools_keep_their_identity() -> None:
    tools: list[Any] = [ok]
    prompts: list[str | UserMessage] = ["one"]
    agent = make_agent([ANSWER], tools=tools)
    before = agent.transcript
    made = Tool.from_callable(quick)
    tools.append(quick)
    assert agent.tools.names == ("ok",)
    agent.tools.add(made)
    assert agent.tools.get("quick") is made
    agent.run_sync(prompts)
    prompts.append("two")
    assert words(agent.transcript) == ["U one", "A done"]
    assert len(before) == 0
    assert agent.tools.remove("quick") is made


def test_queueing_touches_no_transcript() -> None:
    agent, asked = asking()
    agent.steer("s")
    agent.follow_up("f")
    assert len(agent.transcript) == 0
    assert ([one.text for one in agent.steering.peek()], [one.text for one in agent.follow_ups.peek()]) == (
        ["s"],
        ["f"],
    )
    agent.run_sync("go")
    assert asked.texts == [["go", "s"], ["go", "s", "answer 1", "f"]]


# ---- what is sent ----


def test_a_request_has_exactly_the_blocks_that_a_plugin_chose_and_the_transcript_all() -> None:
    shaper = Recorder({"shape_request": lambda a: a["request"].dropping_before(len(a["request"].blocks))})
    agent, asked = asking(shaper)
    for prompt in ("one", "two", "three"):
        agent.run_sync(prompt)
    assert asked.texts == [["one"], ["one", "two"], ["one", "three"]]
    assert words(agent.transcript) == ["U one", "A answer 1", "U two", "A answer 2", "U three", "A answer 3"]


def test_what_a_plugin_keeps_in_the_session_is_never_sent() -> None:
    agent, asked = asking()
    agent.store_state("notes", {"secret": "for nobody else"})
    agent.run_sync("go")
    assert agent.session.stored_state("notes") == {"secret": "for nobody else"}
    assert asked.texts == [["go"]]
    assert asked.requests[0].notes == ()


def test_a_request_carries_the_id_of_the_session_and_a_new_one_after_reset() -> None:
    agent, asked = asking()
    agent.run_sync("go")
    first = agent.session.id
    asyncio.run(agent.reset())
    agent.run_sync("go")
    assert [request.session_id for request in asked.requests] == [first, agent.session.id]
    assert first != agent.session.id


# ---- who is waited for ----


@pytest.mark.parametrize("hook", ["after_user_input", "after_llm", "on_complete"])
def test_an_async_hook_is_waited_for_by_the_run_and_by_wait_idle(hook: str) -> None:
    async def main() -> None:
        reached, release = asyncio.Event(), asyncio.Event()

        async def wait() -> None:
            reached.set()
            await release.wait()

        wait.__name__ = hook
        agent, _ = asking(hookimpl(wait))
        run = asyncio.ensure_future(agent.run("go"))
        idle = asyncio.ensure_future(agent.wait_idle())
        await reached.wait()
        assert agent.running
        assert not run.done()
        assert not idle.done()
        release.set()
        assert (await run).answer == "answer 1"
        await idle
        assert not agent.running

    asyncio.run(main())


def test_an_async_listener_is_refused_for_nobody_would_wait_for_it() -> None:
    async def listener(event: Event) -> None:
        """Never reached."""

    agent, _ = asking()
    with pytest.raises(MisuseError, match="listener"):
        agent.subscribe(listener)
