from __future__ import annotations

import json
import string
from typing import Any
from urllib.parse import urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hookagent import Masker
from hookagent_tool_logging.line_file import one_line
from hookagent_tool_logging.masking import MASK, LogMasker

PLAIN = LogMasker(200, {})
SECRET = "hunter2-SECRET"


@pytest.mark.parametrize(
    "name",
    [
        *("key", "api_key", "apiKey", "X-Api-Key", "AWS_SECRET_ACCESS_KEY", "token", "access_token", "GITHUB_TOKEN"),
        *("secret", "client-secret", "password", "PASSWD", "passphrase", "Authorization", "credentials", "Set-Cookie"),
    ],
)
def test_a_value_of_a_secret_name_is_masked_at_any_depth(name: str) -> None:
    assert Masker.hides(name)
    for secret in (SECRET, 12345678, {"a": SECRET}, [SECRET]):
        assert PLAIN.value({"a": [{"b": {name: secret, "c": "kept"}}]}) == {"a": [{"b": {name: MASK, "c": "kept"}}]}


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(("path", "a.txt"), ("keyboard", "qwerty"), ("keywords", ["a"]), ("tokenizer", "bpe"), ("command", "ls -la")),
        *(("max_tokens", 500), ("tokens", 7), ("token_required", True), ("key", None), ("author", "Ada")),
    ],
)
def test_what_is_no_secret_stays(name: str, value: Any) -> None:
    assert PLAIN.value({name: value}) == {name: value}


@pytest.mark.parametrize(
    "text",
    [
        f"export API_KEY={SECRET}; run",
        f'curl -H "Authorization: Bearer {SECRET}" x',
        f"curl -H 'Authorization: Basic {SECRET}' x",
        f"Bearer {SECRET}",
        f'{{"api_key": "{SECRET}", "n": 1}}',
        f'{{\\"client_secret\\": \\"{SECRET}\\"}}',
        f"login --password {SECRET} --verbose",
        f"postgres://ada:{SECRET}@db.example/x",
        f"https://example.org/?access_token={SECRET}&page=2",
        f"the key sk-ant-api03-{SECRET} is refused",
        f"-----BEGIN RSA PRIVATE KEY-----\n{SECRET}\n-----END RSA PRIVATE KEY-----",
        f"-----BEGIN PRIVATE KEY-----\n{SECRET}",
    ],
)
def test_secrets_are_masked_within_texts(text: str) -> None:
    masked = PLAIN.text(text)
    assert SECRET not in masked
    assert MASK in masked


@pytest.mark.parametrize(
    "text",
    [
        "task-management and risk-assessment",
        "press any key to go on",
        "a secretary walked into a bar",
        "git log --oneline --keep-going",
        "the tokenizer splits words: it is fast",
        "https://example.org/a@b?page=2",
        "def keyed(x): return sorted(x, key=len)",
        "00:11:22",
    ],
)
def test_everyday_texts_stay(text: str) -> None:
    assert PLAIN.text(text) == text


def test_secrets_of_the_environment_are_known_by_value() -> None:
    masker = LogMasker(
        200, {"API_KEY": "sk-test-SECRET123", "DB_PASSWORD": "a+b(c)d[e", "SHORT_KEY": "abc", "HOME": "/home/ada"}
    )
    seen = masker.value({"a": "x sk-test-SECRET123 y", "/home/ada a+b(c)d[e abc": 1})
    assert seen == {"a": f"x {MASK} y", f"/home/ada {MASK} abc": 1}


def test_a_long_text_keeps_its_ends_and_says_its_size() -> None:
    text = PLAIN.text("a" * 5_000 + "b" * 5_000)
    assert text.startswith("a" * 100)
    assert text.endswith("b" * 100)
    assert "[cut: 10,000 characters]" in text


@pytest.mark.parametrize("split", range(1, len(SECRET)))
def test_no_piece_of_a_secret_shows_at_an_edge_of_what_is_searched(split: int) -> None:
    # Masking shortens what stands beside it, so that half of a secret at the edge comes into sight.
    limit, edge = 60_000, 65_536 + 60_000
    shrinking = "Bearer " + "x" * 200 + " "
    beside = shrinking * (edge // len(shrinking))
    head = beside + " " * (edge - len(beside) - len("sk-") - split) + "sk-" + SECRET
    tail = SECRET + " " * (edge - len(beside) - split) + beside
    shown = LogMasker(limit, {"KEY": SECRET}).text(head + " " * 500_000 + tail)
    assert len(shown) <= limit + 100
    assert SECRET[:split] + " … [cut" not in shown
    assert all(piece not in shown for piece in ("sk-", "hunt", "CRET"))


def test_wide_and_deep_values_are_cut() -> None:
    deep: Any = "end"
    for _ in range(500):
        deep = [deep]
    assert "more]" in one_line(PLAIN.value(deep))
    wide = PLAIN.value({"n": list(range(10_000))})
    assert len(wide["n"]) < 600
    assert wide["n"][-1].endswith("more]")
    assert len(one_line(PLAIN.value({str(number): "x" * 1000 for number in range(10_000)}))) < 200_000


def test_a_line_is_printable_and_strict() -> None:
    line = one_line(PLAIN.value({"a": "\x1b[2K\r\n\u2028\u202e\x9b\ud800 ü 漢", "n": float("nan"), "i": float("inf")}))
    assert line.isprintable()
    assert "ü 漢" in line
    assert json.loads(line) == {"a": "\x1b[2K\r\n\u2028\u202e\x9b\ufffd ü 漢", "n": "nan", "i": "inf"}


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=300),
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text(max_size=300), inner, max_size=5),
    max_leaves=20,
)


@given(json_values)
def test_every_value_becomes_one_strict_line(value: Any) -> None:
    def refuse(text: str) -> None:
        raise AssertionError(text)

    line = one_line(PLAIN.value(value))
    json.loads(line, parse_constant=refuse)
    assert "\n" not in line
    line.encode()


@given(
    st.text(string.ascii_letters + string.digits + "-_", min_size=10, max_size=40),
    st.text(max_size=50),
    st.text(max_size=50),
)
def test_a_known_secret_never_shows(secret: str, before: str, after: str) -> None:
    masker = LogMasker(1000, {"SOME_TOKEN": secret})
    nested = masker.value({"a": [before + secret + after, {secret: 1}]})
    if secret not in before + "*" + after and secret not in json.dumps(nested["a"][0]).replace(MASK, ""):
        assert secret not in one_line(nested)


def test_a_url_without_a_password_stays_readable() -> None:
    assert urlsplit(PLAIN.text("https://ada:pa55@example.org/x")).hostname == "example.org"
