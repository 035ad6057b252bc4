"""The same through the real SDKs and the strict server, on each wire form."""

from __future__ import annotations

import json
from typing import Any

import pytest

from hookagent import Agent, ToolRound, hookimpl
from hookagent.testing import Call, Reply, StrictServer, Usage
from hookagent_context_window import ContextWindow

WIRES = ["anthropic:claude-sonnet-5", "openai:gpt-5.1", "openai-chat:gpt-5.1"]


def look(number: int) -> str:
    """Look."""
    return f"<{number}>" + "r" * 560


def point_to(server: StrictServer, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (
        ("ANTHROPIC_API_KEY", "key"),
        ("ANTHROPIC_BASE_URL", server.anthropic_url),
        ("OPENAI_API_KEY", "key"),
        ("OPENAI_BASE_URL", server.openai_url),
    ):
        monkeypatch.setenv(name, value)


@pytest.mark.parametrize("wire", WIRES)
def test_the_size_is_the_same_by_every_wire_form(wire: str, monkeypatch: pytest.MonkeyPatch) -> None:
    usage = Usage(input_tokens=150, cache_read_tokens=150, output_tokens=20)
    with StrictServer([Reply("done", usage=usage)]) as server:
        point_to(server, monkeypatch)
        plugin = ContextWindow(ContextWindow.Options(window=1_000))
        agent = Agent(model=wire, plugins=[plugin])
        agent.run_sync("Go.")
        status = plugin.status(agent.session)
        assert status is not None
        assert status.percent == pytest.approx(32.0)
        agent.close_sync()


@pytest.mark.parametrize("strategy", ["drop", "clear_results", "summarize"])
@pytest.mark.parametrize("wire", WIRES)
def test_every_wire_takes_the_shortened_requests(wire: str, strategy: str, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = 0

    def answer(body: Any) -> Reply:
        nonlocal calls
        if "You shorten the history" in json.dumps(body):
            return Reply("They looked at numbers.")
        calls += 1
        if calls % 13 == 0:
            return Reply("Done.")
        return Reply("Looking.", calls=[Call("look", {"number": calls}), Call("look", {"number": -calls})])

    @hookimpl
    def after_tools(tool_round: ToolRound) -> str:
        return f"note about {tool_round.calls[0].name}"

    with StrictServer(answer) as server:
        point_to(server, monkeypatch)
        options = ContextWindow.Options.model_validate({"window": 3_000, "strategy": strategy})
        plugin = ContextWindow(options)
        agent = Agent(tools=[look], model=wire, plugins=[after_tools, plugin], limits={"max_iterations": 30})
        for task in ("TASK-1", "TASK-2", "TASK-3"):
            assert agent.run_sync(task).answer == "Done."
        status = plugin.status(agent.session)
        agent.close_sync()
        assert status is not None
        assert status.compactions >= 2
        assert (server.refused, server.failures) == ([], [])
        last = json.dumps(server.requests[-1].body)
        assert "TASK-1" in last
        assert "TASK-3" in last
        assert ("They looked at numbers." in last) == (strategy == "summarize")
