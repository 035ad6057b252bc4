"""The command where nobody can be asked: it ends at once, by its own name, and says so."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.cases.wires import MODES
from tests.core.scripts import calls, make_agent
from tests.shows.processes import PATIENCE_SECONDS, user_variables

TOOLS = '''
from pathlib import Path
from hookagent import tool


@tool(effect="writes")
def rm(p: str = "x") -> str:
    """Remove."""
    Path("removed").write_text(p)
    return "removed"


@tool(effect="reads")
def look() -> str:
    """Look."""
    return "seen"
'''
USED = "usage: {input_tokens: 100, output_tokens: 10, cost_usd: 0.3}"


def run_without_anybody(
    folder: Path, script: str, *options: str, stdin: str = "null"
) -> subprocess.CompletedProcess[str]:
    """`hookagent run` with no terminal at all, standard input empty or closed."""
    (folder / "replies.yaml").write_text(script)
    (folder / "cases_tools.py").write_text(TOOLS)
    words = [sys.executable, "-m", "hookagent", "run", "-m", "scripted:replies.yaml"]
    words += ["-t", "cases_tools:rm", "-t", "cases_tools:look", *options, "go"]
    closing = ["sh", "-c", 'exec "$@" <&-', "sh"] if stdin == "closed" else []
    variables = user_variables(folder)
    return subprocess.run(
        [*closing, *words],
        cwd=folder,
        env={**variables, "PYTHONPATH": os.pathsep.join([str(folder), variables.get("PYTHONPATH", "")])},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        encoding="utf-8",
        start_new_session=True,
        timeout=PATIENCE_SECONDS,
        check=False,
    )


LIMITS = {
    "max_iterations": ["--max-iterations", "2"],
    "max_tokens": ["-o", "limits.max_tokens=150"],
    "max_tool_calls": ["-o", "limits.max_tool_calls=3"],
    "max_cost_usd": ["-o", "limits.max_cost_usd=0.5"],
}


@pytest.mark.parametrize("stdin", ["null", "closed"])
@pytest.mark.parametrize("limit", LIMITS)
def test_apr_01_a_limit_asks_nobody_for_more(tmp_path: Path, limit: str, stdin: str) -> None:
    looks = f"- {{calls: [{{name: look}}, {{name: look}}], {USED}}}\n" * 4
    done = run_without_anybody(tmp_path, looks, *LIMITS[limit], stdin=stdin)
    assert (done.returncode, "Traceback" in done.stderr) == (3, False), done.stderr
    assert list(tmp_path.rglob("sessions.sqlite"))
    assert limit in done.stderr or limit.replace("_", "-") in done.stderr or limit.replace("_", " ") in done.stderr


@pytest.mark.parametrize("mode", MODES)
def test_apr_01_a_round_that_is_wholly_over_the_limit_ends(mode: Any) -> None:
    agent = make_agent([calls("ok")] * 3, limits={"max_tool_calls": 1}, tool_execution=mode)
    result = asyncio.run(asyncio.wait_for(agent.run("go"), 2))
    assert (result.status, result.limit) == ("limit", "max_tool_calls")


@pytest.mark.parametrize("stdin", ["null", "closed"])
def test_apr_02_no_terminal_means_no_at_once_and_the_model_is_told(tmp_path: Path, stdin: str) -> None:
    script = "- calls: [{name: rm}]\n- {text: end, expect: 'nobody can be asked'}\n"
    done = run_without_anybody(tmp_path, script, stdin=stdin)
    assert (done.returncode, done.stdout) == (4, "end\n"), done.stderr
    assert "Traceback" not in done.stderr
    assert "nobody can be asked" in done.stderr
    assert not (tmp_path / "removed").exists()


def test_apr_02_a_preset_answer_needs_nobody(tmp_path: Path) -> None:
    done = run_without_anybody(tmp_path, "- calls: [{name: rm}]\n- end\n", "--allow", "rm")
    assert (done.returncode, done.stdout) == (0, "end\n"), done.stderr
    assert (tmp_path / "removed").read_text() == "x"
