"""What begins with a slash, and what only looks like it; the transcript as a file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hookagent.cli.chat.commands import Command, read_command

WORDS = ("-t", "read_file", "-o", "plugins=[]")


@pytest.mark.parametrize(
    ("line", "read"),
    [
        ("/help", Command("help", "")),
        ("/HELP  ", Command("help", "")),
        ("/export  my talk.md ", Command("export", "my talk.md")),
        ("/nope", Command("nope", "")),
        (" /help", None),
        ("/", None),
        ("/etc/hosts", None),
        ("/usr/bin is a folder", None),
        ("//help", None),
        ("/2", None),
        ("help", None),
    ],
)
def test_a_command_is_a_slash_and_a_word(line: str, read: Command | None) -> None:
    assert read_command(line) == read


@given(st.text())
def test_what_does_not_begin_with_a_slash_is_text(line: str) -> None:
    assert (read_command(line) is None) or line.startswith("/")


def test_help_lists_every_command(command: Any, script: Any) -> None:
    got = command("chat", "-q", "-m", script("[]\n"), *WORDS, stdin="/help\n")
    assert (got.code, got.out) == (0, "")
    names = [line.split()[0] for line in got.err.splitlines()[1:]]
    assert names == ["/help", "/tools", "/plugins", "/cost", "/export", "/quit"]


def test_tools_and_plugins_are_listed(command: Any, script: Any, site: Any) -> None:
    site.plugin(
        "quiet",
        "from hookagent import hookimpl\nclass Plugin:\n    @hookimpl\n    def before_llm(self, iteration): pass\n",
    )
    words = ("-t", "read_file", "-p", "quiet")
    got = command("chat", "-q", "-m", script("- Yes.\n"), *words, stdin="a\n/tools\n/plugins\n")
    tools, plugins = (line.split() for line in got.err.splitlines() if line.startswith(("read_file", "quiet")))
    assert (tools[:2], plugins[:5]) == (["read_file", "reads"], ["quiet", "hookagent-quiet", "1.0", "1", "call"])


def test_none_is_said_to_be_none(command: Any, script: Any) -> None:
    words = ("-o", "tools=[]", "-o", "plugins=[]")
    got = command("chat", "-q", "-m", script("[]\n"), *words, stdin="/tools\n/plugins\n")
    assert got.err == "no tools\nno plugins\n"


def test_cost_is_that_of_the_session(command: Any, script: Any) -> None:
    usage = "usage: {input_tokens: 1200, cache_read_tokens: 300, output_tokens: 5}"
    model = script(f"- {{text: One., {usage}}}\n- {{text: Two., {usage}}}\n")
    got = command("chat", "-q", "-m", model, *WORDS, stdin="a\nb\n/cost\n")
    assert got.err == "2 turns: 3.0k in (600 from the cache, 0 into it) / 10 out, $0\n"


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("/hlep", "/hlep: no such command; did you mean '/help'? (a blank before it makes it text)"),
        ("/zzz", "/zzz: no such command; '/help' lists them (a blank before it makes it text)"),
        ("/cost now", "/cost: takes nothing behind it, got 'now'; leave it out"),
        ("/export", "/export: no file was named; write '/export talk.md' or '/export talk.jsonl'"),
        ("/export talk", "/export: talk: the ending says the form; use .md or .jsonl"),
        ("/export there.md", "/export: there.md: there is a file already; name a new one"),
        ("/export no/talk.md", "/export: no/talk.md: cannot be written: no such file or directory; name another file"),
    ],
)
def test_what_cannot_be_done_is_said(line: str, said: str, command: Any, script: Any, folder: Path) -> None:
    (folder / "there.md").write_text("mine")
    got = command("chat", "-q", "-m", script("[]\n"), *WORDS, stdin=f"{line}\n")
    assert got == (2, "", f"hookagent: error: {said}\n")
    assert (folder / "there.md").read_text() == "mine"


def test_the_transcript_is_exported(command: Any, script: Any, folder: Path) -> None:
    (folder / "a.txt").write_text("A ``` fence.")
    model = script("- {text: Let me see., calls: [{name: read_file, arguments: {path: a.txt}}]}\n- A fence.\n")
    got = command("chat", "-q", "-m", model, *WORDS, stdin="What is there?\n/export a.jsonl\n/export a.md\n")
    assert (got.code, got.err) == (0, "a.jsonl: 4 messages written\na.md: 4 messages written\n")
    head, *messages = (json.loads(line) for line in (folder / "a.jsonl").read_text().splitlines())
    assert (head["role"], head["model"], head["turns"]) == ("session", model, 1)
    assert [one["role"] for one in messages] == ["user", "assistant", "tool", "assistant"]
    assert messages[1]["tool_calls"][0]["arguments"] == {"path": "a.txt"}
    text = (folder / "a.md").read_text()
    assert text.startswith("# Session ")
    assert f"- model: `{model}`\n- turns: `1`\n" in text
    assert "## User\n\n```\nWhat is there?\n```\n" in text
    assert '### Call `read_file` (`call_1_1`)\n\n```json\n{\n  "path": "a.txt"\n}\n```\n' in text
    assert "\n````\nA ``` fence.\n````\n" in text
