"""Tools as the box runs them: context, threads, parallel rounds, what a tool may raise."""

from __future__ import annotations

import asyncio
import contextvars
import os
import threading

import pytest

from hookagent import MisuseError, current_call
from hookagent.testing import Recorder
from hookagent.transcript import ToolRound
from tests.core.scripts import calls, make_agent, ok, quick, words

ANSWER = {"text": "done"}


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


def test_ids_used_before_in_the_session_get_fresh_ones() -> None:
    agent = make_agent([calls("ok", ids=["k"]), calls("ok", ids=["k"]), ANSWER])
    agent.run_sync("go")
    ids = [one.id for message in agent.session.transcript.messages() for one in getattr(message, "tool_calls", ())]
    assert len(ids) == 2
    assert ids[0] == "k"
    assert ids[1] not in ("k", "")


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


@pytest.mark.parametrize("names", [("gives_up",), ("gives_up", "ok")])
def test_a_tool_that_cancels_its_own_task_is_said_to_have_been_cancelled(names: tuple[str, ...]) -> None:
    async def gives_up() -> str:
        """Cancel the task it runs in."""
        task = asyncio.current_task()
        assert task is not None
        task.cancel()
        await asyncio.sleep(0)
        return "never"

    agent = make_agent([calls(*names), {"text": "fine"}], tools=[gives_up, ok])
    assert agent.run_sync("go").status == "completed"
    [round_of_calls] = [block for block in agent.session.transcript if isinstance(block, ToolRound)]
    first = round_of_calls.results[0]
    assert first is not None
    assert first.status in ("interrupted", "error")
    assert "cancelled" in first.content
    assert "the run failed while" not in first.content
