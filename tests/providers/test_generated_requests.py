"""Random transcripts, windows and replies of other vendors: whatever stands in them, each request can be sent."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hookagent.frozen import freeze
from hookagent.messages import AssistantMessage, Image, ProviderPart, TextPart, ToolCall, ToolResult, UserMessage
from hookagent.requests import BlockView, Note, Request
from hookagent.transcript import ToolRound, Transcript
from tests.providers.protected import protected_in

TEXTS = st.one_of(
    st.sampled_from(["", " ", "\n\t", "hello", "ends with space \n", "é漢", "a\ud800b", "\x00"]),
    st.text(st.characters(codec=None), max_size=8),
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXTS,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(TEXTS, inner, max_size=2),
    max_leaves=4,
)
NAMES = st.one_of(st.sampled_from(["t", "read_file", "no such tool!", "", "x" * 90]), TEXTS)
IDS = st.one_of(st.sampled_from(["edit:22", "call_1", "é", "x" * 70]), st.text(min_size=1, max_size=6))
THINKING = st.sampled_from(
    [
        ProviderPart("anthropic-messages", "thinking", freeze({"type": "thinking", "thinking": "h", "signature": "s"})),
        ProviderPart("anthropic-messages", "thinking", freeze({"type": "thinking", "thinking": "h", "signature": ""})),
        ProviderPart("anthropic-messages", "thinking", freeze({"type": "redacted_thinking", "data": "d"})),
        ProviderPart("openai-chat", "thinking", freeze({"reasoning_content": "h"}), "h"),
        ProviderPart(
            "anthropic-messages",
            "item",
            freeze({"type": "server_tool_use", "id": "", "name": "web_search", "input": {}}),
        ),
    ]
)


ORPHANS = st.sampled_from(
    [
        ProviderPart(
            "anthropic-messages",
            "item",
            freeze({"type": "web_search_tool_result", "tool_use_id": f"srvtoolu_{n}", "content": []}),
        )
        for n in range(3)
    ]
)


@st.composite
def replies(draw: Any, with_calls: bool, ids: list[str]) -> AssistantMessage:
    parts: list[Any] = draw(st.lists(THINKING | st.builds(TextPart, TEXTS), max_size=3))
    for part in [part for part in parts if isinstance(part, ProviderPart) and part.kind == "item"]:
        # Each server call has an id of its own, and is answered here, in the next reply, or never.
        used = f"srvtoolu_{len(ids)}"
        ids.append(used + " taken")
        place = parts.index(part)
        parts[place] = replace(part, data=freeze({**part.data, "id": used}))
        if draw(st.booleans()):
            found = {"type": "web_search_tool_result", "tool_use_id": used, "content": []}
            parts.insert(place + 1, replace(part, data=freeze(found)))
    if draw(st.booleans()):
        parts.append(draw(ORPHANS))
    if draw(st.booleans()):
        number = len(ids)
        ids.append(f"rs_{number} taken")
        reasoning = {"type": "reasoning", "id": f"rs_{number}", "summary": [], "encrypted_content": "e"}
        parts.insert(0, ProviderPart("openai-responses", "reasoning", freeze(reasoning)))
        head = {"type": "message", "id": f"msg_{number}", "status": "completed"}
        parts.append(ProviderPart("openai-responses", "item", freeze(head)))
        parts.append(TextPart(draw(TEXTS)))
    if with_calls:
        for _ in range(draw(st.integers(1, 3))):
            call_id = draw(IDS.filter(lambda value: value not in ids))
            ids.append(call_id)
            arguments = draw(st.none() | st.dictionaries(TEXTS, JSON, max_size=2))
            raw = draw(TEXTS) if arguments is None else None
            frozen = None if arguments is None else freeze(arguments)
            parts.insert(
                draw(st.integers(0, len(parts))) if draw(st.booleans()) else len(parts),
                ToolCall(call_id, draw(NAMES), frozen, raw, "broken" if arguments is None else None),
            )
    model = draw(st.sampled_from(["", "claude-sonnet-5", "gpt-5", "gpt-4o"]))
    return AssistantMessage(tuple(parts), draw(st.sampled_from(["end", "length", "pause"])), model=model)


@st.composite
def transcripts(draw: Any) -> Transcript:
    transcript = Transcript([UserMessage("the first task")])
    ids: list[str] = []
    for _ in range(draw(st.integers(0, 6))):
        kind = draw(st.sampled_from(["user", "reply", "round"]))
        if kind == "user":
            images = (Image("aGk=", "image/png"),) if draw(st.booleans()) else ()
            transcript = transcript.with_user(UserMessage(draw(TEXTS), images, draw(st.sampled_from([None, "plugin"]))))
            continue
        reply = draw(replies(kind == "round", ids))
        transcript = transcript.with_reply(reply)
        calls = list(reply.tool_calls)
        if calls and draw(st.booleans()):
            transcript = transcript.with_user(UserMessage("held"))
        for call in draw(st.permutations(calls)):
            transcript = transcript.with_result(ToolResult(draw(TEXTS), draw(st.booleans()), call_id=call.id))
    return transcript


@st.composite
def requests(draw: Any) -> Request:
    transcript = draw(transcripts())
    request = Request(
        BlockView(transcript),
        system=draw(TEXTS),
        summary=draw(st.none() | TEXTS),
        notes=tuple(Note(text) for text in draw(st.lists(TEXTS, max_size=2))),
        protected=protected_in(transcript),
        session_id="s" * 80,
    )
    return request.dropping_before(draw(st.integers(0, len(transcript)))) if draw(st.booleans()) else request


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(request=requests())
def test_every_request_passes_both_checkers_on_all_wires(wires: dict[str, Any], request: Request) -> None:
    for wire in wires.values():
        body = wire.body(request)
        wire.check_own(body, request)
        last = body[wire.list_field][-1]
        if last.get("role") == "assistant":
            # A paused turn goes back as it came; the kit only knows those that end in the server's own call.
            assert wire.name == "anthropic"
            body[wire.list_field].append({"role": "user", "content": [{"type": "text", "text": "x"}]})
        wire.check_kit({**json.loads(json.dumps(body)), "stream": True})


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(request=requests(), start=st.integers(0, 6), more=TEXTS)
def test_what_is_kept_of_blocks_equals_a_fresh_encoding(
    wires: dict[str, Any], request: Request, start: int, more: str
) -> None:
    for wire in wires.values():
        wire.body(request)
    grown = request.blocks.transcript.with_user(UserMessage(more))
    later = Request(BlockView(grown), system="other", protected=protected_in(grown)).dropping_before(start)
    warm = {name: json.dumps(wire.body(later)) for name, wire in wires.items()}
    for block in grown:
        block.wire_cache.clear()
    assert {name: json.dumps(wire.body(later)) for name, wire in wires.items()} == warm


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(request=requests())
def test_a_request_keeps_all_calls_and_their_results_in_call_order(wires: dict[str, Any], request: Request) -> None:
    rounds = [block for block in request.blocks if isinstance(block, ToolRound)]
    calls = sum(len(block.calls) for block in rounds)
    messages = wires["anthropic"].body(request)["messages"]
    blocks = [block for message in messages for block in message["content"]]
    assert [b["id"] for b in blocks if b["type"] == "tool_use"] == [
        b["tool_use_id"] for b in blocks if b["type"] == "tool_result"
    ]
    assert len([b for b in blocks if b["type"] == "tool_use"]) == calls
    items = wires["openai"].body(request)["input"]
    assert [i["call_id"] for i in items if i["type"] == "function_call"] == [
        i["call_id"] for i in items if i["type"] == "function_call_output"
    ]
    chat = wires["openai-chat"].body(request)["messages"]
    assert [c["id"] for m in chat for c in m.get("tool_calls") or ()] == [
        m["tool_call_id"] for m in chat if m["role"] == "tool"
    ]
