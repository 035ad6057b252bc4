"""Answers of the three wire forms as bytes, ways to damage them, and a transport that plays them to the real SDKs."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Sequence
from typing import Any

import httpx2
from hypothesis import strategies as st

from hookagent.providers import AnthropicProvider, OpenAIChatProvider, OpenAIResponsesProvider
from hookagent.testing import Call, Reply, Thinking, WireError, check_request
from hookagent.testing.server.signing import TranscriptSigner
from hookagent.testing.server.wire_forms import WIRE_FORMS

FORMS = {form.wire: form for form in WIRE_FORMS}
PROVIDERS: dict[str, Any] = {
    "messages": lambda client: AnthropicProvider("claude-sonnet-5", api_key="k", http_client=client),
    "responses": lambda client: OpenAIResponsesProvider("gpt-5", api_key="k", http_client=client),
    "chat": lambda client: OpenAIChatProvider("gpt-5", api_key="k", http_client=client),
}
REQUESTS: dict[str, dict[str, Any]] = {
    "messages": {"model": "claude-sonnet-5", "max_tokens": 64, "messages": [], "stream": True},
    "responses": {"model": "gpt-5", "input": [], "stream": True, "include": ["reasoning.encrypted_content"]},
    "chat": {"model": "gpt-5", "messages": [], "stream": True, "stream_options": {"include_usage": True}},
}
CALLS = [Call("look", {"item": "apple", "n": 3}, id="c1"), Call("look", {"item": "größer 🙂"}, id="c2")]
REPLIES = {
    "text": Reply("There is an apple, and a pear."),
    "calls": Reply("I look.", CALLS),
    "thinking": Reply("I look.", CALLS, thinking="What may be there?"),
    "redacted": Reply(parts=[Thinking("hidden", redacted=True), CALLS[0]]),
    "cut": Reply("I look", [Call("look", '{"item": "app', id="c1")], stop="length"),
}


def events_of(wire: str, reply: str) -> list[bytes]:
    """The events of one answer as they stand on the wire; Chat Completions has no thinking."""
    known = REPLIES[reply]
    if wire == "chat" and reply in ("thinking", "redacted"):
        known = REPLIES["calls"]
    rendered = FORMS[wire].render(known, REQUESTS[wire], TranscriptSigner())  # type: ignore[index]
    return [event.encoded() for event in rendered.events]


def body_of(wire: str, reply: str) -> bytes:
    """The same as one JSON object, as a server sends it that does not stream."""
    known = REPLIES["calls" if wire == "chat" and reply in ("thinking", "redacted") else reply]
    return json.dumps(FORMS[wire].render(known, REQUESTS[wire], TranscriptSigner()).body).encode()  # type: ignore[index]


JUNK = (
    *(b"\xff", b"\0", b"\n", b"\n\n", b"\r\n", b'"', b"\\", b"}", b"9" * 5000, b"<html>busy</html>"),
    *(b": ping\n\n", b"data: \n\n", b"data: {\n\n", b"data: [DONE]\n\n", b"data: null\n\n", b"retry: 0\n\n"),
    *(b"id: 1\n\n", b"data: 1\n\n", b"data: []\n\n", b"data: NaN\n\n", b"data: " + b"[" * 5000 + b"\n\n"),
    *(b'data: {"choices": []}\n\n', b'data: {"choices": null}\n\n', b'data: {"error": "busy"}\n\n'),
    *(b'data: {"type": "error"}\n\n', b'event: error\ndata: {"error": {"message": "busy"}}\n\n'),
    *(b"event: ping\ndata: {}\n\n", b"event: message_stop\ndata: {}\n\n"),
    b'data: {"type": "response.completed"}\n\n',
)


@st.composite
def damaged(draw: st.DrawFn, events: Sequence[bytes]) -> bytes:
    """The events with some of them lost, doubled, moved or changed, and then perhaps some of the bytes."""
    left = list(events)
    for _ in range(draw(st.integers(0, 3))):
        if not left:
            break
        place = draw(st.integers(0, len(left) - 1))
        match draw(st.sampled_from("lose double move junk null".split())):
            case "lose":
                del left[place]
            case "double":
                left.insert(place, left[place])
            case "move":
                left.insert(draw(st.integers(0, len(left) - 1)), left.pop(place))
            case "junk":
                left.insert(place, draw(st.sampled_from(JUNK)))
            case _:
                left[place] = draw(changed_values(left[place]))
    data = bytearray(b"".join(left))
    for _ in range(draw(st.integers(0, 2))):
        spot = draw(st.integers(0, max(0, len(data) - 1)))
        match draw(st.sampled_from("flip cut put zero".split())):
            case "flip" if data:
                data[spot] ^= 1 << draw(st.integers(0, 7))
            case "cut":
                del data[spot:]
            case "put":
                data[spot:spot] = draw(st.sampled_from(JUNK) | st.binary(max_size=4))
            case _:
                del data[spot : spot + draw(st.integers(1, 40))]
    return bytes(data)


VALUES: st.SearchStrategy[Any] = st.sampled_from(
    [None, 0, -1, 1.5, "", " ", "x", [], {}, True, "\ud800", "a" * 70, "look.up", 10**30]
)


def changed_values(event: bytes) -> st.SearchStrategy[bytes]:
    """An event in which one value, wherever it stands, is another one, or is not there."""
    head, _, text = event.partition(b"data: ")
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        return st.just(event)
    places: list[tuple[Any, Any]] = []
    waiting = [data] if isinstance(data, dict | list) else []
    while waiting:
        current = waiting.pop()
        items = list(current.items()) if isinstance(current, dict) else list(enumerate(current))
        places += [(current, key) for key, _ in items]
        waiting += [item for _, item in items if isinstance(item, dict | list) and item]
    if not places:
        return st.just(event)

    def change(where: tuple[Any, Any], value: Any, gone: bool) -> bytes:
        holder, key = where
        before = holder[key]
        if gone and isinstance(holder, dict):
            del holder[key]
        else:
            holder[key] = value
        made = head + b"data: " + json.dumps(data).encode() + b"\n\n"
        holder[key] = before
        return made

    return st.builds(change, st.sampled_from(places), VALUES, st.booleans())


class Played(httpx2.AsyncByteStream):
    """A body that comes in pieces, and may break off with an error of the connection."""

    def __init__(self, data: bytes, piece: int, breaks: bool) -> None:
        self.data, self.piece, self.breaks = data, piece, breaks

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for start in range(0, len(self.data), self.piece):
            yield self.data[start : start + self.piece]
        if self.breaks:
            raise httpx2.ReadError("the connection broke")


class Transport(httpx2.AsyncBaseTransport):
    """Answers each request with the next of `answers`, and keeps what the kit's checkers refuse of the requests."""

    def __init__(self, wire: Any) -> None:
        self.wire = wire
        self.answers: list[tuple[bytes, int, bool, str]] = []
        self.refused: list[WireError] = []
        self.requests: list[Any] = []

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Check the request, and give the next answer; its bytes, size of pieces, whether it breaks, its type."""
        body = json.loads(await request.aread())
        self.requests.append(body)
        try:
            check_request(self.wire, body)
        except WireError as error:
            self.refused.append(error)
        data, piece, breaks, kind = self.answers.pop(0)
        return httpx2.Response(200, headers={"content-type": kind}, stream=Played(data, piece, breaks))
