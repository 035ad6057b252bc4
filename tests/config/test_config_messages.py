"""Bad configurations and the exact words about each."""

from pathlib import Path

import pytest

from hookagent.config import ConfigError, load_config

MESSAGES = [
    ("limits: {max_iterations: ten}", "1:26: limits.max_iterations must be a whole number, found the text 'ten'"),
    ("limits: {max_iterations: 2.5}", "1:26: limits.max_iterations must be a whole number, found 2.5"),
    ("limits: {max_iterations: true}", "1:26: limits.max_iterations must be a whole number, found true"),
    ("limits: {max_iterations: '5'}", "1:26: limits.max_iterations must be a whole number, found the text '5'"),
    ("limits: {max_iterations: 0}", "1:26: limits.max_iterations must be at least 1, found 0"),
    (
        "limits: {max_iterations: ${X}}",
        "1:27: the mapping in { } is not closed (it starts on line 1, column 9); add '}' or ','"
        "; '${...}' inside { } must be in quotes",
    ),
    (
        "limits: {max_iterations: '${WORD}'}",
        "1:26: limits.max_iterations must be a whole number, found the text 'word'",
    ),
    ("limits: {max_iterations: }", "1:25: limits.max_iterations is empty; give it a value or remove the line"),
    ("limits: {max_equal_calls: 1}", "1:27: limits.max_equal_calls must be at least 2, found 1"),
    ("limits: {max_cost_usd: 0}", "1:24: limits.max_cost_usd must be greater than 0, found 0"),
    ("limits: {max_seconds: .inf}", "1:23: limits.max_seconds must be a finite number, found inf"),
    ("limits: {max_seconds: 5m}", "1:23: limits.max_seconds must be a number, found the text '5m'"),
    (
        "limits: {closing_answer: yes}",
        "1:26: limits.closing_answer must be true or false, found the text 'yes'; only true and false are booleans",
    ),
    ("limits: {closing_answer: null}", "1:26: limits.closing_answer is empty; give it a value or remove the line"),
    ("limits: {max_turns: 3}", "1:10: unknown key 'limits.max_turns'; did you mean 'max_tokens'?"),
    (
        "max_output_tokens: 3",
        "1:1: unknown key 'max_output_tokens'; did you mean 'model_settings.max_output_tokens' "
        "or 'limits.max_output_tokens'?",
    ),
    ("limits: 5", "1:9: limits must be a mapping, found 5"),
    ("limits: [1]", "1:9: limits must be a mapping, found a list"),
    ("limits:", "1:8: limits is empty; give it a value or remove the line"),
    ("modle: m", "1:1: unknown key 'modle'; did you mean 'model'?"),
    ("zzz: 1", "1:1: unknown key 'zzz'"),
    ('"a\\nb\\e[31m": 1', r"1:1: unknown key 'a\nb\x1b[31m'"),
    ("model: 5", "1:8: model must be text, found 5; put it in quotes"),
    ("model: true", "1:8: model must be text, found true; put it in quotes"),
    ("model: {a: b}", "1:8: model must be text, found a mapping; put text that holds ': ' in quotes"),
    ("model: anthropic: x", "1:17: a ':' that cannot stand here; put text that holds ': ' in quotes"),
    (
        "model: '$${X} ${'",
        "1:8: '${' in 'model' starts no variable; write ${NAME} or ${NAME:-default}, or '$$' for a '$'",
    ),
    ("tools: files", "1:8: tools must be a list, found the text 'files'; write '[ ]' around it"),
    ("tools: [files, 5]", "1:16: tools[1] must be text, found 5; put it in quotes"),
    ("tools: ['']", "1:9: tools[0] is empty; give it a value or remove the line"),
    ("tools: {files: 1}", "1:8: tools must be a list, found a mapping"),
    (
        "tool_execution: paralel",
        "1:17: tool_execution must be 'parallel' or 'sequential', found the text 'paralel'; did you mean 'parallel'?",
    ),
    ("tool_result_limit: 1e3", "1:20: tool_result_limit must be a whole number, found 1000.0"),
    ("tool_result_limit: -1", "1:20: tool_result_limit must be at least 1, found -1"),
    ("model_settings: {temperature: 5}", "1:31: model_settings.temperature must be at most 2, found 5"),
    ("model_settings: {temperature: .nan}", "1:31: model_settings.temperature must be a finite number, found nan"),
    ("model_settings: {temperature: warm}", "1:31: model_settings.temperature must be a number, found the text 'warm'"),
    (
        "model_settings: {max_tokens: 5}",
        "1:18: unknown key 'model_settings.max_tokens'; did you mean 'max_output_tokens'?",
    ),
    (
        "model_settings: {max_output_token: 5}",
        "1:18: unknown key 'model_settings.max_output_token'; did you mean 'max_output_tokens'?",
    ),
    (
        "model_settings: {effort: hihg}",
        "1:26: model_settings.effort must be 'none', 'minimal', 'low', 'medium', 'high', 'xhigh' "
        "or 'max', found the text 'hihg'; did you mean 'high'?",
    ),
    (
        "model_settings: {stop: END}",
        "1:24: model_settings.stop must be a list, found the text 'END'; write '[ ]' around it",
    ),
    (
        "model_settings: {openai_chat: {}}",
        "1:18: unknown key 'model_settings.openai_chat'; did you mean 'openai-chat'?",
    ),
    ("model_settings: {openai: 5}", "1:26: model_settings.openai must be a mapping, found 5"),
    (
        "model: {api_key: sk-1234567890abcdef}",
        "1:8: model must be text, found a mapping; put text that holds ': ' in quotes",
    ),
    ("limits: {max_iterations: sk-1234567890abcdef}", "1:26: limits.max_iterations must be a whole number, found text"),
    ("system_prompt: {fil: x}", "1:17: unknown key 'system_prompt.fil'; did you mean 'file'?"),
    ("system_prompt: {}", "1:16: system_prompt is an empty mapping; write text, or '{file: path}'"),
    ("system_prompt: {file: 5}", "1:23: system_prompt.file must be the path of a text file"),
    ("system_prompt: {file: no.md}", "1:23: system_prompt.file: no.md: there is no such file; check the path"),
    ("system_prompt: {file: .}", "1:23: system_prompt.file: .: this is a folder; a file was expected"),
    ("system_prompt: {file: blank.md}", "1:23: system_prompt.file: blank.md: the file is empty"),
    (
        "system_prompt: {file: latin.md}",
        "1:23: system_prompt.file: latin.md:1:4: the file is not UTF-8 text; save the file as UTF-8",
    ),
    ("system_prompt: [x]", "1:16: system_prompt must be text, found a list"),
    ("plugins: tool-logging", "1:10: plugins must be a list, found the text 'tool-logging'; write '[ ]' around it"),
    (
        "plugins: {tool-logging: {}}",
        "1:10: plugins must be a list, found a mapping; write '- tool-logging: {...}' under it",
    ),
    ("plugins: [a, b, {a: {}}]", "1:17: plugin 'a' is listed twice, first on line 1; remove one of them"),
    ("plugins: [5]", "1:11: a plugin must be a name, 'name: {options}' or 'use: name', found something else"),
    ("plugins: [{}]", "1:11: a plugin must be a name, 'name: {options}' or 'use: name', found an empty mapping"),
    ("plugins: ['']", "1:11: a plugin's name has letters, digits, '_', '-' and '.' only"),
    ("plugins: [no:a]", "1:11: 'no:' works with the option '-p' only; in a list, leave the plugin out"),
    (
        "plugins:\n- a:\n  warn_at: 5",
        "2:3: a plugin has one name, found the keys 'a', 'warn_at'; indent the options under "
        "the name, or write 'use: name'",
    ),
    ("plugins: [{with: {}}]", "1:11: 'with' stands alone; write 'use: name' beside it"),
    ("plugins: [on_error: warn]", "1:11: 'on_error' stands alone; write 'use: name' beside it"),
    ("plugins: [a: 5]", "1:14: plugins.a must be a mapping, found 5"),
    ("plugins: [{use: 5}]", "1:11: 'use' must be the name of a plugin; put it in quotes"),
    ("plugins: [{use: a, with: [1]}]", "1:26: plugins.a must be a mapping, found a list"),
    ("plugins: [{use: a, options: {}}]", "1:20: unknown key 'plugins.a.options'"),
    (
        "plugins: [{use: a, on_error: ignore}]",
        "1:30: plugins.a.on_error must be 'fail', 'warn' or 'disable', found the text 'ignore'",
    ),
    ("plugins: [{use: a, time_limit: 0}]", "1:32: plugins.a.time_limit must be greater than 0, found 0"),
    ("plugins: [{use: a, time_limit: 30s}]", "1:32: plugins.a.time_limit must be a number, found the text '30s'"),
    ("plugins: [{use: a, on_error: }]", "1:29: plugins.a.on_error is empty; give it a value or remove the line"),
    (
        "plugins: [{use: '${NOPE}'}]",
        "1:17: variable 'NOPE' in 'plugins[0].use' is not set; set it, or write ${NOPE:-default} for a default",
    ),
    (
        "plugins: [a: {k: '${NOPE}'}]",
        "1:18: variable 'NOPE' in 'plugins.a.k' is not set; set it, or write ${NOPE:-default} for a default",
    ),
    ("plugins: [a: {x: 1, x: 2}]", "1:21: duplicate key 'plugins[0].a.x'; first given on line 1; remove one of them"),
    ("? [a]\n: 1", "1:3: a key must be text, found a list or a mapping"),
    ("<<: 5", "1:5: '<<' merges mappings only; write '<<: *name'"),
    ('model: "\\ud83d"', "1:8: an escape stands for no character (NUL or half a pair); remove it"),
    ('model: "\\0"', "1:8: an escape stands for no character (NUL or half a pair); remove it"),
    ('model: "\\UFFFFFFFF"', "1:11: an escape or a number that stands for nothing; correct or remove it"),
    ('model: "\\q"', "1:10: unknown escape in double quotes; write '\\\\' for '\\', or use single quotes"),
    (
        "model: !!python/name:os.system x",
        "1:8: a '!' tag that is not supported here; put text that starts with '!' in quotes",
    ),
    ("model: !!int x", "1:8: a '!' tag that is not supported here; put text that starts with '!' in quotes"),
    ("limits: !!omap {}", "1:9: a '!' tag that is not supported here; remove it"),
    ("model: &a x\ntools: [&a y]", "2:9: this '&' name is given twice; rename one of them"),
    ("model: - x", "1:8: a '-' that cannot stand here; put each list item on a line of its own"),
    ("model: m\n  tools: [x]", "2:8: a ':' that cannot stand here; put text that holds ': ' in quotes"),
    (
        "plugins:\n- a\nb",
        "3:2: expected ':' after the key (it starts on line 3, column 1); or is the line before it not finished?",
    ),
    ("model: 'x' y", "1:12: this does not fit what stands before it; check the indentation and the quotes"),
    ("%YAML 3.0\n---\nmodel: x", "1:1: this YAML version is not known; remove the '%YAML' line"),
    ("{" * 60, "1:51: nested deeper than 50 levels; flatten it"),
    ("tools: [" + "x, " * 20_001 + "]", "1:60000: more than 20,000 values; shorten the configuration"),
]


@pytest.mark.parametrize(("text", "expected"), MESSAGES, ids=[text[:40] for text, _ in MESSAGES])
def test_the_message_is_exactly_this(tmp_path: Path, text: str, expected: str) -> None:
    (tmp_path / "agent.yaml").write_text(text, encoding="utf-8")
    (tmp_path / "blank.md").write_text(" \n", encoding="utf-8")
    (tmp_path / "latin.md").write_bytes(b"caf\xe9")
    with pytest.raises(ConfigError) as caught:
        load_config("agent.yaml", working_directory=tmp_path, environment={"WORD": "word"})
    assert str(caught.value) == f"agent.yaml:{expected}"


def test_a_file_beyond_any_size_is_refused(tmp_path: Path) -> None:
    (tmp_path / "agent.yaml").write_bytes(b"#" * 1_000_001)
    with pytest.raises(ConfigError, match=r"^agent\.yaml: the file is larger than 1,000,000 bytes; that is no config"):
        load_config("agent.yaml", working_directory=tmp_path, environment={})


def test_a_faulty_value_that_is_merged_twice_is_reported_once_for_each_key(tmp_path: Path) -> None:
    text = "plugins:\n- a: {k: &a {x: 1, x: 2}}\n- b: {<<: [*a, *a]}\n"
    (tmp_path / "agent.yaml").write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError) as caught:
        load_config("agent.yaml", working_directory=tmp_path, environment={})
    assert str(caught.value).split("\n") == [
        "agent.yaml:2:20: duplicate key 'plugins[0].a.k.x'; first given on line 2; remove one of them",
        "agent.yaml:2:20: duplicate key 'plugins[1].b.x'; first given on line 2; remove one of them",
    ]
