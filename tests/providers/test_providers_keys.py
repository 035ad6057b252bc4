"""Whether a model can be asked is known before anything is sent."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import Any

import pytest

from hookagent import complete, complete_sync
from hookagent.errors import ConfigurationError, ProviderError
from hookagent.providers.keys import assert_ready, is_foreign_server, ways_on
from hookagent.providers.routing import default_model, provider_for
from hookagent.providers.scripted import ScriptedProvider
from hookagent.testing import Reply, StrictServer

HOSTED = ["anthropic:claude-sonnet-5", "openai:gpt-5", "openai-chat:gpt-4o"]


@pytest.mark.parametrize("model", HOSTED)
def test_no_key_is_known_before_anything_is_sent(model: str) -> None:
    vendor = "ANTHROPIC" if model.startswith("anthropic") else "OPENAI"
    with pytest.raises(ConfigurationError, match=f"{model.partition(':')[0]}: {vendor}_API_KEY is not set; set a key"):
        assert_ready(provider_for(model))
    with pytest.raises(ConfigurationError, match="API_KEY is not set"):
        complete_sync("hi", model=model)
    with pytest.raises(ConfigurationError, match="API_KEY is not set"):
        asyncio.run(complete("hi", model=model))


@pytest.mark.parametrize("key", ["", "  "])
def test_a_blank_key_is_none(key: str, wire: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ConfigurationError, match="what was given as api_key gave no key"):
        assert_ready(wire.make(wire.model, api_key=key))
    monkeypatch.setenv("ANTHROPIC_API_KEY", key)
    monkeypatch.setenv("OPENAI_API_KEY", key)
    with pytest.raises(ConfigurationError, match="API_KEY is not set"):
        assert_ready(wire.make(wire.model))


def test_a_key_is_enough(wire: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    assert_ready(wire.make(wire.model, api_key="k"))
    monkeypatch.setenv("ANTHROPIC_API_KEY", "k")
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    assert_ready(wire.make(wire.model))


def test_a_function_is_not_asked_before_a_request(wire: Any) -> None:
    def key() -> str:
        raise AssertionError("asked")

    assert_ready(wire.make(wire.model, api_key=key))


def test_other_ways_of_the_sdk_to_be_let_in_count(wires: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    claude = wires["anthropic"].make("claude-sonnet-5")
    monkeypatch.setenv("ANTHROPIC_CUSTOM_HEADERS", "Authorization: Bearer t")
    assert_ready(claude)
    monkeypatch.setenv("ANTHROPIC_CUSTOM_HEADERS", "X-Other: t")
    with pytest.raises(ConfigurationError, match="ANTHROPIC_API_KEY is not set"):
        assert_ready(claude)
    monkeypatch.setenv("ANTHROPIC_AUTH_TOKEN", "t")
    assert_ready(claude)
    monkeypatch.delenv("ANTHROPIC_AUTH_TOKEN")
    monkeypatch.setenv("ANTHROPIC_CONFIG_DIR", str(tmp_path / "none"))
    monkeypatch.setenv("ANTHROPIC_PROFILE", "no-such-profile")
    with pytest.raises(ConfigurationError, match="no usable credentials"):
        assert_ready(claude)


@pytest.mark.parametrize("name", ["openai", "openai-chat"])
def test_a_server_of_ones_own_needs_no_key(
    name: str, wires: Any, make_request: Any, ask: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    with StrictServer(lambda body: Reply(text="hello")) as server:
        there = wires[name].make("llama", base_url=server.openai_url)
        monkeypatch.setenv("OPENAI_BASE_URL", server.openai_url)
        for provider in (there, wires[name].make("llama")):
            assert_ready(provider)
            assert ask(provider, make_request("hi")).text == "hello"
        assert complete_sync("hi", model=f"{name}:llama") == "hello"
    monkeypatch.setenv("OPENAI_BASE_URL", "https://eu.api.openai.com/v1")
    with pytest.raises(ConfigurationError, match="OPENAI_API_KEY is not set"):
        assert_ready(wires[name].make("gpt-5"))


def test_a_provider_need_not_be_able_to_say() -> None:
    assert_ready(ScriptedProvider(["x"]))


def test_the_advice_goes_by_what_is_set(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "point at a local server (OPENAI_BASE_URL=http://localhost:8080/v1 with" in ways_on()
    monkeypatch.setenv("OPENAI_BASE_URL", "http://user:secret@box:8000/v1")
    monkeypatch.setattr("hookagent.providers.routing._local_is_installed", lambda: False)
    with pytest.raises(ConfigurationError) as caught:
        default_model()
    assert "name a model of the server that OPENAI_BASE_URL points at ('openai-chat:NAME')" in str(caught.value)
    assert "localhost" not in str(caught.value)
    assert "secret" not in str(caught.value)
    monkeypatch.setenv("OPENAI_BASE_URL", "https://api.openai.com/v1")
    assert "point at a local server" in ways_on()


@pytest.mark.parametrize(
    ("address", "foreign"),
    [
        (None, False),
        ("https://api.openai.com/v1", False),
        ("https://eu.api.openai.com/v1", False),
        ("https://mine.openai.azure.com/", False),
        ("http://localhost:8080/v1", True),
        ("https://openai.com.evil.example/v1", True),
        ("https://notopenai.com/v1", True),
        ("nonsense", True),
    ],
)
def test_whose_server_an_address_is(address: str | None, foreign: bool) -> None:
    assert is_foreign_server(address) is foreign


def test_what_the_environment_has_is_seen_without_an_sdk(wire: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "k")
    monkeypatch.setitem(sys.modules, "anthropic", None)
    monkeypatch.setitem(sys.modules, "openai", None)
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    assert_ready(wire.make(wire.model))


@pytest.mark.parametrize(
    ("key", "said"),
    [
        ("sk-se\ncret", "a line break at place 6 of 10"),
        ("sk-secrét", "a character that no key has at place 8 of 9"),
        ("sk-secret\u200b", "a character that no key has at place 10 of 10"),
    ],
)
def test_a_key_that_no_header_can_hold_is_named_and_not_shown(
    key: str, said: str, wire: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    for made, name in ((wire.make(wire.model, api_key=key), "api_key"), (wire.make(wire.model), wire.name.upper())):
        monkeypatch.setenv("ANTHROPIC_API_KEY", key)
        monkeypatch.setenv("OPENAI_API_KEY", key)
        name = name if name == "api_key" else f"{name.partition('-')[0]}_API_KEY"
        with pytest.raises(ConfigurationError) as refused:
            assert_ready(made)
        assert str(refused.value) == f"{wire.name}: {name}: {said}; set it again without that"


def test_a_key_that_a_function_gives_is_looked_at_too(wire: Any) -> None:
    with StrictServer([Reply(text="never")]) as server:
        provider = wire.provider(server, key=lambda: "sk-se\rcret")
        with pytest.raises(ProviderError, match=f"^{wire.name}: api_key: a line break at place 6 of 10"):
            complete_sync("hi", model=provider)
        assert server.remaining == 1


@pytest.mark.parametrize("blanks", ["\n", "\r\n", " "])
def test_blanks_around_a_key_of_the_environment_do_no_harm(
    blanks: str, wire: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", f" sk-key{blanks}")
    monkeypatch.setenv("OPENAI_API_KEY", f" sk-key{blanks}")
    with StrictServer([Reply(text="let in")]) as server:
        provider = wire.provider(server, key=None)
        assert_ready(provider)
        # The HTTP library refuses a header with blanks around its value.
        assert complete_sync("hi", model=provider) == "let in"


def test_a_token_of_the_environment_is_looked_at(wires: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    for token, said in (("t ", "a blank at place 2 of 2"), ("t\n", "a line break at place 2 of 2")):
        monkeypatch.setenv("ANTHROPIC_AUTH_TOKEN", token)
        with pytest.raises(ConfigurationError, match=f"^anthropic: ANTHROPIC_AUTH_TOKEN: {said}"):
            assert_ready(wires["anthropic"].make("claude-sonnet-5"))
    monkeypatch.setenv("ANTHROPIC_AUTH_TOKEN", "t t")
    assert_ready(wires["anthropic"].make("claude-sonnet-5"))


def test_a_token_that_is_not_used_beside_a_key_does_no_harm(wires: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_AUTH_TOKEN", "t\n")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-key")
    with StrictServer([Reply(text="let in")]) as server:
        provider = wires["anthropic"].provider(server, key=None)
        assert_ready(provider)
        assert complete_sync("hi", model=provider) == "let in"
