"""The client's side of the wire: what a round costs through the vendors' SDKs, against a server that answers at once.

The server is a process of its own, so that its work is not counted.
"""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator, Sequence
from pathlib import Path
from typing import Any

from hookagent.providers import AnthropicProvider, OpenAIChatProvider
from tests.benchmarks.measuring import Row, in_turn
from tests.benchmarks.parts import FloorLoop, agent, answered

_KEY = "bench"
_SERVER = Path(__file__).with_name("answering_server.py")


@contextlib.contextmanager
def _serving() -> Iterator[str]:
    process = subprocess.Popen([sys.executable, str(_SERVER)], stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        yield f"http://127.0.0.1:{int(process.stdout.readline())}"
    finally:
        process.terminate()
        process.wait()


def _tool(size: int) -> Any:
    blob = "x" * size

    async def echo(text: str, n: int) -> str:
        """Give a text of a fixed size.

        Args:
            text: a text
            n: a number
        """
        return blob

    return echo


def rows(repeats: int) -> Iterator[Row]:
    """See the module's first line."""
    with _serving() as base:
        yield from _chat_rows(max(1, repeats // 2), base, 50, 2)
        yield from _chat_rows(max(1, repeats // 2), base, 200, 1024)
        yield from _messages_row(max(1, repeats // 2), base, 200, 1024)


def _chat_rows(repeats: int, base: str, rounds: int, size: int) -> Iterator[Row]:
    ours, documented, posted = (
        best * 1e3 / rounds
        for best in in_turn(
            repeats,
            lambda: answered(_openai(base, rounds, size)),
            lambda: _openai_floor(base, rounds, size, posted=False),
            lambda: _openai_floor(base, rounds, size, posted=True),
        )
    )
    what = f"openai-chat, {rounds} rounds, results of {size} bytes"
    if rounds == 200:
        yield Row(what, "ms", ours, documented, 0.1, "the SDK's documented call")
    yield Row(what, "ms", ours, posted, 2.5, "the SDK's post of a ready body")


def _messages_row(repeats: int, base: str, rounds: int, size: int) -> Iterator[Row]:
    ours, documented = (
        best * 1e3 / rounds
        for best in in_turn(
            repeats,
            lambda: answered(_anthropic(base, rounds, size)),
            lambda: _anthropic_floor(base, rounds, size),
        )
    )
    yield Row(f"anthropic, {rounds} rounds, results of {size} bytes", "ms", ours, documented, 1.1, "the SDK's own call")


def _openai(base: str, rounds: int, size: int) -> Any:
    return agent(OpenAIChatProvider("bench", api_key=_KEY, base_url=f"{base}/r{rounds}/v1"), [_tool(size)])


def _anthropic(base: str, rounds: int, size: int) -> Any:
    return agent(AnthropicProvider("claude-sonnet-5", api_key=_KEY, base_url=f"{base}/r{rounds}"), [_tool(size)])


async def _openai_floor(base: str, rounds: int, size: int, *, posted: bool) -> None:
    import openai
    from openai.types.chat import ChatCompletion

    async with openai.AsyncOpenAI(base_url=f"{base}/r{rounds}/v1", api_key=_KEY, max_retries=0) as client:

        async def model(messages: Sequence[Any], schemas: Sequence[Any]) -> dict[str, Any]:
            body: dict[str, Any] = {"model": "bench", "messages": messages, "tools": schemas}
            if posted:
                whole = await client.post("/chat/completions", cast_to=ChatCompletion, body=body)
            else:
                whole = await client.chat.completions.create(**body)
            message = whole.choices[0].message
            reply: dict[str, Any] = {"role": "assistant", "content": message.content}
            if message.tool_calls:
                reply["tool_calls"] = [call.model_dump() for call in message.tool_calls]
            return reply

        await FloorLoop([_tool(size)], model).run("go")


async def _anthropic_floor(base: str, rounds: int, size: int) -> None:

    import anthropic

    async with anthropic.AsyncAnthropic(base_url=f"{base}/r{rounds}", api_key=_KEY, max_retries=0) as client:
        sent: list[Any] = []

        async def model(messages: Sequence[Any], schemas: Sequence[Any]) -> dict[str, Any]:
            # The loop's messages in the vendor's form, each turned once.
            for message in messages[len(sent) :]:
                sent.append(_anthropic_form(message))
            tools: list[Any] = [
                {"name": one["function"]["name"], "input_schema": one["function"]["parameters"]} for one in schemas
            ]
            events: Any = await client.messages.create(
                model="claude-sonnet-5", max_tokens=4096, messages=sent, tools=tools, stream=True
            )
            return await _read(events)

        await FloorLoop([_tool(size)], model).run("go")


def _anthropic_form(message: dict[str, Any]) -> dict[str, Any]:
    if message["role"] == "tool":
        result = {"type": "tool_result", "tool_use_id": message["tool_call_id"], "content": message["content"]}
        return {"role": "user", "content": [result]}
    if message["role"] == "assistant":
        calls = [
            {"type": "tool_use", "id": one["id"], "name": "echo", "input": json.loads(one["function"]["arguments"])}
            for one in message.get("tool_calls", ())
        ]
        return {"role": "assistant", "content": calls or message["content"]}
    return {"role": "user", "content": message["content"]}


async def _read(events: AsyncIterator[Any]) -> dict[str, Any]:
    call: dict[str, Any] | None = None
    pieces: list[str] = []
    async for event in events:
        if event.type == "content_block_start" and event.content_block.type == "tool_use":
            call = {"id": event.content_block.id}
        elif event.type == "content_block_delta":
            delta = event.delta
            pieces.append(delta.partial_json if delta.type == "input_json_delta" else delta.text)
    if call is None:
        return {"role": "assistant", "content": "".join(pieces)}
    function = {"name": "echo", "arguments": "".join(pieces)}
    return {"role": "assistant", "content": None, "tool_calls": [{**call, "type": "function", "function": function}]}
