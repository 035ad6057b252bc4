"""Only the command writes to standard output while it works: what tools and plugins print comes out elsewhere."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from hookagent.cli.console import Console

START = "import sys\nfrom hookagent.cli import main\nsys.exit(main())"
NOISY_TOOL = """\
import os
import subprocess
import sys
from sys import stdout

print("noise of the import")

def noisy() -> str:
    '''Be noisy.'''
    print("noise of print")
    stdout.write("noise left in a buffer\\n")
    os.write(1, b"noise of the descriptor\\n")
    subprocess.run([sys.executable, "-c", "print('noise of a child')"], check=True)
    return "quiet"
"""
NOISES = [
    "noise of the import",
    "noise of print",
    "noise left in a buffer",
    "noise of the descriptor",
    "noise of a child",
]
RUDE_TOOL = """\
import os
import sys

def noisy() -> str:
    '''Close what is not its own.'''
    os.close(1)
    sys.stdout.close()
    return "closed"
"""
REPLIES = "- calls: [{name: noisy}]\n- The answer.\n"
WORDS = ["-m", "scripted:replies.yaml", "-t", "own_tools:noisy", "-o", "plugins=[]", "-p", "no:human-approval", "task"]


def run(folder: Path, *words: str, tool: str = NOISY_TOOL) -> subprocess.CompletedProcess[str]:
    (folder / "own_tools.py").write_text(tool)
    (folder / "replies.yaml").write_text(REPLIES)
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    return subprocess.run(
        [sys.executable, "-c", START, "run", *words, *WORDS],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
    )


def test_what_a_tool_prints_comes_out_on_standard_error(tmp_path: Path) -> None:
    got = run(tmp_path, "-q")
    assert (got.returncode, got.stdout) == (0, "The answer.\n")
    assert set(NOISES) <= set(got.stderr.splitlines())


def test_every_line_of_json_is_json_all_the_same(tmp_path: Path) -> None:
    got = run(tmp_path, "-q", "--json")
    lines = [json.loads(line) for line in got.stdout.splitlines()]
    assert (got.returncode, lines[-1]["type"], lines[-1]["answer"]) == (0, "result", "The answer.")


def test_a_tool_that_closes_standard_output_costs_no_answer(tmp_path: Path) -> None:
    got = run(tmp_path, "-q", tool=RUDE_TOOL)
    assert (got.returncode, got.stdout) == (0, "The answer.\n")


def test_a_plugin_that_prints_does_not_spoil_a_list(command: Any, site: Any) -> None:
    site.plugin(
        "loud",
        "from hookagent import hookimpl\nprint('noise')\nclass Plugin:\n    @hookimpl\n"
        "    def before_llm(self, iteration):\n        return None\n",
    )
    got = command("plugins", "list", "--json", "-p", "loud")
    assert [one["state"] for one in json.loads(got.out)] == ["enabled"]
    assert got.err == "noise\n"


def test_standard_output_is_given_back(capsys: pytest.CaptureFixture[str]) -> None:
    console = Console.of_process()
    with console.sole_writer():
        print("noise")
        console.write("answer\n")
    print("later")
    assert capsys.readouterr() == ("answer\nlater\n", "noise\n")


def test_another_stream_than_the_process_s_is_left_alone() -> None:
    elsewhere = io.StringIO()
    console = Console(elsewhere, None, {})
    with console.sole_writer():
        console.write("answer")
    assert elsewhere.getvalue() == "answer"
