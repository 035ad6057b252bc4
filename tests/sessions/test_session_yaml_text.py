"""YAML that is written without a library is read back by one as the same values."""

from __future__ import annotations

import math
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from hookagent.sessions.yaml_text import yaml_lines
from hookagent.tools.text import clean_text
from tests.sessions.made import TEXTS

MULTILINE = st.lists(
    st.sampled_from(["", " ", "  a", "b", "- c", "d: e", "#", "\t", "---", "...", "|", "é", "'", '"', "\x85", "%x"]),
    max_size=6,
).map("\n".join)
WORDS = st.sampled_from(
    ["yes", "No", "null", "~", "1", "1e5", "0x1F", "2001-01-01", "a: b", "=", "<<", "!!x", "@", "y"]
)
STRINGS = TEXTS | MULTILINE | WORDS | st.text(st.characters(codec=None), min_size=90, max_size=130)
NUMBERS = st.integers(-(10**30), 10**30) | st.floats(allow_nan=False)
VALUES = st.recursive(
    st.none() | st.booleans() | NUMBERS | STRINGS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(STRINGS, inner, max_size=4),
    max_leaves=12,
)


def cleaned(value: Any) -> Any:
    """What of a value YAML can carry: valid Unicode."""
    if isinstance(value, str):
        return clean_text(value)
    if isinstance(value, list):
        return [cleaned(item) for item in value]
    if isinstance(value, dict):
        return {clean_text(key): cleaned(item) for key, item in value.items()}
    return value


@given(st.dictionaries(STRINGS, VALUES, min_size=1, max_size=4) | st.lists(VALUES, min_size=1, max_size=4))
@settings(max_examples=100, deadline=None)
def test_what_is_written_is_read_back(value: Any) -> None:
    text = yaml_lines(value)
    assert text.endswith("\n")
    assert repr(yaml.safe_load(text)) == repr(cleaned(value))
    # As part of something larger, further in.
    nested = "turns:\n" + yaml_lines([value, value], 2)
    assert repr(yaml.safe_load(nested)) == repr({"turns": [cleaned(value)] * 2})


def test_it_is_written_as_people_like_to_read_it() -> None:
    value = {
        "agent": "my_agent",
        "model": "scripted:x",
        "input": "Find it",
        "tools_called": ["search", "read_file"],
        "result": "first\n  second\n",
        "messages": [{"role": "user", "text": "a\n\nb"}, {"role": "assistant", "tool_calls": [{"name": "x"}]}],
        "cost": None,
        "on": True,
        "none": [],
        "share": 1e-9,
    }
    assert yaml_lines(value) == (
        "agent: my_agent\n"
        'model: "scripted:x"\n'
        'input: "Find it"\n'
        "tools_called: [search, read_file]\n"
        "result: |2+\n"
        "  first\n"
        "    second\n"
        "messages:\n"
        "  - role: user\n"
        "    text: |2-\n"
        "      a\n"
        "\n"
        "      b\n"
        "  - role: assistant\n"
        "    tool_calls:\n"
        "      - name: x\n"
        "cost: null\n"
        '"on": true\n'
        '"none": []\n'
        "share: 1.0e-09\n"
    )


def test_numbers_that_json_lacks_are_written_too() -> None:
    back = yaml.safe_load(yaml_lines({"a": float("nan"), "b": float("-inf"), "c": 7**6_000}))
    assert math.isnan(back["a"])
    assert back["b"] == float("-inf")
    assert int(back["c"], 16) == 7**6_000


def test_what_is_no_json_is_refused() -> None:
    with pytest.raises(TypeError, match="object"):
        yaml_lines({"a": object()})
