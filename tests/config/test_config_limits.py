"""The limits in a configuration are those of an agent; `null` is no limit, and an empty line is a mistake."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from hookagent.config import Config, ConfigError, load_config, read_config, render_config
from hookagent.config import Limits as Configured
from hookagent.errors import ConfigurationError
from hookagent.limits import Limits

NAMES = [one.name for one in fields(Limits)]
VALUES: list[Any] = [
    None, True, False, -1, 0, 1, 2, 10**12, -0.5, 0.0, 1e-9, 0.5, 2.0, float("nan"), float("inf"), "1", "none", [1]
]  # fmt: skip


def read(folder: Path, text: str, *overrides: str) -> Configured:
    (folder / "agent.yaml").write_text(text)
    return load_config("agent.yaml", overrides=overrides, environment={}, working_directory=folder).limits


def test_the_fields_and_their_defaults_are_those_of_an_agent() -> None:
    assert list(Configured.model_fields) == NAMES
    assert Limits(**Configured().model_dump()) == Limits()


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("value", VALUES, ids=repr)
def test_the_bounds_are_those_of_an_agent(name: str, value: Any) -> None:
    def taken(make: Any) -> bool:
        try:
            made = make(**{name: value})
        except (ConfigurationError, ValidationError):
            return False
        assert getattr(made, name) == value
        return True

    assert taken(Configured) == taken(Limits)


def test_all_limits_can_be_written(tmp_path: Path) -> None:
    text = (
        "limits: {max_iterations: 20, max_tool_calls: 60, max_tokens: 200000, max_input_tokens: 150000,\n"
        "  max_output_tokens: 50000, max_cost_usd: 0.50, max_seconds: 300, max_equal_calls: 3, closing_answer: true}\n"
    )
    assert Limits(**read(tmp_path, text).model_dump()) == Limits(20, 60, 200_000, 150_000, 50_000, 0.5, 300, 3, True)


@pytest.mark.parametrize("name", [name for name in NAMES if name != "closing_answer"])
def test_null_is_no_limit_for_every_number(tmp_path: Path, name: str) -> None:
    assert getattr(read(tmp_path, f"limits: {{{name}: null}}\n"), name) is None
    assert getattr(read(tmp_path, f"limits: {{{name}: 5}}\n", f"limits.{name}=~"), name) is None


@pytest.mark.parametrize(
    ("text", "overrides", "place"),
    [
        ("limits:\n  max_tokens:\n", (), "agent.yaml:2:14"),
        ("limits: {max_tokens: 5}\n", ("limits.max_tokens=",), "-o limits.max_tokens="),
        ("limits: {max_tokens: 5}\n", ("limits={max_tokens: }",), "-o limits={max_tokens: }"),
        ("limits: {<<: {max_tokens: }}\n", (), "agent.yaml:1:26"),
    ],
)
def test_an_empty_line_is_no_null(tmp_path: Path, text: str, overrides: tuple[str, ...], place: str) -> None:
    with pytest.raises(ConfigError) as caught:
        read(tmp_path, text, *overrides)
    assert str(caught.value) == f"{place}: limits.max_tokens is empty; give it a value or remove the line"


def test_a_value_over_an_empty_line_mends_it(tmp_path: Path) -> None:
    assert read(tmp_path, "limits:\n  max_tokens:\n", "limits.max_tokens=7").max_tokens == 7
    assert read(tmp_path, "limits:\n  max_tokens:\n", "limits.max_tokens=null").max_tokens is None


def test_what_is_shown_says_which_limits_there_are_not_and_loads_again(tmp_path: Path) -> None:
    (tmp_path / "agent.yaml").write_text("limits:\n  max_iterations: null\n  max_cost_usd: 2\n")
    loaded = read_config("agent.yaml", environment={}, working_directory=tmp_path)
    shown = render_config(loaded)
    assert "  max_iterations: null  # from agent.yaml:2\n" in shown
    assert "  max_cost_usd: 2.0  # from agent.yaml:3\n" in shown
    assert "  max_seconds: null  # default\n" in shown
    (tmp_path / "shown.yaml").write_text(shown)
    assert load_config("shown.yaml", environment={}, working_directory=tmp_path) == loaded.config


def test_a_number_from_a_variable_is_a_limit(tmp_path: Path) -> None:
    (tmp_path / "agent.yaml").write_text("limits: {max_cost_usd: '${MOST}', max_tokens: '${MOST}'}\n")
    limits = load_config("agent.yaml", environment={"MOST": "3"}, working_directory=tmp_path).limits
    assert (limits.max_cost_usd, limits.max_tokens) == (3.0, 3)


def test_frozen_like_everything_else() -> None:
    with pytest.raises(ValidationError, match="frozen"):
        Config().limits.max_tokens = 5
