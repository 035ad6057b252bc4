from __future__ import annotations

import asyncio
import sys
from typing import Any

import pytest
from pydantic import BaseModel, Field

from hookagent.completion import complete, complete_sync, complete_with_usage
from hookagent.errors import ConfigurationError, MisuseError, ProviderError, RequestRefusedError
from hookagent.providers.anthropic_messages.provider import AnthropicProvider
from hookagent.providers.openai_chat.provider import OpenAIChatProvider
from hookagent.providers.openai_responses.provider import OpenAIResponsesProvider
from hookagent.providers.scripted import ScriptedProvider
from hookagent.testing import Reply, StrictServer, Usage


class City(BaseModel):
    name: str
    inhabitants: int = Field(default=0, ge=0)


def providers(server: StrictServer) -> list[Any]:
    return [
        AnthropicProvider("claude-sonnet-5", "k", server.anthropic_url),
        OpenAIResponsesProvider("gpt-5", "k", server.openai_url),
        OpenAIChatProvider("gpt-4o", "k", server.openai_url),
    ]


def test_a_text_from_every_vendor() -> None:
    with StrictServer(lambda body: Reply(text="Paris")) as server:
        for provider in providers(server):
            assert complete_sync("capital of France?", system="be brief", model=provider) == "Paris"
        assert all("be brief" in str(record.body) for record in server.requests)


def test_a_model_by_the_vendors_own_structured_output() -> None:
    with StrictServer(lambda body: Reply(text='{"name": "Paris", "inhabitants": 2000000}')) as server:
        for provider in providers(server):
            city = complete_sync("capital of France?", output=City, model=provider)
            assert city == City(name="Paris", inhabitants=2_000_000)
        assert all("json_schema" in str(record.body) for record in server.requests)


def test_what_it_used_can_be_booked() -> None:
    with StrictServer([Reply(text="x", usage=Usage(10, 5))]) as server:
        completion = asyncio.run(complete_with_usage("hi", model=providers(server)[1]))
    assert (completion.value, completion.usage.input_tokens, completion.usage.requests) == ("x", 10, 1)
    assert completion.usage.cost_usd is not None


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ('{"name": "Paris", "inhabitants": -1}', "inhabitants: Input should be greater than or equal to 0"),
        ("Paris", "Invalid JSON"),
        ("", "received: "),
    ],
)
def test_an_answer_that_does_not_fit(answer: str, said: str) -> None:
    with pytest.raises(ProviderError, match="does not fit 'City'") as failed:
        complete_sync("capital?", output=City, model=ScriptedProvider([answer]))
    assert failed.value.kind == "response"
    assert said in str(failed.value)


@pytest.mark.parametrize(
    ("stop", "kind", "said"),
    [
        ("length", "response", "max_output_tokens"),
        ("refusal", "filtered", "refused to answer"),
        ("unknown", "response", "'unknown' (weird)"),
    ],
)
def test_a_cut_or_refused_answer_is_no_answer(stop: str, kind: str, said: str) -> None:
    step = {"text": '{"name"', "stop": stop, "stop_detail": "weird"}
    with pytest.raises(ProviderError) as failed:
        complete_sync("capital?", output=City, model=ScriptedProvider([step]))
    assert failed.value.kind == kind
    assert said in str(failed.value)


def test_an_empty_answer_for_an_unknown_reason_is_an_error_and_text_is_not() -> None:
    with pytest.raises(ProviderError):
        complete_sync("hi", model=ScriptedProvider([{"stop": "unknown"}]))
    assert complete_sync("hi", model=ScriptedProvider([{"text": "x", "stop": "unknown"}])) == "x"


def test_a_blank_prompt_is_refused() -> None:
    with pytest.raises(RequestRefusedError, match="the prompt is empty"):
        complete_sync("  ", model=ScriptedProvider(["x"]))


def test_settings_reach_the_vendor() -> None:
    with StrictServer([Reply(text="x")]) as server:
        complete_sync("hi", model=providers(server)[0], settings={"max_output_tokens": 7})
        assert server.requests[0].body["max_tokens"] == 7


def test_complete_sync_in_a_running_loop_says_what_to_do() -> None:
    async def inside() -> None:
        complete_sync("hi", model=ScriptedProvider(["x"]))

    with pytest.raises(MisuseError, match="await complete"):
        asyncio.run(inside())


def test_without_a_model_the_environment_decides(monkeypatch: pytest.MonkeyPatch) -> None:
    with StrictServer([Reply(text="hello")], api_key="k-env") as server:
        monkeypatch.delenv("OPENAI_API_KEY", raising=False)
        monkeypatch.setenv("ANTHROPIC_API_KEY", "k-env")
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.anthropic_url)
        assert asyncio.run(complete("hi")) == "hello"


def test_an_unknown_model_name_is_a_configuration_error() -> None:
    with pytest.raises(ConfigurationError):
        complete_sync("hi", model="opnai:x")
    assert "hookagent.completion" in sys.modules
