"""What the box announces and how its rounds run: the order of events, running alone, progress, stopping, failing."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from hookagent import (
    Agent,
    AssistantMessage,
    Delta,
    Deny,
    PluginError,
    ProviderError,
    Stop,
    TextPart,
    ToolContext,
    Transcript,
    hookimpl,
    tool,
)
from hookagent.events import Event
from hookagent.testing import Recorder, ScriptedProvider
from tests.core.scripts import calls, make_agent, ok, quick, words

ANSWER = {"text": "done"}


def listen_to(agent: Agent) -> list[Event]:
    heard: list[Event] = []
    agent.subscribe(heard.append)
    return heard


def types(events: list[Event]) -> list[str]:
    return [event.type for event in events]


def tool_events(events: list[Event]) -> list[str]:
    """Starts as "+id", ends as "-id"."""
    starts = {"tool_start": "+", "tool_end": "-"}
    return [starts[event.type] + event.call.id for event in events if event.type in ("tool_start", "tool_end")]


# ---- what is announced ----


def test_an_answer_is_announced_from_the_first_to_the_last_event() -> None:
    agent = make_agent([ANSWER])
    heard = listen_to(agent)
    agent.run_sync("go")
    assert types(heard) == [
        "agent_start", "turn_start", "message_start", "message_end", "iteration_start", "request",
        "message_start", "message_delta", "response", "message_end", "turn_end", "agent_end",
    ]  # fmt: skip
    assert [one.message.text for one in heard if one.type == "message_end"] == ["go", "done"]


def test_a_failing_provider_is_announced_whole_and_leaves_no_message_of_its_own() -> None:
    class Broken(ScriptedProvider):
        async def stream(self, request: Any) -> Any:
            raise ProviderError("authentication", "vendor", "no key")
            yield

    agent = Agent(model=Broken([]))
    heard = listen_to(agent)
    result = agent.run_sync("go")
    assert types(heard)[-4:] == ["message_start", "error", "turn_end", "agent_end"]
    assert [one.status for one in heard if one.type in ("turn_end", "agent_end")] == ["failed", "failed"]
    assert (result.status, result.error_kind, agent.last_error) == ("failed", "authentication", "vendor: no key")
    assert words(agent.transcript) == ["U go"]


def test_pieces_of_every_kind_are_passed_on_in_their_order() -> None:
    pieces = [Delta("thinking", "hm"), Delta("text", "a"), Delta("of the vendor's own", "x"), Delta("text", "b")]

    class Vendor(ScriptedProvider):
        async def stream(self, request: Any) -> Any:
            for piece in pieces:
                yield piece
            yield AssistantMessage((TextPart("ab"),))

    agent = Agent(model=Vendor([]))
    heard = listen_to(agent)
    assert agent.run_sync("go").answer == "ab"
    assert [(one.kind, one.text) for one in heard if one.type == "message_delta"] == pieces
    first = types(heard).index("message_delta")
    assert types(heard)[first - 1 : first + 6] == ["message_start", *["message_delta"] * 4, "response", "message_end"]


def test_a_hook_around_the_model_sees_the_whole_reply_and_may_answer_in_its_place() -> None:
    seen: list[tuple[str, str]] = []

    class Around:
        name = "around"

        @hookimpl
        async def wrap_model_call(self, request: Any, call_next: Any) -> Any:
            if seen:
                return AssistantMessage((TextPart("from a cache"),))
            reply = await call_next(request)
            seen.append((reply.text, reply.stop_reason))
            return reply

    agent = make_agent([ANSWER], Around())
    assert [agent.run_sync(prompt).answer for prompt in ("go", "again")] == ["done", "from a cache"]
    assert seen == [("done", "end")]


def test_a_tool_gets_its_arguments_and_ends_without_error() -> None:
    got: list[int] = []

    async def take(n: int) -> str:
        """Take a number."""
        got.append(n)
        return "taken"

    agent = make_agent([calls("take", n=7), ANSWER], tools=[take])
    heard = listen_to(agent)
    agent.run_sync("go")
    (start,) = [one for one in heard if one.type == "tool_start"]
    (end,) = [one for one in heard if one.type == "tool_end"]
    assert got == [7]
    assert start.call.arguments == {"n": 7}
    assert (end.result.content, end.result.is_error) == ("taken", False)


# ---- side by side and alone ----


def test_ends_are_announced_as_they_happen_and_results_stand_in_call_order() -> None:
    async def main() -> None:
        release = asyncio.Event()

        async def first() -> str:
            """End last."""
            await release.wait()
            return "1"

        agent = make_agent([calls("first", "quick"), ANSWER], tools=[first, quick])
        agent.subscribe(lambda event: release.set() if event.type == "tool_end" and event.call.id == "c2" else None)
        heard = listen_to(agent)
        await agent.run("go")
        assert tool_events(heard) == ["+c1", "+c2", "-c2", "-c1"]
        assert words(agent.transcript) == ["U go", "A c1 c2", "R c1 ok", "R c2 ok", "A done"]

    asyncio.run(main())


@pytest.mark.parametrize(
    ("names", "order"),
    [
        (["alone", "alone"], "+c1 -c1 +c2 -c2"),
        (["shared", "alone", "shared"], "+c1 -c1 +c2 -c2 +c3 -c3"),
        (["shared", "shared", "alone"], "+c1 +c2 -c1 -c2 +c3 -c3"),
        (["shared", "shared"], "+c1 +c2 -c1 -c2"),
    ],
)
def test_a_tool_that_runs_alone_has_no_call_beside_it_and_starts_in_call_order(names: list[str], order: str) -> None:
    async def work() -> str:
        """Give others the chance to run."""
        for _ in range(3):
            await asyncio.sleep(0)
        return "worked"

    async def shared() -> str:
        """Work beside others."""
        return await work()

    @tool(alone=True)
    async def alone() -> str:
        """Work alone."""
        return await work()

    agent = make_agent([calls(*names), ANSWER], tools=[shared, alone])
    heard = listen_to(agent)
    assert agent.run_sync("go").status == "completed"
    assert " ".join(tool_events(heard)) == order


def test_progress_after_the_end_of_a_call_is_ignored_beside_a_sibling_and_after_the_run() -> None:
    contexts: list[ToolContext] = []

    async def main() -> None:
        ended = asyncio.Event()

        async def first(context: ToolContext) -> str:
            """Report in time."""
            contexts.append(context)
            context.report_progress("in time")
            return "1"

        async def second(context: ToolContext) -> str:
            """Report for the other one, late."""
            await ended.wait()
            contexts[0].report_progress("late")
            context.report_progress("still in time")
            return "2"

        agent = make_agent([calls("first", "second"), ANSWER], tools=[first, second])
        agent.subscribe(lambda event: ended.set() if event.type == "tool_end" else None)
        heard = listen_to(agent)
        assert (await agent.run("go")).warnings == ()
        count = len(heard)
        contexts[0].report_progress("later still")
        await asyncio.sleep(0)
        assert len(heard) == count
        reports = [(one.call.id, one.value) for one in heard if one.type == "tool_progress"]
        assert reports == [("c1", "in time"), ("c2", "still in time")]

    asyncio.run(main())
    contexts[0].report_progress("after the loop")


# ---- stopping ----


def test_a_stop_behind_a_round_ends_the_run_and_leaves_the_queues_as_they_are() -> None:
    seen: list[tuple[Transcript, str]] = []
    agent: Agent

    def stop(given: dict[str, Any]) -> Stop:
        seen.append((agent.session.transcript, given["tool_round"].results[0].content))
        agent.steer("s")
        agent.follow_up("f")
        return Stop("enough")

    agent = make_agent([calls("ok"), ANSWER], Recorder({"after_tools": stop}))
    heard = listen_to(agent)
    result = agent.run_sync("go")
    assert (result.status, result.reason) == ("stopped", "'recorder' stopped the run: enough")
    assert types(heard) == [
        "agent_start", "turn_start", "message_start", "message_end", "iteration_start", "request", "message_start",
        "message_delta", "response", "message_end", "tool_start", "tool_end", "hook", "turn_end", "agent_end",
    ]  # fmt: skip
    ((transcript, content),) = seen
    assert (words(transcript), content) == (["U go", "A c1", "R c1 ok"], "ok 0")
    assert (len(agent.steering), len(agent.follow_ups)) == (1, 1)


def replace_text(given: dict[str, Any]) -> Any:
    return replace(given["result"], content="the end")


def deny_ok(given: dict[str, Any]) -> Deny | None:
    return Deny("the end") if given["tool_call"].name == "ok" else None


@pytest.mark.parametrize(
    ("names", "returns", "status"),
    [
        (["last", "last"], {}, "stopped"),
        (["last", "quick"], {}, "completed"),
        (["quick"], {"after_each_tool": replace_text}, "stopped"),
        (["ok"], {"before_each_tool": deny_ok}, "stopped"),
        (["ok", "quick"], {"before_each_tool": deny_ok}, "completed"),
    ],
    ids=["all ask", "one of two asks", "a changed result asks", "a denied call asks", "a denied call of two asks"],
)
def test_a_plugin_may_end_the_run_when_every_result_of_a_round_asks_for_it(
    names: list[str], returns: dict[str, Any], status: str
) -> None:
    async def last() -> str:
        """Say that it was the last."""
        return "the end"

    def decide(given: dict[str, Any]) -> Stop | None:
        asks = all(result.content.endswith("the end") for result in given["tool_round"].results)
        return Stop("all ask for it") if asks else None

    recorder = Recorder({**returns, "after_tools": decide})
    agent = make_agent([calls(*names), ANSWER], recorder, tools=[last, quick, ok])
    heard = listen_to(agent)
    assert agent.run_sync("go").status == status
    assert types(heard).count("request") == (1 if status == "stopped" else 2)
    assert types(heard).count("turn_end") == 1
    assert agent.transcript.open_round is None


def test_an_abort_while_the_second_of_three_calls_is_judged_starts_none_of_them() -> None:
    agent: Agent

    def judge(given: dict[str, Any]) -> None:
        if given["tool_call"].id == "c2":
            agent.abort("enough")

    recorder = Recorder({"before_each_tool": judge})
    agent = make_agent([calls("ok", "quick", "ok"), ANSWER], recorder)
    heard = listen_to(agent)
    assert agent.run_sync("go").status == "aborted"
    assert recorder.names.count("before_each_tool") == 2
    assert tool_events(heard) == ["-c1", "-c2", "-c3"]
    assert words(agent.transcript) == ["U go", "A c1 c2 c3", *(f"R c{n} not_run" for n in (1, 2, 3))]


# ---- failing ----


def test_a_stream_ends_when_a_plugin_fails_and_raises_what_run_would() -> None:
    def fail(_: dict[str, Any]) -> None:
        raise RuntimeError("boom")

    agent = make_agent([calls("ok"), ANSWER], Recorder({"after_tools": fail}))
    heard: list[Event] = []

    async def main() -> None:
        async for event in agent.stream("go"):
            heard.append(event)

    with pytest.raises(PluginError, match="boom"):
        asyncio.run(main())
    assert types(heard)[-2:] == ["turn_end", "agent_end"]
    assert not agent.running
    assert words(agent.transcript) == ["U go", "A c1", "R c1 ok"]


def test_a_listener_that_fails_at_the_very_end_leaves_a_good_run_good() -> None:
    agent = make_agent([ANSWER])

    def broken(event: Event) -> None:
        if event.type == "agent_end":
            raise RuntimeError("boom")

    agent.subscribe(broken)
    heard = listen_to(agent)
    result = agent.run_sync("go")
    assert (result.status, result.answer) == ("completed", "done")
    assert types(heard).count("agent_end") == 1
    assert [text for text in result.warnings if "broken" in text and "boom" in text]
    assert words(agent.transcript) == ["U go", "A done"]
