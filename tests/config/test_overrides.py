"""`-o`, `-p` and HOOKAGENT_PLUGINS on top of a file."""

from pathlib import Path
from typing import Any

import pytest

from hookagent.config import Config, ConfigError, LoadedConfig, read_config

FILE = """\
model: m
limits: {max_iterations: 5}
plugins:
- tool-logging
- context-window: {warn_at: 80, keep: [a]}
- use: my.module
  with: {deep: {x: 1}}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "agent.yaml").write_text(FILE)
    return tmp_path


def read(folder: Path, *overrides: str, plugins: tuple[str, ...] = (), **environment: str) -> LoadedConfig:
    return read_config(
        "agent.yaml", overrides=overrides, plugins=plugins, environment=environment, working_directory=folder
    )


def errors(folder: Path, *overrides: str, plugins: tuple[str, ...] = (), **environment: str) -> list[str]:
    with pytest.raises(ConfigError) as caught:
        read(folder, *overrides, plugins=plugins, **environment)
    return str(caught.value).split("\n")


def names(config: Config) -> list[str]:
    return [entry.use for entry in config.plugins or []]


def options(config: Config, name: str) -> dict[str, Any]:
    return next(entry.options for entry in config.plugins or [] if entry.use == name)


def test_a_value_is_set_and_the_last_one_wins(folder: Path) -> None:
    assert read(folder, "limits.max_iterations=3").config.limits.max_iterations == 3
    assert read(folder, "limits.max_iterations=3", "limits={max_iterations: 4}").config.limits.max_iterations == 4
    assert read(folder, "limits={max_iterations: 4}", "limits.max_iterations=3").config.limits.max_iterations == 3


def test_values_are_yaml_by_the_same_rules(folder: Path) -> None:
    config = read(folder, "model_settings.openai.a.b=[yes, true, '5', 5]", "tools=[files, shell]", "model=a=b").config
    assert config.model_settings.openai == {"a": {"b": ["yes", True, "5", 5]}}
    assert config.tools == ["files", "shell"]
    assert config.model == "a=b"
    assert read(folder, "limits.max_iterations=${N}", N="8").config.limits.max_iterations == 8


def test_a_plugin_is_addressed_by_its_name(folder: Path) -> None:
    loaded = read(
        folder,
        "plugins.context-window.warn_at=70",
        "plugins.my.module.deep.y=2",
        "plugins.my.module.on_error=warn",
        "plugins.tool-logging.with.on_error=x",
        "plugins.tool-logging.time_limit=null",
    )
    assert options(loaded.config, "context-window") == {"warn_at": 70, "keep": ["a"]}
    assert options(loaded.config, "my.module") == {"deep": {"x": 1, "y": 2}}
    assert options(loaded.config, "tool-logging") == {"on_error": "x"}
    entries = loaded.config.plugins or []
    assert [(entry.on_error, entry.time_limit, entry.time_limit_given) for entry in entries] == [
        ("fail", None, True),
        ("fail", 60.0, False),
        ("warn", 60.0, False),
    ]


def test_the_longest_name_of_a_plugin_is_meant(folder: Path) -> None:
    (folder / "agent.yaml").write_text("plugins: [my, my.module]\n")
    config = read(folder, "plugins.my.module.x=1", "plugins.my.y=2").config
    assert (options(config, "my.module"), options(config, "my")) == ({"x": 1}, {"y": 2})


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("limits.max_iteratons=3", "-o limits.max_iteratons=3: unknown key 'limits.max_iteratons'; did you "
            "mean 'max_iterations'?"),
        ("limits.max_iterations=x", "-o limits.max_iterations=x: limits.max_iterations must be a whole "
            "number, found the text 'x'"),
        ("limits.max_iterations.x=1", "-o limits.max_iterations.x=1: limits.max_iterations holds a value without keys; "
         "set it whole, as in '-o limits.max_iterations=...'"),
        ("tools.x=1", "-o tools.x=1: unknown key"),
        ("model=", "-o model=: model is empty; give it a value or remove the line"),
        ("model=a: b", "-o model=a: b: model must be text, found a mapping; put text that holds ': ' in quotes"),
        ("model", "-o: expected 'dotted.path=value', as in 'limits.max_iterations=3'"),
        ("=x", "-o =: expected 'dotted.path=value', as in 'limits.max_iterations=3'"),
        ("a..b=x", "-o a..b=: expected 'dotted.path=value', as in 'limits.max_iterations=3'"),
        ("model=${NOPE}", "-o model=${NOPE}: variable 'NOPE' in 'model' is not set; set it, or write "
            "${NOPE:-default} for a default"),
        ("plugins.contxt-window.a=1", "-o plugins.contxt-window.a=1: plugin 'contxt-window' is not in the list; "
         "did you mean 'context-window'?"),
        ("plugins.reflection.a=1", "-o plugins.reflection.a=1: plugin 'reflection' is not in the list; add it "
            "with '-p reflection'"),
        ("plugins.tool-logging=1", "-o plugins.tool-logging=1: 'plugins.tool-logging' needs the name of an option; "
         "to add a plugin use '-p tool-logging'"),
        ("plugins=tool-logging", "-o plugins=tool-logging: plugins must be a list, found the text "
            "'tool-logging'; write '[ ]' around it"),
        ("plugins=[a, a]", "-o plugins=[a, a]: plugin 'a' is listed twice, first by '-o plugins=[a, a]'; "
            "remove one of them"),
        ("plugins.tool-logging.api_key=[hunter2", "-o plugins.tool-logging.api_key=***: the list in [ ] is not closed"),
        ("model=\x1b[31m", "-o model=\\x1b[31m: a character that cannot stand in YAML; remove it"),
    ],
)  # fmt: skip
def test_a_bad_override_names_itself(folder: Path, override: str, message: str) -> None:
    if override == "tools.x=1":
        (folder / "agent.yaml").write_text("tools: [a]\n")
        message = "-o tools.x=1: tools holds a value without keys; set it whole, as in '-o tools=...'"
    [problem] = errors(folder, override)
    if "***" in message:
        assert problem.startswith(message)
        assert "hunter2" not in problem
    else:
        assert problem == message


def test_problems_of_the_file_come_before_those_of_options(folder: Path) -> None:
    (folder / "agent.yaml").write_text("x: 1\n")
    assert errors(folder, "y=1", plugins=("no:z",)) == [
        "agent.yaml:1:1: unknown key 'x'",
        "-p no:z: plugin 'z' is not in the list",
        "-o y=1: unknown key 'y'",
    ]


@pytest.mark.parametrize(
    ("variable", "plugins", "expected"),
    [
        ("", (), ["tool-logging", "context-window", "my.module"]),
        ("", ("reflection",), ["tool-logging", "context-window", "my.module", "reflection"]),
        ("", ("tool-logging",), ["tool-logging", "context-window", "my.module"]),
        ("", ("no:tool-logging",), ["context-window", "my.module"]),
        ("", ("no:tool-logging", "tool-logging"), ["context-window", "my.module", "tool-logging"]),
        ("", ("a", "no:a"), ["tool-logging", "context-window", "my.module"]),
        ("a, no:tool-logging,,", (), ["context-window", "my.module", "a"]),
        ("a", ("no:a",), ["tool-logging", "context-window", "my.module"]),
        ("no:my.module", ("my.module",), ["tool-logging", "context-window", "my.module"]),
    ],
)
def test_plugins_are_switched_on_and_off(
    folder: Path, variable: str, plugins: tuple[str, ...], expected: list[str]
) -> None:
    assert names(read(folder, plugins=plugins, HOOKAGENT_PLUGINS=variable).config) == expected


def test_switching_on_what_is_on_keeps_its_options(folder: Path) -> None:
    assert options(read(folder, plugins=("context-window",)).config, "context-window")["warn_at"] == 80


def test_a_plugin_that_was_switched_on_can_be_set(folder: Path) -> None:
    config = read(folder, "plugins.reflection.every=2", plugins=("no:tool-logging", "reflection")).config
    assert options(config, "reflection") == {"every": 2}


def test_a_replaced_list_is_switched_too(folder: Path) -> None:
    config = read(folder, "plugins.b.x=1", "plugins=[a, b: {y: 2}]", plugins=("no:a",)).config
    assert names(config) == ["b"]
    assert options(config, "b") == {"y": 2, "x": 1}


def test_places_move_along_when_a_plugin_goes(folder: Path) -> None:
    (folder / "agent.yaml").write_text("plugins:\n- a: {x: 1}\n- b: {y: 2}\n- {use: c, on_eror: 1}\n")
    assert errors(folder, plugins=("no:a",)) == [
        "agent.yaml:4:12: unknown key 'plugins.c.on_eror'; did you mean 'on_error'?"
    ]
    (folder / "agent.yaml").write_text("plugins:\n- a: {x: 1}\n- b: {y: 2}\n")
    positions = read(folder, plugins=("no:a",)).positions
    assert str(positions.value((*positions.plugin_options("b"), "y"))) == "agent.yaml:3:10"


def test_a_plugin_that_is_switched_off_needs_no_variable(folder: Path) -> None:
    (folder / "agent.yaml").write_text("plugins:\n- jira: {token: '${NOPE}'}\n- b: {y: '${YES}'}\n")
    loaded = read(folder, plugins=("no:jira",), YES="1")
    assert names(loaded.config) == ["b"]
    assert options(loaded.config, "b") == {"y": "1"}


@pytest.mark.parametrize(
    ("word", "message"),
    [
        ("no:tool-loging", "-p no:tool-loging: plugin 'tool-loging' is not in the list; did you mean 'tool-logging'?"),
        ("", "-p: the name of a plugin is missing; write '-p NAME' or '-p no:NAME'"),
        ("no:", "-p no:: the name of a plugin is missing; write '-p NAME' or '-p no:NAME'"),
        ("a b", "-p a b: a plugin's name has letters, digits, '_', '-' and '.' only"),
        ("../evil", "-p ../evil: a plugin's name has letters, digits, '_', '-' and '.' only"),
    ],
)
def test_a_bad_switch_names_itself(folder: Path, word: str, message: str) -> None:
    assert errors(folder, plugins=(word,)) == [message]


def test_a_bad_word_in_the_variable(folder: Path) -> None:
    assert errors(folder, HOOKAGENT_PLUGINS="no:gone") == ["HOOKAGENT_PLUGINS: plugin 'gone' is not in the list"]


def test_no_list_no_plugins_and_the_defaults_of_the_command(tmp_path: Path) -> None:
    def plugins(*words: str, defaults: tuple[str, ...] | None = None, variable: str = "") -> list[str] | None:
        loaded = read_config(
            plugins=words,
            default_plugins=defaults,
            environment={"HOOKAGENT_PLUGINS": variable},
            working_directory=tmp_path,
        )
        return None if loaded.config.plugins is None else names(loaded.config)

    assert plugins() is None
    assert plugins("a") == ["a"]
    assert plugins(variable="a") == ["a"]
    assert plugins(defaults=("x", "y")) == ["x", "y"]
    assert plugins("a", "no:x", defaults=("x", "y")) == ["y", "a"]
    (tmp_path / "hookagent.yaml").write_text("plugins: []")
    assert plugins(defaults=("x", "y")) == []


def test_refusing_a_default_plugin_is_an_answer_even_where_it_is_not_listed(tmp_path: Path) -> None:
    (tmp_path / "hookagent.yaml").write_text("plugins: [a]")
    loaded = read_config(
        plugins=["no:human-approval"], default_plugins=["human-approval"], environment={}, working_directory=tmp_path
    )
    assert names(loaded.config) == ["a"]
    assert loaded.refused_plugins == {"human-approval"}
    again = read_config(
        plugins=["no:human-approval", "human-approval"],
        default_plugins=["human-approval"],
        environment={},
        working_directory=tmp_path,
    )
    assert again.refused_plugins == frozenset()


@pytest.mark.parametrize("value", ["5", "{a: 1}", "x", "null", "["])
def test_a_faulty_list_is_the_only_problem(folder: Path, value: str) -> None:
    problems = errors(folder, f"plugins={value}", "plugins.tool-logging.x=1", plugins=("reflection",))
    assert len(problems) == 1
    assert problems[0].startswith(f"-o plugins={value}: ")


def test_the_name_of_a_plugin_may_come_from_a_variable(folder: Path) -> None:
    (folder / "agent.yaml").write_text("plugins: ['${A}', {use: '${B}', with: {x: '${C}', d: 1}}]\n")
    config = read(folder, A="a", B="b", C="${A}").config
    assert [(entry.use, entry.options) for entry in config.plugins or []] == [("a", {}), ("b", {"x": "${A}", "d": 1})]


def test_a_path_in_no_known_encoding_is_named(folder: Path) -> None:
    said = "expected 'dotted.path=value', as in 'limits.max_iterations=3'"
    assert errors(folder, "\udcff=1") == [f"-o \\udcff=: {said}"]
