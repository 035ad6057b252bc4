from __future__ import annotations

import asyncio
from typing import Any

import httpx2
import pytest

from hookagent.errors import RETRYABLE_KINDS, ProviderError
from hookagent.providers.failures import masked, reported_error, wait_asked_for
from hookagent.testing import Fault, Reply, StrictServer


def failure(ask: Any, provider: Any, request: Any) -> ProviderError:
    with pytest.raises(ProviderError) as failed:
        ask(provider, request)
    error: ProviderError = failed.value
    return error


@pytest.mark.parametrize(
    ("message", "window"),
    [
        ("prompt is too long: 215,000 tokens > 200,000 maximum", 200_000),
        ("input length and `max_tokens` exceed context limit: 199000 + 8192 > 200000, decrease input", 200_000),
        (
            "This model's maximum context length is 128000 tokens. However, your messages resulted in 130045 tokens.",
            128_000,
        ),
        ("request (9000 tokens) exceeds the available context size (4096 tokens), try increasing it", 4096),
        ("the requested 9000 tokens exceed the model's maximum of 4096", 4096),
        ("Your input exceeds the context window of this model. Please adjust your input and try again.", None),
    ],
)
def test_a_prompt_that_is_too_long_tells_the_real_window(
    message: str, window: int | None, wire: Any, make_request: Any, ask: Any
) -> None:
    with StrictServer([Fault(status=400, message=message)]) as server:
        error = failure(ask, wire.provider(server), make_request("hi"))
    assert (error.kind, error.window) == ("too_long", window)
    assert message.split(",")[0] in str(error)


def test_a_window_in_the_servers_own_fields() -> None:
    body = {"error": {"type": "exceed_context_size_error", "message": "too big", "n_prompt_tokens": 9, "n_ctx": 8}}
    error = reported_error(body, "openai-chat", "m", status=400)
    assert (error.kind, error.window) == ("too_long", 8)


@pytest.mark.parametrize(
    ("wire_name", "settings", "message", "setting"),
    [
        ("anthropic", {"effort": "low"}, "output_config.effort: Extra inputs are not permitted", "effort"),
        (
            "openai",
            {"temperature": 1},
            "Unsupported parameter: 'temperature' is not supported with this model.",
            "temperature",
        ),
        ("openai-chat", {"effort": "low"}, "Unrecognized request argument supplied: 'reasoning_effort'", "effort"),
        ("openai-chat", {"seed": 1}, "seed: Extra inputs are not permitted", "seed"),
    ],
)
def test_a_parameter_that_the_server_refuses_is_named_as_our_setting(
    wire_name: str, settings: Any, message: str, setting: str, wires: Any, make_request: Any, ask: Any
) -> None:
    model = {"openai": "my-model"}.get(wire_name, "claude-sonnet-5" if wire_name == "anthropic" else "my-model")
    with StrictServer([Fault(status=400, message=message)]) as server:
        error = failure(ask, wires[wire_name].provider(server, model=model), make_request("hi", settings=settings))
    assert error.kind == "unsupported_setting"
    assert f"model setting '{setting}' is not taken by '{model}'" in str(error)


def test_a_wrong_key_names_the_variable_and_never_the_key(
    wire: Any, make_request: Any, ask: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    variable = "ANTHROPIC_API_KEY" if wire.name == "anthropic" else "OPENAI_API_KEY"
    secret = "sk-live-very-secret-0123456789"
    monkeypatch.setenv(variable, secret)
    fault = Fault(status=401, message=f"Incorrect API key provided: {secret}.")
    with StrictServer([fault]) as server:
        error = failure(ask, wire.provider(server, key=None), make_request("hi"))
    assert error.kind == "authentication"
    assert variable in str(error)
    assert secret not in str(error)
    assert "very-secret" not in str(error)


def test_a_missing_key_names_the_variable_and_the_ways_on_before_anything_is_sent(
    wire: Any, make_request: Any, ask: Any
) -> None:
    provider = wire.make(wire.model)
    error = failure(ask, provider, make_request("hi"))
    assert error.kind == "configuration"
    for said in ("ANTHROPIC_API_KEY", "OPENAI_BASE_URL", "pip install 'hookagent[local]'"):
        assert said in str(error)


def test_a_server_of_ones_own_needs_no_key(wires: Any, make_request: Any, ask: Any, monkeypatch: Any) -> None:
    with StrictServer([Reply(text="hello"), Reply(text="hello")]) as server:
        assert ask(wires["openai-chat"].provider(server, key=None), make_request("hi")).text == "hello"
        monkeypatch.setenv("OPENAI_BASE_URL", server.openai_url)
        assert ask(wires["openai-chat"].make("llama"), make_request("hi")).text == "hello"


def test_the_environment_works_as_the_sdks_users_expect(
    wire: Any, make_request: Any, ask: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    vendor = "ANTHROPIC" if wire.name == "anthropic" else "OPENAI"
    with StrictServer([Reply(text="hello"), Reply(text="again")], api_key="k-from-environment") as server:
        monkeypatch.setenv(f"{vendor}_API_KEY", "k-from-environment")
        url = server.anthropic_url if vendor == "ANTHROPIC" else server.openai_url
        monkeypatch.setenv(f"{vendor}_BASE_URL", url)
        assert ask(wire.make(wire.model), make_request("hi")).text == "hello"
        if vendor == "ANTHROPIC":
            monkeypatch.delenv("ANTHROPIC_API_KEY")
            monkeypatch.setenv("ANTHROPIC_AUTH_TOKEN", "k-from-environment")
        assert ask(wire.make(wire.model), make_request("hi")).text == "again"


@pytest.mark.parametrize("is_async", [False, True])
def test_a_function_is_asked_for_the_key_before_each_request(
    is_async: bool, wire: Any, make_request: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    keys = iter(["old-key-0", "new-key-1", None])

    async def later() -> Any:
        return next(keys)

    provider_key: Any = later if is_async else lambda: next(keys)
    with StrictServer(lambda body: Reply(text="hello"), api_key="new-key-1") as server:
        provider = wire.provider(server, key=provider_key)

        async def thrice() -> list[str]:
            kinds = []
            for _ in range(3):
                try:
                    async for _item in provider.stream(make_request("hi")):
                        pass
                    kinds.append("fine")
                except ProviderError as error:
                    kinds.append(error.kind)
            return kinds

        assert asyncio.run(thrice()) == ["authentication", "fine", "configuration"]


def test_a_server_that_is_not_there(wire: Any, make_request: Any, ask: Any) -> None:
    with StrictServer() as server:
        gone = wire.provider(server)
    error = failure(ask, gone, make_request("hi"))
    assert error.kind == "connection"
    assert "127.0.0.1" in str(error)
    assert error.retryable


@pytest.mark.parametrize("address", ["localhost:8080/v1", "not a url", "htp://localhost:8080/v1"])
def test_an_address_that_is_none_is_not_tried_again(address: str, wire: Any, make_request: Any, ask: Any) -> None:
    error = failure(ask, wire.make(wire.model, api_key="k", base_url=address), make_request("hi"))
    assert (error.kind, error.kind in RETRYABLE_KINDS) == ("configuration", False)
    assert str(error).startswith(f"{wire.name}: no request to ")
    assert str(error).endswith("; check the address and the headers")


@pytest.mark.parametrize(
    ("said", "kind"),
    [
        ("Illegal header value b'a\\nb'", "configuration"),
        ("Invalid input ConnectionInputs.SEND_HEADERS in state ConnectionState.CLOSED", "connection"),
        ("Can't send data when our state is ERROR", "connection"),
    ],
)
def test_a_breach_of_the_protocol_is_tried_again_unless_a_header_is_at_fault(
    said: str, kind: str, wire: Any, make_request: Any
) -> None:
    def breach(request: httpx2.Request) -> httpx2.Response:
        raise httpx2.LocalProtocolError(said, request=request)

    async def ask_once() -> None:
        async with httpx2.AsyncClient(transport=httpx2.MockTransport(breach)) as pool:
            provider = wire.make(wire.model, api_key="k", base_url="http://127.0.0.1:1/v1", http_client=pool)
            async for _ in provider.stream(make_request("hi")):
                pass

    with pytest.raises(ProviderError) as failed:
        asyncio.run(ask_once())
    assert (failed.value.kind, failed.value.retryable) == (kind, kind == "connection")
    assert said in str(failed.value)


def test_an_unknown_model_is_said_so(wire: Any, make_request: Any, ask: Any) -> None:
    with StrictServer(models=["other"]) as server:
        error = failure(ask, wire.provider(server, model="my-model"), make_request("hi"))
    assert error.kind == "not_found"
    assert "'my-model' was not found" in str(error)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "3"}, 3.0),
        ({"retry-after": "-3"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "soon"}, None),
        ({"retry-after-ms": "250", "retry-after": "3"}, 0.25),
        ({"retry-after": "Mon, 30 Nov 2026 10:00:30 GMT", "date": "Mon, 30 Nov 2026 10:00:00 GMT"}, 30.0),
        ({"retry-after": "Mon, 30 Nov 2026 10:00:30 GMT"}, None),
    ],
)
def test_the_wait_that_headers_ask_for(headers: dict[str, str], seconds: float | None) -> None:
    assert wait_asked_for(headers) == seconds


def test_foreign_texts_are_bounded_masked_and_in_one_line() -> None:
    text = masked("a\n\x1b b sk-abcdefghijkl Bearer abcdef123456 my-secret " + "x" * 5000, "my-secret")
    assert "abcdefghijkl" not in text
    assert "abcdef123456" not in text
    assert "my-secret" not in text
    assert "\n" not in text
    assert len(text) < 1100


@pytest.mark.parametrize(
    "body", [None, "plain text", b"bytes", [], {"error": "a text"}, {"error": {"code": 5}}, {"x": 1}]
)
def test_any_body_becomes_a_typed_error(body: object) -> None:
    for status in (None, 418, 502):
        error = reported_error(body, "openai", "m", status=status)
        assert error.kind == {None: "server", 418: "invalid_request", 502: "server"}[status]


def test_credentials_that_the_sdk_cannot_read_are_a_configuration_error(
    wires: Any, make_request: Any, ask: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    monkeypatch.setenv("ANTHROPIC_CONFIG_DIR", str(tmp_path / "nowhere"))
    error = failure(ask, wires["anthropic"].make("claude-sonnet-5"), make_request("hi"))
    assert error.kind == "configuration"
    assert "no usable credentials" in str(error)
