import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hookagent.frozen import FrozenDict, FrozenList
from hookagent.tools.arguments import parse_arguments

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


@pytest.mark.parametrize("raw", ["", "   ", "\n\t", "{}", " {} ", None, "null", "\ufeff", "\ufeff{}"])
def test_blank_means_no_arguments(raw: str | None) -> None:
    assert parse_arguments(raw) == ({}, None)


@pytest.mark.parametrize(
    ("raw", "says"),
    [
        ('{"city": ', "not valid JSON"),
        ('{"a": 1', "not valid JSON"),
        ("{'a': 1}", "not valid JSON"),
        ('{"a": 1} {"b": 2}', "not valid JSON"),
        ('{"x": NaN}', "NaN"),
        ('{"x": [-Infinity]}', "-Infinity"),
        ('{"x": 1e400}', "1e400"),
        ('{"a": 1, "b": {"c": 1, "c": 2}}', "'c' stands twice"),
        ("[1, 2]", "a list, not an object"),
        ('"{}"', "a text, not an object"),
        ("5", "a number, not an object"),
        ("true", "a boolean, not an object"),
        ("[" * 100_000, "nested too deeply"),
        ('{"a": ' + "1" * 5_000 + "}", "5,000 digits"),
    ],
)
def test_what_cannot_be_understood_is_a_problem_and_never_an_empty_object(raw: str, says: str) -> None:
    arguments, problem = parse_arguments(raw)
    assert arguments is None
    assert problem is not None
    assert says in problem
    assert len(problem) < 400


def test_the_values_are_frozen_all_the_way_down() -> None:
    arguments, _ = parse_arguments('{"a": [[{"b": [1]}]], "c": {"d": {}}}')
    assert arguments == {"a": [[{"b": [1]}]], "c": {"d": {}}}
    assert arguments is not None
    assert type(arguments["a"]) is FrozenList
    assert type(arguments["a"][0][0]) is FrozenDict
    assert type(arguments["a"][0][0]["b"]) is FrozenList


@pytest.mark.parametrize(
    ("raw", "value"),
    [
        ('{"a": "x\\ud835y"}', "x\ufffdy"),
        ('{"a": "\ud835"}', "\ufffd"),
        ('{"a": "\\ud835\\udc00"}', "\U0001d400"),
        ('{"a": "\ud835\udc00"}', "\U0001d400"),
    ],
)
def test_lone_surrogates_are_replaced_and_pairs_kept(raw: str, value: str) -> None:
    assert parse_arguments(raw) == ({"a": value}, None)


def test_lone_surrogates_are_replaced_in_lists_and_keys() -> None:
    assert parse_arguments('{"k\\udc00": ["\\ud835", {"b": "\\udfff"}]}') == (
        {"k\ufffd": ["\ufffd", {"b": "\ufffd"}]},
        None,
    )


@given(st.dictionaries(st.text(), JSON))
def test_every_json_object_comes_through_as_it_is(value: dict[str, Any]) -> None:
    for ascii_only in (True, False):
        assert parse_arguments(json.dumps(value, ensure_ascii=ascii_only)) == (value, None)


@given(st.text() | st.text(alphabet='{}[]":,0123456789.eE-nulltrefas\\ \ud835'))
def test_any_text_gives_either_arguments_or_a_problem(raw: str) -> None:
    arguments, problem = parse_arguments(raw)
    assert (arguments is None) != (problem is None)
    if arguments is not None:
        json.dumps(arguments, allow_nan=False, ensure_ascii=False).encode()
