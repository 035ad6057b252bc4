"""Message order: whatever is added, repeated or blank, on each wire the results stand right behind their calls."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from hookagent import Agent, MisuseError, UserMessage
from hookagent.testing import Call, NoId, Recorder, Reply, ServerCall, StrictServer
from tests.cases import histories
from tests.cases.wires import (
    MODES,
    WIRES,
    agent_on,
    arguments_sent,
    assert_accepted,
    entries,
    result_texts,
    without_ids,
)
from tests.core.scripts import words

BLANKS = ["", " ", "  \n", "\t\r\n", "\u00a0\u2003"]


@pytest.fixture(params=WIRES)
def wire(request: pytest.FixtureRequest) -> str:
    """One wire form after the other."""
    name: str = request.param
    return name


def look(q: str = "") -> str:
    """Look something up."""
    return f"found {q}"


def blank_texts(value: Any) -> list[Any]:
    """The text parts of a request, at any depth, in which there is nothing to see."""
    if isinstance(value, dict):
        own = [value] if "text" in value and isinstance(value["text"], str) and not value["text"].strip() else []
        plain = [value] if isinstance(value.get("content"), str) and not value["content"].strip() else []
        return own + plain + [found for inner in value.values() for found in blank_texts(inner)]
    return [found for inner in value for found in blank_texts(inner)] if isinstance(value, list) else []


def _continue(agent: Agent) -> Any:
    return asyncio.run(agent.continue_())


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("hook", ["after_llm", "before_tools"])
@pytest.mark.parametrize("count", [1, 3])
def test_ord_01_what_is_added_in_an_open_round_lands_behind_it(wire: str, hook: str, mode: Any, count: int) -> None:
    added = iter(["remember the todo list"])
    recorder = Recorder({hook: lambda _: next(added, None)})
    replies = [Reply(calls=[Call("look", {"q": str(n)}) for n in range(count)]), Reply(text="done")]
    with StrictServer(replies) as server:
        agent = agent_on(wire, server, tools=[look], plugins=[recorder], tool_execution=mode)
        run = agent.run_sync("find it")
        assert_accepted(server)
        second = without_ids(server.requests[1])
    assert run.answer == "done"
    assert second == ["user: find it", *["call"] * count, *["result"] * count, "user: remember the todo list"]
    stored = [line[:1] for line in words(agent.transcript)]
    assert stored == ["U", "A", *"R" * count, "U", "A"]
    assert "U remember the todo list <recorder>" in words(agent.transcript)


def test_ord_02_context_of_every_turn_stands_behind_the_results(wire: str) -> None:
    recorder = Recorder({"shape_request": lambda given: given["request"].with_note("ctx")})
    with StrictServer([Reply(calls=[Call("look"), Call("look")]), Reply(text="end")]) as server:
        agent = agent_on(wire, server, tools=[look], plugins=[recorder])
        agent.run_sync("go")
        assert_accepted(server)
        assert without_ids(server.requests[0]) == ["user: go", "user: ctx"]
        second = without_ids(server.requests[1])
        body = server.requests[1].body
    assert second == ["user: go", "call", "call", "result", "result", "user: ctx"]
    if wire == "anthropic":
        kinds = [part["type"] for part in body["messages"][-1]["content"]]
        assert kinds == ["tool_result", "tool_result", "text"]
    if wire == "openai-chat":
        assert [one["role"] for one in body["messages"]] == ["user", "assistant", "tool", "tool", "user"]


@pytest.mark.parametrize("blank", BLANKS, ids=repr)
def test_ord_04_no_blank_text_is_sent_from_anywhere(wire: str, blank: str) -> None:
    def empty() -> str:
        """Give nothing to see."""
        return blank

    recorder = Recorder({"shape_request": lambda given: given["request"].with_note(blank).with_summary(blank)})
    history = [
        histories.user("a"),
        histories.reply(blank),
        histories.user("b"),
        histories.reply("", "c1"),
        histories.result("c1", blank),
        histories.reply("so far"),
    ]
    with StrictServer([Reply(text=blank, calls=[Call("empty")]), Reply(text="end")]) as server:
        session = histories.kept(history)
        agent = agent_on(wire, server, tools=[empty], plugins=[recorder], system_prompt=blank, session=session)
        assert agent.run_sync("next").answer == "end"
        assert_accepted(server)
        bodies = [request.body for request in server.requests]
        texts = result_texts(server.requests[-1])
    assert [blank_texts(body.get("messages", body.get("input"))) for body in bodies] == [[], []]
    assert list(texts.values()) == ["(no output)", "(no output)"]
    assert "c1" in texts


def test_ord_05_trailing_white_space_is_cut_for_the_wire_alone(wire: str) -> None:
    with StrictServer([Reply(text="Sure:\n\n  "), Reply(text="- one")]) as server:
        agent = agent_on(wire, server)
        agent.run_sync("write a list")
        with pytest.raises(MisuseError, match="the last message is an answer and nothing is queued"):
            _continue(agent)
        agent.steer("go on")
        assert _continue(agent).answer == "- one"
        assert_accepted(server)
        assert entries(server.requests[-1])[-1] == ("user", "go on")
    assert agent.transcript[1].text == "Sure:\n\n  "  # type: ignore[union-attr]


def test_ord_05_a_paused_turn_goes_back_without_its_trailing_white_space() -> None:
    paused = Reply(parts=[ServerCall("web_search", {"query": "x"}), "Sure:\n\n  "], stop="pause")
    with StrictServer([paused, Reply(text="done")]) as server:
        agent = agent_on("anthropic", server)
        run = agent.run_sync("write a list")
        assert_accepted(server)
        last = server.requests[-1].body["messages"][-1]
    assert run.answer == "done"
    assert last["role"] == "assistant"
    assert last["content"][-1]["text"] == "Sure:"
    assert agent.transcript[1].text == "Sure:\n\n  "  # type: ignore[union-attr]


def test_ord_07_an_answer_is_never_deleted_to_make_a_request_end_well(wire: str) -> None:
    history = [histories.user("what is it?"), histories.reply("it is 42")]
    with StrictServer([Reply(text="yes")]) as server:
        agent = agent_on(wire, server, session=histories.kept(history))
        agent.follow_up("are you sure?")
        assert _continue(agent).answer == "yes"
        assert_accepted(server)
        sent = entries(server.requests[0])
    assert sent == [("user", "what is it?"), ("assistant", "it is 42"), ("user", "are you sure?")]


@pytest.mark.parametrize("prompt", ["", "  \n", [], [""], UserMessage(" "), ["fine", " "]], ids=repr)
def test_ord_10_an_empty_prompt_is_refused_before_anything_is_sent(wire: str, prompt: Any) -> None:
    with StrictServer() as server:
        agent = agent_on(wire, server, tools=[look], system_prompt="you add numbers")
        for enter in (agent.run_sync, agent.steer, agent.follow_up):
            if prompt == [] and enter != agent.run_sync:
                continue
            with pytest.raises(MisuseError, match="the prompt is empty"):
                enter(prompt)
        assert server.requests == []
    assert len(agent.transcript) == 0


FUNCTION = {"name": "note", "arguments": '{"q": "x"}'}


@pytest.mark.parametrize(
    "elsewhere",
    [
        pytest.param(
            {"content": [{"type": "tool_use", "id": "c1", "name": "note", "input": {"q": "x"}}]}, id="content"
        ),
        pytest.param({"function_call": FUNCTION}, id="function_call"),
    ],
)
def test_ord_11_a_call_that_comes_in_two_places_is_one_call(elsewhere: dict[str, Any]) -> None:
    ran: list[str] = []

    def note(q: str) -> str:
        """Note something."""
        ran.append(q)
        return "noted"

    call = {"index": 0, "id": "c1", "type": "function", "function": FUNCTION}
    delta = {"role": "assistant", "tool_calls": [call], **elsewhere}
    raw = {
        "id": "1", "object": "chat.completion.chunk", "created": 1, "model": "gpt-5",
        "choices": [{"index": 0, "delta": delta, "finish_reason": "tool_calls"}],
    }  # fmt: skip
    with StrictServer([Reply(raw=raw), Reply(text="end")]) as server:
        agent = agent_on("openai-chat", server, tools=[note])
        assert agent.run_sync("go").answer == "end"
        assert_accepted(server)
        sent = entries(server.requests[1])
    assert ran == ["x"]
    assert sent == [("user", "go"), ("call", "c1"), ("result", "c1")]


def test_ord_12_a_saved_call_that_stands_twice_is_sent_with_ids_of_its_own(wire: str) -> None:
    history = [histories.user("a"), histories.reply("x", "c1", "c1"), histories.result("c1", "real")]
    with StrictServer([Reply(text="end")]) as server:
        run = agent_on(wire, server, session=histories.kept(history)).run_sync("b")
        assert run.answer == "end"
        assert_accepted(server)
        sent = entries(server.requests[0])
    ids = [text for kind, text in sent if kind == "call"]
    assert ids.count("c1") == 1
    assert [text for kind, text in sent if kind == "result"] == ids
    assert any("'c1' is blank or was used before" in problem for problem in run.warnings)


@pytest.mark.parametrize("call_id", ["k", "edit:22", "", NoId.MISSING, NoId.NULL], ids=str)
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    "shape", [pytest.param((1, 1, 1), id="ORD-14"), pytest.param((2,), id="ORD-15"), pytest.param((3, 2), id="both")]
)
def test_ord_14_15_an_id_given_twice_swallows_no_call(
    wire: str, shape: tuple[int, ...], call_id: Any, mode: Any
) -> None:
    ran: list[int] = []

    async def double(x: int) -> int:
        """Give twice the number."""
        ran.append(x)
        return x * 2

    numbers = iter(range(1, 10))
    replies = [Reply(calls=[Call("double", {"x": next(numbers)}, id=call_id) for _ in range(size)]) for size in shape]
    with StrictServer([*replies, Reply(text="end")]) as server:
        agent = agent_on(wire, server, tools=[double], tool_execution=mode)
        assert agent.run_sync("go").answer == "end"
        assert_accepted(server)
        last = server.requests[-1]
    wanted = list(range(1, sum(shape) + 1))
    assert ran == wanted
    texts, arguments = result_texts(last), arguments_sent(last)
    assert len(texts) == len(arguments) == len(wanted)
    assert [(arguments[one]["x"], texts[one]) for one in arguments] == [(n, str(2 * n)) for n in wanted]


@pytest.mark.parametrize("hook", ["before_llm", "after_user_input", "shape_request"])
def test_ord_17_text_added_inside_the_history_is_of_the_user_role(wire: str, hook: str) -> None:
    text = "today is Monday"
    added = iter([text])
    returns: dict[str, Any] = {hook: lambda _: next(added, None)}
    if hook == "shape_request":
        returns = {hook: lambda given: given["request"].with_note(text)}
    with StrictServer([Reply(text="2")]) as server:
        session = histories.kept([histories.user("one"), histories.reply("1")])
        agent = agent_on(wire, server, plugins=[Recorder(returns)], system_prompt="Be short.", session=session)
        agent.run_sync("two")
        assert_accepted(server)
        request = server.requests[0]
    sent = entries(request)
    assert sent.count(("user", text)) == 1
    assert [text for kind, text in sent if kind == "system"] == ["Be short."]
    assert sent[0][0] == "system"
    if wire == "anthropic":
        assert {message["role"] for message in request.body["messages"]} == {"user", "assistant"}
