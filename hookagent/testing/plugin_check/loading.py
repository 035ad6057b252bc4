"""How a plugin that is named is found and configured: by entry point, only when enabled, with errors at their place."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Any, Final

from hookagent.testing.plugin_check.judging import Problem

GROUP: Final = "hookagent"
_UNKNOWN: Final = "no_option_has_this_name"
# A program that names no plugin, and then says whether the module of one was imported all the same.
_UNNAMED: Final = """
import sys
from hookagent import Agent
from hookagent.testing import ScriptedProvider
Agent(model=ScriptedProvider(["Hello."]), log=False, quiet=True).run_sync("Hello")
print(int(sys.argv[1] in sys.modules))
"""


class Loading:
    """Checks how the plugin called `name` is found, imported and configured; two other processes do so meanwhile."""

    def __init__(self, name: str, options: Mapping[str, Any] | None) -> None:
        self._name = name
        self._found = list(entry_points(group=GROUP, name=name))
        self._points = sorted({one.value for one in self._found})
        self._started: list[subprocess.Popen[str]] = []
        if len(self._points) != 1:
            return
        self._folder = tempfile.TemporaryDirectory(prefix="hookagent-check-")
        self._file = Path(self._folder.name) / "agent.yaml"
        wrong = {**(options or {}), _UNKNOWN: 1}
        self._line = 3 + len(wrong)  # behind 'plugins:', 'use' and 'with': one option a line, the unknown one last
        # JSON is YAML.
        lines = "".join(f"      {json.dumps(key)}: {json.dumps(value)}\n" for key, value in wrong.items())
        self._file.write_text(f"plugins:\n  - use: {name}\n    with:\n{lines}", encoding="utf-8")
        check = ("-m", "hookagent", "config", "check", "-c", self._file.name)
        folder = self._folder.name
        self._started += [
            _start("-c", _UNNAMED, self._found[0].module, folder=folder),
            _start(*check, folder=folder),
        ]

    def problems(self) -> list[Problem]:
        """Wait for the answers, and give what is wrong; to be called once, whatever else happened."""
        if not self._started:
            offered = f"{len(self._points)} offer it ({', '.join(self._points)})" if self._points else "none offers it"
            return [
                Problem(
                    f"it must be found by one entry point of the group '{GROUP}', but {offered}",
                    f'install it with [project.entry-points.{GROUP}] {self._name} = "module:Class" in pyproject.toml',
                )
            ]
        unnamed, checked = self._started
        try:
            found = list(_import_problems(self._found[0], *unnamed.communicate()))
            said = checked.communicate()[1]
            return found + list(_option_problems(f"{self._file.name}:{self._line}:", said, checked.returncode))
        finally:
            self._folder.cleanup()


def _start(*arguments: str, folder: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, *arguments],
        cwd=folder,
        env={**os.environ, "HOOKAGENT_HOME": folder, "HOOKAGENT_PLUGINS": "", "PYTHONWARNINGS": "ignore"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
    )


def import_problems(entry: EntryPoint) -> list[Problem]:
    """Whether the module of an entry point is imported although nobody named it; another process finds out."""
    with tempfile.TemporaryDirectory(prefix="hookagent-check-") as folder:
        return list(_import_problems(entry, *_start("-c", _UNNAMED, entry.module, folder=folder).communicate()))


def _import_problems(entry: EntryPoint, out: str, err: str) -> Iterator[Problem]:
    if out.strip() != "0":
        how = "was imported although nobody enabled it" if out.strip() == "1" else f"breaks hookagent: {err.strip()}"
        yield Problem(
            f"its module '{entry.module}' {how}",
            "let nothing but the entry point import it: no .pth file, no import from a package that others load",
        )


def _option_problems(place: str, said: str, code: int) -> Iterator[Problem]:
    if code == 2 and place in said and _UNKNOWN in said:
        return
    heard = said.strip() or "nothing was said"
    yield Problem(
        f"an unknown option must be an error that names its place ({place}) and the option; instead: {heard}",
        "give the plugin's class an 'Options' model of pydantic with extra='forbid', and take it as the one argument",
    )
