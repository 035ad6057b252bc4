"""What servers send, read through the real SDKs from the strict server: replies, oddities, faults."""

from __future__ import annotations

import json
from typing import Any

import pytest

from hookagent.errors import ProviderError
from hookagent.messages import AssistantMessage, ProviderPart, TextPart, ToolCall, UserMessage
from hookagent.providers.base import Delta
from hookagent.testing import Call, Fault, NoId, Reply, ServerCall, StrictServer, Thinking, Usage
from hookagent.transcript import Transcript


def failure(ask: Any, provider: Any, request: Any) -> ProviderError:
    with pytest.raises(ProviderError) as failed:
        ask(provider, request)
    error: ProviderError = failed.value
    return error


def test_text_thinking_and_calls_come_in_order_and_as_deltas(
    wire: Any, make_request: Any, items_of: Any, tool: Any
) -> None:
    reply = Reply(thinking="hm", text="I look é漢", calls=[Call("t", {"q": "é"}), Call("t", {"q": "b"})])
    with StrictServer([reply]) as server:
        items = items_of(wire.provider(server), make_request("hi", tools=(tool(q="string"),)))
    message = items[-1]
    visible = [part for part in message.parts if not isinstance(part, ProviderPart) or part.kind != "item"]
    assert [type(part) for part in visible] == [ProviderPart, TextPart, ToolCall, ToolCall]
    assert message.text == "I look é漢"
    assert [call.arguments for call in message.tool_calls] == [{"q": "é"}, {"q": "b"}]
    assert message.stop_reason == "tool_calls"
    assert (message.model, message.provider) == (wire.model, wire.name)
    streamed = {kind: "".join(i.text for i in items if isinstance(i, Delta) and i.kind == kind) for kind in ("text",)}
    assert streamed["text"] == message.text
    arguments = "".join(item.text for item in items if isinstance(item, Delta) and item.kind == "arguments")
    assert arguments.count('"q"') == 2


def test_four_counts_do_not_overlap_and_are_the_same_on_all_wires(wire: Any, make_request: Any, ask: Any) -> None:
    usage = Usage(input_tokens=50, output_tokens=7, cache_read_tokens=150, cache_write_tokens=100)
    with StrictServer([Reply(text="x", usage=usage)]) as server:
        counted = ask(wire.provider(server), make_request("hi")).usage
    assert (counted.input_tokens, counted.cache_read_tokens, counted.cache_write_tokens) == (50, 150, 100)
    assert (counted.prompt_tokens, counted.output_tokens, counted.requests) == (300, 7, 1)
    assert counted.cost_usd is not None


def test_an_unknown_price_stays_unknown(wire: Any, make_request: Any, ask: Any) -> None:
    with StrictServer([Reply(text="x")]) as server:
        assert ask(wire.provider(server, model="my-own-model"), make_request("hi")).usage.cost_usd is None


@pytest.mark.parametrize(
    ("stop", "reason", "wires_with_it"),
    [
        ("end", "end", ("anthropic", "openai", "openai-chat")),
        ("length", "length", ("anthropic", "openai", "openai-chat")),
        ("stop_sequence", "stop_sequence", ("anthropic",)),
        ("refusal", "refusal", ("anthropic", "openai", "openai-chat")),
        ("content_filter", "filtered", ("openai", "openai-chat")),
        ("pause", "pause", ("anthropic",)),
        ("model_context_window_exceeded", "too_long", ("anthropic",)),
        ("model_length", "length", ("openai-chat",)),
        ("weird_new", "unknown", ("anthropic", "openai-chat")),
    ],
)
@pytest.mark.parametrize("text", ["", "x"])
def test_stop_reasons_are_a_closed_list(
    stop: str, reason: str, wires_with_it: tuple[str, ...], text: str, wires: Any, make_request: Any, ask: Any
) -> None:
    if stop == "refusal" and not text:
        # Without a text only Anthropic has a word for it.
        wires_with_it = ("anthropic",)
    for name in wires_with_it:
        parts = [ServerCall("web_search", {"query": "x"})] if stop == "pause" else ()
        reply = Reply(parts=parts, stop=stop) if parts else Reply(text=text, stop=stop)
        with StrictServer([reply]) as server:
            message = ask(wires[name].provider(server), make_request("hi"))
        assert message.stop_reason == reason
        if reason == "unknown":
            assert message.stop_detail == "weird_new"


def test_calls_decide_and_not_the_finish_reason(wire: Any, make_request: Any, ask: Any, tool: Any) -> None:
    with StrictServer([Reply(calls=[Call("t")], stop="end")]) as server:
        message = ask(wire.provider(server), make_request("hi", tools=(tool(),)))
    assert message.stop_reason == "tool_calls"
    assert len(message.tool_calls) == 1


def test_a_cut_reply_stays_cut_with_its_calls(wire: Any, make_request: Any, ask: Any, tool: Any) -> None:
    reply = Reply(calls=[Call("t", '{"doc": "aaa')], stop="length")
    with StrictServer([reply]) as server:
        message = ask(wire.provider(server), make_request("hi", tools=(tool(doc="string"),)))
    assert message.stop_reason == "length"
    call = message.tool_calls[0]
    assert call.arguments is None
    assert call.raw == '{"doc": "aaa'


def test_half_a_call_at_the_limit_is_cut_though_the_server_says_tool_calls(
    wires: Any, make_request: Any, ask: Any, tool: Any
) -> None:
    reply = Reply(calls=[Call("t", '{"doc": "a')], stop="tool_use", usage=Usage(5, 20))
    for limit, reason in ((20, "length"), (21, "tool_calls")):
        with StrictServer([reply]) as server:
            request = make_request("hi", tools=(tool(),), settings={"max_output_tokens": limit})
            assert ask(wires["openai-chat"].provider(server), request).stop_reason == reason


@pytest.mark.parametrize("id", ["", NoId.NULL, NoId.MISSING])
def test_missing_ids_are_given_once_when_reading(
    id: Any, wire: Any, make_request: Any, ask: Any, answered: Any, tool: Any
) -> None:
    calls = [Call("t", {"n": n}, id=id) for n in range(3)]
    with StrictServer([Reply(calls=calls), Reply(text="end")]) as server:
        provider = wire.provider(server)
        message = ask(provider, make_request("go", tools=(tool(),)))
        ids = [call.id for call in message.tool_calls]
        assert len(set(ids)) == 3
        assert all(ids)
        grown = answered(Transcript([UserMessage("go")]), message, "a", "b", "c")
        assert ask(provider, make_request(grown, tools=(tool(),))).text == "end"
        assert server.refused == []


def test_repeated_ids_in_a_reply_and_across_replies_become_different(
    wire: Any, make_request: Any, ask: Any, answered: Any, tool: Any
) -> None:
    twice = Reply(calls=[Call("t", {"p": "a"}, id="k22"), Call("t", {"p": "b"}, id="k22")])
    with StrictServer([twice, Reply(calls=[Call("t", {"p": "c"}, id="k22")]), Reply(text="end")]) as server:
        provider = wire.provider(server)
        transcript = Transcript([UserMessage("go")])
        ids = []
        for contents in (("ok a", "ok b"), ("ok c",)):
            message = ask(provider, make_request(transcript, tools=(tool(),)))
            ids += [call.id for call in message.tool_calls]
            transcript = answered(transcript, message, *contents)
        assert ask(provider, make_request(transcript, tools=(tool(),))).text == "end"
    assert ids[0] == "k22"
    assert len(set(ids)) == 3


def test_signed_thinking_and_reasoning_go_back_whole_and_in_place(
    wire: Any, make_request: Any, ask: Any, answered: Any, tool: Any
) -> None:
    script = [
        Reply(thinking="first", text="let me see", calls=[Call("t", {"a": 1})]),
        Reply(parts=[Thinking("again"), "so", Call("t", {"a": 2})]),
        Reply(thinking="last", text="done"),
        Reply(text="bye"),
    ]
    with StrictServer(script) as server:
        provider = wire.provider(server)
        transcript = Transcript([UserMessage("go")])
        for _ in range(2):
            message = ask(provider, make_request(transcript, tools=(tool(),)))
            transcript = answered(transcript, message, "ok")
        transcript = transcript.with_reply(ask(provider, make_request(transcript, tools=(tool(),))))
        transcript = transcript.with_user(UserMessage("thanks"))
        assert ask(provider, make_request(transcript, tools=(tool(),))).text == "bye"
        assert server.refused == []
        sent = json.dumps(server.requests[-1].body)
    if wire.name == "anthropic":
        assert sent.count('"signature"') == 3
    if wire.name == "openai":
        assert sent.count('"encrypted_content"') == 3


def test_a_changed_reply_goes_back_without_its_signed_parts(
    wire: Any, make_request: Any, ask: Any, answered: Any, tool: Any
) -> None:
    with StrictServer([Reply(thinking="hm", text="a secret", calls=[Call("t")]), Reply(text="fine")]) as server:
        provider = wire.provider(server)
        message = ask(provider, make_request("go", tools=(tool(),))).changed(text="[masked]")
        grown = answered(Transcript([UserMessage("go")]), message, "ok")
        assert ask(provider, make_request(grown, tools=(tool(),))).text == "fine"
        assert server.refused == []
        assert "secret" not in json.dumps(server.requests[-1].body)


def test_redacted_thinking_is_kept(wires: Any, make_request: Any, ask: Any, answered: Any, tool: Any) -> None:
    script = [Reply(parts=[Thinking("hidden", redacted=True), Call("t")]), Reply(text="fine")]
    with StrictServer(script) as server:
        provider = wires["anthropic"].provider(server)
        message = ask(provider, make_request("go", tools=(tool(),)))
        ask(provider, make_request(answered(Transcript([UserMessage("go")]), message, "ok"), tools=(tool(),)))
        content = server.requests[-1].body["messages"][1]["content"]
        assert [block["type"] for block in content] == ["redacted_thinking", "tool_use"]


def test_a_paused_reply_goes_back_unchanged_and_goes_on(wires: Any, make_request: Any, ask: Any) -> None:
    search = {"type": "web_search", "name": "web_search", "max_uses": 1}
    paused = Reply(parts=["searching", ServerCall("web_search", {"query": "x"}, id="srvtoolu_1")], stop="pause")
    with StrictServer([paused, Reply(text="done")]) as server:
        provider = wires["anthropic"].provider(server)
        transcript = Transcript([UserMessage("go")])
        first = ask(provider, make_request(transcript))
        assert first.stop_reason == "pause"
        second = make_request(transcript.with_reply(first), settings={"anthropic": {"tools": [search]}})
        assert ask(provider, second.with_note("a passing note")).text == "done"
        last = server.requests[-1].body["messages"][-1]
    assert last["role"] == "assistant"
    assert [block["type"] for block in last["content"]] == ["text", "server_tool_use"]
    assert last["content"][1]["input"] == {"query": "x"}


def test_a_stream_without_its_end_is_incomplete(wire: Any, make_request: Any, ask: Any) -> None:
    for kind in ("cut", "drop"):
        with StrictServer([Reply(text="The ans", fault=Fault(kind=kind))]) as server:
            error = failure(ask, wire.provider(server), make_request("hi"))
        assert error.kind == "incomplete"
        assert error.retryable


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (400, "invalid_request"),
        (401, "authentication"),
        (403, "authentication"),
        (404, "not_found"),
        (408, "timeout"),
        (413, "too_long"),
        (429, "rate_limit"),
        (500, "server"),
        (503, "overloaded"),
        (529, "overloaded"),
    ],
)
def test_http_errors_are_typed(status: int, kind: str, wire: Any, make_request: Any, ask: Any) -> None:
    with StrictServer([Fault(status=status, message="because of this")]) as server:
        error = failure(ask, wire.provider(server), make_request("hi"))
    assert (error.kind, error.status) == (kind, status)
    assert str(error).startswith(f"{wire.name}: ")
    assert "because of this" in str(error)


def test_an_error_event_inside_a_stream_is_typed_by_its_words(wires: Any, make_request: Any, ask: Any) -> None:
    for name, code, kind in (
        ("anthropic", None, "overloaded"),
        ("openai", "server_error", "server"),
        ("openai", "rate_limit_exceeded", "rate_limit"),
        ("openai-chat", "server_error", "server"),
    ):
        fault = Fault(kind="error_event", status=529, code=code, message="busy now")
        with StrictServer([Reply(text="half", fault=fault)]) as server:
            error = failure(ask, wires[name].provider(server), make_request("hi"))
        assert error.kind == kind
        assert "busy now" in str(error)


def test_a_failed_response_is_typed_by_its_code(wires: Any, make_request: Any, ask: Any) -> None:
    error = {"code": "rate_limit_exceeded", "message": "slow down please"}
    response = {"id": "resp_1", "object": "response", "status": "failed", "error": error, "output": []}
    raw = [{"type": "response.failed", "sequence_number": 0, "response": response}]
    with StrictServer([Reply(raw=raw)]) as server:
        failed = failure(ask, wires["openai"].provider(server), make_request("hi"))
    assert failed.kind == "rate_limit"
    assert "slow down please" in str(failed)


def test_unknown_events_are_passed_over(wires: Any, make_request: Any, ask: Any) -> None:
    done = {"id": "resp_1", "object": "response", "status": "completed", "output": [
        {"type": "message", "id": "msg_1", "role": "assistant", "content": [{"type": "output_text", "text": "hi"}]},
        {"type": "brand_new_item", "id": "x_1", "payload": 1},
    ]}  # fmt: skip
    raw: list[dict[str, Any]] = [
        {"type": "response.brand_new", "x": 1},
        {"type": "response.completed", "response": done},
    ]
    with StrictServer([Reply(raw=raw)]) as server:
        message = ask(wires["openai"].provider(server), make_request("hi"))
    assert message.text == "hi"
    assert isinstance(message, AssistantMessage)


def test_lone_surrogates_in_a_reply_are_cleaned(wire: Any, make_request: Any, ask: Any, tool: Any) -> None:
    with StrictServer([Reply(text="a", calls=[Call("t", '{"q": "\\ud800"}')])]) as server:
        message = ask(wire.provider(server), make_request("hi", tools=(tool(q="string"),)))
    json.dumps(message.tool_calls[0].arguments, ensure_ascii=False).encode()
