"""The configuration at its edges: files and folders that the system does not give, and values of rare kinds."""

from __future__ import annotations

import datetime
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import pytest
from pydantic import BaseModel, ValidationError

from hookagent.config import ConfigError, load_config, read_config
from hookagent.config.discover import displayed, find_config
from hookagent.config.positions import Positions
from hookagent.config.validation import problems_from

Write = Callable[..., Path]


class Options(BaseModel):
    """What a plugin may take."""

    count: int = 1
    either: int | str = 1
    level: Literal["low", "high"] = "low"
    password: int = 1


def told(**given: Any) -> list[str]:
    """What is said of these options, given in Python."""
    with pytest.raises(ValidationError) as caught:
        Options.model_validate(given)
    return [one.message for one in problems_from(caught.value, Positions(), "tested", Options, given)]


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"either": None}, "either must be a whole number or text, found nothing"),
        ({"either": {}}, "either must be a whole number or text, found a mapping"),
        ({"count": datetime.date(2026, 1, 2)}, "count must be a whole number, found a value of type date"),
        ({"count": b"5 of them"}, "count must be a whole number, found a value of type bytes"),
        ({"level": 5}, "level must be 'low' or 'high', found 5"),
        ({"level": ["low"]}, "level must be 'low' or 'high', found a list"),
        ({"level": "hig"}, "level must be 'low' or 'high', found the text 'hig'; did you mean 'high'?"),
        ({"password": "letmein"}, "password must be a whole number, found text"),
    ],
)
def test_a_value_of_any_kind_is_named(given: dict[str, Any], says: str) -> None:
    (said,) = told(**given)
    assert said.endswith(says)
    assert "letmein" not in said


def test_a_choice_that_is_no_text_gets_no_guess(write: Write) -> None:
    with pytest.raises(ConfigError) as caught:
        load_config(write("tool_execution: 5\n"), environment={})
    assert str(caught.value).endswith("agent.yaml:1:17: tool_execution must be 'parallel' or 'sequential', found 5")


def test_without_a_home_only_the_working_directory_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def nobody() -> Path:
        raise RuntimeError("Could not determine home directory.")

    inner = tmp_path / "inner"
    inner.mkdir()
    (tmp_path / "hookagent.yaml").write_text("model: outer")
    monkeypatch.setattr(Path, "home", nobody)
    assert read_config(working_directory=inner, environment={}).file is None
    assert read_config(working_directory=inner, environment={"HOME": str(tmp_path)}).config.model == "outer"


def test_a_pyproject_that_cannot_be_read_is_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / "inner").mkdir()
    section = "[tool.hookagent]\nmodel = 'm'\n"
    near, far = tmp_path / "inner" / "pyproject.toml", tmp_path / "pyproject.toml"
    for path in (near, far):
        path.write_text(section)
    assert find_config(tmp_path / "inner", None) == near
    read = Path.read_bytes

    def refuse(path: Path) -> bytes:
        if path == near:
            raise PermissionError(13, "Permission denied")
        return read(path)

    monkeypatch.setattr(Path, "read_bytes", refuse)
    assert find_config(tmp_path / "inner", None) == far


def test_a_file_on_another_drive_is_named_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert displayed(tmp_path / "a" / "b", tmp_path) == os.path.join("a", "b")

    def refuse(path: Any, start: Any) -> str:
        raise ValueError("path is on mount 'D:', start on mount 'C:'")

    monkeypatch.setattr(os.path, "relpath", refuse)
    assert displayed(tmp_path / "a" / "b", tmp_path) == str(tmp_path / "a" / "b")
