"""The shared folder of wheels holds what every project asks for, and the lowest versions are the promised ones."""

import re
import tomllib
from pathlib import Path

import pytest

from checks.wheelhouse import LOWEST, ROOT, requirement_name, requirements


def write_project(folder: Path, text: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "pyproject.toml").write_text(text, encoding="utf-8")


def test_the_core_and_each_plugin_folder_are_asked_and_never_themselves(tmp_path: Path) -> None:
    write_project(
        tmp_path,
        '[build-system]\nrequires = ["hatchling>=1"]\n[project]\nname = "hookagent"\ndependencies = ["click>=8"]\n'
        '[project.optional-dependencies]\ndev = ["hookagent[local]", "mypy"]\n',
    )
    write_project(
        tmp_path / "plugins" / "hookagent-x",
        '[project]\nname = "hookagent_x"\ndependencies = ["hookagent>=0.1", "rules==2"]\n',
    )
    write_project(
        tmp_path / "plugins" / "hookagent-y", '[project]\nname = "hookagent-y"\ndependencies = ["hookagent-x"]\n'
    )

    assert requirements(tmp_path) == ["click>=8", "editables~=0.3", "hatchling>=1", "mypy", "rules==2"]


@pytest.mark.parametrize(
    ("requirement", "name"),
    [("PyYAML>=6,<7", "pyyaml"), ("docstring_parser", "docstring-parser"), ("x.y[z]; python_version < '4'", "x-y")],
)
def test_names_are_compared_as_registries_do(requirement: str, name: str) -> None:
    assert requirement_name(requirement) == name


def test_what_is_no_requirement_is_named() -> None:
    with pytest.raises(ValueError, match="'>=1': is not a requirement"):
        requirement_name(">=1")


def test_the_lowest_versions_are_the_lower_bounds_of_the_core_and_of_the_chat() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    needs = [*project["dependencies"], *project["optional-dependencies"]["chat"]]
    bounds = {need.split(">=")[0]: need.split(">=")[1].split(",")[0] for need in needs}
    pins = dict(line.split("==") for line in LOWEST.read_text(encoding="utf-8").splitlines() if "==" in line)

    def numbers(version: str) -> list[int]:
        return [int(part) for part in re.findall(r"\d+", version)]

    assert set(pins) == set(bounds)
    # A bound of 8.2 is tested as 8.2.0.
    assert {
        name for name, bound in bounds.items() if numbers(pins[name])[: len(numbers(bound))] != numbers(bound)
    } == set()
    assert all(set(numbers(pins[name])[len(numbers(bound)) :]) <= {0} for name, bound in bounds.items())
