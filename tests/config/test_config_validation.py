"""Pydantic's errors about a plugin's options in our words, and the model as Python users build it."""

from enum import Enum
from pathlib import Path
from typing import Any, Literal

import pytest
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from hookagent.config import Config, ConfigError, PluginEntry, Positions, problems_from, read_config


class Level(Enum):
    LOW = "low"
    HIGH = "high"


class Inner(BaseModel):
    model_config = ConfigDict(extra="forbid")
    depth: int = 1


class Outer(BaseModel):
    inner: list[Inner] = []


class Options(BaseModel):
    model_config = ConfigDict(extra="forbid")
    warn_at: int | None = Field(default=None, ge=1, le=100)
    either: int | str | list[int] = 1
    strategy: Literal["drop", "summarize"] = "drop"
    level: Level = Level.LOW
    inner: Inner = Inner()
    many: list[Inner] = []
    by_name: dict[str, Inner] = {}
    maybe: Outer | None = None
    code: str = Field(default="a", pattern="^a$")
    strictly: bool = Field(default=False, strict=True)
    keep_last: int = Field(default=1, alias="keep-last")
    flag: bool = False
    api_key: str = "x"
    even: int = 2

    @field_validator("even")
    @classmethod
    def _check_even(cls, value: int) -> int:
        if value % 2:
            raise ValueError("must be even")
        return value


class Required(BaseModel):
    url: str


def problems(folder: Path, options: str, model: type[BaseModel] = Options) -> list[str]:
    (folder / "agent.yaml").write_text(f"plugins:\n- first\n- cw:\n    {options}\n")
    loaded = read_config("agent.yaml", environment={}, working_directory=folder)
    assert loaded.config.plugins is not None
    with pytest.raises(ValidationError) as caught:
        model.model_validate(loaded.config.plugins[1].options)
    found = ConfigError(problems_from(caught.value, loaded.positions, "cw", model))
    by_path = ConfigError(problems_from(caught.value, loaded.positions, ("plugins", 1, "with"), model))
    assert by_path.problems == found.problems
    return str(found).split("\n")


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ("warn_att: 80", "4:5: unknown key 'plugins.cw.warn_att'; did you mean 'warn_at'?"),
        ("keep_last: 80", "4:5: unknown key 'plugins.cw.keep_last'; did you mean 'keep-last'?"),
        ("depht: 80", "4:5: unknown key 'plugins.cw.depht'; did you mean 'inner.depth'?"),
        ("inner: {depht: 1}", "4:13: unknown key 'plugins.cw.inner.depht'; did you mean 'depth'?"),
        ("many: [{}, {depht: 1}]", "4:17: unknown key 'plugins.cw.many[1].depht'; did you mean 'depth'?"),
        ("by_name: {a: {depht: 1}}", "4:19: unknown key 'plugins.cw.by_name.a.depht'; did you mean 'depth'?"),
        ("warn_at: high", "4:14: plugins.cw.warn_at must be a whole number, found the text 'high'"),
        ("warn_at: 101", "4:14: plugins.cw.warn_at must be at most 100, found 101"),
        ("either: {a: 1}", "4:13: plugins.cw.either must be a whole number or text or a list, found a mapping"),
        ("strategy: sumarize", "4:15: plugins.cw.strategy must be 'drop' or 'summarize', found the text 'sumarize'; "
         "did you mean 'summarize'?"),
        ("level: hig", "4:12: plugins.cw.level must be 'low' or 'high', found the text 'hig'; did you mean 'high'?"),
        ("flag: enabled", "4:11: plugins.cw.flag must be true or false, found the text 'enabled'"),
        ("api_key: 5", "4:14: plugins.cw.api_key must be text, found 5; put it in quotes"),
        ("api_key:", "4:13: plugins.cw.api_key is empty; give it a value or remove the line"),
        ("api_key: {a: hunter2}", "4:14: plugins.cw.api_key must be text, found a mapping; put text that "
            "holds ': ' in quotes"),
        ("maybe: {inner: [{depht: 1}]}", "4:22: unknown key 'plugins.cw.maybe.inner[0].depht'; did you mean 'depth'?"),
        ("code: b", "4:11: plugins.cw.code: string should match pattern '^a$'"),
        ("strictly: yes", "4:15: plugins.cw.strictly must be true or false, found the text 'yes'; "
         "only true and false are booleans"),
        ("even: 3", "4:11: plugins.cw.even: must be even"),
    ],
)  # fmt: skip
def test_options_of_a_plugin(tmp_path: Path, options: str, expected: str) -> None:
    assert problems(tmp_path, options) == [f"agent.yaml:{expected}"]


def test_a_missing_option_stands_at_the_plugin(tmp_path: Path) -> None:
    assert problems(tmp_path, "{}", Required) == ["agent.yaml:4:5: missing key 'plugins.cw.url'; it has no default"]


def test_options_given_in_python_have_no_place() -> None:
    options: dict[str, Any] = {"either": {"a": 1}, "warn_att": 1}
    with pytest.raises(ValidationError) as caught:
        Options.model_validate(options)
    found = problems_from(caught.value, Positions(), "cw", Options, data=options)
    assert sorted(map(str, found)) == [
        "plugins.cw.either must be a whole number or text or a list, found a mapping",
        "unknown key 'plugins.cw.warn_att'; did you mean 'warn_at'?",
    ]
    assert [(problem.file, problem.line) for problem in found] == [("", None), ("", None)]
    assert str(problems_from(caught.value, Positions(), "cw")[-1]) == "unknown key 'plugins.cw.warn_att'"


def test_all_forms_become_the_long_one_in_python_too() -> None:
    config = Config.model_validate({"plugins": ["a", {"b": {"x": 1}}, {"c": None}, {"use": "d", "with": {"y": 2}}]})
    assert [(entry.use, entry.options) for entry in config.plugins or []] == [
        ("a", {}),
        ("b", {"x": 1}),
        ("c", {}),
        ("d", {"y": 2}),
    ]
    direct = PluginEntry(use="a", options={"x": 1}, on_error="warn", time_limit=None)
    assert (direct.options, direct.on_error, direct.time_limit_given) == ({"x": 1}, "warn", True)


def test_the_model_is_frozen_and_strict() -> None:
    config = Config(model="m")
    with pytest.raises(ValidationError, match="frozen"):
        config.model = "n"
    with pytest.raises(ValidationError, match="listed twice"):
        Config.model_validate({"plugins": ["a", "a"]})
    for wrong in ({"limits": {"max_iterations": "5"}}, {"tool_result_limit": True}, {"plugins": ["no:a"]}, {"x": 1}):
        with pytest.raises(ValidationError):
            Config.model_validate(wrong)


def test_a_number_from_a_variable_is_a_number_where_one_is_wanted(tmp_path: Path) -> None:
    (tmp_path / "agent.yaml").write_text(
        "model: '${N}'\nlimits: {max_iterations: '${N}'}\nmodel_settings: {temperature: '${T}', stop: ['${N}']}\n"
        "plugins:\n- {use: a, time_limit: '${T}', with: {x: '${N}'}}\n"
    )
    config = read_config("agent.yaml", environment={"N": "12", "T": "0.5"}, working_directory=tmp_path).config
    assert (config.model, config.limits.max_iterations) == ("12", 12)
    assert (config.model_settings.temperature, config.model_settings.stop) == (0.5, ["12"])
    assert config.plugins is not None
    assert (config.plugins[0].time_limit, config.plugins[0].options) == (0.5, {"x": "12"})
