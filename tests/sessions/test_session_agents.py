"""Agents whose sessions are kept: started on disk before a tool runs, waiting rounds resumed, outages survived."""

from __future__ import annotations

from typing import Any

import pytest

from hookagent import Deny, Suspend, hookimpl
from hookagent.errors import ProviderError
from hookagent.messages import ToolResult
from hookagent.providers.base import Delta
from hookagent.providers.scripted import ScriptedProvider
from hookagent.sessions.store import SessionStore
from hookagent.verdicts import Amend, Approve
from tests.sessions.looking import Failing, kinds
from tests.sessions.made import words
from tests.sessions.wiring import kept_agent


class Gate:
    """Suspends the calls of one tool."""

    @hookimpl
    def before_each_tool(self, tool_call: Any) -> Suspend | None:
        return Suspend("a person must look") if tool_call.name == "risky" else None


class Answerer:
    """Gives one answer to every suspended call."""

    def __init__(self, answer: Any) -> None:
        self.answer = answer
        self.asked: list[Any] = []

    @hookimpl
    def resolve_suspended(self, pending: Any) -> dict[str, Any]:
        self.asked += pending
        return {one.call.id: self.answer for one in pending}


class Counted:
    """Two tools that count how often each ran, with which arguments."""

    def __init__(self) -> None:
        self.ran: list[str] = []

    def risky(self, path: str = "") -> str:
        """Do something risky."""
        self.ran.append(f"risky {path}".strip())
        return "done"

    def count(self) -> str:
        """Count."""
        self.ran.append("count")
        return "counted"

    @property
    def tools(self) -> list[Any]:
        return [self.risky, self.count]


def calls(*names: str, **arguments: Any) -> dict[str, Any]:
    made = [
        {"name": name, "arguments": arguments if name == "risky" else {}, "id": f"c{number}"}
        for number, name in enumerate(names, 1)
    ]
    return {"calls": made}


def test_a_call_is_started_on_disk_before_it_runs(store: SessionStore) -> None:
    seen: list[list[str]] = []

    def peek() -> str:
        """Look at the file."""
        reader = SessionStore(store.database.folder)
        seen.append(kinds(reader))
        reader.close()
        return "seen"

    agent = kept_agent(store, "one", [{"calls": [{"name": "peek", "id": "c1"}]}, "done"], tools=[peek])
    assert agent.run_sync("go").answer == "done"
    assert seen == [["run_start", "turn_start", "user", "response", "reply", "start"]]
    assert kinds(store)[-4:] == ["result", "response", "reply", "turn_end"]
    agent.close_sync()


@pytest.mark.parametrize("execution", ["parallel", "sequential"])
@pytest.mark.parametrize(
    ("answer", "status", "ran"),
    [
        (Approve(), "ok", ["risky a"]),
        (Deny("no"), "denied", []),
        (Amend({"path": "b"}), "ok", ["risky b"]),
    ],
)
def test_a_waiting_round_is_answered_in_another_process(
    store: SessionStore, execution: Any, answer: Any, status: str, ran: list[str]
) -> None:
    counted = Counted()
    script = [calls("count", "risky", "count", path="a")]
    first = kept_agent(store, "one", script, tools=counted.tools, plugins=[Gate()], tool_execution=execution)
    assert first.run_sync("go").status == "waiting"
    before = list(counted.ran)
    assert "risky" not in str(before)
    first.close_sync()
    later = Counted()
    answerer = Answerer(answer)
    second = kept_agent(
        store,
        "one",
        ["finished"],
        resume=True,
        tools=later.tools,
        plugins=[Gate(), answerer],
        tool_execution=execution,
    )
    assert second.status == "waiting"
    result = second.run_sync("on")
    assert (result.status, result.answer) == ("completed", "finished")
    assert [one.asked_by for one in answerer.asked] == [(("Gate", "a person must look"),)]
    # What had its result is not computed again.
    assert sorted(before + later.ran) == sorted([*ran, "count", "count"])
    said = words(second.session.transcript)
    assert said == [
        *("U go", "A c1 c2 c3", "R c1 ok", f"R c2 {status}", "R c3 ok", "U on", "A finished"),
    ]
    second.close_sync()
    third = kept_agent(store, "one", [], resume=True)
    assert third.session.transcript == second.session.transcript
    third.close_sync()


def test_a_call_that_waits_on_an_absent_answerer_goes_on_waiting(store: SessionStore) -> None:
    counted = Counted()
    agent = kept_agent(store, "one", [calls("risky")], tools=counted.tools, plugins=[Gate()])
    agent.run_sync("go")
    agent.close_sync()
    for _ in range(2):
        agent = kept_agent(store, "one", [], resume=True, tools=counted.tools)
        assert agent.run_sync("and?").status == "waiting"
        agent.close_sync()
    assert counted.ran == []
    last = kept_agent(store, "one", ["end"], resume=True, tools=counted.tools, plugins=[Answerer(Approve())])
    assert last.run_sync("now").status == "completed"
    assert counted.ran == ["risky"]
    assert words(last.session.transcript)[:3] == ["U go", "A c1", "R c1 ok"]
    last.close_sync()


def test_a_tool_that_vanished_stays_in_the_history(store: SessionStore) -> None:
    counted = Counted()
    agent = kept_agent(store, "one", [calls("count"), "one"], tools=counted.tools)
    agent.run_sync("go")
    agent.close_sync()
    again = kept_agent(store, "one", ["two"], resume=True)
    assert again.run_sync("on").answer == "two"
    assert words(again.session.transcript) == ["U go", "A c1", "R c1 ok", "A one", "U on", "A two"]
    assert again.session.turn == 2
    again.close_sync()


def test_usage_and_numbers_go_on(store: SessionStore) -> None:
    usage = {"input_tokens": 10, "output_tokens": 5}
    agent = kept_agent(store, "one", [{"text": "one", "usage": usage}])
    agent.run_sync("go")
    numbers = [event.number for event in agent.session.trace]
    agent.close_sync()
    again = kept_agent(store, "one", [{"text": "two", "usage": usage}], resume=True)
    again.run_sync("on")
    assert (again.session.usage.input_tokens, again.session.usage.requests) == (20, 2)
    assert again.session.turn_usage.input_tokens == 10
    # Events behind the last record (the end of the run) have no record, so that their numbers come again.
    assert again.session.trace[0].number >= numbers[-1]
    again.close_sync()


@pytest.mark.parametrize("first", range(1, 7))
def test_a_full_disk_ends_no_run(store: SessionStore, monkeypatch: pytest.MonkeyPatch, first: int) -> None:
    Failing(monkeypatch, first, first + 1, first + 2)
    counted = Counted()
    agent = kept_agent(store, "one", [calls("count", "risky"), "answer"], tools=counted.tools)
    result = agent.run_sync("go")
    assert (result.status, result.answer, result.errors) == ("completed", "answer", ())
    agent.close_sync()
    again = kept_agent(store, "one", [], resume=True)
    assert again.session.transcript == agent.session.transcript
    assert [record.number for record in store.read("one")] == list(range(1, len(store.read("one")) + 1))
    again.close_sync()


def test_what_a_vendor_repeats_of_our_key_is_in_no_file(store: SessionStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VENDOR_API_KEY", "sk-test-SECRET123")

    class Repeating(ScriptedProvider):
        async def stream(self, request: Any) -> Any:
            yield Delta("text", "")
            raise ProviderError("authentication", "scripted", "401 for header 'x-api-key: sk-test-SECRET123'")

    agent = kept_agent(store, "one", ["unused"])
    agent.model = Repeating([])
    assert agent.run_sync("go").status == "failed"
    agent.close_sync()
    assert "error" in kinds(store)
    for path in store.database.folder.rglob("*"):
        assert path.is_dir() or b"SECRET123" not in path.read_bytes()


def test_what_was_steered_and_not_read_is_read_later_once(store: SessionStore) -> None:
    agent = kept_agent(store, "one", ["one"])
    agent.run_sync("go")
    agent.steer("left over")
    agent.close_sync()
    again = kept_agent(store, "one", ["two", "three"], resume=True)
    assert [one.text for one in again.steering.peek()] == ["left over"]
    again.run_sync("on")
    assert words(again.session.transcript).count("U left over") == 1
    again.close_sync()
    last = kept_agent(store, "one", [], resume=True)
    assert len(last.steering) == 0
    results = [one for one in last.session.transcript.messages() if isinstance(one, ToolResult)]
    assert results == []
    last.close_sync()
