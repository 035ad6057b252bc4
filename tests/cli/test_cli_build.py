"""Which tools and plugins a run gets, and the rule that tools which change things need somebody who decides."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

ANSWER = "- The answer is 42.\n"
WRITES = """\
- calls: [{name: write_file, arguments: {path: new.txt, content: hello}}]
- Done.
"""


def test_without_tools_named_it_is_the_files_set(command: Any, site: Any) -> None:
    site.approval()
    got = command("tools", "list", "--json")
    names = [one["name"] for one in json.loads(got.out)]
    assert names == ["read_file", "write_file", "edit_file", "list_files", "search_text", "count_words"]


def test_an_empty_list_of_tools_means_none(command: Any, folder: Path) -> None:
    (folder / "hookagent.yaml").write_text("tools: []\n")
    assert command("tools", "list") == (0, "", "no tools\n")


def test_t_adds_to_the_configured_tools(command: Any, folder: Path) -> None:
    (folder / "hookagent.yaml").write_text("tools: [read_file]\n")
    got = command("tools", "list", "--json", "-t", "count_words", "-t", "read_file")
    assert [one["name"] for one in json.loads(got.out)] == ["read_file", "count_words"]


def test_changing_tools_need_a_plugin_that_decides(command: Any, script: Any, folder: Path) -> None:
    got = command("run", "-m", script(WRITES), "x")
    assert (got.code, got.out) == (2, "")
    assert got.err == (
        "hookagent: error: tools: 'write_file', 'edit_file' can change things, and no enabled plugin decides on calls "
        "(before_tools or before_each_tool); enable one (pip install hookagent-human-approval), or say "
        "'-p no:human-approval' to run them without asking\n"
    )
    assert not (folder / "new.txt").exists()


@pytest.mark.parametrize("how", ["option", "environment"])
def test_no_human_approval_is_an_answer(
    how: str, command: Any, script: Any, site: Any, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    site.approval()
    words = ["-p", "no:human-approval"] if how == "option" else []
    if how == "environment":
        monkeypatch.setenv("HOOKAGENT_PLUGINS", "no:human-approval")
    assert command("run", *words, "-m", script(WRITES), "x").code == 0
    assert (folder / "new.txt").read_text() == "hello"


def test_a_list_without_approval_is_no_answer(command: Any, script: Any, site: Any, folder: Path) -> None:
    site.approval()
    (folder / "hookagent.yaml").write_text("plugins: []\n")
    got = command("run", "-m", script(WRITES), "x")
    assert got.code == 2
    assert "enable one ('-p human-approval')" in got.err


def test_another_plugin_that_decides_is_enough(command: Any, script: Any, site: Any, folder: Path) -> None:
    site.plugin(
        "gate",
        "from hookagent import hookimpl\nclass Plugin:\n    @hookimpl\n"
        "    def before_tools(self, tool_calls):\n        return None\n",
    )
    (folder / "hookagent.yaml").write_text("plugins: [gate]\n")
    assert command("run", "-m", script(WRITES), "x").code == 0


def test_allow_and_deny_are_rules_of_this_run(command: Any, script: Any, site: Any, folder: Path) -> None:
    site.approval()
    assert command("run", "-m", script(WRITES), "--allow", "write_*", "x").code == 0
    assert (folder / "new.txt").read_text() == "hello"
    (folder / "new.txt").unlink()
    got = command("run", "-m", script(WRITES), "--allow", "write_*", "--deny", "write_file", "x")
    assert (got.code, (folder / "new.txt").exists()) == (0, False)
    assert "1 tool call (1 denied)" in got.err


@pytest.mark.parametrize(
    ("rule", "near"),
    [("wirte_file", "write_file"), ("Write_File", "write_file"), ("read_fil(path=a)", "read_file"), ("shell", None),
     ("write_*", None), ("write_file", None), ("write_fil?", None)],
)  # fmt: skip
def test_a_rule_that_looks_like_a_slip_is_said(
    rule: str, near: str | None, command: Any, script: Any, site: Any
) -> None:
    site.approval()
    for option in ("--deny", "--ask", "--allow"):
        got = command("run", "-q", "-m", script(ANSWER), option, rule, "x")
        name = rule.partition("(")[0]
        said = f"{option} {rule}: no tool of this run is called '{name}'; did you mean '{near}'?"
        assert (got.code, got.err) == (0, f"hookagent: warning: {said}\n" if near else "")


def test_a_rule_for_a_built_in_tool_that_the_run_has_not_is_no_slip(command: Any, script: Any, site: Any) -> None:
    site.approval()
    words = ["-t", "write_file", "--allow", "read_file", "--deny", "edit_file"]
    got = command("run", "-q", "-m", script(ANSWER), *words, "x")
    assert (got.code, got.err) == (0, "")


def test_a_configured_rule_that_looks_like_a_slip_is_said_with_its_place(
    command: Any, script: Any, site: Any, folder: Path
) -> None:
    site.approval()
    (folder / "hookagent.yaml").write_text(
        "plugins:\n  - human-approval: {ask: [write_*], deny: [shell, wirte_file]}\n"
    )
    got = command("run", "-q", "-m", script(ANSWER), "x")
    said = "hookagent.yaml:2:52: no tool of this run is called 'wirte_file'; did you mean 'write_file'?"
    assert (got.code, got.err) == (0, f"hookagent: warning: {said}\n")


def test_rules_are_added_to_configured_ones(command: Any, script: Any, site: Any, folder: Path) -> None:
    site.approval()
    (folder / "hookagent.yaml").write_text("plugins:\n  - human-approval: {deny: [write_file]}\n")
    command("run", "-m", script(WRITES), "--allow", "*", "x")
    assert not (folder / "new.txt").exists()


def test_the_working_directory_is_searched_last(command: Any, script: Any, folder: Path) -> None:
    (folder / "json.py").write_text("raise RuntimeError('a file that happens to be called like a library')\n")
    (folder / "own_tools.py").write_text("import json\ndef one() -> str:\n    'One.'\n    return json.dumps(1)\n")
    got = command("run", "-m", script(ANSWER), "-t", "own_tools:one", "-p", "no:human-approval", "x")
    assert got.code == 0


def test_a_dotted_plugin_of_the_working_directory(command: Any, script: Any, folder: Path) -> None:
    (folder / "mine").mkdir()
    (folder / "mine" / "__init__.py").write_text("")
    (folder / "mine" / "hooks.py").write_text(
        "from hookagent import hookimpl\n@hookimpl\ndef before_llm(iteration):\n    open('called', 'w').close()\n"
    )
    got = command("run", "-m", script(ANSWER), "-t", "read_file", "-p", "mine.hooks", "x")
    assert got.code == 0
    assert (folder / "called").exists()


def test_a_parameter_that_no_model_can_fill_is_found_before_the_run(command: Any, script: Any, folder: Path) -> None:
    (folder / "own_tools.py").write_text(
        "from collections.abc import Callable\n\ndef apply(how: Callable[[int], int]) -> int:\n    return how(1)\n"
    )
    for words in (["run", "x"], ["config", "check"], ["tools", "list"]):
        got = command(*words, "-m", script(ANSWER), "-t", "own_tools:apply", "-p", "no:human-approval")
        assert (got.code, got.out) == (2, "")
        place = folder / "own_tools.py"
        assert got.err.startswith(f"hookagent: error: tool own_tools.apply ({place}:3): the type of parameter 'how'")
        assert len(got.err.splitlines()) == 1


def test_a_plugin_that_fails_is_named_and_not_the_tool_it_did_not_bring(command: Any, script: Any, site: Any) -> None:
    site.plugin(
        "bringer",
        "from hookagent import hookimpl\nclass Plugin:\n    @hookimpl\n"
        "    def register_tools(self, register):\n        raise ValueError('no tools today')\n",
    )
    got = command("run", "-m", script(ANSWER), "-p", "bringer", "-t", "brought", "x")
    assert got.code == 2
    assert "plugin 'bringer' (hookagent-bringer 1.0): hook 'register_tools' raised ValueError: no tools" in got.err
    assert "unknown tool" not in got.err


def test_faults_of_plugins_are_said_together_with_those_of_the_file(command: Any, folder: Path) -> None:
    (folder / "hookagent.yaml").write_text("modle: x\nplugins:\n  - nope\n  - tool-logging: {level: loud}\n")
    got = command("config", "check")
    assert got.code == 2
    lines = got.err.splitlines()
    assert [line for line in lines if "unknown key 'modle'" in line]
    assert [line for line in lines if "hookagent.yaml:3:5" in line and "no such plugin" in line]
    assert [line for line in lines if "hookagent.yaml:4:" in line and "tool-logging" in line]


@pytest.mark.parametrize("model", ["anthropic:claude-sonnet-5", "openai:gpt-5", "openai-chat:gpt-4o", "gpt-5"])
@pytest.mark.parametrize("form", [["run"], ["run", "--json"], ["run", "-q"], ["chat"]])
def test_a_missing_key_is_said_before_anything_begins(form: list[str], model: str, command: Any, home: Path) -> None:
    got = command(*form, "-m", model, "-t", "list_files", *(["Hello"] if form[0] == "run" else []), stdin="Hello\n")
    assert got.code == 2
    (said,) = got.err.splitlines()
    assert said.startswith(f"hookagent: error: {model.partition(':')[0] if ':' in model else 'openai'}: ")
    assert "_API_KEY is not set; set a key" in said
    if "--json" in form:
        (line,) = got.out.splitlines()
        ended = json.loads(line)
        assert (ended["status"], ended["exit_code"], ended["session_id"]) == ("failed", 2, None)
    else:
        assert got.out == ""
    assert not list(home.rglob("*.lock"))
    listed = command("sessions", "list", "--json")
    assert (listed.code, json.loads(listed.out)) == (0, [])
