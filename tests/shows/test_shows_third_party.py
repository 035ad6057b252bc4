"""Plugins of other people, each in a distribution of its own, installed beside the built wheel and used by its command.

One environment for all: with a plugin that works, one that cannot be imported, and one that takes another's name.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from hookagent import __version__
from tests.shows.processes import Done
from tests.shows.third_party import Installed

CONFIGURATION = """\
model: scripted:replies.yaml
tools: []
plugins:
  - house-style: {motto: measure twice, signature: The House}
"""
REPLIES = """\
- {expect: Remember the style of the house., calls: [{name: house_motto}]}
- {expect: "The motto is: measure twice.", text: Done.}
"""
WITHOUT_IT = """\
- {expect: Say it., calls: [{name: house_motto}]}
- {expect: house_motto, text: Done.}
"""


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Installed:
    return Installed(tmp_path_factory.mktemp("third-party"))


@pytest.fixture
def installed(environment: Installed) -> Installed:
    """The environment, with nothing imported yet."""
    environment.canary.unlink(missing_ok=True)
    return environment


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A working directory whose configuration enables the plugin that works."""
    here = tmp_path / "here"
    here.mkdir()
    (here / "hookagent.yaml").write_text(CONFIGURATION)
    (here / "replies.yaml").write_text(REPLIES)
    return here


@pytest.fixture
def empty(tmp_path: Path) -> Path:
    """A working directory without a configuration, and with an answer."""
    here = tmp_path / "empty"
    here.mkdir()
    (here / "replies.yaml").write_text("- Done.\n")
    return here


def rows(done: Done) -> dict[tuple[str, str], dict[str, Any]]:
    """The list of plugins, by name and distribution."""
    assert done.returncode == 0, done.stderr
    return {(row["name"], row["distribution"]): row for row in json.loads(done.stdout)}


def test_it_is_listed_with_its_distribution_and_not_imported(installed: Installed, empty: Path) -> None:
    listed = rows(installed.hookagent(empty, "plugins", "list", "--json"))
    assert listed["house-style", "hookagent-house-style"] == {
        "name": "house-style",
        "distribution": "hookagent-house-style",
        "version": "1.4",
        "state": "installed",
        "hooks": None,
        "reason": None,
    }
    assert installed.imported == []
    for_people = installed.hookagent(empty, "plugins", "list").stdout
    assert ["house-style", "hookagent-house-style", "1.4", "installed", "(not", "loaded)"] in [
        line.split() for line in for_people.splitlines()
    ]


def test_it_is_found_like_the_plugins_that_the_wheel_packs(installed: Installed, empty: Path) -> None:
    listed = rows(installed.hookagent(empty, "plugins", "list", "--json"))
    packed = {name for name, distribution in listed if distribution == "hookagent"}
    assert packed == {"context-window", "human-approval", "reflection", "tool-logging"}


def test_enabled_from_yaml_it_adds_a_tool_and_a_message_and_changes_the_answer(
    installed: Installed, folder: Path
) -> None:
    done = installed.hookagent(folder, "run", "-v", "Say it.")
    assert (done.returncode, done.stdout) == (0, "Done. -- The House\n"), done.stderr
    assert "tool house_motto(): ok" in done.stderr
    assert installed.imported == ["hookagent_house_style"]
    listed = rows(installed.hookagent(folder, "plugins", "list", "--json"))
    assert listed["house-style", "hookagent-house-style"]["state"] == "enabled"
    assert listed["house-style", "hookagent-house-style"]["hooks"] == ["register_tools", "before_llm", "after_llm"]


def test_its_tool_is_listed_as_its_own(installed: Installed, folder: Path) -> None:
    (tool,) = json.loads(installed.hookagent(folder, "tools", "list", "--json").stdout)
    assert (tool["name"], tool["effect"], tool["plugin"]) == ("house_motto", "reads", "house-style")


def test_its_options_have_places_and_guesses_like_any_key(installed: Installed, folder: Path) -> None:
    (folder / "hookagent.yaml").write_text(CONFIGURATION.replace("motto", "moto"))
    done = installed.hookagent(folder, "run", "Say it.")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("hookagent: error: hookagent.yaml:4:19: ")
    assert "did you mean 'motto'?" in done.stderr


def test_switched_off_for_a_run_it_is_not_even_imported(installed: Installed, folder: Path) -> None:
    (folder / "replies.yaml").write_text(WITHOUT_IT)
    done = installed.hookagent(folder, "run", "-v", "-p", "no:house-style", "Say it.")
    assert (done.returncode, done.stdout) == (0, "Done.\n"), done.stderr
    assert "tool house_motto(): error" in done.stderr
    assert installed.imported == []


def test_a_broken_and_a_clashing_one_disturb_nobody_who_does_not_name_them(installed: Installed, empty: Path) -> None:
    helped = installed.hookagent(empty, "--help")
    assert (helped.returncode, helped.stderr) == (0, "")
    listed = rows(installed.hookagent(empty, "plugins", "list", "--json"))
    assert listed["broken-style", "hookagent-broken-style"]["state"] == "installed"
    assert listed["reflection", "hookagent-other-reflection"]["state"] == "installed"
    assert listed["reflection", "hookagent"]["state"] == "installed"
    done = installed.hookagent(empty, "run", "-m", "scripted:replies.yaml", "Say it.")
    assert (done.returncode, done.stdout) == (0, "Done.\n"), done.stderr
    assert "hookagent: " not in done.stderr
    assert installed.imported == []


NAMED = {
    "broken-style": (
        "plugin 'broken-style' (hookagent-broken-style 0.3): cannot be imported from 'hookagent_broken_style:Plugin': "
        "ModuleNotFoundError: No module named 'a_library_that_nobody_has'"
    ),
    "reflection": (
        f"plugin 'reflection': offered by hookagent {__version__} and hookagent-other-reflection 2.0; "
        "uninstall one, or name its module instead"
    ),
}


@pytest.mark.parametrize("name", NAMED)
def test_named_as_an_option_it_is_an_error_with_version_and_reason(
    name: str, installed: Installed, empty: Path
) -> None:
    done = installed.hookagent(empty, "run", "-m", "scripted:replies.yaml", "-p", name, "Say it.")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f"hookagent: error: -p {name}: {NAMED[name]}\n"


def test_named_in_yaml_both_are_errors_at_their_places_all_at_once(installed: Installed, folder: Path) -> None:
    (folder / "hookagent.yaml").write_text(CONFIGURATION + "  - broken-style\n  - reflection\n")
    done = installed.hookagent(folder, "run", "Say it.")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.splitlines() == [
        f"hookagent: error: hookagent.yaml:5:5: {NAMED['broken-style']}",
        f"hookagent: error: hookagent.yaml:6:5: {NAMED['reflection']}",
    ]


def test_named_the_list_shows_both_as_broken_and_why(installed: Installed, folder: Path) -> None:
    done = installed.hookagent(folder, "plugins", "list", "--json", "-p", "broken-style", "-p", "reflection")
    assert done.returncode == 0, done.stderr
    enabled, *broken = [row for row in json.loads(done.stdout) if row["state"] != "installed"]
    assert (enabled["name"], enabled["state"]) == ("house-style", "enabled")
    assert [(row["name"], row["state"]) for row in broken] == [("broken-style", "broken"), ("reflection", "broken")]
    assert [NAMED[row["name"]].endswith(row["reason"]) for row in broken] == [True, True]


def test_one_whose_name_is_taken_can_be_had_by_its_module(installed: Installed, empty: Path) -> None:
    (empty / "hookagent.yaml").write_text("model: scripted:replies.yaml\nplugins: []\ntools: [count_words]\n")
    (empty / "replies.yaml").write_text(
        "- calls: [{name: count_words, arguments: {path: replies.yaml}}]\n"
        '- {expect: "What did you learn?", text: Done.}\n'
    )
    done = installed.hookagent(empty, "run", "-p", "hookagent_other_reflection.hooks", "Say it.")
    assert (done.returncode, done.stdout) == (0, "Done.\n"), done.stderr
    assert installed.imported == ["hookagent_other_reflection.hooks"]
