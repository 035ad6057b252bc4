"""What the case tests share: the three real SDKs against the strict server, and a request of any wire as one list."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

from hookagent import Agent
from hookagent.providers import AnthropicProvider, OpenAIChatProvider, OpenAIResponsesProvider, RetryPolicy
from hookagent.testing import RecordedRequest, StrictServer

WIRES: dict[str, Callable[[StrictServer], Any]] = {
    "anthropic": lambda server: AnthropicProvider("claude-sonnet-5", api_key="k", base_url=server.anthropic_url),
    "openai": lambda server: OpenAIResponsesProvider("gpt-5", api_key="k", base_url=server.openai_url),
    "openai-chat": lambda server: OpenAIChatProvider("gpt-5", api_key="k", base_url=server.openai_url),
}
"""How to make a provider of each wire form that talks to a server."""

MODES = ("parallel", "sequential")

NO_RETRIES = RetryPolicy(max_attempts=1)

Entry = tuple[str, str]
"""("system" | "user" | "assistant", its text), ("call", its id) or ("result", the id of its call)."""


def agent_on(wire: str, server: StrictServer, **options: Any) -> Agent:
    """An agent that talks to `server` in one wire form and never tries twice."""
    return Agent("case", model=WIRES[wire](server), retry_policy=NO_RETRIES, **options)


def assert_accepted(server: StrictServer) -> None:
    """The server took every request, and answered all of them as it was told to."""
    assert [(one.rule, one.message) for one in server.refused] == []
    assert server.failures == []


def entries(request: RecordedRequest) -> list[Entry]:
    """A request of any wire form as one flat list, in the order in which the model reads it."""
    body = request.body
    if request.wire == "messages":
        return list(_messages(body))
    if request.wire == "chat":
        return list(_chat(body))
    return list(_responses(body))


def without_ids(request: RecordedRequest) -> list[str]:
    """The same list with calls and results by their kind alone, texts as they are."""
    return [kind if kind in ("call", "result") else f"{kind}: {text}" for kind, text in entries(request)]


def result_texts(request: RecordedRequest) -> dict[str, str]:
    """The texts of all tool results of a request, by call id."""
    body = request.body
    if request.wire == "messages":
        parts = [part for message in body["messages"] for part in _parts(message["content"])]
        return {part["tool_use_id"]: _text(part["content"]) for part in parts if part["type"] == "tool_result"}
    if request.wire == "chat":
        return {one["tool_call_id"]: _text(one["content"]) for one in body["messages"] if one["role"] == "tool"}
    results = [one for one in body["input"] if one.get("type") == "function_call_output"]
    return {one["call_id"]: _text(one["output"]) for one in results}


def arguments_sent(request: RecordedRequest) -> dict[str, Any]:
    """The arguments of all calls of a request, parsed, by call id."""
    body = request.body
    if request.wire == "messages":
        parts = [part for message in body["messages"] for part in _parts(message["content"])]
        return {part["id"]: part["input"] for part in parts if part["type"] == "tool_use"}
    if request.wire == "chat":
        calls = [call for message in body["messages"] for call in message.get("tool_calls") or ()]
        return {call["id"]: json.loads(call["function"]["arguments"]) for call in calls}
    items = [one for one in body["input"] if one.get("type") == "function_call"]
    return {one["call_id"]: json.loads(one["arguments"]) for one in items}


def offered_tools(request: RecordedRequest) -> list[str]:
    """The names of the tools that a request offers."""
    tools = request.body.get("tools") or ()
    return [tool["function"]["name"] if "function" in tool else tool["name"] for tool in tools]


def _messages(body: Any) -> Iterator[Entry]:
    for part in _parts(body.get("system") or []):
        yield "system", part["text"]
    for message in body["messages"]:
        for part in _parts(message["content"]):
            if part["type"] == "text":
                yield message["role"], part["text"]
            elif part["type"] == "tool_use":
                yield "call", part["id"]
            elif part["type"] == "tool_result":
                yield "result", part["tool_use_id"]
            else:
                yield part["type"], json.dumps(part)


def _chat(body: Any) -> Iterator[Entry]:
    for message in body["messages"]:
        role = message["role"]
        if role == "tool":
            yield "result", message["tool_call_id"]
            continue
        if message.get("content"):
            yield "system" if role == "developer" else role, _text(message["content"])
        for call in message.get("tool_calls") or ():
            yield "call", call["id"]


def _responses(body: Any) -> Iterator[Entry]:
    if body.get("instructions"):
        yield "system", body["instructions"]
    for item in body["input"]:
        kind = item.get("type", "message")
        if kind == "function_call":
            yield "call", item["call_id"]
        elif kind == "function_call_output":
            yield "result", item["call_id"]
        elif kind == "message":
            yield item["role"], _text(item["content"])
        else:
            yield kind, json.dumps(item)


def _parts(content: Any) -> list[Any]:
    return [{"type": "text", "text": content}] if isinstance(content, str) else list(content)


def _text(content: Any) -> str:
    return content if isinstance(content, str) else "".join(part.get("text", "") for part in content)
