"""The merged configuration as YAML: loads again, names its origins, shows no secret."""

import string
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hookagent.config import (
    Config,
    Limits,
    LoadedConfig,
    PluginEntry,
    Positions,
    load_config,
    read_config,
    render_config,
)
from hookagent.config.validation import validate
from hookagent.config.yaml_nodes import parse_yaml


def test_every_value_says_where_it_comes_from(tmp_path: Path) -> None:
    (tmp_path / "agent.yaml").write_text(
        "model: openai:gpt-5\n"
        "system_prompt: {file: p.md}\n"
        "tools: [files]\n"
        "limits: {max_iterations: '${N:-7}'}\n"
        "model_settings: {temperature: 0}\n"
        "plugins:\n"
        "- tool-logging\n"
        "- context-window: {warn_at: 80, keep: [a, {b: 1}]}\n"
        "- use: human-approval\n"
        "  time_limit: null\n"
    )
    (tmp_path / "p.md").write_text("Tidy.\nCosts $5.\n")
    loaded = read_config(
        "agent.yaml",
        overrides=["plugins.context-window.warn_at=70", "tool_execution=sequential"],
        plugins=["my.module"],
        environment={"HOOKAGENT_PLUGINS": "reflection"},
        working_directory=tmp_path,
    )
    assert render_config(loaded) == (
        "model: openai:gpt-5  # from agent.yaml:1\n"
        "model_settings:\n"
        "  # max_output_tokens: not set\n"
        "  temperature: 0.0  # from agent.yaml:5\n"
        "  # effort: not set\n"
        "  stop: []  # default\n"
        "  # seed: not set\n"
        "  anthropic: {}  # default\n"
        "  openai: {}  # default\n"
        "  openai-chat: {}  # default\n"
        'system_prompt: "Tidy.\\nCosts $$5.\\n"  # from agent.yaml:2\n'
        "tools:\n"
        "  - files  # from agent.yaml:3\n"
        "plugins:\n"
        "  - use: tool-logging  # from agent.yaml:7\n"
        "    with: {}  # default\n"
        "    on_error: fail  # default\n"
        "  - use: context-window  # from agent.yaml:8\n"
        "    with:\n"
        "      warn_at: 70  # -o\n"
        "      keep:\n"
        "        - a  # from agent.yaml:8\n"
        "        - b: 1  # from agent.yaml:8\n"
        "    on_error: fail  # default\n"
        "  - use: human-approval  # from agent.yaml:9\n"
        "    with: {}  # default\n"
        "    on_error: fail  # default\n"
        "    time_limit: null  # from agent.yaml:10\n"
        "  - use: reflection  # HOOKAGENT_PLUGINS\n"
        "    with: {}  # default\n"
        "    on_error: fail  # default\n"
        "  - use: my.module  # -p\n"
        "    with: {}  # default\n"
        "    on_error: fail  # default\n"
        "limits:\n"
        "  max_iterations: 7  # from agent.yaml:4\n"
        "  max_tool_calls: null  # default\n"
        "  max_tokens: null  # default\n"
        "  max_input_tokens: null  # default\n"
        "  max_output_tokens: null  # default\n"
        "  max_cost_usd: null  # default\n"
        "  max_seconds: null  # default\n"
        "  max_equal_calls: null  # default\n"
        "  closing_answer: false  # default\n"
        "tool_result_limit: 100000  # default\n"
        "tool_execution: sequential  # -o\n"
    )


def test_the_defaults_load_again() -> None:
    text = render_config(LoadedConfig(Config(), Positions()))
    assert "# plugins: not set\n" in text
    assert "max_iterations: 10  # default\n" in text
    assert validate(parse_yaml(text, "shown.yaml")) == Config()


SECRETS = [
    "sk-ant-api03-abcdefghijklmnop",
    "ghp_abcdefghijklmnopqrstuvwxyz0123456789",
    "AKIAIOSFODNN7EXAMPLE",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.abc",
    "Bearer abcdefghijklmnop",
    "postgres://user:hunter2@host/db",
    "aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1dE3f",
    "-----BEGIN PRIVATE KEY-----\nMIIB\n-----END PRIVATE KEY-----",
]


@pytest.mark.parametrize("secret", SECRETS)
def test_what_looks_like_a_key_is_masked_wherever_it_stands(tmp_path: Path, secret: str) -> None:
    inner = secret.split("://")[-1].split("@")[0].removeprefix("Bearer ")
    document: dict[str, Any] = {
        "system_prompt": f"use {secret} now",
        "model_settings": {"openai": {"extra": [{"note": secret}]}, "stop": [secret]},
        "plugins": [{"jira": {"url": secret, "list": [f"a {secret}"]}}],
    }
    (tmp_path / "agent.yaml").write_text(yaml.safe_dump(document))
    shown = render_config(read_config("agent.yaml", environment={}, working_directory=tmp_path))
    assert inner not in shown
    assert inner.encode("unicode_escape").decode() not in shown
    assert shown.count("***") == 5
    (tmp_path / "shown.yaml").write_text(shown)
    load_config("shown.yaml", environment={}, working_directory=tmp_path)


@pytest.mark.parametrize(
    "key", ["api_key", "apiKey", "TOKEN", "client-secret", "db_password", "Authorization", "passwd"]
)
def test_what_is_named_like_a_secret_is_masked(tmp_path: Path, key: str) -> None:
    plugin = {"jira": {key: "hunter2", "nested": {key: ["hunter2", {"a": "hunter2"}]}, "who": "me"}}
    (tmp_path / "agent.yaml").write_text(yaml.safe_dump({"plugins": [plugin]}))
    shown = render_config(read_config("agent.yaml", environment={}, working_directory=tmp_path))
    assert "hunter2" not in shown
    assert shown.count('"***"') == 3
    assert "who: me" in shown


def test_numbers_are_hidden_under_passwords_and_shown_as_counts(tmp_path: Path) -> None:
    (tmp_path / "agent.yaml").write_text("plugins:\n- a: {password: 123456, max_tokens: 500, token_budget: 600}\n")
    shown = render_config(read_config("agent.yaml", environment={}, working_directory=tmp_path))
    assert "123456" not in shown
    assert "max_tokens: 500" in shown
    assert "token_budget: 600" in shown


_TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=12)
_WORDS = st.text(string.ascii_lowercase + "_-.$ é", min_size=1, max_size=8)
_VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | _TEXT
    | st.sampled_from(["yes", "1:30", "${A}", "<<"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_WORDS, inner, max_size=3),
    max_leaves=10,
)
_OPTIONS = st.dictionaries(_WORDS, _VALUES, max_size=3)
_CONFIGS = st.builds(
    Config,
    model=st.none() | st.sampled_from(["m", "openai:gpt-5", "yes", "5"]),
    system_prompt=st.none() | _TEXT.filter(str.strip),
    limits=st.builds(
        Limits,
        max_iterations=st.none() | st.integers(1, 10**9),
        max_cost_usd=st.none() | st.floats(1e-6, 1e6),
        closing_answer=st.booleans(),
    ),
    tools=st.lists(st.sampled_from(["files", "mypkg.tools:search", "write_*", "$x"]), max_size=3),
    plugins=st.none()
    | st.lists(
        st.builds(
            lambda use, options, limit: PluginEntry.model_validate({"use": use, "with": options, **limit}),
            st.sampled_from(["a", "b-c", "d.e"]),
            _OPTIONS,
            st.sampled_from([{}, {"time_limit": None}, {"time_limit": 2.5}]),
        ),
        max_size=3,
        unique_by=lambda entry: entry.use,
    ),
)


@given(_CONFIGS)
@settings(max_examples=100, suppress_health_check=[HealthCheck.too_slow])
def test_what_is_shown_loads_again_as_the_same(config: Config) -> None:
    from hookagent.config.plugin_entries import normalise_plugins
    from hookagent.config.variables import expand_variables

    document = parse_yaml(render_config(LoadedConfig(config, Positions())), "shown.yaml")
    normalise_plugins(document, {})
    expand_variables(document, {})
    assert document.problems == []
    again = validate(document)
    if "***" in str(again):
        assert [entry.use for entry in again.plugins or []] == [entry.use for entry in config.plugins or []]
    else:
        assert again == config
        assert [entry.time_limit_given for entry in again.plugins or []] == [
            entry.time_limit_given for entry in config.plugins or []
        ]
