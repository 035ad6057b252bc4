"""The direct way of sending and the SDK's documented one: the same request, the same events, the same reply."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from hookagent.providers.call_ids import FreshIds
from hookagent.providers.openai_chat.decode import ChatReader
from hookagent.providers.openai_client import post_stream
from hookagent.providers.openai_responses.decode import ResponseReader
from hookagent.testing import Call, Reply, StrictServer, Usage
from hookagent.transcript import Transcript

REPLY = Reply(thinking="hm", text="I look", calls=[Call("t", {"q": "é"}, id="call_1")], usage=Usage(10, 5, 3))


@pytest.mark.parametrize("name", ["openai", "openai-chat"])
def test_post_and_create_send_and_read_the_same(name: str, wires: Any, make_request: Any, tool: Any) -> None:
    import openai
    from openai.types.chat import ChatCompletion, ChatCompletionChunk
    from openai.types.responses import Response, ResponseStreamEvent

    request = make_request("hi", system="be brief", tools=(tool(q="string"),), session_id="s1")

    async def both(url: str) -> list[Any]:
        async with openai.AsyncOpenAI(api_key="k", base_url=url, max_retries=0) as client:
            body = wires[name].body(request)
            if name == "openai":
                direct = await post_stream(client, "/responses", dict(body), "k", ResponseStreamEvent, Response)
                first = [event async for event in direct]
                documented: Any = await client.responses.create(**body, stream=True)
            else:
                direct = await post_stream(
                    client, "/chat/completions", dict(body), "k", ChatCompletionChunk, ChatCompletion
                )
                first = [event async for event in direct]
                documented = await client.chat.completions.create(**body, stream=True)
            return [first, [event async for event in documented]]

    with StrictServer([REPLY, REPLY]) as server:
        events = asyncio.run(both(server.openai_url))
        assert server.requests[0].body == server.requests[1].body
        assert server.requests[0].path == server.requests[1].path
        sent = [
            {n: v for n, v in record.headers.items() if n not in ("x-stainless-read-timeout",)}
            for record in server.requests
        ]
        assert sent[0] == sent[1]
    assert [type(event) for event in events[0]] == [type(event) for event in events[1]]
    replies = []
    for stream in events:
        reader: Any = (ResponseReader if name == "openai" else ChatReader)(FreshIds(Transcript()), "m")
        for event in stream:
            reader.read(event)
        replies.append(reader.message())
    visible = [[p for p in reply.parts if type(p).__name__ != "ProviderPart"] for reply in replies]
    assert visible[0] == visible[1]
    assert len(replies[0].parts) == len(replies[1].parts)
    assert replies[0].usage == replies[1].usage
