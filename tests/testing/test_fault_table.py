"""Every fault on demand, on every wire form that has it, streaming and not: what a client sees of it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import httpx2
import pytest

from checks.tally import count
from hookagent.testing import Call, Fault, Reply, ServerCall, StrictServer
from hookagent.testing.wire import CHAT, MESSAGES, RESPONSES, Wire

ASK: dict[Wire, tuple[str, dict[str, Any]]] = {
    MESSAGES: (
        "/v1/messages",
        {"model": "m", "max_tokens": 99, "messages": [{"role": "user", "content": "go"}]},
    ),
    RESPONSES: ("/v1/responses", {"model": "m", "input": "go"}),
    CHAT: ("/v1/chat/completions", {"model": "m", "messages": [{"role": "user", "content": "go"}]}),
}
HEADERS = {"authorization": "Bearer k", "anthropic-version": "2026-10-21"}
EVERY: tuple[Wire, ...] = (MESSAGES, RESPONSES, CHAT)
TEXT = "The answer is 4, as far as anybody knows."


@dataclass(frozen=True)
class Seen:
    """What came: the status (None: nothing did), the headers, the text of the body, and whether it was whole."""

    status: int | None
    headers: Any
    text: str
    whole: bool
    waited: bool

    def says(self, *words: str) -> bool:
        """Whether each of these is part of the body, whatever the white space."""
        text = self.text.replace(" ", "")
        return all(word.replace(" ", "") in text for word in words)


async def see(server: StrictServer, wire: Wire, stream: bool, headers_first: bool = False) -> Seen:
    """Send a request; let go what the server holds back once it has the request, or once the headers have come."""
    path, body = ASK[wire]
    status: int | None = None
    headers: Any = {}
    text, whole = "", True
    released = seen_after = False
    begun = asyncio.Event()

    async def release() -> None:
        nonlocal released
        while not server.requests:
            await asyncio.sleep(0)
        if headers_first:
            await begun.wait()
        released = True
        server.release()

    async with httpx2.AsyncClient(base_url=server.url) as client:
        releasing = asyncio.create_task(release())
        try:
            async with client.stream("POST", path, json={**body, "stream": stream}, headers=HEADERS) as answer:
                status, headers = answer.status_code, answer.headers
                seen_after = released
                begun.set()
                async for piece in answer.aiter_text():
                    text += piece
        except httpx2.TransportError:
            whole = False
        await releasing
    return Seen(status, headers, text, whole, seen_after)


END = {MESSAGES: "message_stop", RESPONSES: "response.completed", CHAT: "[DONE]"}
BUSY: dict[tuple[Wire, int], str] = {
    (MESSAGES, 429): "rate_limit_error",
    (MESSAGES, 500): "api_error",
    (MESSAGES, 529): "overloaded_error",
}
CUT = Reply("I look", [Call("look", '{"item": "app', id="c1")], stop="length")
# The word of each wire form for a reason to stop; None: it does not have it.
STOPS: dict[str, dict[Wire, str]] = {
    "refusal": {MESSAGES: '"stop_reason": "refusal"', RESPONSES: '"refusal"', CHAT: '"refusal"'},
    "content_filter": {
        MESSAGES: '"stop_reason": "refusal"',
        RESPONSES: '"reason": "content_filter"',
        CHAT: '"finish_reason": "content_filter"',
    },
    "length": {
        MESSAGES: '"stop_reason": "max_tokens"',
        RESPONSES: '"reason": "max_output_tokens"',
        CHAT: '"finish_reason": "length"',
    },
}


def is_status(wire: Wire, seen: Seen, status: int, retry_after: str | None = None) -> None:
    assert (seen.status, seen.headers.get("retry-after"), seen.whole) == (status, retry_after, True)
    error = json.loads(seen.text)["error"]
    assert error["message"] == "a fault made for this test"
    assert error["type"] == BUSY.get((wire, status), error["type"])


def is_whole(wire: Wire, seen: Seen, stream: bool) -> None:
    assert (seen.status, seen.whole) == (200, True)
    assert seen.says("answer") if not stream else seen.says(END[wire])


Look = Callable[[Wire, Seen, bool], None]


def status(code: int, retry_after: str | None = None) -> tuple[Sequence[Any], Look]:
    return [Fault(status=code, retry_after=retry_after)], lambda wire, seen, _: is_status(wire, seen, code, retry_after)


def slow_headers(wire: Wire, seen: Seen, stream: bool) -> None:
    assert seen.waited
    is_whole(wire, seen, stream)


def slow_chunks(wire: Wire, seen: Seen, stream: bool) -> None:
    assert seen.waited is not stream  # of a stream the headers come at once
    is_whole(wire, seen, stream)


def dropped(wire: Wire, seen: Seen, stream: bool) -> None:
    assert (seen.status, seen.whole, seen.text) == (None, False, "")


def dropped_within(wire: Wire, seen: Seen, stream: bool) -> None:
    assert (seen.status, seen.whole) == (200, False)
    assert not seen.says(END[wire]) or not stream


def endless(wire: Wire, seen: Seen, stream: bool) -> None:
    assert (seen.status, seen.whole) == (200, stream)
    assert not (stream and seen.says(END[wire]))


def stopped_by(stop: str) -> Look:
    def look(wire: Wire, seen: Seen, stream: bool) -> None:
        assert (seen.status, seen.whole) == (200, True)
        assert seen.says(STOPS[stop][wire]), seen.text

    return look


def cut(wire: Wire, seen: Seen, stream: bool) -> None:
    stopped_by("length")(wire, seen, stream)
    assert "look" in seen.text
    assert not seen.says('apple"')


def paused(wire: Wire, seen: Seen, stream: bool) -> None:
    assert seen.says('"stop_reason": "pause_turn"', '"server_tool_use"')


def no_choices(wire: Wire, seen: Seen, stream: bool) -> None:
    assert seen.status == 200
    assert seen.says('"choices": []')


EMPTY = {"id": "x", "object": "chat.completion", "choices": []}
FAULTS: dict[str, tuple[tuple[Wire, ...], tuple[Sequence[Any], Look]]] = {
    "429 with Retry-After": (EVERY, status(429, "7")),
    "500": (EVERY, status(500)),
    "529": (EVERY, status(529)),
    "slow headers": (EVERY, ([Reply(TEXT, fault=Fault(kind="hold"))], slow_headers)),
    "slow chunks": (EVERY, ([Reply(TEXT, fault=Fault(kind="stall", after=3))], slow_chunks)),
    "dropped connection": (EVERY, ([Fault(kind="drop")], dropped)),
    "dropped within": (EVERY, ([Reply(TEXT, fault=Fault(kind="drop", after=3))], dropped_within)),
    "stream without end": (EVERY, ([Reply(TEXT, fault=Fault(kind="cut"))], endless)),
    "empty choices": ((CHAT,), ([Reply(raw=EMPTY)], no_choices)),
    "refusal": (EVERY, ([Reply("I cannot.", stop="refusal")], stopped_by("refusal"))),
    "filter": (EVERY, ([Reply("I can", stop="content_filter")], stopped_by("content_filter"))),
    "pause": (
        (MESSAGES,),
        ([Reply(parts=[ServerCall("web_search", {"query": "x"})], stop="pause")], paused),
    ),
    "call cut by the limit": (EVERY, ([CUT], cut)),
}
CELLS = [(name, wire, stream) for name, (wires, _) in FAULTS.items() for wire in wires for stream in (True, False)]


@pytest.mark.parametrize(
    ("name", "wire", "stream"), CELLS, ids=[f"{name}-{wire}-{'stream' if on else 'whole'}" for name, wire, on in CELLS]
)
def test_a_fault_is_what_a_client_sees(name: str, wire: Wire, stream: bool) -> None:
    _, (replies, look) = FAULTS[name]
    with StrictServer([*replies, Reply("well")]) as server:
        look(wire, asyncio.run(see(server, wire, stream, name == "slow chunks" and stream)), stream)
        after = asyncio.run(see(server, wire, stream))

        assert (after.status, after.whole) == (200, True)  # the next request is answered as if nothing had been
        assert server.failures == []
        assert server.refused == []
    count("faults on demand")
