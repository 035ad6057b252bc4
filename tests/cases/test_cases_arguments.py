"""Arguments as models send them: blank, broken, packed into texts, for tools that are not there."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel

from hookagent import Tool
from hookagent.testing import Call, Reply, StrictServer
from tests.cases.wires import MODES, WIRES, agent_on, arguments_sent, assert_accepted, result_texts
from tests.core.scripts import make_agent, words


@pytest.fixture(params=WIRES)
def wire(request: pytest.FixtureRequest) -> str:
    """One wire form after the other."""
    name: str = request.param
    return name


class Ran:
    """What tools were called with."""

    def __init__(self) -> None:
        self.calls: list[Any] = []

    def now(self) -> str:
        """Tell the time."""
        self.calls.append({})
        return "12:00"

    def weather(self, city: str = "here") -> str:
        """Tell the weather."""
        self.calls.append(city)
        return "sunny"


class Edit(BaseModel):
    """One edit."""

    old: str
    new: str


class Settings(BaseModel):
    """Settings with a list in them."""

    tags: list[str]


def one_call(*replies: Any, tools: Any) -> Any:
    """Run scripted replies; gives the results of their calls, in order."""
    agent = make_agent([*replies, "end"], tools=tools)
    assert agent.run_sync("go").answer == "end"
    return [one for one in agent.transcript.messages() if hasattr(one, "call_id")]


def scripted(name: str, arguments: Any) -> dict[str, Any]:
    """A scripted reply with one call."""
    return {"calls": [{"name": name, "arguments": arguments}]}


@pytest.mark.parametrize("raw", ["", "   ", "\n", "{}", " {} ", "null", None], ids=repr)
def test_arg_01_blank_arguments_are_no_arguments(raw: str | None) -> None:
    ran = Ran()
    agent = make_agent([{"calls": [{"name": "now", "raw_arguments": raw}]}, "end"], tools=[ran.now])
    assert agent.run_sync("go").answer == "end"
    assert ran.calls == [{}]
    assert [call.arguments for call in agent.transcript[1].calls] == [{}]  # type: ignore[union-attr]


@pytest.mark.parametrize("raw", ["", "   ", "{}", "null"], ids=repr)
def test_arg_01_blank_arguments_on_every_wire(wire: str, raw: str) -> None:
    ran = Ran()
    with StrictServer([Reply(calls=[Call("now", raw)]), Reply(text="end")]) as server:
        assert agent_on(wire, server, tools=[ran.now]).run_sync("go").answer == "end"
        assert_accepted(server)
        assert list(arguments_sent(server.requests[1]).values()) == [{}]
        assert list(result_texts(server.requests[1]).values()) == ["12:00"]
    assert ran.calls == [{}]


BROKEN = ['{"city": ', '{"city"', "{", "[]", '"city"', "5", '{"city": "a"} trailing', "{'city': 'a'}", '{"city": NaN}']


@pytest.mark.parametrize("raw", BROKEN)
@pytest.mark.parametrize("mode", MODES)
def test_arg_03_broken_arguments_never_run_and_never_stop_a_request(wire: str, raw: str, mode: Any) -> None:
    ran = Ran()
    replies = [Reply(calls=[Call("weather", raw), Call("weather", {"city": "b"})]), Reply(text="end"), Reply(text="x")]
    with StrictServer(replies) as server:
        agent = agent_on(wire, server, tools=[ran.weather], tool_execution=mode)
        assert agent.run_sync("a").answer == "end"
        assert agent.run_sync("again").answer == "x"
        assert_accepted(server)
        texts = list(result_texts(server.requests[-1]).values())
    assert ran.calls == ["b"]
    assert [line.split()[-1] for line in words(agent.transcript) if line.startswith("R")] == ["error", "ok"]
    assert "arguments" in texts[0]
    assert agent.transcript[1].calls[0].raw == raw  # type: ignore[union-attr]


def test_arg_05_a_list_of_objects_that_comes_as_text_is_read() -> None:
    got: list[Any] = []

    def edit(edits: list[Edit]) -> str:
        """Edit."""
        got.append([(one.old, one.new) for one in edits])
        return "edited"

    packed = [json.dumps([{"old": "a", "new": "b"}]), [json.dumps({"old": "a", "new": "b"})]]
    results = one_call(*(scripted("edit", {"edits": one}) for one in packed), tools=[edit])
    assert got == [[("a", "b")]] * 2
    assert [result.status for result in results] == ["ok", "ok"]
    for not_a_list in ("a", "{", '{"old": "a", "new": "b"}', "5", '[{"old": "a"}]'):
        (refused,) = one_call(scripted("edit", {"edits": not_a_list}), tools=[edit])
        assert refused.is_error
    assert len(got) == 2


@settings(max_examples=60, deadline=None)
@given(text=st.sampled_from(["[1, 2]", "{}", "null", '{"tags": []}', "true", '"x"', "plain"]), packed=st.booleans())
def test_arg_06_reading_is_guided_by_the_schema_at_every_level(text: str, packed: bool) -> None:
    got: dict[str, Any] = {}

    def save(text: str, tags: list[str], cfg: Settings) -> str:
        """Save."""
        got.update(text=text, tags=tags, cfg=cfg.tags)
        return "saved"

    tags: Any = json.dumps([text]) if packed else [text]
    (result,) = one_call(scripted("save", {"text": text, "tags": tags, "cfg": {"tags": tags}}), tools=[save])
    assert result.status == "ok"
    assert got == {"text": text, "tags": [text], "cfg": [text]}


def test_arg_07_arguments_in_a_keys_name_are_refused_not_guessed() -> None:
    ran: list[int] = []

    def verify(age: int = 0) -> str:
        """Verify."""
        ran.append(age)
        return "ok"

    for key in ('"data": {"age": 26}', '{"age": 26}', "age: 26"):
        (result,) = one_call(scripted("verify", {key: ""}), tools=[verify])
        assert result.is_error
        assert key in result.content
        assert "is not expected" in result.content
        assert "age (integer" in result.content
    assert ran == []


def read_file(p: str = "") -> str:
    """Read."""
    return f"read {p}"


def write_file(p: str = "") -> str:
    """Write."""
    return f"wrote {p}"


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", ["reed", "rm", "", "no such tool!", "x" * 90], ids=repr)
def test_arg_08_an_unknown_tool_ends_nothing(wire: str, name: str, mode: Any) -> None:
    replies = [Reply(calls=[Call(name), Call("read_file", {"p": "a"})]), Reply(text="end")]
    with StrictServer(replies) as server:
        agent = agent_on(wire, server, tools=[read_file, write_file], tool_execution=mode)
        assert agent.run_sync("go").answer == "end"
        assert_accepted(server)
        unknown, known = result_texts(server.requests[1]).values()
    assert "the tools are: read_file, write_file" in unknown
    assert known == "read a"


@pytest.mark.parametrize("name", ["Read-File", "readFile", "READ_FILE", "read file", "read.file", "reed_file"])
def test_arg_10_the_nearest_name_is_offered_and_not_run(name: str) -> None:
    ran: list[str] = []

    def read_file(p: str) -> str:
        """Read."""
        ran.append(p)
        return "read"

    (result,) = one_call(scripted(name, {"p": "a"}), tools=[read_file, write_file])
    assert result.is_error
    assert "did you mean 'read_file'?" in result.content
    assert ran == []


@pytest.mark.parametrize("error", [TimeoutError("late"), OSError("broken pipe"), RuntimeError("?")], ids=repr)
def test_arg_25_a_tool_that_failed_is_not_run_again(wire: str, error: Exception) -> None:
    paid: list[int] = []

    def pay() -> str:
        """Pay."""
        paid.append(1)
        raise error

    with StrictServer([Reply(calls=[Call("pay")]), Reply(text="end")]) as server:
        assert agent_on(wire, server, tools=[pay]).run_sync("go").answer == "end"
        assert_accepted(server)
        (text,) = result_texts(server.requests[1]).values()
    assert len(paid) == 1
    assert ("the outcome is unknown" in text) is isinstance(error, TimeoutError)
    assert not any(word in text.lower() for word in ("again", "retry", "repeat"))


def test_arg_25_a_time_limit_says_that_the_outcome_is_unknown() -> None:
    import threading

    paid: list[int] = []
    release = threading.Event()

    def pay() -> str:
        """Pay, and do not end."""
        paid.append(1)
        release.wait(60)
        return "paid"

    try:
        (result,) = one_call(scripted("pay", {}), tools=[Tool.from_callable(pay, time_limit=0.05)])
    finally:
        release.set()
    assert result.is_error
    assert "may" in result.content
    assert paid == [1]
