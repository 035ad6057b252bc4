"""Histories that a crash, a cut or a foreign hand left broken: repaired at their place, sound ones sent unchanged."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hookagent import Agent
from hookagent.sessions.record_kinds import Record
from hookagent.testing import Call, Recorder, Reply, StrictServer, Thinking
from tests.cases.checked_model import CheckedModel
from tests.cases.histories import kept, reply, result, started, user
from tests.cases.wires import WIRES, agent_on, assert_accepted, entries, result_texts
from tests.core.scripts import words


@pytest.fixture(params=WIRES)
def wire(request: pytest.FixtureRequest) -> str:
    """One wire form after the other."""
    name: str = request.param
    return name


def t() -> str:
    """Do it."""
    return "done"


def keep_newest(count: int) -> Recorder:
    """A plugin that sends only the newest blocks, `count` of them."""

    def shape(given: dict[str, Any]) -> Any:
        request = given["request"]
        return request.dropping_before(len(request.blocks.transcript) - count)

    return Recorder({"shape_request": shape})


def sent_next(wire: str, records: Sequence[Record], *plugins: Any) -> tuple[list[tuple[str, str]], dict[str, str]]:
    """What the next request of a resumed session holds, and its results by call id."""
    with StrictServer([Reply(text="fine")]) as server:
        agent = agent_on(wire, server, tools=[t], plugins=plugins, session=kept(records))
        assert agent.run_sync("newest question").answer == "fine"
        assert_accepted(server)
        return entries(server.requests[0]), result_texts(server.requests[0])


@pytest.mark.parametrize("was_started", [True, False], ids=["started", "not-started"])
@pytest.mark.parametrize("ids", [("c1",), ("c1", "c2")], ids=["one", "two"])
def test_abr_03_an_orphan_call_is_answered_at_its_place(wire: str, ids: tuple[str, ...], was_started: bool) -> None:
    begun = [started(one) for one in ids if was_started]
    records = [user("a"), reply("", *ids), *begun, user("b"), reply("ok")]
    sent, texts = sent_next(wire, records)
    called = [("call", one) for one in ids]
    answered = [("result", one) for one in ids]
    tail = [("user", "b"), ("assistant", "ok"), ("user", "newest question")]
    assert sent == [("user", "a"), *called, *answered, *tail]
    wanted = "it may have run" if was_started else "before it started"
    assert all(wanted in text for text in texts.values())


@settings(max_examples=60, deadline=None)
@given(
    shapes=st.lists(st.sampled_from(["U", "A", "R1", "R2"]), max_size=8),
    count=st.integers(0, 9),
)
def test_abr_07_a_cut_falls_between_rounds_and_keeps_the_task(shapes: list[str], count: int) -> None:
    records: list[Record] = [user("the task")]
    for number, shape in enumerate(shapes):
        ids = [f"c{number}_{one}" for one in range(int(shape[1:] or 0))]
        records += [user(f"u{number}")] if shape == "U" else [reply(f"a{number}", *ids)]
        records += [result(one, "r") for one in ids]
    model = CheckedModel(["fine"])
    agent = Agent(tools=[t], model=model, plugins=[keep_newest(count)], session=kept(records))
    assert agent.run_sync("newest question").answer == "fine"
    view = list(model.requests[0].blocks)
    assert getattr(view[0], "text", "") == "the task"
    assert getattr(view[-1], "text", "") == "newest question"
    assert len(view) == min(max(count, 1) + 1, len(agent.transcript) - 1)


def test_abr_07_the_last_four_messages_of_two_rounds(wire: str) -> None:
    rounds: list[Record] = [reply("", "c1"), result("c1", "r1"), reply("", "c2"), result("c2", "r2"), reply("mid")]
    sent, _ = sent_next(wire, [user("task"), *rounds], keep_newest(3))
    assert sent[:1] == [("user", "task")]
    assert sent[1:3] == [("call", "c2"), ("result", "c2")]


@pytest.mark.parametrize("count", range(5))
def test_abr_09_an_orphan_result_costs_no_question(wire: str, count: int) -> None:
    records = [user("old"), reply("x"), user("the one before"), result("c7", "stray")]
    sent, texts = sent_next(wire, records, keep_newest(count))
    assert texts == {}
    assert sent[-1] == ("user", "newest question")
    assert (("user", "the one before") in sent) is (count >= 2)
    assert sent[0] == ("user", "old")


@pytest.mark.parametrize("order", ["real first", "stray first"])
def test_abr_10_one_result_per_call_and_none_without(wire: str, order: str) -> None:
    results = [result("c1", "real"), result("c1", "again"), result("c2", "stray")]
    if order == "stray first":
        results = [results[2], *results[:2]]
    sent, texts = sent_next(wire, [user("a"), reply("", "c1"), *results])
    assert texts == {"c1": "real"}
    assert sent == [("user", "a"), ("call", "c1"), ("result", "c1"), ("user", "newest question")]


@pytest.mark.parametrize("redacted", [False, True], ids=["thinking", "redacted"])
def test_abr_11_signed_thinking_comes_back_from_disk_as_it_was(wire: str, redacted: bool) -> None:
    thinking = Thinking("plan: \u00e9 \U0001f642\n", redacted)
    first = Reply(thinking=thinking, text="I look.", calls=[Call("t")])
    # Servers of one key take each other's signatures, and none that was changed.
    with StrictServer([first, Reply(text="found")], signing_key=b"k") as server:
        live = agent_on(wire, server, tools=[t])
        live.run_sync("go")
        live.close_sync()
        assert_accepted(server)
        replayed_live = list_of(server.requests[1].body)
    with StrictServer([Reply(text="fine")], signing_key=b"k") as server:
        agent = agent_on(wire, server, tools=[t], session=live.session.id)
        run = agent.run_sync("next")
        assert (run.answer, run.warnings) == ("fine", ())
        assert_accepted(server)
        replayed = list_of(server.requests[0].body)
    assert agent.transcript[1] == live.transcript[1]
    assert unmarked(replayed[: len(replayed_live)]) == unmarked(replayed_live)


def list_of(body: Any) -> list[Any]:
    """The messages or items of a request."""
    found: list[Any] = body.get("messages", body.get("input"))
    return found


def unmarked(value: Any) -> Any:
    """The same without the marks for the vendor's prompt cache, which move on with each request."""
    if isinstance(value, dict):
        return {key: unmarked(inner) for key, inner in value.items() if key != "cache_control"}
    return [unmarked(inner) for inner in value] if isinstance(value, list) else value


HISTORIES: dict[str, tuple[list[Record], list[str]]] = {
    "call without result": ([user("a"), reply("", "c1"), user("b"), reply("x")], ["c1"]),
    "result without call": ([user("a"), result("c1", "x"), user("b"), reply("x")], []),
    "both": ([user("a"), result("c0", "x"), reply("", "c1"), user("b"), result("c2", "x"), reply("x")], ["c1"]),
}


@pytest.mark.parametrize("history", HISTORIES)
def test_abr_19_both_mirror_images_are_repaired_by_one_rule(wire: str, history: str) -> None:
    records, answered = HISTORIES[history]
    sent, texts = sent_next(wire, records)
    assert list(texts) == answered
    assert all("not run" in text for text in texts.values())
    assert [entry for entry in sent if entry[0] == "user"] == [
        ("user", "a"),
        ("user", "b"),
        ("user", "newest question"),
    ]


def test_abr_19_a_sound_history_is_sent_unchanged(wire: str) -> None:
    replies = [Reply(text="so", calls=[Call("t", id="c1"), Call("t", id="c2")]), Reply(text="x"), Reply(text="y")]
    bodies = []
    with StrictServer([*replies, *replies]) as server:
        live = agent_on(wire, server, tools=[t])
        live.run_sync("a")
        live.run_sync("b")
        bodies.append(server.requests[-1].body)
        saved = agent_on(wire, server, tools=[t])
        saved.run_sync("a")
        saved.close_sync()
        agent = agent_on(wire, server, tools=[t], session=saved.session.id)
        run = agent.run_sync("b")
        bodies.append(server.requests[-1].body)
        assert_accepted(server)
    assert (run.answer, run.warnings) == ("y", ())
    first, second = (unmarked({**body, "prompt_cache_key": None}) for body in bodies)
    assert first == second
    assert words(agent.transcript) == words(live.transcript)
