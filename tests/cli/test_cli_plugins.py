"""`plugins list`, and commands that other distributions add: a broken one harms nobody else."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

HOOKED = "from hookagent import hookimpl\nclass Plugin:\n    @hookimpl\n    def before_llm(self, iteration): pass\n"
BROKEN = "import nothing_like_this\n"


def listed(command: Any, *words: str) -> dict[str, dict[str, Any]]:
    got = command("plugins", "list", "--json", *words)
    assert got.code == 0
    return {row["name"]: row for row in json.loads(got.out)}


def test_states(command: Any, site: Any) -> None:
    site.plugin("good", HOOKED, "third-party")
    site.plugin("bad", BROKEN)
    site.plugin("off", BROKEN)
    rows = listed(command, "-p", "good", "-p", "bad")
    assert rows["good"] == {
        "name": "good",
        "distribution": "third-party",
        "version": "1.0",
        "state": "enabled",
        "hooks": ["before_llm"],
        "reason": None,
    }
    assert (rows["bad"]["state"], rows["bad"]["distribution"]) == ("broken", "hookagent-bad")
    assert rows["bad"]["reason"].endswith("ModuleNotFoundError: No module named 'nothing_like_this'")
    assert (rows["off"]["state"], rows["off"]["hooks"], rows["off"]["reason"]) == ("installed", None, None)


def test_the_table(command: Any, site: Any) -> None:
    site.plugin("good", HOOKED)
    site.plugin("off", HOOKED)
    got = command("plugins", "list", "-p", "good")
    assert got == (
        0,
        "NAME  DISTRIBUTION    VERSION  STATE      HOOKS\n"
        "good  hookagent-good  1.0      enabled    before_llm\n"
        "off   hookagent-off   1.0      installed  (not loaded)\n",
        "",
    )


def test_enabled_ones_stand_in_call_order(command: Any, site: Any, folder: Path) -> None:
    for name in ("a", "b", "c"):
        site.plugin(name, HOOKED)
    (folder / "hookagent.yaml").write_text("plugins: [c, a]\n")
    assert list(listed(command)) == ["c", "a", "b"]


def test_defaults_are_enabled_as_far_as_they_are_installed(command: Any, site: Any) -> None:
    site.plugin("tool-logging", HOOKED)
    rows = listed(command)
    assert {name: row["state"] for name, row in rows.items()} == {"tool-logging": "enabled"}


def test_a_plugin_that_is_not_there_is_broken(command: Any) -> None:
    row = listed(command, "-p", "nope")["nope"]
    assert (row["state"], row["distribution"]) == ("broken", None)
    assert row["reason"].startswith("no such plugin")


def test_one_name_from_two_distributions(command: Any, site: Any) -> None:
    site.plugin("twice", HOOKED, "package-a")
    site.install("package-b", "2.0", {"hookagent": {"twice": "other:Plugin"}})
    got = command("plugins", "list", "--json")
    assert [(row["distribution"], row["state"]) for row in json.loads(got.out)] == [
        ("package-a", "installed"),
        ("package-b", "installed"),
    ]
    assert "package-a 1.0 and package-b 2.0" in listed(command, "-p", "twice")["twice"]["reason"]
    got = command("run", "-t", "read_file", "-p", "twice", "x")
    assert got.code == 2
    assert "package-a 1.0 and package-b 2.0" in got.err


def test_a_broken_configuration_is_said_and_costs_nothing(command: Any, site: Any, folder: Path) -> None:
    site.plugin("off", BROKEN)
    (folder / "hookagent.yaml").write_text("plugns: []\n")
    got = command("plugins", "list")
    assert got.code == 0
    assert got.out.splitlines()[1].split() == ["off", "hookagent-off", "1.0", "installed", "(not", "loaded)"]
    assert got.err == "hookagent: warning: hookagent.yaml:1:1: unknown key 'plugns'; did you mean 'plugins'?\n"


@pytest.mark.parametrize("words", [["--help"], ["--version"], ["plugins", "list"], ["config", "show"]])
def test_a_broken_plugin_breaks_no_command_that_needs_no_agent(words: list[str], command: Any, site: Any) -> None:
    site.plugin("tool-logging", BROKEN)
    assert command(*words).code == 0
    got = command("run", "-m", "scripted:none.yaml", "-t", "read_file", "x")
    assert got.code == 2
    assert "plugin 'tool-logging' (hookagent-tool-logging 1.0): cannot be imported" in got.err


COMMAND = """\
import click
@click.command()
@click.argument("word")
def greet(word):
    click.echo(f"hello {word}")
    return 7
"""
BRINGS = """\
from hookagent import hookimpl

def bring(what: str) -> str:
    '''Bring it.

    And more.'''
    return what

class Plugin:
    @hookimpl
    def register_tools(self, register):
        register(bring, effect="reads")
"""


def test_another_distribution_adds_a_command(command: Any, site: Any) -> None:
    site.module("greeting", COMMAND)
    site.install("hookagent-greet", "1.2", {"hookagent.commands": {"greet": "greeting:greet", "run": "greeting:greet"}})
    help_text = command("--help").out
    assert "greet" in help_text
    assert "From hookagent-greet 1.2." in help_text
    assert command("greet", "you") == (7, "hello you\n", "")
    assert command("run", "--help").out.startswith("Usage: hookagent run")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (
            "import nothing_like_this\n",
            "cannot be imported from 'greeting:greet': ModuleNotFoundError: No module named 'nothing_like_this'",
        ),
        ("greet = 3\n", "'greeting:greet' is a int, not a click command"),
    ],
)
def test_a_broken_command_breaks_only_itself(text: str, reason: str, command: Any, site: Any) -> None:
    site.module("greeting", text)
    site.install("hookagent-greet", "1.2", {"hookagent.commands": {"greet": "greeting:greet"}})
    assert command("--help").code == 0
    assert command("greet") == (2, "", f"hookagent: error: command 'greet' (hookagent-greet 1.2): {reason}\n")


def test_no_words_at_all_is_a_usage_error(command: Any) -> None:
    got = command()
    assert (got.code, got.out) == (2, "")
    assert got.err.startswith("Usage: hookagent ")


def test_tools_of_a_plugin_are_listed_with_it(command: Any, site: Any) -> None:
    site.plugin("brings", BRINGS)
    got = command("tools", "list", "-t", "count_words", "-p", "brings")
    assert got.code == 0
    assert [line.split() for line in got.out.splitlines()[2:]] == [
        ["bring", "reads", "plugin", "brings", "Bring", "it."]
    ]
    (_, brought) = json.loads(command("tools", "list", "--json", "-t", "count_words", "-p", "brings").out)
    assert (brought["plugin"], brought["effect"]) == ("brings", "reads")
    assert brought["parameters"]["required"] == ["what"]


def test_config_check_and_show(command: Any, site: Any, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    site.approval()
    monkeypatch.setenv("HOOK_SECRET", "abcdefgh")
    (folder / "hookagent.yaml").write_text("model: scripted:none.yaml\ntools: [read_file]\nplugins: [human-approval]\n")
    got = command("config", "check")
    assert (got.code, got.err) == (
        2,
        "hookagent: error: hookagent.yaml:1:8: none.yaml: cannot be read: no such file or directory\n",
    )
    (folder / "none.yaml").write_text("[]\n")
    assert command("config", "check") == (
        0,
        "hookagent.yaml: no problems; plugins: human-approval; tools: read_file\n",
        "",
    )
    shown = command("config", "show", "-o", "limits.max_iterations=3")
    assert shown.code == 0
    assert "model: scripted:none.yaml  # from hookagent.yaml:1" in shown.out
    assert "max_iterations: 3  # -o" in shown.out


def test_config_show_shows_what_a_run_would_have(
    command: Any, site: Any, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    site.approval()  # of the plugins that are enabled by default, the only one that is installed
    shown = command("config", "show", "-o", "plugins.human-approval.allow=[a]").out
    assert shown.startswith("# model: not set\n")
    assert "\ntools:\n  - files  # default\n" in shown
    assert "\nplugins:\n  - use: human-approval  # default\n    with:\n      allow:\n        - a  # -o\n" in shown
    assert "tool-logging" not in shown
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    shown = command("config", "show").out
    assert shown.startswith("model: openai:gpt-5  # default\n")
    (folder / "hookagent.yaml").write_text(shown)
    again = command("config", "show").out
    without_origins = [[line.partition("  # ")[0] for line in text.splitlines()] for text in (shown, again)]
    assert without_origins[0] == without_origins[1]
    (folder / "hookagent.yaml").write_text("tools: []\nplugins: []\nmodel: local\n")
    shown = command("config", "show").out
    assert "model: local  # from hookagent.yaml:3\n" in shown
    assert "tools: []  # from hookagent.yaml:1\n" in shown
    assert "plugins: []  # from hookagent.yaml:2\n" in shown
