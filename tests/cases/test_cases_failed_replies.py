"""Public cases about replies that fail, on the wire: what is tried again, and what is never taken for an answer."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from hookagent import Agent, Retry, RunResult
from hookagent.providers import RetryPolicy
from hookagent.testing import Call, Fault, NoId, Reply, ServerCall, StrictServer
from tests.cases.histories import kept, reply, result, started, user
from tests.cases.wires import WIRES, agent_on, arguments_sent, assert_accepted, result_texts

WAITS = RetryPolicy(max_attempts=3, first_wait=0.001, max_wait=0.001)


def t(n: int = 0) -> str:
    """Do something."""
    return f"did {n}"


def run_retrying(wire: str, replies: Sequence[Any], listen: bool = False) -> tuple[RunResult, list[Any], int]:
    """The result, the retries that were announced, and how many requests were made."""
    with StrictServer(replies) as server:
        agent = Agent(model=WIRES[wire](server), retry_policy=WAITS)
        if listen:
            agent.subscribe(lambda event: None)
        result = agent.run_sync("Go.")
        assert_accepted(server)
    return result, [event for event in result.session.trace if isinstance(event, Retry)], len(server.requests)


def texts(result: RunResult) -> list[str]:
    return [getattr(message, "text", "") for message in result.session.transcript.messages()]


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize(("status", "code"), [(529, "server_is_overloaded"), (500, "server_error"), (503, None)])
@pytest.mark.parametrize("after", [0, None], ids=["before any text", "after the text"])
def test_prv_01_an_overload_inside_a_stream_is_tried_again_while_nobody_saw_a_piece(
    wire: str, status: int, code: str | None, after: int | None
) -> None:
    fault = Fault(kind="error_event", status=status, code=code, after=after)
    replies = [Reply(text="a first half", fault=fault), Reply(text="hello")]
    result, retries, requests = run_retrying(wire, replies)
    assert (result.status, result.answer, requests) == ("completed", "hello", 2)
    assert [(one.attempt, one.wait_seconds > 0) for one in retries] == [(2, True)]
    assert texts(result) == ["Go.", "hello"]
    # Where somebody listens, a text that was shown is not said again from the start.
    result, retries, requests = run_retrying(wire, replies, listen=True)
    shown = after is None
    assert (result.status, requests, len(retries)) == (("failed", 1, 0) if shown else ("completed", 2, 1))
    assert texts(result) == (["Go."] if shown else ["Go.", "hello"])


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize("kind", ["cut", "drop"])
@pytest.mark.parametrize("after", [0, 1, 2, None])
def test_prv_02_a_stream_without_its_end_is_never_the_answer(wire: str, kind: Any, after: int | None) -> None:
    broken = Reply(text="The ans", fault=Fault(kind=kind, after=after))
    result, retries, requests = run_retrying(wire, [broken, Reply(text="The answer is 4")])
    assert (result.status, result.answer, requests) == ("completed", "The answer is 4", 2)
    assert len(retries) == 1
    assert texts(result) == ["Go.", "The answer is 4"]
    result, _, requests = run_retrying(wire, [broken] * 3)
    assert (result.status, result.answer, requests) == ("failed", "", 3)
    assert texts(result) == ["Go."]


NO_CHOICE: list[tuple[Any, str]] = [
    ({"choices": None}, '{"choices": null}'),
    ({"choices": []}, '{"choices": []}'),
    ({}, "choices"),
    ({"error": {"message": "busy"}}, "busy"),
]
NO_REPLY: list[tuple[Any, str]] = [("", "ended"), *((f"data: {text}\n\n", "") for text in ("{}", "null", "[]", "3"))]
WRONG_SHAPES: list[tuple[str, Any, str]] = [
    ("openai-chat", {"choices": 3}, "cannot be read"),
    ("openai-chat", [{"choices": [{"delta": {"content": "x"}, "finish_reason": [3]}]}], "cannot be read"),
    ("openai", [{"type": "response.completed", "response": []}], "expected an object, got []"),
    ("openai", [{"type": "response.completed", "response": {"output": [None]}}], "expected an object, got None"),
    ("anthropic", [{"type": "content_block_start", "index": 0, "content_block": "x"}], "expected an object, got 'x'"),
]


@pytest.mark.parametrize(
    ("wire", "raw", "said"),
    [("openai-chat", raw, said) for raw, said in NO_CHOICE]
    + [(wire, raw, said) for wire in WIRES for raw, said in NO_REPLY]
    + WRONG_SHAPES,
)
def test_prv_05_a_reply_without_content_is_a_typed_error_that_shows_it(wire: str, raw: Any, said: str) -> None:
    with StrictServer([Reply(raw=raw), Reply(text="later")]) as server:
        agent = agent_on(wire, server)
        result = agent.run_sync("Go.")
        assert (result.status, result.answer) == ("failed", "")
        assert result.reason.startswith(f"{wire}: ")
        assert said in result.reason
        assert "AttributeError" not in result.reason
        assert texts(result) == ["Go."]
        assert agent.run_sync("Once more.").answer == "later"
        assert_accepted(server)


@pytest.mark.parametrize(
    "raw",
    [
        {"choices": [], "prompt_filter_results": [{"violence": "filtered"}]},
        {"choices": None, "prompt_filter_results": [{"prompt_index": 0, "hate": {"filtered": True}}]},
    ],
)
def test_prv_06_a_filtered_prompt_says_what_filtered_it_and_is_not_tried_again(raw: dict[str, Any]) -> None:
    result, retries, requests = run_retrying("openai-chat", [Reply(raw=raw), Reply(text="never asked for")])
    assert (result.status, requests, retries) == ("failed", 1, [])
    assert "filtered" in result.reason
    assert json.dumps(raw["prompt_filter_results"]) in result.reason


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize(
    ("stop", "text", "status", "reason"),
    [
        ("content_filter", "", "failed", "filtered"),
        ("content_filter", "x", "failed", "filtered"),
        ("length", "", "failed", "length"),
        ("length", "x", "limit", "length"),
        ("weird_new", "", "failed", "unknown"),
        ("weird_new", "x", "completed", "unknown"),
    ],
)
def test_prv_07_an_empty_reply_is_never_an_answer_and_unknown_reasons_stay_unknown(
    wire: str, stop: str, text: str, status: str, reason: str
) -> None:
    if wire == "anthropic" and stop == "content_filter":
        stop, reason = "refusal", "refusal"  # its own word for the same
    if wire == "openai" and stop == "weird_new":
        pytest.skip("a response has no word for the end of its own; it is complete or not")
    result, _, requests = run_retrying(wire, [Reply(text=text, stop=stop)])
    assert (result.status, requests) == (status, 1)
    said = "output limit" if status == "limit" else reason
    assert said in (result.reason or said)
    assert result.reason or text
    stops = [getattr(message, "stop_reason", None) for message in result.session.transcript.messages()]
    assert stops[1:] == ([reason] if text else [])


def test_prv_07_an_end_by_the_models_own_limit_is_a_cut_reply() -> None:
    result, _, _ = run_retrying("openai-chat", [Reply(text="x", stop="model_length")])
    assert (result.status, result.limit) == ("limit", "model_settings.max_output_tokens")


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize("ids", [("", NoId.NULL, NoId.MISSING), ("", "", ""), (NoId.MISSING, "a", NoId.MISSING)])
def test_prv_10_calls_without_an_id_get_one_each_and_keep_it(wire: str, ids: tuple[Any, ...]) -> None:
    calls = [Call("t", {"n": number}, one) for number, one in enumerate(ids)]
    with StrictServer([Reply(calls=calls), Reply(text="end")]) as server:
        result = agent_on(wire, server, tools=[t]).run_sync("Go.")
        assert_accepted(server)
    assert result.answer == "end"
    arguments, given = arguments_sent(server.requests[1]), result_texts(server.requests[1])
    assert list(arguments) == list(given)
    assert len(given) == 3
    assert all(given)
    assert "a" in given or "a" not in ids
    assert {arguments[one]["n"]: text for one, text in given.items()} == {0: "did 0", 1: "did 1", 2: "did 2"}


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize("no_id", ["", NoId.NULL, NoId.MISSING])
def test_prv_12_an_id_that_was_made_when_reading_is_the_same_after_a_resume(wire: str, no_id: Any, home: Path) -> None:
    with StrictServer([Reply(calls=[Call("t", {"n": 1}, no_id)]), Reply(text="left"), Reply(text="back")]) as server:
        agent = agent_on("openai-chat", server, tools=[t])
        agent.run_sync("Go.")
        agent.close_sync()
        again = agent_on(wire, server, tools=[t], session=agent.session.id)
        assert again.run_sync("On.").answer == "back"
        again.close_sync()
        assert_accepted(server)
    (given,) = result_texts(server.requests[1])
    assert given
    assert list(arguments_sent(server.requests[2])) == list(result_texts(server.requests[2])) == [given]


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize("count", [1, 2])
def test_prv_12_a_saved_call_without_an_id_is_sent_with_one(wire: str, count: int, home: Path) -> None:
    records: list[Any] = [user("a")]
    for number in range(count):
        records += [reply("", ""), started(""), result("", f"x{number}")]
    with StrictServer([Reply(text="back")]) as server:
        agent = agent_on(wire, server, tools=[t], session=kept(records))
        assert agent.run_sync("On.").answer == "back"
        agent.close_sync()
        assert_accepted(server)
    given = result_texts(server.requests[0])
    assert list(arguments_sent(server.requests[0])) == list(given)
    assert all(given)
    assert list(given.values()) == [f"x{number}" for number in range(count)]


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize("stop", ["end", "stop_sequence"])
@pytest.mark.parametrize("count", [1, 3])
def test_prv_13_calls_that_came_decide_and_not_the_word_for_the_end(wire: str, stop: str, count: int) -> None:
    calls = [Call("t", {"n": number}, f"c{number}") for number in range(count)]
    settings = {"stop": ["###"]} if wire != "openai" and stop == "stop_sequence" else {}
    with StrictServer([Reply(text="first", calls=calls, stop=stop), Reply(text="end")]) as server:
        result = agent_on(wire, server, tools=[t], model_settings=settings).run_sync("Go.")
        assert_accepted(server)
    assert (result.answer, result.tool_calls) == ("end", count)
    assert result_texts(server.requests[1]) == {f"c{number}": f"did {number}" for number in range(count)}


@pytest.mark.parametrize("pauses", [1, 2])
@pytest.mark.parametrize("text", ["", "Searching."])
def test_prv_19_a_paused_turn_goes_back_unchanged_and_goes_on(pauses: int, text: str) -> None:
    def paused(number: int) -> Reply:
        call = ServerCall("web_search", {"query": "x"}, f"srvtoolu_{number}", None if number == pauses - 1 else [])
        return Reply(parts=[text, call] if text else [call], stop="pause")

    found: list[dict[str, Any]] = [
        {"type": "web_search_tool_result", "tool_use_id": f"srvtoolu_{pauses - 1}", "content": []},
        {"type": "text", "text": "done"},
    ]
    received: list[Any] = []

    def finish(body: Any) -> Reply:
        received.append(body["messages"][-1])
        return Reply(raw=finished_stream(found))

    with StrictServer([*(paused(number) for number in range(pauses)), finish]) as server:
        result = agent_on("anthropic", server).run_sync("Go.")
        assert_accepted(server)
    assert (result.status, result.answer, result.iterations) == ("completed", "done", pauses + 1)
    (last,) = received
    assert last["role"] == "assistant"
    sent = [(block["type"], block.get("id")) for block in last["content"] if block["type"] == "server_tool_use"]
    assert sent == [("server_tool_use", f"srvtoolu_{number}") for number in range(pauses)]
    assert [block["text"] for block in last["content"] if block["type"] == "text"] == [text] * pauses * bool(text)
    assert last["content"][-1]["input"] == {"query": "x"}


def finished_stream(blocks: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The events of a Messages stream that says these blocks and ends the turn."""
    usage = {"input_tokens": 5, "output_tokens": 5}
    head = {"id": "msg_1", "type": "message", "role": "assistant", "model": "m", "content": [], "usage": usage}
    events: list[dict[str, Any]] = [{"type": "message_start", "message": head}]
    for index, block in enumerate(blocks):
        events.append({"type": "content_block_start", "index": index, "content_block": block})
        events.append({"type": "content_block_stop", "index": index})
    delta = {"stop_reason": "end_turn", "stop_sequence": None}
    return [*events, {"type": "message_delta", "delta": delta, "usage": usage}, {"type": "message_stop"}]
