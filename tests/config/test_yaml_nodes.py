"""YAML to values with places: the scalars, the places, and that nothing but our own error ever comes out."""

import re
import string
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from hookagent.config import ConfigError, Place
from hookagent.config.positions import paths_of
from hookagent.config.yaml_nodes import parse_value, parse_yaml


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("5", 5),
        ("-5", -5),
        ("+5", 5),
        ("010", 10),
        ("0o17", 15),
        ("0x1F", 31),
        ("1.5", 1.5),
        (".5", 0.5),
        ("1.", 1.0),
        ("1e3", 1000.0),
        ("-1.5E-3", -0.0015),
        (".inf", float("inf")),
        ("-.INF", float("-inf")),
        ("true", True),
        ("false", False),
        ("null", None),
        ("~", None),
        ("''", ""),
        ("'5'", "5"),
        ("'true'", "true"),
        ("!!str 5", "5"),
        ("!!int '5'", 5),
        ("!!float 5", 5),
        ("!!bool 'true'", True),
        ("1.2.3", "1.2.3"),
        ("9" * 401, "9" * 401),
        ("9" * 400, int("9" * 400)),
        ("|\n  a\n  b\n", "a\nb\n"),
        (">-\n  a\n  b\n", "a b"),
        ('"\\u00e9\\U0001F600"', "é😀"),
    ],
)
def test_scalars(written: str, value: Any) -> None:
    document = parse_yaml(f"key: {written}", "a.yaml")
    assert document.problems == []
    assert document.data == {"key": value}
    assert type(document.data["key"]) is type(value) or written.startswith("!!float")


def test_places_of_keys_values_and_items() -> None:
    positions = parse_yaml("a:\n  b: 1\n  'c': [x,\n    {d: y}]\n", "dir/a.yaml").positions
    assert str(positions.key(("a",))) == "dir/a.yaml:1:1"
    assert str(positions.value(("a", "b"))) == "dir/a.yaml:2:6"
    assert str(positions.key(("a", "c"))) == "dir/a.yaml:3:3"
    assert str(positions.value(("a", "c", 0))) == "dir/a.yaml:3:9"
    assert str(positions.key(("a", "c", 1, "d"))) == "dir/a.yaml:4:6"
    assert str(positions.value(("a", "c", 1, "d", "deeper"))) == "dir/a.yaml:4:9"


def test_columns_count_characters_and_lines_of_windows() -> None:
    positions = parse_yaml("\r\né😀: x\r\nb: {é: 1}\r\n", "a.yaml").positions
    assert str(positions.value(("é😀",))) == "a.yaml:2:5"
    assert str(positions.key(("b", "é"))) == "a.yaml:3:5"


def test_a_value_outside_a_file_stands_at_its_place() -> None:
    place = Place("-o a={b: 1, b: 2}")
    value, problems, empty = parse_value("{b: 1, b: 2}", place)
    assert (value, empty) == ({"b": 1}, set())
    assert parse_value("{b: null, c: , d: ''}", place)[::2] == ({"b": None, "c": None, "d": ""}, {("c",)})
    assert parse_value(" ", place)[::2] == (None, {()})
    assert [str(problem) for problem in problems] == [
        "-o a={b: 1, b: 2}: duplicate key 'b'; given twice; remove one of them"
    ]
    with pytest.raises(ConfigError) as caught:
        parse_value("[", place)
    assert str(caught.value).startswith("-o a={b: 1, b: 2}: ")


_PIECES = [
    *"a b model plugins : [ ] { } , << ' \" \\ | > # ? % ~ null true 5 0x 1e5".split(" "),
    *"${A} ${ $$ é 😀 @ ` * & ! !<%ff> =".split(" "),
    *[": ", "- ", "\n", "\n  ", "\n    ", "\t", "&a ", "*a", "!x ", "!!int ", "? ", "- - - ", "? ["],
    *["%YAML 1.1\n", "---\n", "...\n", "\ufeff", "\x85", "\u2028", "\x00", "\x7f", "\ud800"],
    *['"\\U00110000"', '"\\ud800"'],
]


@given(st.lists(st.sampled_from(_PIECES), max_size=40).map("".join) | st.text(max_size=60))
def test_only_our_own_error_ever_comes_out(text: str) -> None:
    try:
        document = parse_yaml(text, "a.yaml")
    except ConfigError as error:
        files = {problem.file for problem in error.problems}
        if files != {"a.yaml"}:
            pytest.fail(f"problems of {files}")
    else:
        assert set(paths_of(document.data)) <= set(document.positions.values)


# PyYAML writes such a text without quotes, and we read a number there, as YAML 1.2 has it.
_NUMBER_OF_12 = re.compile(r"[-+]?\d[\d_.]*[eE][-+]?\d+|[-+]?\.\d[\d_]*[eE][-+]?\d+")
_PLAIN_VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.text(st.characters(exclude_categories=["Cs", "Cc"])).filter(lambda text: not _NUMBER_OF_12.fullmatch(text)),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(string.ascii_letters, min_size=1), inner, max_size=4)
    ),
    max_leaves=15,
)


@given(st.dictionaries(st.text(string.ascii_letters, min_size=1), _PLAIN_VALUES, max_size=5), st.booleans())
@settings(max_examples=60)
def test_what_a_yaml_writer_wrote_is_read_back(data: dict[str, Any], flow: bool) -> None:
    document = parse_yaml(yaml.safe_dump(data, default_flow_style=flow, allow_unicode=True, sort_keys=False), "a.yaml")
    assert document.problems == []
    assert document.data == data


@given(st.integers(2, 9), st.integers(2, 60))
def test_whatever_the_aliases_the_tree_stays_within_its_limit(width: int, levels: int) -> None:
    lines = [f"a0: &a0 [{'x, ' * width}]"] + [f"a{n}: &a{n} [{f'*a{n - 1}, ' * width}]" for n in range(1, levels)]
    try:
        document = parse_yaml("\n".join(lines), "a.yaml")
    except ConfigError:
        assert sum(width**level for level in range(levels + 2)) > 20_000 // width or levels > 45
    else:
        assert sum(1 for _ in paths_of(document.data)) <= 20_000
