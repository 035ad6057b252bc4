"""The box around the loop: entries, queues, misuse, listeners, streams, events."""

from __future__ import annotations

import asyncio
import contextvars
import os
import threading
from typing import Any

import pytest

from hookagent import Agent, MisuseError, Stop, UserMessage, current_call
from hookagent.errors import ProviderError, RunError
from hookagent.events import Event
from hookagent.messages import AssistantMessage, TextPart
from hookagent.providers.scripted import ScriptedProvider
from hookagent.testing import Recorder
from hookagent.usage import Usage
from tests.core.scripts import calls, make_agent, ok, quick, words

ANSWER = {"text": "done"}


@pytest.mark.parametrize("prompt", ["", "  \n", [], [""], UserMessage(" ")])
def test_an_empty_prompt_is_refused_before_anything_happens(prompt: Any) -> None:
    agent = make_agent([ANSWER])
    with pytest.raises(MisuseError, match="the prompt is empty"):
        agent.run_sync(prompt)
    assert len(agent.session.transcript) == 0
    assert agent.session.turn == 0


def test_a_prompt_may_be_text_a_message_or_a_list() -> None:
    agent = make_agent([ANSWER, ANSWER])
    agent.run_sync(UserMessage("one"))
    agent.run_sync(["two", UserMessage("three")])
    assert words(agent.session.transcript) == ["U one", "A done", "U two", "U three", "A done"]


def test_half_a_surrogate_pair_in_a_prompt_is_cleaned_at_the_border() -> None:
    agent = make_agent([ANSWER])
    agent.run_sync("x\udce9y")
    stored = agent.session.transcript[0]
    assert isinstance(stored, UserMessage)
    stored.text.encode()
    assert stored.text[0] + stored.text[-1] == "xy"


def test_a_second_run_while_one_is_active_is_refused_with_advice() -> None:
    agent = make_agent([calls("again"), ANSWER], tools=[ok])

    async def again() -> str:
        """Run the agent that is running."""
        with pytest.raises(MisuseError, match="queue the message with steer"):
            await agent.run("no")
        with pytest.raises(MisuseError, match="a run is active"):
            await agent.reset()
        with pytest.raises(MisuseError, match="a run is active"):
            await agent.continue_()
        return "refused"

    agent.tools.add(again)
    result = agent.run_sync("go")
    assert result.status == "completed"
    assert words(result.session.transcript) == ["U go", "A c1", "R c1 ok", "A done"]


def test_run_sync_in_a_running_loop_says_what_to_do() -> None:
    agent = make_agent([ANSWER])

    async def main() -> None:
        with pytest.raises(MisuseError, match=r"use 'await agent.run"):
            agent.run_sync("go")

    asyncio.run(main())


def test_steering_goes_in_behind_the_rounds_results_and_follow_up_at_the_end() -> None:
    agent = make_agent([calls("ask", "ask"), *({"text": f"answer {n}"} for n in range(1, 5))], tools=[ok])

    async def ask() -> str:
        """Queue messages while the round runs."""
        agent.follow_up("later")
        agent.steer("now")
        return "asked"

    agent.tools.add(ask)
    result = agent.run_sync("go")
    assert words(result.session.transcript) == [
        "U go", "A c1 c2", "R c1 ok", "R c2 ok", "U now", "A answer 1", "U now", "A answer 2",
        "U later", "A answer 3", "U later", "A answer 4",
    ]  # fmt: skip
    assert agent.session.turn == 1
    assert agent.steering.peek() == agent.follow_ups.peek() == ()


def test_steering_all_at_once() -> None:
    agent = make_agent([{"text": "one"}], steering_mode="all")
    agent.steer("a")
    agent.steer("b")
    agent.run_sync("go")
    assert words(agent.session.transcript) == ["U go", "U a", "U b", "A one"]


def test_one_at_a_time_each_queued_message_gets_its_own_reply() -> None:
    agent = make_agent([{"text": "1"}, {"text": "2"}, {"text": "3"}])
    agent.follow_up("f1")
    agent.follow_up("f2")
    agent.run_sync("go")
    assert words(agent.session.transcript) == ["U go", "A 1", "U f1", "A 2", "U f2", "A 3"]
    assert agent.session.turn == 1


def test_what_is_queued_while_the_end_is_announced_starts_a_new_turn_of_the_same_run() -> None:
    agent: Agent
    once = [True]

    def queue(_: Any) -> None:
        if once.pop() if once else False:
            agent.follow_up("one more")

    recorder = Recorder({"on_complete": queue})
    agent = make_agent([{"text": "1"}, {"text": "2"}], recorder)
    result = agent.run_sync("go")
    assert result.answer == "2"
    assert words(agent.session.transcript) == ["U go", "A 1", "U one more", "A 2"]
    assert agent.session.turn == 2
    assert recorder.names.count("on_complete") == 2


def test_a_stopped_steering_message_is_not_stored_and_not_lost() -> None:
    recorder = Recorder({"after_user_input": lambda a: Stop("no") if a["message"].via == "steer" else None})
    agent = make_agent([ANSWER], recorder)
    agent.steer("bad")
    result = agent.run_sync("go")
    assert result.status == "stopped"
    assert [one.text for one in result.not_stored] == ["bad"]
    assert len(agent.steering) == 0


def test_continue() -> None:
    agent = make_agent([{"error": "authentication"}, {"text": "1"}, {"text": "2"}])
    with pytest.raises(MisuseError, match="the session is empty"):
        asyncio.run(agent.continue_())
    assert agent.run_sync("go").status == "failed"
    assert asyncio.run(agent.continue_()).answer == "1"
    with pytest.raises(MisuseError, match="nothing is queued"):
        asyncio.run(agent.continue_())
    agent.follow_up("f")
    agent.steer("s")
    assert asyncio.run(agent.continue_()).status == "failed"  # the script has one reply left for two messages
    assert words(agent.session.transcript) == ["U go", "A 1", "U s", "A 2", "U f"]


def test_reset_begins_a_new_session_and_close_ends_it() -> None:
    agent = make_agent([{"text": "1"}, {"text": "2"}])
    agent.run_sync("go")
    old = agent.session
    agent.steer("left over")
    asyncio.run(agent.reset())
    assert agent.session.id != old.id
    assert len(agent.session.transcript) == 0
    assert len(agent.steering) == 0
    assert len(old.transcript) == 2
    agent.close_sync()
    with pytest.raises(MisuseError, match="the session was closed"):
        agent.run_sync("go")


def test_model_tools_and_system_prompt_changed_in_mid_run_count_from_the_next_request() -> None:
    recorder = Recorder()
    agent = make_agent([calls("change")], recorder, tools=[], system_prompt="old")
    second = ScriptedProvider([{"text": "from the second model"}])

    def change() -> str:
        """Change everything."""
        agent.system_prompt = "new"
        agent.model = second
        agent.tools.add(ok)
        return "changed"

    agent.tools.add(change)
    assert agent.run_sync("go").answer == "from the second model"
    requests = [arguments["request"] for hook, arguments in recorder.calls if hook == "shape_request"]
    assert [request.system for request in requests] == ["old", "new"]
    assert [[tool.name for tool in request.tools] for request in requests] == [["change"], ["change", "ok"]]


def test_a_listener_that_raises_is_named_dropped_after_three_faults_and_changes_nothing() -> None:
    agent = make_agent([calls("ok"), ANSWER])
    heard: list[Event] = []

    def broken(event: Event) -> None:
        raise RuntimeError("boom")

    agent.subscribe(broken)
    agent.subscribe(heard.append)
    result = agent.run_sync("go")
    assert result.status == "completed"
    faults = [text for text in result.errors if "broken" in text]
    assert len(faults) == 3
    assert faults[-1].endswith("; it is dropped")
    assert [event.number for event in heard] == sorted(event.number for event in heard)
    assert words(result.session.transcript) == ["U go", "A c1", "R c1 ok", "A done"]


def test_a_stream_yields_every_event_and_leaves_the_result() -> None:
    agent = make_agent([calls("quick"), {"text": "streamed text"}])

    async def main() -> list[Event]:
        return [event async for event in agent.stream("go")]

    events = asyncio.run(main())
    assert [event.number for event in events] == list(range(1, len(events) + 1))
    assert "".join(event.text for event in events if event.type == "message_delta" and event.kind == "text") == (
        "streamed text"
    )
    assert agent.last_result is not None
    assert agent.last_result.answer == "streamed text"
    kept = [event for event in events if event.type not in ("message_delta", "tool_progress")]
    assert list(agent.session.trace) == kept


def test_leaving_a_stream_early_aborts_the_run() -> None:
    agent = make_agent([calls("quick"), ANSWER])

    async def main() -> None:
        stream = agent.stream("go")
        async for event in stream:
            if event.type == "tool_start":
                break
        await stream.aclose()  # type: ignore[attr-defined]

    asyncio.run(main())
    assert agent.last_result is not None
    assert agent.last_result.status == "aborted"
    assert agent.session.transcript.open_round is None
    assert not agent.running


def test_the_caller_s_context_variables_reach_plain_tools_async_tools_and_hooks() -> None:
    user: contextvars.ContextVar[str] = contextvars.ContextVar("user", default="nobody")
    seen: list[str] = []

    def plain() -> str:
        """Say who."""
        return user.get()

    async def soon() -> str:
        """Say who."""
        return user.get()

    recorder = Recorder({"before_llm": lambda _: seen.append(user.get())})
    user.set("ann")
    result = make_agent([calls("plain", "soon"), ANSWER], recorder, tools=[plain, soon]).run_sync("go")
    results = [message.content for message in result.session.transcript.messages() if hasattr(message, "content")]
    assert results == ["ann", "ann"]
    assert seen == ["ann", "ann"]


def test_current_call_is_right_under_parallel_tools_and_nested_agents() -> None:
    inner_agent = make_agent([calls("where", ids=["inner"]), {"text": "inner done"}], tools=[])
    seen: dict[str, tuple[str, tuple[str, ...]]] = {}

    def where() -> str:
        """Note the call."""
        call = current_call()
        seen[call.call_id] = (call.agent.name, call.previous_tools)
        return call.call_id

    async def nest() -> str:
        """Run another agent."""
        before = current_call().call_id
        answer = (await inner_agent.run("inner")).answer
        assert current_call().call_id == before
        return answer

    inner_agent.tools.add(where)
    inner_agent.name = "inner"
    agent = make_agent([calls("where", "nest", "where"), ANSWER], tools=[where, nest])
    result = agent.run_sync("go")
    assert seen == {"c1": ("tested", ()), "c3": ("tested", ("where", "nest")), "inner": ("inner", ())}
    assert result.status == "completed"
    with pytest.raises(MisuseError, match="outside of a tool"):
        current_call()


def test_64_plain_tools_that_wait_for_each_other_all_pass() -> None:
    barrier = threading.Barrier(64, timeout=30)

    def meet() -> str:
        """Wait for the others."""
        barrier.wait()
        return "met"

    script = [calls(*["meet"] * 64), ANSWER]
    assert make_agent(script, tools=[meet]).run_sync("go").status == "completed"
    result = asyncio.run(make_agent(script, tools=[meet]).run("go"))
    assert words(result.session.transcript).count("U go") == 1
    assert all(line.endswith(" ok") for line in words(result.session.transcript)[2:66])


def test_a_cap_on_the_most_at_once_and_a_tool_that_asks_to_run_alone() -> None:
    from hookagent import tool

    running = 0
    most = 0

    async def count() -> str:
        """Count how many run at once."""
        nonlocal running, most
        running += 1
        most = max(most, running)
        await asyncio.sleep(0)
        running -= 1
        return "ok"

    @tool(alone=True)
    async def alone() -> str:
        """Run alone."""
        assert running == 0
        await asyncio.sleep(0)
        assert running == 0
        return "alone"

    script = [calls("count", "count", "alone", "count", "count"), ANSWER]
    result = make_agent(script, tools=[count, alone], max_parallel_tools=2).run_sync("go")
    assert most == 2
    assert [line for line in words(result.session.transcript) if line.startswith("R")] == [
        f"R c{n} ok" for n in range(1, 6)
    ]


@pytest.mark.parametrize("kind", [SystemExit, KeyboardInterrupt, asyncio.CancelledError])
def test_what_a_tool_raises_never_ends_the_host_unseen(kind: type[BaseException]) -> None:
    def leave() -> str:
        """Leave."""
        raise kind

    agent = make_agent([calls("leave", "ok"), ANSWER], tools=[leave, ok])
    if kind is KeyboardInterrupt:
        with pytest.raises(KeyboardInterrupt):
            agent.run_sync("go")
        assert agent.last_result is not None
        assert agent.last_result.status == "aborted"
    else:
        assert agent.run_sync("go").status == "completed"
    lines = words(agent.session.transcript)
    assert [line.split()[1] for line in lines if line.startswith("R")] == ["c1", "c2"]
    assert agent.session.transcript.open_round is None
    assert agent.run_sync("still there").answer == "done" if kind is KeyboardInterrupt else True


def test_raise_for_status() -> None:
    agent = make_agent([ANSWER, {"error": "authentication"}])
    result = agent.run_sync("go")
    assert result.raise_for_status() is result
    assert str(result) == "done"
    with pytest.raises(RunError, match="run failed"):
        agent.run_sync("go").raise_for_status()


def test_an_empty_reply_is_never_an_answer() -> None:
    class Empty(ScriptedProvider):
        async def stream(self, request: Any) -> Any:
            yield AssistantMessage((TextPart(" "),), "unknown", Usage(), stop_detail="weird_new")

    agent = Agent(model=Empty([]))
    result = agent.run_sync("go")
    assert result.status == "failed"
    assert "stop reason: unknown (weird_new)" in result.reason
    assert words(agent.session.transcript) == ["U go"]


def test_an_answer_cut_by_the_output_limit_is_a_limit() -> None:
    result = make_agent([{"text": "half an ans", "stop": "length"}]).run_sync("go")
    assert (result.status, result.limit, result.answer) == ("limit", "max_output_tokens", "half an ans")


def test_ids_used_before_in_the_session_get_fresh_ones() -> None:
    agent = make_agent([calls("ok", ids=["k"]), calls("ok", ids=["k"]), ANSWER])
    agent.run_sync("go")
    ids = [one.id for message in agent.session.transcript.messages() for one in getattr(message, "tool_calls", ())]
    assert len(ids) == 2
    assert ids[0] == "k"
    assert ids[1] not in ("k", "")


def test_a_failing_model_call_leaves_the_earlier_round_closed() -> None:
    agent = make_agent([calls("ok", "quick"), {"error": "authentication"}, {"text": "back"}])
    assert agent.run_sync("go").status == "failed"
    assert words(agent.session.transcript) == ["U go", "A c1 c2", "R c1 ok", "R c2 ok"]
    assert agent.run_sync("try again").answer == "back"


def test_usage_is_the_turns_own_and_the_sessions_sum() -> None:
    usage = {"input_tokens": 10, "cache_read_tokens": 5, "cache_write_tokens": 2, "output_tokens": 3}
    agent = make_agent([{"text": "1", "usage": usage}, {"text": "2", "usage": usage}])
    first, second = agent.run_sync("a"), agent.run_sync("b")
    assert first.usage.total_tokens == second.usage.total_tokens == 20
    assert agent.session.usage.total_tokens == 40
    assert agent.session.turn_usage.total_tokens == 20


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_run_sync_works_in_a_forked_child() -> None:
    make_agent([ANSWER]).run_sync("in the parent")
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.write(write, make_agent([{"text": "from the child"}]).run_sync("go").answer.encode())
        finally:
            os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as pipe:
        assert pipe.read() == b"from the child"
    os.waitpid(child, 0)


def test_200_agents_run_at_once() -> None:
    async def main() -> list[str]:
        agents = [make_agent([calls("quick"), ANSWER], tools=[quick]) for _ in range(200)]
        return [result.status for result in await asyncio.gather(*(agent.run("go") for agent in agents))]

    assert asyncio.run(main()) == ["completed"] * 200


def test_a_provider_error_of_another_kind_is_a_status_and_not_an_exception() -> None:
    class Broken(ScriptedProvider):
        async def stream(self, request: Any) -> Any:
            raise ProviderError("invalid_request", "vendor", "no")
            yield

    assert Agent(model=Broken([])).run_sync("go").reason == "vendor: no"
