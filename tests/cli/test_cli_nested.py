"""What the command shows of an agent that runs inside of a tool: its calls, its questions, its events as JSON."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Sequence
from typing import Any

from hookagent import Agent, Approve, Suspend, hookimpl
from hookagent.cli.chat.view import View
from hookagent.cli.console import Console
from hookagent.cli.json_lines import JsonLines
from hookagent.cli.progress import Progress
from hookagent.events import Nested, ResolveEnd, ResolveStart
from hookagent.providers.scripted import ScriptedProvider


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def look(path: str) -> str:
    """Look."""
    return f"seen {path}"


def agent_in(inner: Callable[[], Agent], name: str, plugins: Sequence[Any] = ()) -> Agent:
    async def ask() -> str:
        """Ask the inner agent."""
        return (await inner().run("inner")).answer

    script = [{"calls": [{"name": "ask"}]}, f"{name} done."]
    return Agent(name, tools=[ask], model=ScriptedProvider(script), plugins=plugins, log=False, quiet=True)


def two_levels(*plugins: Any) -> Agent:
    def innermost() -> Agent:
        script = [{"calls": [{"name": "look", "arguments": {"path": "a"}}]}, "innermost done."]
        return Agent("deep", tools=[look], model=ScriptedProvider(script), log=False, quiet=True)

    return agent_in(lambda: agent_in(innermost, "middle"), "outer", plugins)


def test_verbose_says_whose_calls_they_were() -> None:
    err = io.StringIO()
    agent = two_levels()
    agent.subscribe(Progress(Console(None, err, {}), quiet=False, verbose=True, monotonic=lambda: 0.0))
    agent.run_sync("go")
    calls = [line.partition(", ")[0] for line in err.getvalue().splitlines() if "tool " in line]
    assert calls == ['middle > deep: tool look(path="a"): ok', "middle: tool ask(): ok", "tool ask(): ok"]


def test_the_chat_shows_the_calls_of_inner_agents() -> None:
    out, err = Terminal(), Terminal()
    agent = two_levels()
    agent.subscribe(View(Console(out, err, {}), live=True, calls=True))
    agent.run_sync("go")
    assert 'middle > deep: tool look(path="a"): ok' in err.getvalue()
    hidden = Terminal()
    agent = two_levels()
    agent.subscribe(View(Console(out, hidden, {}), live=True, calls=False))
    agent.run_sync("go")
    assert "tool" not in hidden.getvalue()


def test_the_line_makes_room_for_a_question_of_an_inner_agent() -> None:
    err = Terminal()
    drawn: list[tuple[str, str]] = []

    class Gate:
        @hookimpl
        def before_each_tool(self, tool_call: Any) -> Suspend | None:
            return Suspend("sure?") if tool_call.name == "look" else None

        @hookimpl
        def resolve_suspended(self, pending: Any) -> Any:
            progress.tick()
            drawn.append(("asking", err.getvalue()))
            return {one.call.id: Approve() for one in pending}

    progress = Progress(Console(None, err, {}), quiet=False, verbose=False, monotonic=lambda: 0.0)
    agent = two_levels(Gate())
    agent.subscribe(progress)
    agent.run_sync("go")
    [(_, text)] = drawn
    assert text.endswith("\r\x1b[K")
    assert "iteration" in err.getvalue()[len(text) :]


def test_the_line_comes_back_when_the_last_of_several_questions_is_answered() -> None:
    err = Terminal()
    progress = Progress(Console(None, err, {}), quiet=False, verbose=False, monotonic=lambda: 0.0)

    def nested(event: Any) -> Nested:
        return Nested(1, 0.0, 1, 1, "c1", "inner", "id", event)

    start, end = ResolveStart(1, 0.0, 1, 1, ()), ResolveEnd(2, 0.0, 1, 1, ())
    for event in (nested(start), nested(start), nested(end)):
        progress(event)
    assert err.getvalue() == ""
    progress(nested(end))
    assert "0 s" in err.getvalue()


def test_json_has_the_inner_events_as_objects_of_their_own() -> None:
    out = io.StringIO()
    agent = two_levels()
    agent.subscribe(JsonLines(Console(out, None, {})))
    agent.run_sync("go")
    lines = [json.loads(line) for line in out.getvalue().splitlines()]
    ends = [line for line in lines if line["type"] == "nested" and line["event"]["type"] == "nested"]
    [tool_end] = [line for line in ends if line["event"]["event"]["type"] == "tool_end"]
    assert (tool_end["agent"], tool_end["event"]["agent"]) == ("middle", "deep")
    assert tool_end["event"]["event"]["result"]["content"] == "seen a"
    assert tool_end["session_id"] != tool_end["event"]["session_id"]
    assert all(line["event"]["seconds"] >= 0 for line in lines if line["type"] == "nested")
