"""Faults that other projects met when reading their files: words, aliases, encodings, what cannot be read."""

import os
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hookagent.config import Config, ConfigError, load_config
from hookagent.config.yaml_nodes import parse_yaml

Write = Callable[..., Path]


def load(path: Path, **environment: str) -> Config:
    return load_config(path.name, working_directory=path.parent, environment=environment)


def errors(path: Path, **environment: str) -> list[str]:
    with pytest.raises(ConfigError) as caught:
        load(path, **environment)
    return str(caught.value).split("\n")


@pytest.mark.parametrize("word", ["yes", "no", "on", "off", "Yes", "NO", "On", "OFF", "y", "n", "True", "FALSE"])
def test_cfg_01_only_true_and_false_are_booleans(word: str) -> None:
    data = parse_yaml(f"name: {word}\n{word}: 1\nlist: [{word}, true, false]\n", "a.yaml").data
    assert data == {"name": word, word: 1, "list": [word, True, False]}


def test_cfg_01_keys_are_always_text() -> None:
    data = parse_yaml("plugins:\n  on: 1\n  off: 2\n  1: a\n  true: b\n  null: c\n  1.5: d\n", "a.yaml").data
    assert data == {"plugins": {"on": 1, "off": 2, "1": "a", "true": "b", "null": "c", "1.5": "d"}}


@pytest.mark.parametrize(
    "text", ["12:30:45", "2026-01-01", "2026-01-01T10:00:00Z", "1_000", "0b11", "1:30", "=", "0o9"]
)
def test_cfg_01_times_dates_and_odd_numbers_stay_text(text: str) -> None:
    assert parse_yaml(f"value: {text}\n", "a.yaml").data == {"value": text}


def nested_aliases(levels: int, width: int) -> str:
    lines = [f"a0: &a0 [{', '.join(['x'] * width)}]"]
    lines += [f"a{level}: &a{level} [{', '.join([f'*a{level - 1}'] * width)}]" for level in range(1, levels)]
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize(("levels", "width"), [(7, 9), (12, 9), (40, 2), (5, 30)])
def test_cfg_03_aliases_cannot_blow_up_the_tree(write: Write, levels: int, width: int) -> None:
    path = write(nested_aliases(levels, width))
    tracemalloc.start()
    try:
        [problem] = errors(path)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert "more than 20,000 values once its aliases are written out" in problem
    assert problem.startswith("agent.yaml:")
    assert peak < 20_000_000


def test_cfg_03_an_alias_chain_is_not_deeper_than_a_tree(write: Write) -> None:
    lines = ["a0: &a0 [x]"] + [f"a{level}: &a{level} [*a{level - 1}]" for level in range(1, 200)]
    [problem] = errors(write("\n".join(lines)))
    assert "nested deeper than 50 levels once its aliases are written out" in problem


@pytest.mark.parametrize("text", ["a: &a [*a]", "a: &a {b: [1, *a]}", "a: &a {*a : 1}"])
def test_cfg_03_an_alias_to_what_holds_it_is_an_error(write: Write, text: str) -> None:
    [problem] = errors(write(text))
    assert "an alias refers to the value that holds it" in problem


def test_cfg_03_three_simple_aliases_load(write: Write) -> None:
    path = write("tools: &t [&f files]\nplugins:\n- a: {x: *t, y: *f}\n- b: {x: *t}\n")
    config = load(path)
    assert config.plugins is not None
    assert config.plugins[0].options == {"x": ["files"], "y": "files"}
    assert config.plugins[1].options == {"x": ["files"]}


def test_cfg_05_a_byte_order_mark_is_dropped_whatever_the_locale(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("locale.getpreferredencoding", lambda *_: "cp1252")
    assert load(write(b"\xef\xbb\xbfmodel: m1\n")).model == "m1"
    assert load(write(b"\xef\xbb\xbfsystem_prompt: caf\xc3\xa9 \xe2\x9c\x93\n")).system_prompt == "café ✓"
    assert load(write(b"\xef\xbb\xbf[tool.hookagent]\nmodel = 'm1'\n", "my.toml")).model == "m1"


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"\xff\xfe\x00", "agent.yaml:1:1: the file is not UTF-8 text (it begins like UTF-16); save the file as UTF-8"),
        (b"model: m\nkey: caf\xe9", "agent.yaml:2:9: the file is not UTF-8 text; save the file as UTF-8"),
        (b"a: b\x00", "agent.yaml:1:5: the file holds a NUL character; remove it"),
        (
            "a: b".encode("utf-16-le"),
            "agent.yaml:1:2: the file is not UTF-8 text (it looks like UTF-16): it holds a NUL",
        ),
        (b"a: \x1b[31m", "agent.yaml:1:4: the file holds the control character U+001B; remove it"),
        (b"model: [hunter2", "agent.yaml:1:16: the list in [ ] is not closed (it starts on line 1, column 8)"),
        (b"password: 'hunter2\n", "agent.yaml:2:1: the text in quotes is not closed (it starts on line 1, column 11)"),
        (
            b"password: *hunter2",
            "agent.yaml:1:11: a '*' refers to something that has no '&' name; put text that starts",
        ),
        (b"password: !hunter2 x", "agent.yaml:1:11: a '!' tag that is not supported here; put text that starts with"),
        (b"password: @hunter2", "agent.yaml:1:11: this character cannot start a value; put the value in quotes"),
        (b"limits:\n\tmax_iterations: 3", "agent.yaml:2:1: a tab where spaces are expected; indent with spaces"),
        (b"model: m\n---\nmodel: n", "agent.yaml:2:1: a second document starts here; one file holds one configuration"),
    ],
)
def test_cfg_07_what_cannot_be_read_stops_with_the_reason(write: Write, content: bytes, problem: str) -> None:
    found = errors(write(content))
    assert found[0].startswith(problem)
    assert "hunter2" not in "\n".join(found)


def test_cfg_07_a_folder_and_a_missing_file(tmp_path: Path, write: Write) -> None:
    (tmp_path / "agent.yaml").mkdir()
    assert errors(tmp_path / "agent.yaml") == ["agent.yaml: this is a folder; a file was expected"]
    assert errors(tmp_path / "other.yaml") == ["other.yaml: there is no such file; check the path"]
    assert errors(tmp_path / ("x" * 300)) == [f"{'x' * 300}: cannot be read: file name too long"]


def test_cfg_07_no_permission(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write("model: m")
    if os.geteuid() == 0:
        # The superuser may read everything: let the operating system's refusal come from here.
        def refuse(self: Path, *_: Any) -> None:
            raise PermissionError(13, "Permission denied", str(self))

        monkeypatch.setattr(Path, "open", refuse)
    path.chmod(0)
    [problem] = errors(path)
    assert problem == "agent.yaml: cannot be read: permission denied; make it readable for the current user"


def test_cfg_07_found_files_are_no_exception(tmp_path: Path) -> None:
    (tmp_path / "hookagent.yaml").symlink_to(tmp_path / "gone")
    with pytest.raises(ConfigError, match=r"^hookagent\.yaml: there is no such file"):
        load_config(working_directory=tmp_path, environment={})
