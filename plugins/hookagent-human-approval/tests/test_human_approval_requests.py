from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from hookagent import Agent, tool
from hookagent.testing import Call, Reply, StrictServer
from hookagent_human_approval import HumanApproval


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[StrictServer]:
    calls = (Call("remove", {"path": "a"}), Call("remove", {"path": "b"}))
    with StrictServer([Reply("", calls), Reply("end"), Reply("bye")]) as made:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", made.anthropic_url)
        monkeypatch.setenv("ANTHROPIC_API_KEY", "key-for-tests")
        yield made


@tool(effect="writes")
def remove(path: str) -> str:
    """Remove a file."""
    return f"removed {path}"


def test_a_refused_call_stays_in_the_history_with_its_reason(server: StrictServer, person: Callable[..., Any]) -> None:
    terminal = person("n wrong file", "y")
    plugin = HumanApproval(open_terminal=lambda: terminal)
    agent = Agent("test", tools=[remove], model="anthropic:claude-sonnet-5", plugins=[plugin])
    assert agent.run_sync("clean up").answer == "end"
    agent.run_sync("thank you")
    assert server.refused == []
    asked, results = server.requests[-1].body["messages"][1:3]
    called = [part["id"] for part in asked["content"] if part["type"] == "tool_use"]
    answered = {part["tool_use_id"]: part for part in results["content"] if part["type"] == "tool_result"}
    assert list(answered) == called
    refused, removed = (str(answered[call_id]["content"]) for call_id in called)
    assert answered[called[0]]["is_error"] is True
    assert "a person said no: wrong file" in refused
    assert "removed b" in removed
