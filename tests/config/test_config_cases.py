"""Faults that other projects met in what their files said: unknown keys, variables, doubled keys, nothing at all."""

from collections.abc import Callable
from pathlib import Path

import pytest
from pydantic import BaseModel, ConfigDict, ValidationError

from hookagent.config import Config, ConfigError, load_config, problems_from, read_config
from hookagent.config.yaml_nodes import parse_yaml

Write = Callable[..., Path]


def load(path: Path, **environment: str) -> Config:
    return load_config(path.name, working_directory=path.parent, environment=environment)


def errors(path: Path, **environment: str) -> list[str]:
    with pytest.raises(ConfigError) as caught:
        load(path, **environment)
    return str(caught.value).split("\n")


class _Mode(BaseModel):
    model_config = ConfigDict(extra="forbid")
    when: str = "always"


class _Options(BaseModel):
    model_config = ConfigDict(extra="forbid")
    always: list[str] = []
    mode: _Mode = _Mode()


def test_cfg_08_unknown_keys_are_errors_at_every_level(write: Write) -> None:
    text = "model: m\nmax_iteration: 3\nlimits: {max_iteratons: 2}\nplugins:\n- use: a\n  on_eror: warn\n"
    assert errors(write(text)) == [
        "agent.yaml:2:1: unknown key 'max_iteration'; did you mean 'limits.max_iterations'?",
        "agent.yaml:3:10: unknown key 'limits.max_iteratons'; did you mean 'max_iterations'?",
        "agent.yaml:6:3: unknown key 'plugins.a.on_eror'; did you mean 'on_error'?",
    ]


def test_cfg_08_unknown_keys_in_plugin_sections(write: Write) -> None:
    path = write("plugins:\n- approval:\n    allways: [read]\n    mode: {wen: never}\n")
    loaded = read_config(path.name, working_directory=path.parent, environment={})
    assert loaded.config.plugins is not None
    with pytest.raises(ValidationError) as caught:
        _Options.model_validate(loaded.config.plugins[0].options)
    problems = ConfigError(problems_from(caught.value, loaded.positions, "approval", _Options))
    assert str(problems).split("\n") == [
        "agent.yaml:3:5: unknown key 'plugins.approval.allways'; did you mean 'always'?",
        "agent.yaml:4:12: unknown key 'plugins.approval.mode.wen'; did you mean 'when'?",
    ]


def test_cfg_08_a_mapping_of_plugins_is_refused_with_the_right_form(write: Write) -> None:
    assert errors(write("plugins:\n  approval:\n    always: [read]\n")) == [
        "agent.yaml:2:3: plugins must be a list, found a mapping; write '- approval: {...}' under it"
    ]


@pytest.mark.parametrize("state", ["not set", "empty"])
def test_cfg_10_an_unset_variable_names_variable_key_and_place(write: Write, state: str) -> None:
    path = write("model: ${ALSO_NOT:-bob}\nmodel_settings:\n  openai: {api_key: '${NOT_SET}'}\n")
    environment = {"NOT_SET": ""} if state == "empty" else {}
    assert errors(path, **environment) == [
        f"agent.yaml:3:21: variable 'NOT_SET' in 'model_settings.openai.api_key' is {state}; "
        "set it, or write ${NOT_SET:-default} for a default"
    ]
    config = load(path, NOT_SET="k")
    assert config.model == "bob"
    assert config.model_settings.openai == {"api_key": "k"}


@pytest.mark.parametrize(
    "value", ["!x: {y}\nadmin: true # z", "${OTHER}", "$$", "a: b", "*alias", "- item", "yes", "12", "'\"", "\tx\x00"]
)
def test_cfg_11_a_variable_cannot_change_the_structure(write: Write, value: str) -> None:
    path = write("plugins:\n- a: {api_key: '${K}', url: 'http://h/${K2:-p}', '${K}': 1}\n")
    config = load(path, K=value, OTHER="leaked")
    assert config.plugins is not None
    assert config.plugins[0].options == {"api_key": value, "url": "http://h/p", "${K}": 1}


def test_cfg_14_a_key_given_twice_names_both_lines(write: Write) -> None:
    path = write("limits:\n  max_iterations: 1\nmodel: m\nlimits:\n  max_iterations: 2\n")
    assert errors(path) == ["agent.yaml:4:1: duplicate key 'limits'; first given on line 1; remove one of them"]


@pytest.mark.parametrize("second", ["mode: never", "'mode': never", '"mode": never', "? mode\n  : never"])
def test_cfg_14_however_it_is_written(write: Write, second: str) -> None:
    document = parse_yaml(f"approval:\n  mode: ask\n  {second}\n", "a.yaml")
    assert [(problem.line, problem.message) for problem in document.problems] == [
        (3, "duplicate key 'approval.mode'; first given on line 2; remove one of them")
    ]


def test_cfg_14_merge_keys_with_an_override_load() -> None:
    text = (
        "base: &base {a: 1, b: 2, c: {d: 3}}\n"
        "more: &more {b: 5, e: 6}\n"
        "one: {<<: *base, b: 9}\n"
        "both:\n  <<: [*base, *more]\n  a: 0\n"
        "text: {'<<': 1}\n"
    )
    document = parse_yaml(text, "a.yaml")
    assert document.problems == []
    assert document.data["one"] == {"b": 9, "a": 1, "c": {"d": 3}}
    assert document.data["both"] == {"a": 0, "b": 2, "c": {"d": 3}, "e": 6}
    assert document.data["text"] == {"<<": 1}
    assert document.positions.value(("one", "c", "d")).line == 1
    assert document.positions.value(("both", "e")).line == 2


@pytest.mark.parametrize(
    "text", ["", "# only a comment\n", "null\n", "---\n", "~", "--- # nothing\n...\n", "\ufeff", "{}"]
)
def test_cfg_15_empty_files_are_the_defaults(write: Write, text: str) -> None:
    assert load(write(text)) == Config()


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("- a\n- b\n", "agent.yaml:1:1: mapping expected, found a list"),
        ("\n\nhello\n", "agent.yaml:3:1: mapping expected, found a single value"),
        ("model:\n", "agent.yaml:1:7: model is empty; give it a value or remove the line"),
        ("model: ''\n", "agent.yaml:1:8: model is empty; give it a value or remove the line"),
        ("model: ' '\n", "agent.yaml:1:8: model is empty; give it a value or remove the line"),
        ("model: ${A:-}\n", "agent.yaml:1:8: model is empty; give it a value or remove the line"),
        ("plugins:\n", "agent.yaml:1:9: plugins is empty; give it a value or remove the line"),
    ],
)
def test_cfg_15_each_error_is_a_normal_error(write: Write, text: str, problem: str) -> None:
    assert errors(write(text)) == [problem]


def test_cfg_15_an_error_object_has_parts_and_everything_is_reported_at_once(write: Write) -> None:
    path = write("model: ${NOPE}\nmodel: x\ntool_execution: fast\nlimits: {max_iterations: 0}\n")
    with pytest.raises(ConfigError) as caught:
        load(path)
    assert [(problem.file, problem.line, problem.column) for problem in caught.value.problems] == [
        ("agent.yaml", 1, 8),
        ("agent.yaml", 2, 1),
        ("agent.yaml", 3, 17),
        ("agent.yaml", 4, 26),
    ]
