"""`${NAME}` in values: once, and exactly."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hookagent.config.positions import Document
from hookagent.config.variables import escape_variables, expand_variables
from hookagent.config.yaml_nodes import parse_yaml


def expand(text: str, **environment: str) -> Document:
    document = parse_yaml("key: x\n", "a.yaml")
    document.data = {"key": text}
    expand_variables(document, environment)
    return document


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("${A}", "1"),
        ("x${A}y${A}", "x1y1"),
        ("${B:-d}", "d"),
        ("${B:-}", ""),
        ("${EMPTY:-d}", "d"),
        ("${A:-d}", "1"),
        ("${B:-a b: {c}", "a b: {c"),
        ("$$", "$"),
        ("$${A}", "${A}"),
        ("$$${A}", "$1"),
        ("$A $ 5$", "$A $ 5$"),
        ("${NESTED}", "${A}"),
        ("${B:-$$}", "$$"),
    ],
)
def test_expansion(text: str, value: str) -> None:
    document = expand(text, A="1", EMPTY="", NESTED="${A}")
    assert document.problems == []
    assert document.data == {"key": value}


@pytest.mark.parametrize("text", ["${", "${}", "${A", "${1A}", "${A-B}", "${A:x}", "a ${ A }", "${secret:X}"])
def test_what_starts_no_variable_is_a_problem(text: str) -> None:
    [problem] = expand(text, A="1").problems
    assert problem.message.startswith("'${' in 'key' starts no variable")


def test_bytes_that_are_no_text_are_a_problem_and_not_a_crash_later() -> None:
    [problem] = expand("${A}", A="caf\udce9").problems
    assert problem.message == "variable 'A' in 'key' holds bytes that are not UTF-8; set it to text"


def test_keys_and_other_values_are_left_alone() -> None:
    document = parse_yaml("'${A}': [5, true, null, '${A}', {x: '${A}'}]", "a.yaml")
    expand_variables(document, {"A": "v"})
    assert document.data == {"${A}": [5, True, None, "v", {"x": "v"}]}
    assert document.positions.expanded == {("${A}", 3), ("${A}", 4, "x")}


@given(st.text())
def test_an_escaped_text_comes_back(text: str) -> None:
    document = expand(escape_variables(text))
    assert (document.problems, document.data) == ([], {"key": text})


@given(st.text(alphabet="${}:-AB$ ", max_size=30), st.dictionaries(st.sampled_from("AB"), st.text(max_size=5)))
def test_any_text_expands_or_is_reported(text: str, environment: dict[str, Any]) -> None:
    document = expand(text, **environment)
    assert document.problems or isinstance(document.data["key"], str)
