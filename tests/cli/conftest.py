from __future__ import annotations

import importlib
import importlib.metadata
import io
import json
import logging
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from hookagent import discovery, keeping
from hookagent.cli import main
from hookagent.providers import routing

APPROVAL_MODULE = """
import fnmatch
from pydantic import BaseModel, ConfigDict
from hookagent import Deny, Suspend, hookimpl

class Approval:
    class Options(BaseModel):
        model_config = ConfigDict(extra="forbid", frozen=True)
        allow: list[str] = []
        ask: list[str] = []
        deny: list[str] = []

    def __init__(self, options):
        self.options = options

    @hookimpl
    def before_each_tool(self, tool_call, agent):
        if any(fnmatch.fnmatch(tool_call.name, one) for one in self.options.deny):
            return Deny("a rule says so")
        allowed = any(fnmatch.fnmatch(tool_call.name, one) for one in self.options.allow)
        tool = agent.tools.get(tool_call.name)
        if allowed or tool is None or tool.effect == "reads":
            return None
        return Suspend("it changes something")

    @hookimpl
    def resolve_suspended(self, pending):
        if self.options.ask == ["wait"]:
            return None
        return {one.call.id: Deny("nobody can be asked", unanswered=True) for one in pending}
"""


class Outcome(NamedTuple):
    """What a command gave: its exit code, standard output, standard error."""

    code: int
    out: str
    err: str


class Site:
    """A folder of installed distributions, the only ones that the command can see."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def module(self, name: str, text: str) -> None:
        (self.folder / f"{name}.py").write_text(text, encoding="utf-8")
        importlib.invalidate_caches()

    def install(self, distribution: str, version: str, groups: Mapping[str, Mapping[str, str]]) -> None:
        metadata = self.folder / f"{distribution.replace('-', '_')}-{version}.dist-info"
        metadata.mkdir()
        (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {distribution}\nVersion: {version}\n")
        lines = []
        for group, names in groups.items():
            lines += [f"[{group}]", *(f"{name} = {target}" for name, target in names.items())]
        (metadata / "entry_points.txt").write_text("\n".join(lines) + "\n")
        discovery.installed.cache_clear()

    def plugin(self, name: str, text: str, distribution: str | None = None, target: str = "Plugin") -> None:
        module = name.replace("-", "_") + "_module"
        self.module(module, text)
        self.install(distribution or f"hookagent-{name}", "1.0", {"hookagent": {name: f"{module}:{target}"}})

    def approval(self) -> None:
        self.plugin("human-approval", APPROVAL_MODULE, target="Approval")


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    """Installed distributions: none at first, whatever the environment of the tests has."""
    folder = tmp_path / "site"
    folder.mkdir()

    def entry_points(**wanted: Any) -> Any:
        found = importlib.metadata.distributions(path=[str(folder)])
        every = importlib.metadata.EntryPoints(one for each in found for one in each.entry_points)
        return every.select(**wanted)

    monkeypatch.setattr(importlib.metadata, "entry_points", entry_points)
    monkeypatch.setattr(routing, "entry_points", entry_points)
    monkeypatch.setattr(sys, "path", [*sys.path, str(folder)])
    before = set(sys.modules)
    discovery.installed.cache_clear()
    yield Site(folder)
    discovery.installed.cache_clear()
    for name in set(sys.modules) - before:
        file = getattr(sys.modules[name], "__file__", None) or ""
        if file.startswith(str(tmp_path)):
            del sys.modules[name]
    importlib.invalidate_caches()


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The folder of sessions and logs of this test alone, which is not there yet."""
    folder = tmp_path / "kept"
    monkeypatch.setenv("HOOKAGENT_HOME", str(folder))
    yield folder
    # Its file is open until the end of the process otherwise, and there are many tests in one.
    store = keeping._stores.pop(str(folder), None)
    if store is not None:
        store.close()


@pytest.fixture
def folder(tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working directory of the command, empty."""
    here = tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "OPENAI_API_KEY", "OPENAI_BASE_URL", "HOOKAGENT_PLUGINS"):
        monkeypatch.delenv(name, raising=False)
    return here


Command = Callable[..., Outcome]


@pytest.fixture
def command(folder: Path, site: Site, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    """Runs the command in this process; `stdin` is what is piped in, None for nothing at all."""

    def run(*arguments: str, stdin: str | bytes | None = b"") -> Outcome:
        data = stdin.encode() if isinstance(stdin, str) else stdin
        stream = None if data is None else io.TextIOWrapper(io.BytesIO(data), encoding="utf-8")
        monkeypatch.setattr(sys, "stdin", stream)
        handlers = list(logging.getLogger().handlers)
        path = list(sys.path)
        capsys.readouterr()
        code = main(arguments)
        assert logging.getLogger().handlers == handlers
        sys.path[:] = path
        captured = capsys.readouterr()
        assert "Traceback" not in captured.err or "--debug" in arguments
        return Outcome(code, captured.out, captured.err)

    return run


@pytest.fixture
def script(folder: Path) -> Callable[[str], str]:
    """Writes a script of replies; gives the model's name."""

    def write(text: str) -> str:
        (folder / "replies.yaml").write_text(text, encoding="utf-8")
        return "scripted:replies.yaml"

    return write


@pytest.fixture
def ran(command: Command, script: Callable[[str], str]) -> Callable[..., str]:
    """Runs a task with a script; gives the id of the session that was made."""

    def run(task: str, replies: str = "- Yes.\n", *options: str, code: int = 0) -> str:
        got = command("run", "--json", "-m", script(replies), "-t", "list_files", *options, task)
        assert got.code == code, got.err
        session: str = json.loads(got.out.splitlines()[-1])["session_id"]
        return session

    return run


def listed(command: Command, *options: str) -> list[dict[str, Any]]:
    """What `sessions list --json` prints."""
    got = command("sessions", "list", "--json", *options)
    assert (got.code, got.err) == (0, "")
    assert got.out.isascii()
    rows: list[dict[str, Any]] = json.loads(got.out)
    return rows
