"""The README's job through the vendors' real SDKs, against the strict server; and every hard path on each wire.

Whatever happened in a run (failures, denials, aborts, held messages, suspended calls), the next request is
one that the strict server accepts.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hookagent import Agent, Amend, Approve, Deny, Suspend, tool
from hookagent.providers import AnthropicProvider, OpenAIChatProvider, OpenAIResponsesProvider, RetryPolicy
from hookagent.testing import Call, Fault, Recorder, Reply, StrictServer, Thinking

MakeProvider = Callable[[StrictServer], Any]

WIRES: dict[str, MakeProvider] = {
    "anthropic": lambda server: AnthropicProvider("claude-sonnet-5", api_key="k", base_url=server.anthropic_url),
    "openai": lambda server: OpenAIResponsesProvider("gpt-5", api_key="k", base_url=server.openai_url),
    "openai-chat": lambda server: OpenAIChatProvider("gpt-5", api_key="k", base_url=server.openai_url),
}
NO_RETRIES = RetryPolicy(max_attempts=1)


@pytest.fixture(params=WIRES)
def wire(request: pytest.FixtureRequest) -> MakeProvider:
    """One provider after the other."""
    return WIRES[request.param]


@tool(effect="reads")
def look(q: str = "") -> str:
    """Look something up."""
    return f"found {q}"


def broken() -> str:
    """Always fail."""
    raise ValueError("no")


def empty() -> str:
    """Give nothing."""
    return ""


def last_results(server: StrictServer) -> str:
    """Everything in the newest request, as one text."""
    return str(server.requests[-1].body)


def test_the_readme_job(wire: MakeProvider, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "README.md").write_text("one two three\nfour five\n")
    monkeypatch.chdir(tmp_path)
    replies = [
        Reply(text="Let me count.", calls=[Call("count_words", {"path": "README.md"})]),
        Reply(text="README.md has 5 words."),
    ]
    with StrictServer(replies) as server:
        recorder = Recorder()
        agent = Agent(tools=["files"], model=wire(server), plugins=[recorder], system_prompt="Count well.")
        result = agent.run_sync("How many words are in README.md?")
        assert server.refused == []
        assert "Count well." in str(server.requests[0].body)
        assert "5 words" in last_results(server)
        assert "Let me count." in last_results(server)
    assert result.answer == "README.md has 5 words."
    assert result.usage.requests == 2
    assert [a["tool_call"].name for hook, a in recorder.calls if hook == "wrap_tool_call"] == ["count_words"]


HARD_PATHS: dict[str, tuple[list[Any], dict[str, Any]]] = {
    "three at once, one fails, one unknown": (
        [Reply(calls=[Call("look", {"q": "a"}), Call("broken"), Call("nope")]), Reply(text="end")],
        {},
    ),
    "empty output and bad arguments": (
        [Reply(calls=[Call("empty"), Call("look", '{"q": '), Call("look", {"x": 1})]), Reply(text="end")],
        {},
    ),
    "denied": (
        [Reply(text="I will look.", calls=[Call("look"), Call("look")]), Reply(text="end")],
        {"before_each_tool": lambda a: Deny("no")},
    ),
    "suspended, then approved": (
        [Reply(calls=[Call("look", {"q": "a"})]), Reply(text="end")],
        {
            "before_each_tool": lambda a: Suspend("?"),
            "resolve_suspended": lambda a: {p.call.id: Approve() for p in a["pending"]},
        },
    ),
    "amended": (
        [Reply(calls=[Call("look", {"q": "a"})]), Reply(text="end")],
        {"before_each_tool": lambda a: Amend({"q": "changed"})},
    ),
    "messages from every place that may add one": (
        [Reply(calls=[Call("look", {"q": "a"}), Call("look", {"q": "b"})]), Reply(text="end")],
        {
            "after_user_input": lambda a: "added after user input",
            "before_llm": lambda a: "added before llm",
            "after_llm": lambda a: "added after llm",
            "before_tools": lambda a: "added before tools",
            "after_tools": lambda a: ["added after tools", "and again"],
            "on_complete": lambda a: "added on complete",
            "shape_request": lambda a: a["request"].with_note("a passing note"),
        },
    ),
    "thinking beside calls": (
        [Reply(thinking=Thinking("hm"), text="so", calls=[Call("look", {"q": "a"})]), Reply(text="end")],
        {},
    ),
    "cut by the output limit": (
        [Reply(calls=[Call("look", {"q": "a"})], stop="length"), Reply(text="end")],
        {},
    ),
    "duplicate ids": (
        [Reply(calls=[Call("look", {"q": q}, id="same_id") for q in "ab"]), Reply(text="end")],
        {},
    ),
}


@pytest.mark.parametrize("mode", ["parallel", "sequential"])
@pytest.mark.parametrize("path", HARD_PATHS)
def test_the_next_request_is_always_accepted(wire: MakeProvider, path: str, mode: Any) -> None:
    replies, returns = HARD_PATHS[path]
    with StrictServer([*replies, Reply(text="second answer")]) as server:
        agent = Agent(
            tools=[look, broken, empty], model=wire(server), plugins=[Recorder(returns)], tool_execution=mode,
            retry_policy=NO_RETRIES,
        )  # fmt: skip
        first = agent.run_sync("go")
        second = agent.run_sync("and now?")
        assert server.refused == []
        assert server.failures == []
    assert (first.status, first.answer) == ("completed", "end")
    assert (second.status, second.answer) == ("completed", "second answer")


@pytest.mark.parametrize(
    "fault",
    [
        Fault(status=400),
        Fault(status=401),
        Fault(status=500),
        Fault(kind="cut"),
        Fault(kind="drop"),
        Fault(kind="error_event"),
    ],
    ids=lambda fault: f"{fault.kind}-{fault.status}",
)
def test_after_a_failed_model_call_the_session_goes_on(wire: MakeProvider, fault: Fault) -> None:
    replies: list[Any] = [
        Reply(calls=[Call("look", {"q": "a"}), Call("broken")]),
        fault if fault.kind == "status" else Reply(text="half of it", fault=fault),
        Reply(text="back"),
    ]
    with StrictServer(replies) as server:
        agent = Agent(tools=[look, broken], model=wire(server), retry_policy=NO_RETRIES)
        failed = agent.run_sync("go")
        assert failed.status == "failed", failed
        assert agent.session.transcript.open_round is None
        assert "half of it" not in str(list(agent.session.transcript.messages()))
        again = agent.run_sync("try again")
        assert (again.status, again.answer) == ("completed", "back")
        assert server.refused == []


def test_an_abort_in_mid_round_leaves_a_session_that_the_vendor_accepts(wire: MakeProvider) -> None:
    with StrictServer([Reply(calls=[Call("hang"), Call("look", {"q": "a"})]), Reply(text="fine")]) as server:
        agent: Agent

        async def hang() -> str:
            """Wait for the abort."""
            agent.abort("aborted by user")
            await asyncio.Event().wait()
            return "never"

        agent = Agent(tools=[hang, look], model=wire(server))
        result = agent.run_sync("go")
        assert result.status == "aborted"
        assert agent.session.transcript.open_round is None
        assert agent.run_sync("hello").answer == "fine"
        assert server.refused == []
        assert "aborted by user" in last_results(server)
