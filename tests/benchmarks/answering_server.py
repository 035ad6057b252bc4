"""A model server that answers at once, in a process of its own: Chat Completions and Messages, streamed and not.

Started as a script, it prints its port. It asks for a call of `echo` until `rounds` of them are answered, where the
path says how many: /r200/v1/chat/completions.
"""

from __future__ import annotations

import asyncio
import json
import re
from typing import Any

_PATH = re.compile(rb"POST /r(\d+)/v1/(\S+) ")
_LENGTH = re.compile(rb"content-length: *(\d+)", re.IGNORECASE)
_ARGUMENTS = json.dumps({"text": "hello", "n": 3})
_ANSWER = "all done"


def _chat(call_id: str | None) -> bytes:
    call = {"id": call_id, "type": "function", "function": {"name": "echo", "arguments": _ARGUMENTS}}
    message: dict[str, Any] = {"role": "assistant", "content": None if call_id else _ANSWER}
    if call_id:
        message["tool_calls"] = [call]
    choice = {"index": 0, "message": message, "finish_reason": "tool_calls" if call_id else "stop", "logprobs": None}
    usage = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
    whole = {
        "id": "c",
        "object": "chat.completion",
        "created": 1,
        "model": "bench",
        "choices": [choice],
        "usage": usage,
    }
    return json.dumps(whole).encode()


def _chat_stream(call_id: str | None) -> bytes:
    head = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "bench"}

    def chunk(delta: dict[str, Any], reason: str | None = None) -> bytes:
        choice = {"index": 0, "delta": delta, "finish_reason": reason}
        return _data(
            {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "bench", "choices": [choice]}
        )

    out = [chunk({"role": "assistant", "content": ""})]
    if call_id:
        named = {"index": 0, "id": call_id, "type": "function", "function": {"name": "echo", "arguments": ""}}
        out += [chunk({"tool_calls": [named]})]
        out += [chunk({"tool_calls": [{"index": 0, "function": {"arguments": _ARGUMENTS}}]}), chunk({}, "tool_calls")]
    else:
        out += [chunk({"content": _ANSWER}), chunk({}, "stop")]
    usage = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
    return b"".join([*out, _data({**head, "choices": [], "usage": usage}), b"data: [DONE]\n\n"])


def _messages_stream(call_id: str | None) -> bytes:
    def event(kind: str, fields: dict[str, Any]) -> bytes:
        return f"event: {kind}\n".encode() + _data({"type": kind, **fields})

    usage = {"input_tokens": 10, "output_tokens": 1}
    message: dict[str, Any] = {
        "id": "m",
        "type": "message",
        "role": "assistant",
        "model": "bench",
        "content": [],
        "usage": usage,
    }
    message.update(stop_reason=None, stop_sequence=None)
    if call_id:
        block: dict[str, Any] = {"type": "tool_use", "id": call_id, "name": "echo", "input": {}}
        delta = {"type": "input_json_delta", "partial_json": _ARGUMENTS}
    else:
        block, delta = {"type": "text", "text": ""}, {"type": "text_delta", "text": _ANSWER}
    reason = {"stop_reason": "tool_use" if call_id else "end_turn", "stop_sequence": None}
    return b"".join(
        [
            event("message_start", {"message": message}),
            event("content_block_start", {"index": 0, "content_block": block}),
            event("content_block_delta", {"index": 0, "delta": delta}),
            event("content_block_stop", {"index": 0}),
            event("message_delta", {"delta": reason, "usage": {"output_tokens": 5}}),
            event("message_stop", {}),
        ]
    )


def _data(fields: dict[str, Any]) -> bytes:
    return b"data: " + json.dumps(fields).encode() + b"\n\n"


class _Connection(asyncio.Protocol):
    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport
        self._received = bytearray()

    def data_received(self, data: bytes) -> None:
        received = self._received
        received += data
        end = received.find(b"\r\n\r\n")
        if end < 0:
            return
        length = _LENGTH.search(received, 0, end)
        whole = end + 4 + (int(length[1]) if length else 0)
        if len(received) >= whole:
            head, body = bytes(received[:end]), bytes(received[end + 4 : whole])
            del received[:whole]
            self._answer(head, body)

    def _answer(self, head: bytes, body: bytes) -> None:
        asked = _PATH.match(head)
        transport: Any = self._transport
        if asked is None:
            transport.write(b"HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n")
            return
        streams = re.search(rb'"stream": ?true', body) is not None
        is_chat = asked[2].startswith(b"chat")
        answered = body.count(b'"tool_call_id"' if is_chat else b'"tool_use_id"')
        call_id = f"call_{answered}" if answered < int(asked[1]) else None
        out = (_chat_stream(call_id) if streams else _chat(call_id)) if is_chat else _messages_stream(call_id)
        kind = b"text/event-stream" if streams else b"application/json"
        head = b"HTTP/1.1 200 OK\r\ncontent-type: %s\r\ncontent-length: %d\r\n\r\n" % (kind, len(out))
        transport.write(head + out)


async def _serve() -> None:
    server = await asyncio.get_running_loop().create_server(_Connection, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(_serve())
