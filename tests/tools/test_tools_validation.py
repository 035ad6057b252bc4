import json
from typing import Annotated, Any, TypedDict

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, Field

from hookagent.frozen import freeze
from hookagent.tools.arguments import ArgumentsError
from hookagent.tools.tool import Tool


class Edit(BaseModel):
    old: str
    new: str


class Config(BaseModel):
    tags: list[str]
    inner: dict[str, list[int]] = {}


class Age(TypedDict):
    age: int


def edit(edits: list[Edit]) -> None: ...
def save(text: str, tags: list[str], cfg: Config) -> None: ...
def verify(data: dict[str, int]) -> None: ...
def loose(
    value: str | list[str], number: int | list[int] = 0, short: Annotated[str, Field(max_length=3)] | list[int] = ""
) -> None: ...
def anything(value: Any) -> None: ...
def measure(length: float, unit: str = "m") -> None: ...


def problems(function: Any, arguments: dict[str, Any]) -> str:
    with pytest.raises(ArgumentsError) as caught:
        Tool.from_callable(function).validate(arguments)
    return str(caught.value)


def test_a_list_of_objects_that_came_as_a_text_is_read() -> None:
    got = Tool.from_callable(edit).validate({"edits": '[{"old":"a","new":"b"}]'})
    assert got == {"edits": [Edit(old="a", new="b")]}


def test_reading_reaches_nested_values_and_leaves_texts_alone() -> None:
    sent = freeze({"text": "[1, 2]", "tags": '["x"]', "cfg": {"tags": '["y"]', "inner": '{"a": "[1]"}'}})
    got = Tool.from_callable(save).validate(sent)
    assert got == {"text": "[1, 2]", "tags": ["x"], "cfg": Config(tags=["y"], inner={"a": [1]})}
    assert sent["tags"] == '["x"]'


def test_a_text_in_a_text_is_read_as_deep_as_the_types_go() -> None:
    nested = json.dumps([json.dumps({"old": "a", "new": json.dumps(["kept"])})])
    assert Tool.from_callable(edit).validate({"edits": nested}) == {"edits": [Edit(old="a", new='["kept"]')]}


@given(st.text())
def test_a_text_parameter_is_never_touched(text: str) -> None:
    assert Tool.from_callable(loose).validate({"value": text}) == {"value": text}
    assert Tool.from_callable(anything).validate({"value": text}) == {"value": text}


def test_a_union_with_a_text_in_it_is_never_touched_even_when_invalid() -> None:
    assert "'short'" in problems(loose, {"value": "a", "short": "[1, 2, 3]"})


def test_a_union_without_a_text_is_read() -> None:
    assert Tool.from_callable(loose).validate({"value": "a", "number": "[1]"}) == {"value": "a", "number": [1]}
    assert Tool.from_callable(loose).validate({"value": "a", "number": "7"}) == {"value": "a", "number": 7}


@pytest.mark.parametrize("text", ['{"old": "a"}', "[1", "old", "", "null", "5", '[{"old":"a","new":NaN}]'])
def test_a_text_that_is_not_exactly_what_is_wanted_is_refused(text: str) -> None:
    assert "'edits' should be a valid array" in problems(edit, {"edits": text})


def test_the_whole_text_as_one_key_is_refused_and_not_guessed() -> None:
    text = problems(verify, {'"data": {"age": 26}': ""})
    assert "'data' is missing" in text
    assert '\'"data": {"age": 26}\' is not expected' in text
    assert "expected: data (object, required)" in text


def test_every_problem_is_listed_with_what_was_expected_and_what_came() -> None:
    text = problems(save, {"txet": "a", "tags": [1, "b", None], "cfg": {"tags": 3}})
    assert text.startswith("arguments do not fit tool 'save', which was not run:\n")
    assert "- 'text' is missing" in text
    assert "- 'txet' is not expected; did you mean 'text'?" in text
    assert "- 'tags[0]' should be a valid string; got 1" in text
    assert "- 'tags[2]' should be a valid string; got null" in text
    assert "- 'cfg.tags' should be a valid array; got 3" in text
    assert text.endswith(
        "expected: text (string, required), tags (list of string, required), cfg (object with tags, inner, required)"
    )


@pytest.mark.parametrize("given_name", ["Data", "DATA", "da-ta", "daat"])
def test_a_misspelt_name_gets_a_suggestion(given_name: str) -> None:
    assert f"'{given_name}' is not expected; did you mean 'data'?" in problems(verify, {given_name: {}})


def test_what_came_is_bounded() -> None:
    text = problems(verify, {"data": "x" * 100_000, "k" * 100_000: 1})
    assert len(text) < 1_000
    assert len(problems(edit, {"edits": list(range(10_000))})) < 4_000


@pytest.mark.parametrize("number", [float("nan"), float("inf"), -float("inf")])
def test_numbers_that_are_not_finite_are_refused(number: float) -> None:
    assert "not finite" in problems(measure, {"length": number})
    assert "not finite" in problems(anything, {"value": [{"a": number}]})


@pytest.mark.parametrize("text", ["NaN", "Infinity", "-inf"])
def test_a_number_in_a_text_must_be_finite_too(text: str) -> None:
    assert "'length' should be a finite number" in problems(measure, {"length": text})


def test_huge_integers_are_fine() -> None:
    assert Tool.from_callable(anything).validate({"value": 10**300}) == {"value": 10**300}


def test_lone_surrogates_do_not_break_validation() -> None:
    assert Tool.from_callable(measure).validate({"length": 1, "unit": "a\ud835b"})["unit"] == "a\ufffdb"


def test_a_tool_without_parameters_says_that_it_wants_none() -> None:
    def now() -> str:
        return ""

    assert "expected: no arguments" in problems(now, {"x": 1})


@given(st.dictionaries(st.text(max_size=5), st.recursive(st.none() | st.text() | st.integers(), st.lists)))
def test_any_arguments_are_either_valid_or_an_arguments_error(arguments: dict[str, Any]) -> None:
    # `save` wants a model that these arguments cannot give.
    with pytest.raises(ArgumentsError) as caught:
        Tool.from_callable(save).validate(arguments)
    assert caught.value.problems
    str(caught.value).encode()
