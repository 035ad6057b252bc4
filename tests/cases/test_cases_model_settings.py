"""Public cases about settings that a model does not take: renamed, refused with their name, or never sent at all."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from hookagent import Agent
from hookagent.providers import AnthropicProvider, OpenAIChatProvider, OpenAIResponsesProvider
from hookagent.testing import Call, Fault, Reply, StrictServer
from tests.cases.wires import MODES, NO_RETRIES, WIRES, assert_accepted, result_texts

FORMS: dict[str, Any] = {
    "anthropic": AnthropicProvider,
    "openai": OpenAIResponsesProvider,
    "openai-chat": OpenAIChatProvider,
}


def agent_of(wire: str, model: str, server: StrictServer, **options: Any) -> Agent:
    url = server.anthropic_url if wire == "anthropic" else server.openai_url
    provider = FORMS[wire](model, api_key="k", base_url=url)
    return Agent(model=provider, retry_policy=NO_RETRIES, **options)


@pytest.mark.parametrize(
    ("wire", "model", "field"),
    [
        ("openai-chat", "o3-mini", "max_completion_tokens"),
        ("openai-chat", "o4-mini", "max_completion_tokens"),
        ("openai-chat", "gpt-5", "max_completion_tokens"),
        ("openai-chat", "mistral-small", "max_tokens"),
        ("openai", "o3-mini", "max_output_tokens"),
        ("openai", "gpt-4o", "max_output_tokens"),
        ("anthropic", "claude-sonnet-5", "max_tokens"),
    ],
)
def test_prv_15_the_output_limit_has_the_name_that_the_model_takes(wire: str, model: str, field: str) -> None:
    with StrictServer([Reply(text="end")]) as server:
        agent = agent_of(wire, model, server, model_settings={"max_output_tokens": 100})
        assert agent.run_sync("Go.").ok
        assert_accepted(server)
    names = ("max_tokens", "max_completion_tokens", "max_output_tokens")
    assert {name: server.requests[0].body.get(name) for name in names} == {
        name: 100 if name == field else None for name in names
    }


@pytest.mark.parametrize("refused", ["max_tokens", "max_completion_tokens"])
def test_prv_15_a_name_that_the_server_refuses_is_changed_once_and_remembered(refused: str) -> None:
    model = "mistral-small" if refused == "max_tokens" else "gpt-5"
    (other,) = {"max_tokens", "max_completion_tokens"} - {refused}
    message = f"Unsupported parameter: '{refused}' is not supported with this model."
    with StrictServer([Fault(status=400, message=message), Reply(text="one"), Reply(text="two")]) as server:
        agent = agent_of("openai-chat", model, server, model_settings={"max_output_tokens": 100})
        assert [agent.run_sync("Go.").answer, agent.run_sync("Again.").answer] == ["one", "two"]
    sent = [[name for name in request.body if name in (refused, other)] for request in server.requests]
    assert sent == [[refused], [other], [other]]


@pytest.mark.parametrize(
    ("wire", "model", "settings"),
    [
        ("openai", "o4-mini", {"temperature": 0.2}),
        ("openai", "gpt-5", {"temperature": 0}),
        ("openai", "gpt-5", {"seed": 1}),
        ("anthropic", "claude-sonnet-5", {"temperature": 0.2}),
        ("anthropic", "claude-haiku-4-5", {"effort": "low"}),
    ],
)
def test_prv_16_a_setting_of_the_users_is_never_dropped_in_silence(
    wire: str, model: str, settings: dict[str, Any]
) -> None:
    with StrictServer([Reply(text="never asked for")]) as server:
        result = agent_of(wire, model, server, model_settings=settings).run_sync("Go.")
    (name,) = settings
    assert (result.status, server.requests) == ("failed", [])
    assert f"model setting '{name}' is not taken by '{model}'" in result.reason


@pytest.mark.parametrize(
    ("settings", "field"), [({"temperature": 0.2}, "temperature"), ({"effort": "low"}, "reasoning_effort")]
)
def test_prv_16_what_only_the_server_knows_it_cannot_take_is_named_too(settings: dict[str, Any], field: str) -> None:
    fault = Fault(status=400, message=f"Unsupported parameter: '{field}' is not supported with this model.")
    with StrictServer([fault, Reply(text="never asked for")]) as server:
        result = agent_of("openai-chat", "own-model", server, model_settings=settings).run_sync("Go.")
    (name,) = settings
    assert (result.status, len(server.requests)) == ("failed", 1)
    assert server.requests[0].body[field] == settings[name]
    assert f"model setting '{name}' is not taken by 'own-model'" in result.reason


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize("mode", MODES)
def test_prv_17_the_wish_for_parallel_calls_is_never_sent(wire: str, mode: Any) -> None:
    running: list[int] = []
    most: list[int] = []
    both = threading.Barrier(2, timeout=20)

    def t(n: int) -> str:
        """Do something."""
        running.append(n)
        most.append(len(running))
        if mode == "parallel":
            both.wait()
        running.remove(n)
        return f"did {n}"

    calls = [Call("t", {"n": number}, f"c{number}") for number in range(2)]
    model = "claude-sonnet-5" if wire == "anthropic" else "o4-mini"
    with StrictServer([Reply(text="no tools"), Reply(calls=calls), Reply(text="end")]) as server:
        assert agent_of(wire, model, server, tool_execution=mode).run_sync("Go.").ok
        assert agent_of(wire, model, server, tools=[t], tool_execution=mode).run_sync("Go.").answer == "end"
        assert_accepted(server)
    assert all("parallel" not in str(request.body) for request in server.requests)
    # A model that was not told still sends two; whether they run one by one is ours to keep.
    assert result_texts(server.requests[2]) == {"c0": "did 0", "c1": "did 1"}
    assert max(most) == (1 if mode == "sequential" else 2)


@pytest.mark.parametrize("wire", WIRES)
def test_prv_17_the_vendors_own_word_for_it_is_sent_where_the_user_says_so(wire: str) -> None:
    extras: dict[str, Any] = {"parallel_tool_calls": False}
    if wire == "anthropic":
        extras = {"tool_choice": {"type": "auto", "disable_parallel_tool_use": True}}

    def t() -> str:
        """Do something."""
        return "did"

    with StrictServer([Reply(text="end")]) as server:
        agent = agent_of(
            wire,
            "claude-sonnet-5" if wire == "anthropic" else "gpt-4o",
            server,
            tools=[t],
            model_settings={wire: extras},
        )
        assert agent.run_sync("Go.").ok
        assert_accepted(server)
    (name,) = extras
    assert server.requests[0].body[name] == extras[name]
