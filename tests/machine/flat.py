"""A request as one flat list, read from its body and, apart from that, from what it was made of; the two are the same.

An entry is ("user" or "assistant", a text), ("call", name, arguments as JSON text) or ("result", a text). What builders
put in themselves to keep roles in turn is left out, and texts of the model that follow each other count as one.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from hookagent import AssistantMessage, Request, ToolCall, ToolRound, UserMessage
from hookagent.testing.wire import CHAT, MESSAGES, Wire

Entry = tuple[str, ...]
_FILLER = "Continue."
_NO_OUTPUT = "(no output)"
_UNPARSED = "_unparsed"


def read_body(wire: Wire, body: Mapping[str, Any]) -> list[Entry]:
    """The entries of a body."""
    readers = {MESSAGES: _messages, CHAT: _chat}
    return _joined(readers.get(wire, _responses)(body))


def read_request(request: Request) -> list[Entry]:
    """The entries that the body of a request has to have."""
    return _joined(_request(request))


def _joined(entries: Iterable[Entry]) -> list[Entry]:
    joined: list[Entry] = []
    for entry in entries:
        if entry == ("user", _FILLER) or not entry[-1].strip():
            continue
        if joined and entry[0] == joined[-1][0] == "assistant":
            joined[-1] = ("assistant", joined[-1][1] + entry[1])
        else:
            joined.append(entry)
    return joined


def _request(request: Request) -> Iterator[Entry]:
    view = request.blocks
    summary = request.summary
    places = [*view.kept, *range(view.start, len(view.transcript))]
    first = request.protected[0] if request.protected else None
    if first is None and summary:
        yield "user", summary
    for place in places:
        block = view.replaced.get(place, view.transcript[place])
        reply = block.reply if isinstance(block, ToolRound) else block
        if isinstance(reply, UserMessage):
            yield "user", reply.text
        elif isinstance(reply, AssistantMessage):
            yield "assistant", reply.text
            yield from (("call", call.name, _arguments(call)) for call in reply.tool_calls)
        if isinstance(block, ToolRound):
            for result in block.results:
                assert result is not None
                yield "result", result.content if result.content.strip() else _NO_OUTPUT
        if place == first and summary:
            yield "user", summary
    yield from (("user", note.text) for note in request.notes)


def _arguments(call: ToolCall) -> str:
    return _json({_UNPARSED: call.raw} if call.arguments is None else call.arguments)


def _json(value: Any) -> str:
    return json.dumps(value, sort_keys=True)


def _messages(body: Mapping[str, Any]) -> Iterator[Entry]:
    for message in body["messages"]:
        content = message["content"]
        for part in [{"type": "text", "text": content}] if isinstance(content, str) else content:
            kind = part["type"]
            if kind == "text":
                yield message["role"], part["text"]
            elif kind == "tool_use":
                yield "call", part["name"], _json(part["input"])
            elif kind == "tool_result":
                yield "result", _text(part["content"])


def _chat(body: Mapping[str, Any]) -> Iterator[Entry]:
    for message in body["messages"]:
        role = message["role"]
        if role == "tool":
            yield "result", _text(message["content"])
        elif role in ("user", "assistant"):
            yield role, _text(message.get("content") or "")
            for call in message.get("tool_calls") or ():
                yield "call", call["function"]["name"], _json(json.loads(call["function"]["arguments"]))


def _responses(body: Mapping[str, Any]) -> Iterator[Entry]:
    for item in body["input"]:
        kind = item.get("type", "message")
        if kind == "message":
            yield item["role"], _text(item["content"])
        elif kind == "function_call":
            yield "call", item["name"], _json(json.loads(item["arguments"]))
        elif kind == "function_call_output":
            yield "result", _text(item["output"])


def _text(content: Any) -> str:
    return content if isinstance(content, str) else "".join(part.get("text", "") for part in content)
