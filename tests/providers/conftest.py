from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import pytest

from hookagent.frozen import FrozenDict, freeze
from hookagent.messages import AssistantMessage, ToolResult, UserMessage
from hookagent.providers.anthropic_messages.encode import encode as encode_messages
from hookagent.providers.anthropic_messages.provider import AnthropicProvider
from hookagent.providers.base import Provider
from hookagent.providers.openai_chat.encode import encode as encode_chat
from hookagent.providers.openai_chat.provider import OpenAIChatProvider
from hookagent.providers.openai_responses.encode import encode as encode_responses
from hookagent.providers.openai_responses.provider import OpenAIResponsesProvider
from hookagent.providers.wire import anthropic_messages, openai_chat, openai_responses
from hookagent.requests import BlockView, Request
from hookagent.testing import StrictServer, check_chat_request, check_messages_request, check_responses_request
from hookagent.transcript import Transcript
from tests.providers.protected import protected_in

KEY = "sk-test-0123456789abcdef"


def _chat_body(request: Request, model: str) -> dict[str, Any]:
    return encode_chat(request, model, limit_name="max_completion_tokens", is_foreign=False)


@dataclass(frozen=True)
class Wire:
    """One wire form, with all that a test needs of it."""

    name: str
    form: str
    model: str
    make: Callable[..., Any]
    encode: Callable[[Request, str], dict[str, Any]]
    check_kit: Callable[[Mapping[str, Any]], None]
    check_own: Callable[[Mapping[str, Any], Request], None]
    list_field: str

    def provider(self, server: StrictServer, model: str | None = None, key: Any = KEY) -> Provider:
        url = server.anthropic_url if self.name == "anthropic" else server.openai_url
        made: Provider = self.make(model or self.model, api_key=key, base_url=url)
        return made

    def body(self, request: Request, model: str | None = None) -> dict[str, Any]:
        return self.encode(request, model or self.model)


WIRES = {
    "anthropic": Wire(
        "anthropic", "anthropic-messages", "claude-sonnet-5", AnthropicProvider, encode_messages,
        check_messages_request, anthropic_messages.check_body, "messages",
    ),
    "openai": Wire(
        "openai", "openai-responses", "gpt-5", OpenAIResponsesProvider, encode_responses,
        check_responses_request, openai_responses.check_body, "input",
    ),
    "openai-chat": Wire(
        "openai-chat", "openai-chat", "gpt-4o", OpenAIChatProvider, _chat_body,
        check_chat_request, openai_chat.check_body, "messages",
    ),
}  # fmt: skip


@pytest.fixture(autouse=True)
def _no_keys(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    for name in (
        "ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_BASE_URL", "ANTHROPIC_CUSTOM_HEADERS",
        "ANTHROPIC_PROFILE", "OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID",
    ):  # fmt: skip
        monkeypatch.delenv(name, raising=False)
    monkeypatch.delenv("ANTHROPIC_CONFIG_DIR", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))


@pytest.fixture(params=list(WIRES))
def wire(request: pytest.FixtureRequest) -> Wire:
    return WIRES[request.param]


@pytest.fixture
def wires() -> dict[str, Wire]:
    return WIRES


@pytest.fixture
def tool() -> Callable[..., Any]:
    def make(name: str = "t", **parameters: str) -> Any:
        properties = {key: {"type": kind} for key, kind in parameters.items()}
        schema = freeze({"type": "object", "properties": properties, "additionalProperties": False})
        return SimpleNamespace(name=name, description=f"Does {name}.", parameters=schema)

    return make


@pytest.fixture
def make_request() -> Callable[..., Request]:
    def make(transcript: Transcript | str, **fields: Any) -> Request:
        if isinstance(transcript, str):
            transcript = Transcript([UserMessage(transcript)])
        fields.setdefault("protected", protected_in(transcript))
        fields["settings"] = FrozenDict(fields.get("settings") or {})
        return Request(BlockView(transcript), **fields)

    return make


@pytest.fixture
def items_of() -> Callable[[Provider, Request], list[Any]]:
    """Everything one attempt streams, in a fresh event loop."""

    def run(provider: Provider, request: Request) -> list[Any]:
        async def collect() -> list[Any]:
            return [item async for item in provider.stream(request)]

        return asyncio.run(collect())

    return run


@pytest.fixture
def ask(items_of: Callable[[Provider, Request], list[Any]]) -> Callable[[Provider, Request], AssistantMessage]:
    """The message at the end of one attempt."""

    def run(provider: Provider, request: Request) -> AssistantMessage:
        message = items_of(provider, request)[-1]
        assert isinstance(message, AssistantMessage)
        return message

    return run


@pytest.fixture
def answered() -> Callable[..., Transcript]:
    """A transcript with a reply and its results, in call order."""

    def grow(transcript: Transcript, reply: AssistantMessage, *contents: str, is_error: bool = False) -> Transcript:
        transcript = transcript.with_reply(reply)
        for call, content in zip(reply.tool_calls, contents, strict=True):
            status = "error" if is_error else "ok"
            transcript = transcript.with_result(ToolResult(content, is_error, status, call.id))  # type: ignore[arg-type]
        return transcript

    return grow
