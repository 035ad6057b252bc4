"""Results: any value becomes bounded, visible, valid text; failures say so; no tool ends the host."""

from __future__ import annotations

import asyncio
import io
import json
from collections.abc import Callable
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hookagent import ToolResult
from hookagent.testing import Call, Reply, StrictServer
from hookagent_tool_logging import ToolLogging
from tests.cases.histories import on_disk
from tests.cases.wires import MODES, WIRES, agent_on, assert_accepted, entries, result_texts
from tests.core.scripts import calls, make_agent, words


@pytest.fixture(params=WIRES)
def wire(request: pytest.FixtureRequest) -> str:
    """One wire form after the other."""
    name: str = request.param
    return name


def gives(value: Any) -> Callable[[], Any]:
    """A tool that gives a value."""

    def t() -> Any:
        """Give it."""
        return value

    return t


def one_result(tool: Any, **options: Any) -> ToolResult:
    """The result of one call of the tool `t`."""
    agent = make_agent([calls("t"), "end"], tools=[tool], **options)
    assert agent.run_sync("go").answer == "end"
    (result,) = [one for one in agent.transcript.messages() if isinstance(one, ToolResult)]
    return result


def strict_json(text: str) -> Any:
    """Read JSON without bare words that are no JSON."""

    def refuse(word: str) -> Any:
        raise AssertionError(f"{word} is not JSON")

    return json.loads(text, parse_constant=refuse)


class Unspeakable:
    """An object whose text forms raise."""

    def __repr__(self) -> str:
        raise RuntimeError("no")

    __str__ = __repr__
    __format__ = __repr__  # type: ignore[assignment]


def test_res_01_a_structure_with_everything_in_it() -> None:
    value = {
        date(2024, 1, 2): datetime(2024, 1, 2, 3, 4),
        "d": Decimal("1.5"),
        "s": {1},
        "o": Unspeakable(),
        Unspeakable: b"\xff",
    }
    result = one_result(gives(value))
    assert not result.is_error
    for part in ("2024-01-02", "2024-01-02T03:04", "1.5", "Unspeakable"):
        assert part in result.content


ANY_VALUE = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(),
        st.floats(),
        st.text(st.characters(codec=None), max_size=6),
        st.binary(max_size=6),
        st.dates(),
        st.datetimes(),
        st.decimals(),
        st.complex_numbers(),
        st.builds(Unspeakable),
        st.just(Path("x")),
        st.just(io.StringIO()),
    ),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.tuples(inner, inner)
        | st.dictionaries(st.none() | st.text(max_size=3) | st.dates() | st.floats(), inner, max_size=3)
    ),
    max_leaves=6,
)


@settings(max_examples=60, deadline=None)
@given(value=ANY_VALUE)
def test_res_01_any_value_becomes_visible_valid_text(value: Any) -> None:
    result = one_result(gives(value))
    assert result.content.strip()
    result.content.encode()
    assert result.status == "ok"


EMPTY: list[Any] = ["", " \n", "\u200b", [], {}, (), None]


@pytest.mark.parametrize("value", EMPTY, ids=repr)
def test_res_03_17_an_empty_output_says_no_more_than_that(wire: str, value: Any) -> None:
    with StrictServer([Reply(calls=[Call("t"), Call("t")]), Reply(text="end")]) as server:
        assert agent_on(wire, server, tools=[gives(value)]).run_sync("go").answer == "end"
        assert_accepted(server)
        texts = list(result_texts(server.requests[1]).values())
    assert len(texts) == 2
    assert set(texts) <= {"(no output)", "[]", "{}", "null"}
    if isinstance(value, str):
        assert texts == ["(no output)"] * 2


@pytest.mark.parametrize(
    "failed",
    [
        ToolResult("connection refused", is_error=True),
        ToolResult("", is_error=True, error_type="connection refused"),
        ToolResult(" ", status="error", error_type="connection refused"),
        {"ok": False, "error": "connection refused", "content": None},
        ConnectionError("connection refused"),
    ],
    ids=["text", "type alone", "blank", "field", "exception given back"],
)
def test_res_05_a_failure_without_content_shows_its_error(wire: str, failed: Any) -> None:
    with StrictServer([Reply(calls=[Call("t")]), Reply(text="end")]) as server:
        agent = agent_on(wire, server, tools=[gives(failed)])
        assert agent.run_sync("go").answer == "end"
        assert_accepted(server)
        (text,) = result_texts(server.requests[1]).values()
    assert "connection refused" in text
    result = next(one for one in agent.transcript.messages() if isinstance(one, ToolResult))
    assert result.is_error is not isinstance(failed, dict)


def interrupting() -> str:
    """Press Ctrl-C."""
    raise KeyboardInterrupt


async def interrupting_async() -> str:
    """Press Ctrl-C, asynchronously."""
    raise KeyboardInterrupt


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("tool", [interrupting, interrupting_async])
def test_res_06_an_interrupt_stops_the_run_with_all_calls_answered(wire: str, mode: Any, tool: Any) -> None:
    name = tool.__name__
    with StrictServer([Reply(calls=[Call(name), Call(name)]), Reply(text="back")]) as server:
        agent = agent_on(wire, server, tools=[tool], tool_execution=mode)
        with pytest.raises(KeyboardInterrupt):
            agent.run_sync("go")
        assert len(server.requests) == 1
        lines = words(agent.transcript)
        assert [line[0] for line in lines] == ["U", "A", "R", "R"]
        assert agent.last_result is not None
        assert agent.last_result.status == "aborted"
        assert agent.run_sync("go on").answer == "back"
        assert_accepted(server)
        assert "interrupt" in next(iter(result_texts(server.requests[1]).values()))


@pytest.mark.parametrize("code", ["exit()", "exit(3)", "import sys; sys.exit('bye')", "raise SystemExit"])
@pytest.mark.parametrize("kind", ["plain", "async"])
def test_res_08_a_tool_cannot_end_the_host(code: str, kind: str) -> None:
    def t() -> str:
        """Run code in this process."""
        exec(code)
        return "ran"

    async def t_async() -> str:
        """Run code in this process."""
        return t()

    tool: Any = t
    if kind == "async":
        t_async.__name__ = "t"
        tool = t_async
    result = one_result(tool)
    assert result.is_error
    assert "the tool tried to exit the process" in result.content


LONE = ["a\ud835b", "a\udce9b", "a\udc00\ud800b"]


@pytest.mark.parametrize("text", LONE, ids=ascii)
def test_res_09_half_a_pair_reaches_neither_wire_nor_disk(wire: str, text: str) -> None:
    def t() -> str:
        """Give broken text."""
        return text

    with StrictServer([Reply(text="x\\", calls=[Call("t")]), Reply(text="end"), Reply(text="end")]) as server:
        agent = agent_on(wire, server, tools=[t], system_prompt=text)
        agent.run_sync(text)
        agent.steer(text)
        agent.run_sync(text)
        assert_accepted(server)
        sent = entries(server.requests[-1])
        texts = [*result_texts(server.requests[-1]).values(), *(one for kind, one in sent if kind == "user")]
    assert len(texts) == 4
    assert all(one[0] == "a" and one[-1] == "b" for one in texts)
    for record in on_disk(agent.session.id):
        record.data.encode()


@pytest.mark.parametrize("raw", ['{"x": NaN}', '{"x": -Infinity}', '{"x": 1e400}', '{"x": [1, NaN]}'])
def test_res_12_numbers_that_json_has_not_never_reach_a_request(wire: str, raw: str) -> None:
    ran: list[Any] = []

    def t(x: Any = None) -> Any:
        """Give such numbers."""
        ran.append(x)
        return {"a": float("nan"), "b": float("-inf"), "c": [float("inf")]}

    with StrictServer([Reply(calls=[Call("t", raw), Call("t")]), Reply(text="end")]) as server:
        agent = agent_on(wire, server, tools=[t])
        assert agent.run_sync("go").answer == "end"
        assert_accepted(server)
        refused, given_back = result_texts(server.requests[1]).values()
    assert ran == [None]
    assert "arguments" in refused
    assert set(strict_json(given_back)) == {"a", "b", "c"}
    for record in on_disk(agent.session.id):
        strict_json(record.data)


@pytest.mark.parametrize("limit", [24_000, 100, 1_000_000])
@pytest.mark.parametrize("filling", ["x", "\U0001f642", "e\u0301", "\r\n"], ids=ascii)
def test_res_13_one_limit_for_every_tool(wire: str, limit: int, filling: str) -> None:
    big = "A" + filling * (200_000 // len(filling)) + "Z"

    async def other() -> list[str]:
        """Give it in a list."""
        return [big]

    with StrictServer([Reply(calls=[Call("t"), Call("other")]), Reply(text="end")]) as server:
        agent = agent_on(wire, server, tools=[gives(big), other], tool_result_limit=limit)
        assert agent.run_sync("go").answer == "end"
        assert_accepted(server)
        text, listed = result_texts(server.requests[1]).values()
    assert (text[0], text[-1]) == ("A", "Z")
    assert "A" in listed[:4]
    if limit == 1_000_000:
        assert text == big
        return
    notice = "characters left out"
    assert all(notice in one and len(one) <= limit + 100 for one in (text, listed))
    assert f"of {len(big):,} {notice}" in text
    left_out = int(text.partition("[… ")[2].partition(" of ")[0].replace(",", ""))
    head, _, rest = text.partition("\n[… ")
    assert len(head) + left_out + len(rest.partition("]\n")[2]) == len(big)
    assert rest.partition("]\n")[2][0] in (filling[0], "Z")


@pytest.mark.parametrize("mode", MODES)
def test_res_15_a_failure_is_flagged_beside_its_text(wire: str, mode: Any, tmp_path: Path) -> None:
    def f() -> str:
        """Fail."""
        raise PermissionError("403")

    log = tmp_path / "tools.jsonl"
    plugin = ToolLogging(ToolLogging.Options(file=str(log)))
    with StrictServer([Reply(calls=[Call("f"), Call("t")]), Reply(text="end")]) as server:
        agent = agent_on(wire, server, tools=[f, gives([])], plugins=[plugin], tool_execution=mode)
        assert agent.run_sync("go").answer == "end"
        asyncio.run(agent.close())
        assert_accepted(server)
        request = server.requests[1]
    failed, empty = result_texts(request).values()
    assert "PermissionError: 403" in failed
    assert "403" not in empty
    if wire == "anthropic":
        parts = [part for message in request.body["messages"] for part in message["content"]]
        flags = [part.get("is_error", False) for part in parts if part["type"] == "tool_result"]
        assert flags == [True, False]
    lines = [strict_json(line) for line in log.read_text(encoding="utf-8").splitlines()]
    statuses = {line["tool"]: line["status"] for line in lines if "status" in line}
    assert statuses == {"f": "error", "t": "ok"}
