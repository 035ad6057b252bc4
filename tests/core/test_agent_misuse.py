"""What an agent refuses: options that mean nothing, and calls at the wrong time or in the wrong event loop."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine, Iterator
from typing import Any

import pytest

from hookagent import Agent, ConfigurationError, Image, MisuseError, ToolDefinitionError, tool
from hookagent.providers.scripted import ScriptedProvider
from tests.core.plugin_making import made
from tests.core.scripts import calls, make_agent, ok


@pytest.mark.parametrize(
    ("option", "value", "expected"),
    [
        ("max_parallel_tools", 0, "at least 1, or None"),
        ("max_parallel_tools", "4", "at least 1, or None"),
        ("max_parallel_tools", True, "at least 1, or None"),
        ("tool_result_limit", 0, "at least 1"),
        ("grace_seconds", -1, "at least 0"),
        ("grace_seconds", float("nan"), "at least 0"),
        ("system_prompt", None, "a text"),
        ("tool_execution", "serial", "'parallel' or 'sequential'"),
        ("steering_mode", "some", "'one-at-a-time' or 'all'"),
        ("follow_up_mode", None, "'one-at-a-time' or 'all'"),
        ("limits", 3, "a mapping or Limits"),
        ("model_settings", 3, "a mapping"),
        ("model", 3, "a name such as"),
        ("tools", None, "a list of functions and names"),
    ],
)
def test_an_option_that_means_nothing_is_refused(option: str, value: Any, expected: str) -> None:
    options: dict[str, Any] = {"model": ScriptedProvider([]), "quiet": True, option: value}
    with pytest.raises(ConfigurationError, match=expected) as refused:
        Agent(**options)
    assert repr(value) in str(refused.value) or type(value).__name__ in str(refused.value)


def test_the_name_of_an_agent_is_a_text() -> None:
    with pytest.raises(ConfigurationError, match="name: expected a text, got 5"):
        Agent(5)  # type: ignore[arg-type]


def test_a_queue_is_told_of_a_mode_that_there_is_not() -> None:
    agent = make_agent([])
    agent.steering.mode = "all"
    with pytest.raises(ConfigurationError, match="queue mode"):
        agent.steering.mode = "none"  # type: ignore[assignment]
    assert agent.steering.mode == "all"


@pytest.mark.parametrize("limit", ["1", True, 0, float("nan")])
def test_a_time_limit_of_a_tool_is_a_number(limit: Any) -> None:
    with pytest.raises(ToolDefinitionError, match="is not above zero"):
        tool(time_limit=limit)(ok)


def test_a_model_that_is_none_is_refused_where_it_is_set() -> None:
    agent = make_agent(["one"])
    with pytest.raises(ConfigurationError, match="model: expected a name"):
        agent.model = 5  # type: ignore[assignment]
    assert agent.run_sync("go").answer == "one"


@pytest.mark.parametrize("images", [(Image(b"raw", "image/png"),), (Image("aGk=", None),), ("aGk=",)])  # type: ignore[arg-type]
def test_an_image_of_bytes_is_refused_before_anything_is_kept(images: Any) -> None:
    agent = make_agent(["one"])
    with pytest.raises(MisuseError, match="base64"):
        agent.run_sync("look", images=images)
    assert len(agent.transcript) == 0


def test_bytes_are_no_prompt() -> None:
    with pytest.raises(MisuseError, match="not a bytes"):
        make_agent([]).run_sync(b"go")  # type: ignore[arg-type]


@pytest.fixture
def held() -> Iterator[Agent]:
    """An agent whose run is in the midst of a tool, in another event loop."""
    started, go_on = threading.Event(), threading.Event()

    def hold() -> str:
        """Wait."""
        started.set()
        go_on.wait()
        return "held"

    agent = make_agent([calls("hold"), "done"], tools=[ok, hold])
    thread = threading.Thread(target=agent.run_sync, args=("go",))
    thread.start()
    try:
        assert started.wait(60)
        yield agent
    finally:
        go_on.set()
        thread.join()


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda agent: agent.call_tool("ok"), "call_tool(): the agent runs in another event loop"),
        (lambda agent: agent.wait_idle(), "wait_idle(): the agent runs in another event loop"),
        (lambda agent: agent.run("more"), "a run is active"),
        (lambda agent: agent.continue_(), "a run is active"),
        (lambda agent: agent.reset(), "reset(): a run is active"),
        (lambda agent: agent.close(), "close(): a run is active"),
    ],
)
def test_what_belongs_to_the_loop_of_the_run_says_so_elsewhere(
    call: Callable[[Agent], Coroutine[Any, Any, Any]], says: str, held: Agent
) -> None:
    with pytest.raises(MisuseError) as refused:
        asyncio.run(call(held))
    assert str(refused.value).startswith(says)
    assert held.running


def test_waiting_inside_of_a_tool_for_the_end_of_its_own_run_is_refused() -> None:
    async def wait() -> str:
        """Wait for oneself."""
        await agent.wait_idle()
        return "never"

    agent = make_agent([calls("wait"), "done"], tools=[wait])
    result = asyncio.run(agent.run("go"))
    assert result.answer == "done"
    stored = agent.session.transcript[1]
    assert "inside of a tool of the run" in stored.results[0].content  # type: ignore[union-attr]


def test_a_closed_session_runs_no_tool() -> None:
    agent = make_agent([])
    agent.close_sync()
    with pytest.raises(MisuseError, match="call_tool\\(\\): the session was closed"):
        asyncio.run(agent.call_tool("ok"))


@pytest.mark.parametrize("what", ["reset", "close"])
def test_a_session_does_not_end_under_a_direct_call(what: str) -> None:
    async def end() -> str:
        """End the session from inside."""
        await getattr(agent, what)()
        return "ended"

    agent = make_agent(["fine"], tools=[end])
    result = asyncio.run(agent.call_tool("end"))
    assert f"{what}(): a run is active" in result.content
    assert agent.run_sync("go").answer == "fine"


def test_of_two_threads_that_begin_a_run_one_is_refused() -> None:
    both = threading.Barrier(2, timeout=60)
    held = threading.Event()
    passed: set[int] = set()

    def hold() -> str:
        """Wait."""
        held.wait(60)
        return "held"

    class Late(Agent):
        @property
        def provider(self) -> Any:
            if threading.get_ident() not in passed:
                passed.add(threading.get_ident())
                both.wait()  # both are past everything that is asked before
            return super().provider

    agent = Late(tools=[hold], model=ScriptedProvider([calls("hold"), "done"]), log=False, quiet=True)
    ends: list[Any] = []

    def go() -> None:
        try:
            ends.append(asyncio.run(agent.run("go")).status)
        except MisuseError as error:
            ends.append(str(error)[:15])
            held.set()

    threads = [threading.Thread(target=go) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(ends) == ["a run is active", "completed"]


def test_a_run_that_is_active_is_said_first_when_there_is_nothing_to_continue_from() -> None:
    said: list[str] = []

    async def reenter() -> None:
        try:
            await agent.continue_()
        except MisuseError as error:
            said.append(str(error))

    agent = make_agent([{"text": "done"}], made("reentering", on_session_start=reenter, on_complete=reenter))
    assert agent.run_sync("go").answer == "done"
    assert said == ["a run is active; wait for it, or queue the message with steer(...) or follow_up(...)"] * 2
