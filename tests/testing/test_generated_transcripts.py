"""Random good transcripts, rendered on every wire form by a generator of this test alone, pass; broken ones do not."""

from __future__ import annotations

import contextlib
import copy
import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hookagent.testing.server.signing import TranscriptSigner
from hookagent.testing.wire import CHAT, MESSAGES, RESPONSES, Wire, WireError, check_request

SIGNER = TranscriptSigner()
NAMES = ["look", "walk", "write_file"]
TOOL = {"type": "object", "properties": {}}

texts = st.text(min_size=1, max_size=20).filter(lambda text: bool(text.strip()))
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)


@dataclass(frozen=True)
class Round:
    thinking: str | None
    text: str | None
    calls: list[tuple[str, dict[str, Any], str]]
    answered_in: list[int]
    note: str | None


@st.composite
def rounds(draw: st.DrawFn) -> Round:
    calls = st.tuples(st.sampled_from(NAMES), st.dictionaries(st.text(max_size=5), values, max_size=3), texts)
    drawn = draw(st.lists(calls, min_size=1, max_size=3))
    order = draw(st.permutations(range(len(drawn))))
    return Round(draw(st.none() | texts), draw(st.none() | texts), drawn, list(order), draw(st.none() | texts))


# A turn: the user's text, its rounds, and the answer.
turns = st.lists(st.tuples(texts, st.lists(rounds(), max_size=3), texts), min_size=1, max_size=3)
Turns = list[tuple[str, list[Round], str]]


def as_messages(transcript: Turns, last: str) -> dict[str, Any]:
    messages: list[dict[str, Any]] = []
    for ask, made, answer in transcript:
        messages.append({"role": "user", "content": ask})
        for a_round in made:
            ids = [f"toolu_{len(messages)}_{position}" for position in range(len(a_round.calls))]
            thought = a_round.thinking or "so"
            said: list[Any] = [{"type": "thinking", "thinking": thought, "signature": SIGNER.sign_thinking(thought)}]
            if a_round.text is not None:
                said.append({"type": "text", "text": a_round.text})
            heard: list[Any] = []
            for id, (name, arguments, _) in zip(ids, a_round.calls, strict=True):
                said.append({"type": "tool_use", "id": id, "name": name, "input": arguments})
            for position in a_round.answered_in:
                result = a_round.calls[position][2]
                heard.append({"type": "tool_result", "tool_use_id": ids[position], "content": result})
            if a_round.note is not None:
                heard.append({"type": "text", "text": a_round.note})
            messages += [{"role": "assistant", "content": said}, {"role": "user", "content": heard}]
        messages.append({"role": "assistant", "content": [{"type": "text", "text": answer}]})
    return {
        "model": "m",
        "max_tokens": 4000,
        "thinking": {"type": "enabled", "budget_tokens": 1024},
        "tools": [{"name": name, "input_schema": TOOL} for name in NAMES],
        "messages": [*messages, {"role": "user", "content": last}],
    }


def as_responses(transcript: Turns, last: str) -> dict[str, Any]:
    items: list[dict[str, Any]] = [{"role": "developer", "content": "be brief"}]
    for ask, made, answer in transcript:
        items.append({"role": "user", "content": ask})
        for a_round in made:
            ids = [f"call_{len(items)}_{position}" for position in range(len(a_round.calls))]
            reasoning = None
            if a_round.thinking is not None:
                reasoning = SIGNER.make_item_id("rs")
                sealed = SIGNER.encrypt_reasoning(reasoning)
                items.append({"type": "reasoning", "id": reasoning, "summary": [], "encrypted_content": sealed})
            if a_round.text is not None:
                content = [{"type": "output_text", "text": a_round.text}]
                id = SIGNER.make_item_id("msg", reasoning)
                items.append({"type": "message", "id": id, "role": "assistant", "content": content})
                reasoning = None
            for id, (name, arguments, _) in zip(ids, a_round.calls, strict=True):
                call = {"type": "function_call", "call_id": id, "name": name, "arguments": json.dumps(arguments)}
                items.append(call | {"id": SIGNER.make_item_id("fc", reasoning)})
                reasoning = None
            for position in a_round.answered_in:
                output = a_round.calls[position][2]
                items.append({"type": "function_call_output", "call_id": ids[position], "output": output})
            if a_round.note is not None:
                items.append({"role": "user", "content": a_round.note})
        items.append({"role": "assistant", "content": answer})
    tools = [{"type": "function", "name": name, "parameters": TOOL} for name in NAMES]
    return {"model": "m", "store": False, "tools": tools, "input": [*items, {"role": "user", "content": last}]}


def as_chat(transcript: Turns, last: str) -> dict[str, Any]:
    messages: list[dict[str, Any]] = [{"role": "system", "content": "be brief"}]
    for ask, made, answer in transcript:
        messages.append({"role": "user", "content": ask})
        for a_round in made:
            ids = [f"call_{len(messages)}_{position}" for position in range(len(a_round.calls))]
            calls = [
                {"id": id, "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}
                for id, (name, arguments, _) in zip(ids, a_round.calls, strict=True)
            ]
            messages.append({"role": "assistant", "content": a_round.text, "tool_calls": calls})
            for position in a_round.answered_in:
                content = a_round.calls[position][2]
                messages.append({"role": "tool", "tool_call_id": ids[position], "content": content})
            if a_round.note is not None:
                messages.append({"role": "user", "content": a_round.note})
        messages.append({"role": "assistant", "content": answer})
    tools = [{"type": "function", "function": {"name": name, "parameters": TOOL}} for name in NAMES]
    return {"model": "m", "tools": tools, "messages": [*messages, {"role": "user", "content": last}]}


RENDER: dict[Wire, Callable[[Turns, str], dict[str, Any]]] = {
    MESSAGES: as_messages,
    RESPONSES: as_responses,
    CHAT: as_chat,
}
WIRES = pytest.mark.parametrize("wire", list(RENDER))


@WIRES
@settings(max_examples=60, deadline=None)
@given(transcript=turns, last=texts)
def test_a_good_transcript_passes(wire: Wire, transcript: Turns, last: str) -> None:
    body = RENDER[wire](transcript, last)

    check_request(wire, body, signer=SIGNER)
    check_request(wire, json.loads(json.dumps(body)), signer=SIGNER)


@WIRES
@settings(max_examples=60, deadline=None)
@given(transcript=turns, last=texts, data=st.data())
def test_a_message_put_between_a_call_and_its_results_is_refused(
    wire: Wire, transcript: Turns, last: str, data: st.DataObject
) -> None:
    made = data.draw(rounds())
    transcript = [*transcript, ("and?", [made], "done")]
    body = RENDER[wire](transcript, last)
    sent = body["input" if wire == RESPONSES else "messages"]
    behind = max(index for index, message in enumerate(sent) if _calls(message)) + 1
    sent.insert(behind, {"role": "user", "content": "in between"})

    with pytest.raises(WireError) as caught:
        check_request(wire, body, signer=SIGNER)

    assert caught.value.rule == "result-late"
    assert caught.value.index is not None
    assert caught.value.index > behind


@WIRES
@settings(max_examples=60, deadline=None)
@given(transcript=turns, last=texts, data=st.data())
def test_a_lost_result_is_refused(wire: Wire, transcript: Turns, last: str, data: st.DataObject) -> None:
    transcript = [*transcript, ("and?", [data.draw(rounds())], "done")]
    body = RENDER[wire](transcript, last)
    _lose_a_result(wire, body, data)

    with pytest.raises(WireError) as caught:
        check_request(wire, body, signer=SIGNER)

    assert caught.value.rule in {"call-unanswered", "content-empty"}


@WIRES
@settings(max_examples=100, deadline=None)
@given(transcript=turns, last=texts, data=st.data())
def test_whatever_stands_anywhere_is_taken_or_refused_and_no_crash(
    wire: Wire, transcript: Turns, last: str, data: st.DataObject
) -> None:
    # A copy: what is changed here must not be part of what was drawn.
    body = copy.deepcopy(RENDER[wire](transcript, last))
    spot: Any = body
    while True:
        keys = list(spot) if isinstance(spot, dict) else list(range(len(spot)))
        key = data.draw(st.sampled_from(keys))
        if not isinstance(spot[key], (dict, list)) or not spot[key] or data.draw(st.integers(0, 4)) == 0:
            break
        spot = spot[key]
    spot[key] = data.draw(values)

    with contextlib.suppress(WireError):
        check_request(wire, body, signer=SIGNER)


def _calls(message: dict[str, Any]) -> bool:
    content = message.get("content")
    used = isinstance(content, list) and any(part.get("type") == "tool_use" for part in content)
    return used or message.get("type") == "function_call" or bool(message.get("tool_calls"))


def _lose_a_result(wire: Wire, body: dict[str, Any], data: st.DataObject) -> None:
    sent = body["input" if wire == RESPONSES else "messages"]
    if wire == MESSAGES:
        places = [
            (message["content"], position)
            for message in sent
            if isinstance(message["content"], list)
            for position, part in enumerate(message["content"])
            if part["type"] == "tool_result"
        ]
    else:
        places = [
            (sent, position)
            for position, message in enumerate(sent)
            if message.get("role") == "tool" or message.get("type") == "function_call_output"
        ]
    parent, position = data.draw(st.sampled_from(places))
    del parent[position]
