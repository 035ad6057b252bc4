"""Configurations of any bytes: a valid one, or our own errors at a place that is in the text; never much work."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from checks.tally import FULL, size
from hookagent import ConfigurationError
from hookagent.config import ConfigError, LoadedConfig, read_config, render_config
from tests.fuzz.configurations import (
    ENCODINGS,
    SHAPED,
    WHOLE,
    WHOLE_TOML,
    encoded,
    harmful,
    harmful_toml,
    mutated,
)
from tests.fuzz.effort import MEGABYTE, counted, peak_bytes, within_calls

LINE_ENDS = re.compile("\r\n|[\r\n\x85\u2028\u2029]")
WHOLE_FILE = re.compile(r"there is no section|the file is larger than|not valid TOML: nested too deeply")
FEWEST, MOST_PER_BYTE = 200_000, 200
"""Calls: what the largest tree of values that is allowed may take, and what each byte may add."""
SCALES = (10, size(400, 20_000))

fuzzed = settings(
    max_examples=size(40, 1500),
    deadline=None,
    derandomize=not FULL,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


@pytest.fixture(autouse=True, scope="module")
def _loaded() -> None:
    """What is imported when first needed is no work of an example."""
    read_config(environment={"HOME": "/"}, working_directory="/", overrides=["model=a:b", "plugins=[a]"])


def read(folder: Path, data: bytes | str, name: str = "agent.yaml", **how: Any) -> LoadedConfig | str:
    """The configuration, or what is wrong with it; all that can be said of either is checked."""
    content = data.encode("utf-8", "surrogatepass") if isinstance(data, str) else data
    (folder / name).write_bytes(content)
    counted()
    most = FEWEST + MOST_PER_BYTE * (len(content) + len("".join(how.get("overrides", ()))))
    try:
        loaded: LoadedConfig = within_calls(
            most, lambda: read_config(name, environment={"HOME": str(folder)}, working_directory=folder, **how)
        )
    except ConfigurationError as error:
        check_problems(error, content, name)
        return str(error)
    assert render_config(loaded)
    return loaded


def check_problems(error: ConfigurationError, content: bytes, name: str) -> None:
    assert isinstance(error, ConfigError)
    text = content.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "replace")
    assert error.problems
    for problem in error.problems:
        said = str(problem)
        assert "\n" not in problem.message
        assert problem.message.isprintable(), said
        assert len(problem.message) < 2_000
        assert not re.search(r"Traceback|Error\b|<.* object at 0x", problem.message), said
        if problem.file == name:
            # TOML knows one kind of line only; what is wrong with the bytes is said before they are read as TOML.
            is_toml = name.endswith(".toml") and not re.search("the file (holds|is not UTF-8)", said)
            lines = text.split("\n") if is_toml else LINE_ENDS.split(text)
            if problem.line is None or problem.column is None:
                assert WHOLE_FILE.search(problem.message), said
                continue
            assert said.startswith(f"{name}:{problem.line}:{problem.column}: ")
            assert 1 <= problem.line <= len(lines), said
            assert 1 <= problem.column <= len(lines[problem.line - 1]) + 1, said
        else:
            assert problem.file.startswith("-o"), said


@fuzzed
@given(text=mutated())
@example(text="limits: {max_iterations: 3")
@example(text="\ufeff\ufeffmodel: x")
@example(text="model: \x85 x")
@example(text="\r\x80")
@example(text="model: a\u2028\x07")
def test_mutated_texts(text: str, tmp_path: Path) -> None:
    read(tmp_path, text)


@fuzzed
@given(text=SHAPED)
def test_whole_yaml_of_any_shape(text: str, tmp_path: Path) -> None:
    read(tmp_path, text)


@fuzzed
@given(data=st.binary(max_size=300) | st.text(st.characters(codec=None), max_size=120).map(lambda text: text))
def test_random_bytes_and_texts(data: Any, tmp_path: Path) -> None:
    read(tmp_path, data)


@fuzzed
@given(text=st.sampled_from(WHOLE) | mutated(), encoding=ENCODINGS)
def test_other_encodings(text: str, encoding: str, tmp_path: Path) -> None:
    read(tmp_path, encoded(text, encoding))


@fuzzed
@given(text=mutated(WHOLE_TOML))
def test_mutated_pyprojects(text: str, tmp_path: Path) -> None:
    read(tmp_path, text, "pyproject.toml")


@fuzzed
@given(
    overrides=st.lists(
        mutated(
            (
                "limits.max_iterations=3",
                "plugins=[reflection]",
                "plugins.tool-logging.file=a",
                "model_settings.openai={a: &x 1, b: *x}",
                "tools=[files, shell]",
                "plugins.tool-logging.with.deep.er=1",
            )
        ),
        max_size=3,
    )
)
def test_overrides(overrides: list[str], tmp_path: Path) -> None:
    read(tmp_path, WHOLE[0], overrides=overrides)


@pytest.mark.parametrize("name", harmful(1))
def test_texts_made_to_do_harm_cost_no_more_than_their_length(name: str, tmp_path: Path) -> None:
    for scale in SCALES:
        text = harmful(scale)[name]
        if len(text) > 900_000:
            continue
        assert peak_bytes(lambda text=text: read(tmp_path, text)) < 60 * MEGABYTE  # type: ignore[misc]
        check_whole_and_cut(text, tmp_path, "agent.yaml")


@pytest.mark.parametrize("name", harmful_toml(1))
def test_toml_made_to_do_harm_costs_no_more_than_its_length(name: str, tmp_path: Path) -> None:
    for scale in SCALES:
        text = harmful_toml(scale)[name]
        if len(text) > 900_000:
            continue
        assert peak_bytes(lambda text=text: read(tmp_path, text, "pyproject.toml")) < 60 * MEGABYTE  # type: ignore[misc]
        check_whole_and_cut(text, tmp_path, "pyproject.toml")


def check_whole_and_cut(text: str, folder: Path, name: str) -> None:
    if len(text) < 5_000:
        read(folder, text[: len(text) // 2], name)


@pytest.mark.parametrize("name", harmful(1))
def test_overrides_made_to_do_harm(name: str, tmp_path: Path) -> None:
    for scale in (10, 300):
        read(tmp_path, WHOLE[0], overrides=[f"model_settings.openai={harmful(scale)[name]}"])


def test_a_file_that_is_too_large_is_not_read_whole(tmp_path: Path) -> None:
    text = "# " + "x" * 3_000_000
    assert peak_bytes(lambda: read(tmp_path, text)) < 20 * MEGABYTE
    assert "larger than 1,000,000 bytes" in str(read(tmp_path, text))
