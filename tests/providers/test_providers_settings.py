from __future__ import annotations

from typing import Any

import pytest

from hookagent.errors import ProviderError
from hookagent.providers.settings import read_settings
from hookagent.testing import Fault, Reply, StrictServer


def refused(wire: Any, model: str, settings: dict[str, Any], make_request: Any) -> str:
    with pytest.raises(ProviderError) as failed:
        wire.body(make_request("hi", settings=settings), model)
    assert failed.value.kind == "unsupported_setting"
    return str(failed.value)


@pytest.mark.parametrize(
    ("wire_name", "model", "settings", "sent"),
    [
        ("anthropic", "claude-sonnet-5", {}, {"max_tokens": 16384}),
        ("anthropic", "claude-3-haiku-20240307", {}, {"max_tokens": 4096}),
        ("anthropic", "claude-sonnet-5", {"max_output_tokens": 100}, {"max_tokens": 100}),
        ("anthropic", "claude-haiku-4-5", {"temperature": 0.2}, {"temperature": 0.2}),
        ("anthropic", "claude-3-7-sonnet-20250219", {"temperature": 0}, {"temperature": 0}),
        ("anthropic", "claude-sonnet-5", {"effort": "high"}, {"output_config": {"effort": "high"}}),
        ("anthropic", "claude-opus-4-5", {"effort": "low"}, {"output_config": {"effort": "low"}}),
        ("anthropic", "claude-sonnet-5", {"stop": "END"}, {"stop_sequences": ["END"]}),
        ("openai", "gpt-5", {"max_output_tokens": 100}, {"max_output_tokens": 100}),
        ("openai", "gpt-5", {"effort": "low"}, {"reasoning": {"effort": "low"}}),
        ("openai", "gpt-4o", {"temperature": 0.2}, {"temperature": 0.2}),
        ("openai", "gpt-5-chat-latest", {"temperature": 0.2}, {"temperature": 0.2}),
        ("openai", "gpt-5.1", {"temperature": 0.2, "effort": "none"}, {"temperature": 0.2}),
        ("openai-chat", "o3-mini", {"max_output_tokens": 100}, {"max_completion_tokens": 100}),
        ("openai-chat", "o3-mini", {"effort": "low"}, {"reasoning_effort": "low"}),
        ("openai-chat", "gpt-4o", {"stop": ["A", "B"], "seed": 7}, {"stop": ["A", "B"], "seed": 7}),
    ],
)
def test_one_vocabulary_for_all_vendors(
    wire_name: str, model: str, settings: dict[str, Any], sent: dict[str, Any], wires: Any, make_request: Any
) -> None:
    request = make_request("hi", settings=settings)
    body = wires[wire_name].body(request, model)
    if wire_name != "anthropic" or "temperature" not in body:
        wires[wire_name].check_kit({**body, "stream": True})
    assert {name: body[name] for name in sent} == sent


def test_older_claude_models_get_sampling_settings_in_the_version_that_has_them(
    wires: Any, make_request: Any, ask: Any
) -> None:
    with StrictServer([Reply(text="x"), Reply(text="y")]) as server:
        provider = wires["anthropic"].provider(server, model="claude-haiku-4-5")
        assert ask(provider, make_request("hi", settings={"temperature": 0.2})).text == "x"
        assert ask(provider, make_request("hi")).text == "y"
        versions = [record.headers["anthropic-version"] for record in server.requests]
    assert versions[0] == "2023-06-01"
    assert versions[1] > versions[0]


@pytest.mark.parametrize(
    ("wire_name", "model", "settings"),
    [
        ("anthropic", "claude-sonnet-5", {"temperature": 0.2}),
        ("anthropic", "claude-opus-4-7", {"temperature": 0.2}),
        ("anthropic", "claude-fable-5-1", {"temperature": 0.2}),
        ("anthropic", "claude-sonnet-5", {"seed": 1}),
        ("anthropic", "claude-haiku-4-5", {"effort": "low"}),
        ("anthropic", "claude-sonnet-5", {"effort": "minimal"}),
        ("openai", "o4-mini", {"temperature": 0.2}),
        ("openai", "gpt-5-mini", {"temperature": 0.2}),
        ("openai", "gpt-4o", {"effort": "low"}),
        ("openai", "gpt-5", {"stop": "END"}),
        ("openai", "gpt-5", {"seed": 1}),
        ("openai-chat", "o4-mini", {"temperature": 0.2}),
        ("openai-chat", "o4-mini", {"stop": "END"}),
        ("openai-chat", "gpt-4o", {"effort": "low"}),
    ],
)
def test_what_a_model_cannot_take_is_an_error_that_names_the_setting_and_the_model(
    wire_name: str, model: str, settings: dict[str, Any], wires: Any, make_request: Any
) -> None:
    said = refused(wires[wire_name], model, settings, make_request)
    assert f"model setting '{next(iter(settings))}' is not taken by '{model}'" in said


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"max_tokens": 5}, "model setting 'max_tokens' is not known; did you mean 'max_output_tokens'?"),
        ({"nonsense": 5}, "there are: max_output_tokens, temperature, effort, stop, seed"),
        ({"max_output_tokens": 0}, "is a number of tokens from 1, not 0"),
        ({"max_output_tokens": True}, "not True"),
        ({"max_output_tokens": 1.5}, "not 1.5"),
        ({"temperature": float("nan")}, "is a number from 0, not nan"),
        ({"temperature": "hot"}, "not 'hot'"),
        ({"effort": "extreme"}, "is one of none, minimal, low"),
        ({"stop": [""]}, "none empty"),
        ({"stop": 3}, "is a text or a list of texts"),
        ({"seed": 1.0}, "is a whole number"),
        ({"openai": 3}, "holds a mapping of that vendor's own settings"),
        ({"anthropic": {"messages": []}}, "is not a setting: the conversation is built by the loop"),
    ],
)
def test_settings_that_cannot_be(settings: dict[str, Any], said: str, wires: Any, make_request: Any) -> None:
    assert said in refused(wires["anthropic"], "claude-sonnet-5", settings, make_request)


def test_settings_that_are_none_are_not_set() -> None:
    assert read_settings({"temperature": None, "seed": None}, "anthropic") == read_settings({}, "anthropic")


def test_extras_of_the_vendor_join_the_body_and_those_of_others_do_not(wire: Any, make_request: Any, tool: Any) -> None:
    extras = {"metadata": {"user_id": "u1"}, "service_tier": "auto"}
    others = {name: {"top_p": 1} for name in ("anthropic", "openai", "openai-chat") if name != wire.name}
    body = wire.body(make_request("hi", settings={wire.name: extras, **others}))
    assert body["metadata"] == {"user_id": "u1"}
    assert "top_p" not in body


def test_extras_are_joined_with_what_we_send(wires: Any, make_request: Any, tool: Any) -> None:
    search = {"type": "web_search_20250305", "name": "web_search"}
    extras = {"output_config": {"task_budget": 1}, "tools": [search]}
    request = make_request("hi", tools=(tool(),), settings={"effort": "low", "anthropic": extras})
    body = wires["anthropic"].body(request)
    assert body["output_config"] == {"effort": "low", "task_budget": 1}
    assert [t["name"] for t in body["tools"]] == ["t", "web_search"]
    assert len(wires["anthropic"].body(make_request("hi", tools=request.tools))["tools"]) == 1


def test_extra_headers_go_out_as_headers(wire: Any, make_request: Any, ask: Any) -> None:
    with StrictServer([Reply(text="x")]) as server:
        extras = {wire.name: {"extra_headers": {"x-mine": "yes"}}}
        ask(wire.provider(server), make_request("hi", settings=extras))
        assert server.requests[0].headers["x-mine"] == "yes"
        assert "extra_headers" not in server.requests[0].body


def test_foreign_servers_get_the_older_name_of_the_limit(wires: Any, make_request: Any, ask: Any) -> None:
    with StrictServer([Reply(text="x")]) as server:
        provider = wires["openai-chat"].provider(server, model="mistral-small")
        ask(provider, make_request("hi", settings={"max_output_tokens": 9}))
        assert server.requests[0].body["max_tokens"] == 9


def test_a_refused_name_of_the_limit_is_changed_once_and_remembered(wires: Any, make_request: Any, ask: Any) -> None:
    refusal = Fault(status=400, message="Unsupported parameter: 'max_tokens' is not supported with this model.")
    with StrictServer([refusal, Reply(text="x"), Reply(text="y")]) as server:
        provider = wires["openai-chat"].provider(server, model="reasoner")
        request = make_request("hi", settings={"max_output_tokens": 9})
        assert [ask(provider, request).text for _ in range(2)] == ["x", "y"]
        names = [[name for name in record.body if name.startswith("max_")] for record in server.requests]
    assert names == [["max_tokens"], ["max_completion_tokens"], ["max_completion_tokens"]]


def test_a_limit_refused_under_both_names_is_an_error(wires: Any, make_request: Any, ask: Any) -> None:
    refusals = [
        Fault(status=400, message=f"Unsupported parameter: '{name}'")
        for name in ("max_tokens", "max_completion_tokens")
    ]
    with StrictServer(refusals) as server, pytest.raises(ProviderError, match="'max_output_tokens'"):
        ask(wires["openai-chat"].provider(server, model="m"), make_request("hi", settings={"max_output_tokens": 9}))


def test_a_server_that_knows_no_stream_options_is_asked_without(wires: Any, make_request: Any, ask: Any) -> None:
    refusal = Fault(status=422, message="body.stream_options: Extra inputs are not permitted")
    with StrictServer([refusal, Reply(text="x"), Reply(text="y")]) as server:
        provider = wires["openai-chat"].provider(server, model="m")
        assert [ask(provider, make_request("hi")).text for _ in range(2)] == ["x", "y"]
        assert ["stream_options" in record.body for record in server.requests] == [True, False, False]
