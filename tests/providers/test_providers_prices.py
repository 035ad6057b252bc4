from __future__ import annotations

import pytest

from hookagent.providers.prices import context_window, has_price, price
from hookagent.usage import Usage


def test_cached_tokens_are_charged_once() -> None:
    # gpt-5: 1.25 in, 0.125 cached, 10 out, for a million tokens.
    usage = Usage(input_tokens=100, cache_read_tokens=900, output_tokens=10)
    assert price("openai", "gpt-5", usage) == pytest.approx((100 * 1.25 + 900 * 0.125 + 10 * 10) / 1e6)


def test_cache_writes_are_charged_as_writes_only() -> None:
    # claude-sonnet-4-5: 3 in, 3.75 written, 0.3 read, 15 out.
    usage = Usage(input_tokens=3, cache_write_tokens=12304, output_tokens=550)
    assert price("anthropic", "claude-sonnet-4-5", usage) == pytest.approx((3 * 3 + 12304 * 3.75 + 550 * 15) / 1e6)


@pytest.mark.parametrize(
    ("provider", "model"),
    [("anthropic", "my-model"), ("openai-chat", "llama3"), ("local", ""), ("scripted", "x"), ("openai", "")],
)
def test_an_unknown_price_and_window_stay_unknown(provider: str, model: str) -> None:
    assert price(provider, model, Usage(1, output_tokens=1)) is None
    assert not has_price(provider, model)
    assert context_window(provider, model) is None


def test_known_windows() -> None:
    assert context_window("anthropic", "claude-sonnet-5") == 1_000_000
    assert context_window("openai", "gpt-5") == 400_000
    assert has_price("openai-chat", "gpt-4o")
