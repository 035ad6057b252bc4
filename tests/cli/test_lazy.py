"""What the command loads: as little as its words need, and never a plugin that is not enabled."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from hookagent.cli import main

HEAVY = ("anthropic", "openai", "httpx2", "pydantic", "yaml", "rich", "asyncio", "pluggy", "genai_prices")
PROBE = """\
import json, sys
from hookagent.cli import main
code = main(json.loads(sys.argv[1]))
print(json.dumps([code, sorted(sys.modules)]), file=sys.stderr)
"""


def loaded(words: list[str], folder: Path, site: Path | None = None) -> tuple[int, str, set[str]]:
    environment = {name: value for name, value in os.environ.items() if not name.endswith("_API_KEY")}
    environment["PYTHONPATH"] = os.pathsep.join(path for path in [*sys.path, str(site or "")] if path)
    done = subprocess.run(
        [sys.executable, "-c", PROBE, json.dumps(words)],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    code, modules = json.loads(done.stderr.splitlines()[-1])
    return code, done.stdout, set(modules)


@pytest.mark.parametrize(
    "words", [["--help"], ["--version"], ["run", "--help"], ["sessions", "--help"], ["plugins", "--help"]]
)
def test_help_loads_next_to_nothing(words: list[str], tmp_path: Path) -> None:
    code, out, modules = loaded(words, tmp_path)
    assert code == 0
    assert "hookagent" in out
    assert not modules & set(HEAVY)
    assert not [name for name in modules if name.startswith("hookagent_")]
    assert "hookagent.agent" not in modules
    assert "hookagent.host" not in modules


def test_a_look_at_sessions_loads_no_agent(tmp_path: Path) -> None:
    for words in (["list", "--json"], ["verify"]):
        code, _, modules = loaded(["sessions", *words], tmp_path)
        assert code == 0
        assert not modules & ({*HEAVY, "hookagent.agent", "hookagent.host"} - {"asyncio"})


def marking(site: Any, name: str) -> None:
    site.plugin(
        name,
        f"open({str(site.folder / (name + '.mark'))!r}, 'w').close()\n"
        "from hookagent import hookimpl\nclass Plugin:\n    @hookimpl\n    def before_llm(self, iteration): pass\n",
    )


def test_what_is_not_enabled_is_never_imported(command: Any, script: Any, site: Any) -> None:
    marking(site, "on")
    marking(site, "off")
    model = script("- Yes.\n")
    for words in (
        ["--help"],
        ["--version"],
        ["plugins", "list", "-p", "on"],
        ["tools", "list", "-t", "read_file", "-p", "on"],
        ["config", "show", "-p", "on"],
        ["run", "-m", model, "-t", "read_file", "-p", "on", "task"],
    ):
        assert command(*words).code == 0
    assert (site.folder / "on.mark").exists()
    assert not (site.folder / "off.mark").exists()


def test_a_run_with_a_script_loads_no_sdk(tmp_path: Path) -> None:
    (tmp_path / "replies.yaml").write_text("- Yes.\n")
    words = ["run", "-m", "scripted:replies.yaml", "-t", "read_file", "-o", "plugins=[]", "task"]
    code, out, modules = loaded(words, tmp_path)
    assert (code, out) == (0, "Yes.\n")
    assert not modules & {"anthropic", "openai", "httpx2", "rich", "genai_prices"}


def test_an_interrupt_while_the_command_itself_is_loaded_is_no_traceback(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    class Interrupted:
        @staticmethod
        def find_spec(name: str, path: Any = None, target: Any = None) -> None:
            if name == "hookagent.cli.group":
                raise KeyboardInterrupt

    monkeypatch.delitem(sys.modules, "hookagent.cli.group", raising=False)
    monkeypatch.setattr(sys, "meta_path", [Interrupted, *sys.meta_path])
    assert main(["--version"]) == 130
    assert capsys.readouterr() == ("", "hookagent: interrupted\n")
    monkeypatch.setattr(sys, "stderr", None)
    assert main(["--version"]) == 130
