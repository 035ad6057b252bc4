"""Public cases about configuration files, all through the command: what they may hold, and how faults are said."""

from __future__ import annotations

import json
import os
import sys
import tracemalloc
from pathlib import Path
from typing import Any

import pytest

from hookagent.config.yaml_nodes import parse_yaml
from tests.shows.processes import run_process, user_variables

OPTIONS = """\
from pydantic import BaseModel, ConfigDict
from hookagent import hookimpl

class Options(BaseModel):
    model_config = ConfigDict(extra="forbid")
    always: list[str] = []
    values: dict[str, object] = {}

class Plugin:
    Options = Options

    def __init__(self, options):
        self.options = options

    @hookimpl
    def before_llm(self):
        import json, sys
        print("options", json.dumps(self.options.model_dump()), file=sys.stderr)
"""


@pytest.fixture
def run_with(command: Any, site: Any, script: Any, folder: Path) -> Any:
    """Runs with a configuration; gives what the command gave, and the options as the plugin `approval` saw them."""
    site.plugin("approval", OPTIONS)
    model = script("- Yes.\n")

    def run(content: str | bytes, *words: str) -> tuple[Any, Any]:
        (folder / "hookagent.yaml").write_bytes(content.encode() if isinstance(content, str) else content)
        got = command("run", "-m", model, "-t", "read_file", *words, "x")
        shown = [line.removeprefix("options ") for line in got.err.splitlines() if line.startswith("options ")]
        return got, json.loads(shown[0]) if shown else None

    return run


@pytest.mark.parametrize("word", ["yes", "no", "on", "off", "Yes", "NO", "On", "OFF", "y", "n", "True", "FALSE", "~x"])
def test_cfg_01_only_true_and_false_are_booleans_and_keys_are_text(word: str, run_with: Any) -> None:
    got, options = run_with(f"plugins:\n- approval:\n    values: {{{word}: {word}, 1: true, true: 'true'}}\n")
    assert got.code == 0
    assert options["values"] == {word: word, "1": True, "true": "true"}


@pytest.mark.parametrize("word", ["yes", "off", "1", "'true'"])
def test_cfg_01_where_a_boolean_is_meant_another_word_is_an_error(word: str, run_with: Any) -> None:
    got, _ = run_with(f"limits: {{closing_answer: {word}}}\n")
    assert (got.code, got.out) == (2, "")
    assert "hookagent.yaml:1:26: limits.closing_answer" in got.err


@pytest.mark.parametrize(("levels", "width"), [(7, 9), (30, 2), (4, 40)])
def test_cfg_03_aliases_cannot_blow_a_small_file_up(levels: int, width: int, run_with: Any) -> None:
    lines = [f"a0: &a0 [{', '.join('x' * width)}]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * width)}]" for n in range(1, levels)]
    tracemalloc.start()
    try:
        got, _ = run_with("\n".join(lines) + "\n")
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert got.code == 2
    assert "once its aliases are written out" in got.err
    assert peak < 30_000_000


def test_cfg_03_a_few_aliases_load(run_with: Any) -> None:
    got, options = run_with(
        "plugins:\n- approval:\n    always: &names [&one read, two]\n    values: {a: *names, b: *one, c: *names}\n"
    )
    assert got.code == 0
    assert options["values"] == {"a": ["read", "two"], "b": "read", "c": ["read", "two"]}


@pytest.mark.parametrize("variables", [{"LC_ALL": "C", "PYTHONUTF8": "0"}, {"PYTHONIOENCODING": "cp1252"}])
@pytest.mark.parametrize("mark", [b"\xef\xbb\xbf", b""])
def test_cfg_05_a_byte_order_mark_is_dropped_whatever_the_locale(
    mark: bytes, variables: dict[str, str], tmp_path: Path
) -> None:
    text = "model: scripted:replies.yaml\nplugins: []\nsystem_prompt: café ✓\n"
    (tmp_path / "hookagent.yaml").write_bytes(mark + text.encode())
    (tmp_path / "replies.yaml").write_text("- Yes.\n", encoding="utf-8")
    command = [sys.executable, "-m", "hookagent"]
    done = run_process([*command, "run", "-t", "read_file", "x"], tmp_path, user_variables(tmp_path, variables))
    assert (done.returncode, done.stdout) == (0, "Yes.\n")
    shown = run_process([*command, "config", "show"], tmp_path, user_variables(tmp_path, {"PYTHONUTF8": "1"}))
    assert "café ✓" in shown.stdout


UNREADABLE: dict[str, tuple[bytes, str]] = {
    "another encoding": (b"\xff\xfe\x00hunter2", "hookagent.yaml:1:1: the file is not UTF-8 text"),
    "a stray byte": (b"a: hunter2 \xe9", "hookagent.yaml:1:12: the file is not UTF-8 text"),
    "not closed": (b"model: [hunter2", "hookagent.yaml:1:16: the list in [ ] is not closed"),
    "a tab": (b"limits:\n\tmax_iterations: 3", "hookagent.yaml:2:1: a tab where spaces are expected"),
    "an open quote": (b"a: 'hunter2\n", "hookagent.yaml:2:1: the text in quotes is not closed"),
    "a control character": (b"a: hunter2\x1b[31m", "hookagent.yaml:1:11: the file holds the control character U+001B"),
}


@pytest.mark.parametrize("kind", UNREADABLE)
def test_cfg_07_what_cannot_be_read_stops_the_command_with_file_line_and_reason(kind: str, run_with: Any) -> None:
    content, said = UNREADABLE[kind]
    got, _ = run_with(content)
    assert (got.code, got.out) == (2, "")
    assert f"hookagent: error: {said}" in got.err
    assert "hunter2" not in got.err
    assert "model scripted" not in got.err


@pytest.mark.parametrize("kind", ["a folder", "no permission", "a link to nothing"])
def test_cfg_07_a_file_that_cannot_be_opened_is_never_replaced_by_defaults(
    kind: str, command: Any, script: Any, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = folder / "hookagent.yaml"
    said = {"a folder": "this is a folder", "no permission": "permission denied", "a link to nothing": "no such file"}
    if kind == "a folder":
        path.mkdir()
    elif kind == "a link to nothing":
        path.symlink_to(folder / "gone")
    else:
        path.write_text("model: m")
        path.chmod(0)
        if os.geteuid() == 0:
            # The superuser may read everything: the operating system's refusal comes from here.
            def refuse(self: Path, *_: Any) -> None:
                raise PermissionError(13, "Permission denied", str(self))

            monkeypatch.setattr(Path, "open", refuse)
    got = command("run", "-m", script("- Yes.\n"), "-t", "read_file", "x") if kind != "no permission" else None
    got = got or command("run", "-t", "read_file", "x")
    assert (got.code, got.out) == (2, "")
    assert "hookagent.yaml: " in got.err
    assert said[kind] in got.err


def test_cfg_08_unknown_keys_are_errors_at_every_level_and_all_at_once(run_with: Any) -> None:
    got, _ = run_with(
        "modell: m\nmax_iteration: 3\nlimits: {max_iteratons: 2}\nplugins:\n- approval:\n    allways: [read]\n"
        "- use: approval2\n  on_eror: warn\n"
    )
    assert got.code == 2
    assert [line.removeprefix("hookagent: error: ") for line in got.err.splitlines()][:4] == [
        "hookagent.yaml:1:1: unknown key 'modell'; did you mean 'model'?",
        "hookagent.yaml:2:1: unknown key 'max_iteration'; did you mean 'limits.max_iterations'?",
        "hookagent.yaml:3:10: unknown key 'limits.max_iteratons'; did you mean 'max_iterations'?",
        "hookagent.yaml:8:3: unknown key 'plugins.approval2.on_eror'; did you mean 'on_error'?",
    ]
    got, _ = run_with("plugins:\n- approval:\n    allways: [read]\n")
    assert got.code == 2
    said = "hookagent.yaml:3:5: unknown key 'plugins.approval.allways'; did you mean 'always'?"
    assert got.err == f"hookagent: error: {said}\n"


@pytest.mark.parametrize("state", ["not set", "empty"])
@pytest.mark.parametrize("written", ["${NOT_SET}", "before ${NOT_SET} after", "${ALSO_NOT:-x}${NOT_SET}"])
def test_cfg_10_a_variable_without_value_names_itself_and_its_place(
    written: str, state: str, run_with: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = f"plugins:\n- approval:\n    values:\n      api_key: '{written}'\n      name: ${{ALSO_NOT:-bob}}\n"
    monkeypatch.delenv("ALSO_NOT", raising=False)
    monkeypatch.delenv("NOT_SET", raising=False)
    if state == "empty":
        monkeypatch.setenv("NOT_SET", "")
    got, _ = run_with(text)
    assert got.code == 2
    assert "hookagent.yaml:4:16: variable 'NOT_SET' in 'plugins.approval.values.api_key' is " + state in got.err
    monkeypatch.setenv("NOT_SET", "k")
    got, options = run_with(text)
    assert got.code == 0
    expected = written.replace("${NOT_SET}", "k").replace("${ALSO_NOT:-x}", "x")
    assert options["values"] == {"api_key": expected, "name": "bob"}


@pytest.mark.parametrize(
    "value", ["!x: {y}\nadmin: true # z", "${OTHER}", "$$", "a: b", "*alias", "- item", "yes", "12", "'\"", "&a", "|"]
)
def test_cfg_11_the_value_of_a_variable_is_text_whatever_it_holds(
    value: str, run_with: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("K", value)
    monkeypatch.setenv("OTHER", "replaced again")
    got, options = run_with("plugins:\n- approval:\n    values: {api_key: '${K}', url: 'http://h/${K2:-p}'}\n")
    assert got.code == 0
    assert options == {"always": [], "values": {"api_key": value, "url": "http://h/p"}}


@pytest.mark.parametrize(("first", "second"), [("mode", "mode"), ("mode", "'mode'"), ('"mode"', "? mode\n     ")])
def test_cfg_14_a_key_given_twice_names_both_lines(first: str, second: str, run_with: Any) -> None:
    got, _ = run_with(f"plugins:\n- approval:\n    values:\n     {first}: ask\n     {second}: never\n")
    assert got.code == 2
    assert "hookagent.yaml:5:" in got.err
    assert "duplicate key 'plugins[0].approval.values.mode'; first given on line 4" in got.err


def test_cfg_14_merge_keys_with_an_override_load() -> None:
    text = "base: &base {mode: ask, deep: {a: 1}}\nused: {<<: *base, mode: never}\n"
    document = parse_yaml(text, "a.yaml")
    assert document.problems == []
    assert document.data["used"] == {"mode": "never", "deep": {"a": 1}}


@pytest.mark.parametrize("text", ["", "# only a comment\n", "null\n", "---\n", "~", "\ufeff", "{}"])
def test_cfg_15_a_file_that_says_nothing_is_the_defaults(text: str, run_with: Any) -> None:
    got, _ = run_with(text)
    assert (got.code, got.out) == (0, "Yes.\n")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("- a\n- b\n", "hookagent.yaml:1:1: mapping expected, found a list"),
        ("hello\n", "hookagent.yaml:1:1: mapping expected, found a single value"),
        ("model:\n", "hookagent.yaml:1:7: model is empty; give it a value or remove the line"),
        ("model: ${NOT_SET_AT_ALL}\n", "hookagent.yaml:1:8: variable 'NOT_SET_AT_ALL' in 'model' is not set"),
    ],
)
def test_cfg_15_every_fault_is_an_ordinary_error(text: str, said: str, command: Any, folder: Path) -> None:
    (folder / "hookagent.yaml").write_text(text)
    for words in (["run", "x"], ["config", "check"]):
        got = command(*words)
        assert got.code == 2
        assert f"hookagent: error: {said}" in got.err
