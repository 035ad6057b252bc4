"""`call_tool` takes a call through all gates and hooks without the model; state is readable at any time."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from hookagent import (
    Agent,
    Amend,
    Approve,
    Deny,
    Image,
    MisuseError,
    PluginError,
    Replace,
    Stop,
    Suspend,
    UserMessage,
    hookimpl,
)
from hookagent.testing import Recorder
from tests.core.plugin_making import made
from tests.core.scripts import calls, make_agent, ok, quick, words

ANSWER = {"text": "done"}


@pytest.mark.parametrize(
    ("returns", "status", "content"),
    [
        ({}, "ok", "quick 3"),
        ({"before_each_tool": lambda _: Deny("no")}, "denied", "denied by 'recorder': no"),
        ({"before_each_tool": lambda _: Suspend("?")}, "denied", "nobody answered"),
        (
            {
                "before_tools": lambda _: Suspend("?"),
                "resolve_suspended": lambda a: {one.call.id: Approve() for one in a["pending"]},
            },
            "ok",
            "quick 3",
        ),
        ({"before_each_tool": lambda _: Amend({"n": 4})}, "ok", "quick 4"),
        ({"before_tools": lambda _: "a message"}, "ok", "quick 3"),
    ],
)
def test_a_call_without_the_model_obeys_the_gates(returns: dict[str, Any], status: str, content: str) -> None:
    recorder = Recorder(returns)
    agent = make_agent([], recorder)
    result = asyncio.run(agent.call_tool("quick", {"n": 3}))
    assert result.status == status
    assert content in result.content
    assert "after_each_tool" in recorder.names
    assert len(agent.transcript) == 0
    assert agent.status == "idle"


@pytest.mark.parametrize(("name", "arguments"), [("quick", 5), ("quick", "n=3"), (quick, {"n": 3})])
def test_a_call_of_something_else_is_refused(name: Any, arguments: Any) -> None:
    agent = make_agent([], Recorder())
    with pytest.raises(MisuseError, match=r"^call_tool\(\): takes the name of a tool and a mapping of arguments, "):
        asyncio.run(agent.call_tool(name, arguments))
    assert len(agent.session.trace) == 0


def test_a_failing_and_an_unknown_tool_are_results() -> None:
    agent = make_agent([])
    assert asyncio.run(agent.call_tool("bad")).content == "ValueError: no"
    assert "unknown tool 'nope'" in asyncio.run(agent.call_tool("nope")).content


def test_a_tool_may_call_a_tool_of_its_own_agent() -> None:
    recorder = Recorder({"before_each_tool": lambda a: Deny("no") if a["tool_call"].name == "ok" else None})
    agent: Agent

    async def both() -> str:
        """Call two others."""
        results = [await agent.call_tool("quick", {"n": 1}), await agent.call_tool("ok")]
        return " | ".join(one.content for one in results)

    agent = make_agent([calls("both"), ANSWER], recorder, tools=[both, quick, ok], limits={"max_tool_calls": 2})
    result = agent.run_sync("go")
    assert words(result.session.transcript) == ["U go", "A c1", "R c1 ok", "A done"]
    assert [one.content for one in result.session.transcript.messages() if hasattr(one, "content")] == [
        "quick 1 | denied by 'recorder': no"
    ]


def test_an_abort_ends_a_direct_call_too() -> None:
    async def main() -> Any:
        agent: Agent

        async def wait() -> str:
            """Wait for ever."""
            agent.abort("enough")
            await asyncio.Event().wait()
            return "never"

        agent = make_agent([], tools=[wait])
        return await agent.call_tool("wait")

    assert asyncio.run(main()).status == "interrupted"


def test_state_can_be_read_while_it_runs() -> None:
    agent: Agent
    seen: list[Any] = []

    async def look() -> str:
        """Read the agent's state."""
        seen.append((agent.status, [one.name for one in agent.pending_calls], agent.streaming_text))
        return "seen"

    agent = make_agent([calls("look", "quick"), {"text": "streamed answer"}], tools=[look, quick])

    def listen(event: Any) -> None:
        if event.type == "message_delta" and event.kind == "text":
            seen.append(agent.streaming_text)

    agent.subscribe(listen)
    agent.run_sync("go")
    assert seen[0] == ("running", ["look", "quick"], None)
    assert seen[-1] == "streamed answer"
    assert (agent.status, agent.streaming_text, agent.pending_calls, agent.last_error) == ("idle", None, (), None)


def test_a_waiting_session_says_so_and_a_failed_run_leaves_its_error() -> None:
    recorder = Recorder({"before_each_tool": lambda _: Suspend("?")})
    agent = make_agent([calls("quick")], recorder)
    agent.run_sync("go")
    assert agent.status == "waiting"
    assert agent.last_error is not None
    assert "waiting for an answer to: quick (c1)" in agent.last_error


def test_wait_idle() -> None:
    agent = make_agent([calls("quick"), ANSWER])

    async def main() -> None:
        await agent.wait_idle()
        task = asyncio.create_task(agent.run("go"))
        await asyncio.sleep(0)
        assert agent.running
        await asyncio.gather(agent.wait_idle(), agent.wait_idle())
        assert not agent.running
        assert (await task).ok

    asyncio.run(main())


def test_a_prompt_with_images() -> None:
    image = Image("aGk=", "image/png")
    agent = make_agent([ANSWER])
    agent.run_sync("look", images=[image])
    stored = agent.transcript[0]
    assert isinstance(stored, UserMessage)
    assert (stored.text, stored.images) == ("look", (image,))
    # A list, too: what is kept must not change, and a plugin may give the message back with another text.
    given: Any = [image]
    shortens = made("shortens", after_user_input=lambda message: Replace(replace(message, text="see")))
    agent = make_agent([ANSWER], shortens)
    assert agent.run_sync(UserMessage("look", given)).ok
    given.clear()
    assert agent.transcript[0] == UserMessage("see", (image,))
    with pytest.raises(MisuseError, match="images go with a text"):
        agent.run_sync(UserMessage("x"), images=[image])


def test_a_direct_call_that_was_amended_is_put_to_the_other_gates_as_it_will_run() -> None:
    """Also while a round of the model's is open: the gates of the direct call see that call alone."""
    rounds: list[list[int]] = []

    class Amending:
        @hookimpl
        def before_each_tool(self, tool_call: Any) -> Any:
            return Amend({"n": 7}) if tool_call.name == "ok" else None

    class Stopping:
        @hookimpl
        def before_tools(self, tool_calls: Any) -> None:
            rounds.append([one.arguments.get("n", 0) for one in tool_calls])

        @hookimpl
        def before_each_tool(self, tool_call: Any) -> Any:
            return Stop("not seven") if tool_call.name == "ok" and tool_call.arguments["n"] == 7 else None

    async def outside() -> str:
        """Call the other tool."""
        result = await agent.call_tool("ok", {"n": 1})
        return f"{result.status}: {result.content}"

    agent = make_agent([calls("outside"), "never"], Stopping(), Amending(), tools=[ok, outside])
    result = asyncio.run(agent.run("go"))
    assert rounds == [[0], [1], [7]]
    assert agent.session.transcript[1].results[0].content.startswith("not_run: not run: 'Stopping' stopped")  # type: ignore[union-attr]
    assert (result.status, result.reason) == ("stopped", "'Stopping' stopped the run: not seven")


def test_an_on_event_that_fails_fails_the_direct_call_and_the_run_that_it_is_made_in() -> None:
    class Failing:
        @hookimpl
        def on_event(self, event: Any) -> None:
            if event.type == "tool_end" and event.call.name == "ok":
                raise ValueError("cannot listen")

    with pytest.raises(PluginError, match="cannot listen"):
        asyncio.run(make_agent([], Failing()).call_tool("ok"))

    async def outside() -> str:
        """Call the other tool."""
        return (await agent.call_tool("ok")).content

    agent = make_agent([calls("outside"), "never"], Failing(), tools=[ok, outside])
    with pytest.raises(PluginError, match="cannot listen"):
        asyncio.run(agent.run("go"))
