"""`[tool.hookagent]`: the same checks, with the best places the text gives."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hookagent.config import ConfigError, load_config
from hookagent.config.positions import paths_of
from hookagent.config.pyproject import parse_pyproject

GOOD = '''
[project]
name = "x"
limits = 3

[tool.hookagent]
model = "openai:gpt-5"
system_prompt = """
[tool.other]
model = "not this"
"""
tools = [
  "files",
  "shell",
]
limits.max_iterations = 4

[tool.hookagent.model_settings]
temperature = 0.5
openai = {user = "u", when = 2026-01-01}

[[tool.hookagent.plugins]]
use = "tool-logging"
[[tool.hookagent.plugins]]
use = "context-window"
with = {warn_at = 70, deep = {x = "${X:-y}"}}
'''


def places(text: str) -> dict[str, str]:
    document = parse_pyproject(text, "p.toml")
    assert document is not None
    return {document.positions.label(path): str(place) for path, place in document.positions.values.items()}


def test_values_and_places(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text(GOOD)
    config = load_config(working_directory=tmp_path, environment={})
    assert config.model == "openai:gpt-5"
    assert config.limits.max_iterations == 4
    assert config.model_settings.openai == {"user": "u", "when": "2026-01-01"}
    assert [(entry.use, entry.options) for entry in config.plugins or []] == [
        ("tool-logging", {}),
        ("context-window", {"warn_at": 70, "deep": {"x": "y"}}),
    ]
    found = places(GOOD)
    assert found["model"] == "p.toml:7:1"
    assert found["tools[1]"] == "p.toml:14:3"
    assert found["limits.max_iterations"] == "p.toml:16:1"
    assert found["model_settings.temperature"] == "p.toml:19:1"
    assert found["model_settings.openai.when"] == "p.toml:20:23"
    assert found["plugins[1].use"] == "p.toml:25:1"
    assert found["plugins[1].warn_at"] == "p.toml:26:9"
    assert found["plugins[1].deep.x"] == "p.toml:26:31"


@pytest.mark.parametrize(
    ("text", "problems"),
    [
        ("[tool.hookagent]\nmodle = 'm'\n", ["2:1: unknown key 'modle'; did you mean 'model'?"]),
        (
            "[tool.hookagent]\nplugins = ['a', {b = {x = 1}}, 'a']\n[tool.hookagent.limits]\nmax_iteratons = 3\n",
            [
                "2:12: plugin 'a' is listed twice, first on line 2; remove one of them",
                "4:1: unknown key 'limits.max_iteratons'; did you mean 'max_iterations'?",
            ],
        ),
        (
            "[tool]\nhookagent = {limits = {max_iterations = 'x'}}\n",
            ["2:24: limits.max_iterations must be a whole number, found the text 'x'"],
        ),
        ("[tool.hookagent]\nmodel = '${NOPE}'", ["2:1: variable 'NOPE' in 'model' is not set; set it, or "
            "write ${NOPE:-default} for a default"]),
        ("[tool.hookagent]\nmodel = 2026-01-01", ["2:1: model must be text, found"]),
        ("tool.hookagent = 5", ["1:1: 'tool.hookagent' must be a table; write '[tool.hookagent]'"]),
        ("[tool.hookagent]\nmodel = hunter2", ["2:9: this is not valid TOML: invalid value"]),
        ("[tool.hookagent]\na = 1\na = 2 ", ["3:6: this is not valid TOML: cannot overwrite a value"]),
        ("[tool.hookagent]\nmodel = \"\"\"x", ["2:1: this is not valid TOML: unterminated string"]),
        ("[tool.hookagent]\n" + "a." * 400_000, [" this is not valid TOML: nested too deeply, or a number "
            "without end"]),
        ("[tool.other]", [" there is no section '[tool.hookagent]'; add it, or leave the option out"]),
        (f"[tool.hookagent]\nmodel = {'[' * 60}{']' * 60}", ["1:2: nested deeper than 50 levels; flatten it"]),
        (f"[tool.hookagent]\ntools = [{'1,' * 20_001}]", ["1:2: more than 20,000 values; shorten the configuration"]),
    ],
)  # fmt: skip
def test_messages(tmp_path: Path, text: str, problems: list[str]) -> None:
    (tmp_path / "my.toml").write_text(text)
    if "2026" in text:
        assert load_config("my.toml", working_directory=tmp_path, environment={}).model == "2026-01-01"
        return
    with pytest.raises(ConfigError) as caught:
        load_config("my.toml", working_directory=tmp_path, environment={})
    assert str(caught.value).split("\n") == [f"my.toml:{problem}" for problem in problems]


_PIECES = [
    *["[tool.hookagent]", "[[tool.hookagent.plugins]]", "\n", " ", "\t", "'a'", '"""', "'", '"', "1979-05-27"],
    *"model plugins use = { } [ ] , . # 5 ${A} \\ é".split(" "),
]


@given(st.lists(st.sampled_from(_PIECES), max_size=30).map("".join))
def test_only_our_own_error_ever_comes_out(text: str) -> None:
    try:
        document = parse_pyproject("[tool.hookagent]\n" + text, "p.toml")
    except ConfigError as error:
        if not error.problems:
            pytest.fail("an error without a problem")
    else:
        assert document is not None
        assert set(paths_of(document.data)) <= set(document.positions.values)
