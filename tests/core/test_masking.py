"""What is taken for a secret, and what is not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hookagent import Masker
from hookagent.masking import is_secret_name

SECRET = "hunter2-SECRET"


@pytest.mark.parametrize("name", ["OPENAI_API_KEY", "apiKey", "GITHUB_TOKEN", "Authorization", "Set-Cookie", "passwd"])
def test_names_of_secrets(name: str) -> None:
    assert is_secret_name(name)
    assert Masker.hides(name)


@pytest.mark.parametrize("name", ["keyboard", "keywords", "tokenizer", "max_tokens", "max_output_tokens", "author", ""])
def test_names_of_everyday_things(name: str) -> None:
    assert not is_secret_name(name)


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("the key sk-ant-api03-abcdefghijkl is refused", "the key *** is refused"),
        ("sk_live_abcdefghijkl", "***"),
        ("Authorization: Bearer abcdefghijkl", "Authorization: ***"),
        ("git clone https://ada:pa55@example.org/x", "git clone https://ada:***@example.org/x"),
        ("ghp_abcdefghijklmnopqrst and AKIAABCDEFGHIJKLMNOP", "*** and ***"),
        ("eyJhbGciOiJI.eyJzdWIiOiIx.c2lnbmF0dXJl", "***"),
        ("-----BEGIN PRIVATE KEY-----\nabc\n-----END PRIVATE KEY-----\nrest", "***\nrest"),
        ("-----BEGIN PRIVATE KEY-----\nabc", "***"),
    ],
)
def test_what_looks_like_a_secret_is_masked(text: str, masked: str) -> None:
    assert Masker({})(text) == masked


@pytest.mark.parametrize(
    "text",
    [
        "task-management and risk-assessment",
        "agent.yaml:3:4: plugins.x.api_key: a value is missing",
        "max_tokens: 500",
        "https://example.org/a@b?page=2",
        "the bearer of bad news",
        "bearer bonds",
    ],
)
def test_everyday_texts_stay(text: str) -> None:
    assert Masker({})(text) == text


def test_variables_named_like_secrets_are_known_by_value_the_longest_first() -> None:
    masker = Masker({"A_KEY": "abcdef", "B_KEY": "abcdef-ghi ", "USE_KEYS": "1", "HOME": "/home/ada"})
    assert masker("abcdef-ghi abcdef 1 /home/ada") == "*** *** 1 /home/ada"


def test_the_process_s_environment_is_the_default(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_PASSWORD", SECRET)
    assert Masker()(f"x{SECRET}y") == "x***y"


@given(st.text(max_size=50), st.text(max_size=50))
def test_a_known_secret_never_shows(before: str, after: str) -> None:
    shown = Masker({"SOME_TOKEN": SECRET})(before + SECRET + after)
    assert SECRET not in shown
