"""The README's two commands are single lines, and continuous integration runs the very one that passes the tests."""

import re
import tomllib
from pathlib import Path

import pytest

from hookagent.config import ConfigError, load_config

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def commands(ending: str) -> list[str]:
    return [line for line in README.splitlines() if line.startswith("python3 -m venv ") and re.search(ending, line)]


def test_one_line_does_the_main_job_with_the_embedded_model() -> None:
    (command,) = commands(r"hookagent run -m local \".*\"$")

    assert "pip install" in command
    assert "'.[local]'" in command


def test_one_line_passes_the_tests_and_continuous_integration_finds_it() -> None:
    (command,) = commands(r" -m pytest$")
    pattern = re.search(r"grep -E '(.*)' README\.md", (ROOT / ".ci" / "run").read_text(encoding="utf-8"))

    assert pattern is not None
    assert [line for line in README.splitlines() if re.search(pattern[1], line)] == [command]


def test_the_mistake_that_it_shows_is_reported_as_it_says(tmp_path: Path) -> None:
    configuration = re.search(r"```yaml\n(.*?)```", README, re.DOTALL)
    quoted = re.search(r"`(hookagent\.yaml:\d+:\d+: [^`]+)`", README)
    assert configuration is not None
    assert quoted is not None
    mistaken = configuration[1].replace("max_iterations", "max_iteratons")
    (tmp_path / "hookagent.yaml").write_text(mistaken, encoding="utf-8")

    with pytest.raises(ConfigError) as caught:
        load_config(working_directory=tmp_path, environment={})

    assert str(caught.value) == " ".join(quoted[1].split())


def test_the_extras_that_the_commands_name_exist() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    named = {name for group in re.findall(r"'\.\[([a-z,]+)\]'", README) for name in group.split(",")}

    assert named
    assert named <= set(extras)
