"""A virtual environment for a check, and the commands that are run in it."""

from __future__ import annotations

import os
import subprocess
import sys
import venv
from collections.abc import Sequence
from pathlib import Path

# What an outer environment could slip into an inner one, so that the check would meet another hookagent than its own.
LEAKING = (
    "PYTHONPATH",
    "PYTHONHOME",
    "VIRTUAL_ENV",
    "COVERAGE_PROCESS_CONFIG",
    "COVERAGE_PROCESS_START",
    "HOOKAGENT_CORE_ONLY",
    "HOOKAGENT_PLUGINS",
)


def clean_variables(**extra: str) -> dict[str, str]:
    """Return the environment variables of this process without those that leak, and with `extra`."""
    return {name: value for name, value in os.environ.items() if name not in LEAKING} | extra


class Environment:
    """A new virtual environment at `folder`, with pip and nothing else; what hookagent keeps there lies in `home`."""

    def __init__(self, folder: Path) -> None:
        venv.create(folder, with_pip=True, clear=True)
        self.home = folder / "home"
        self.bin = folder / "bin"
        self.python = self.bin / "python"

    def install(self, *requirements: str) -> None:
        """Install requirements or wheels (`path[extra]` too); raises CalledProcessError when pip refuses."""
        self.run([str(self.python), "-m", "pip", "install", "--quiet", *requirements])

    def run(self, command: Sequence[str], cwd: Path | None = None) -> str:
        """Run a command and return its standard output; shows both and raises CalledProcessError if it fails."""
        variables = clean_variables(HOOKAGENT_HOME=str(self.home))
        done = subprocess.run(command, cwd=cwd, env=variables, capture_output=True, text=True, check=False)
        if done.returncode:
            print(done.stdout, done.stderr, sep="\n", file=sys.stderr)
            done.check_returncode()
        return done.stdout


def build(source: Path, folder: Path, *options: str, **variables: str) -> None:
    """Build `source` (a project folder) into `folder` with `python -m build`; `variables` are set for the build."""
    command = [sys.executable, "-m", "build", "--outdir", str(folder), *options, str(source)]
    done = subprocess.run(command, env=clean_variables(**variables), capture_output=True, text=True, check=False)
    if done.returncode:
        print(done.stdout, done.stderr, sep="\n", file=sys.stderr)
        done.check_returncode()


def only_file(folder: Path, pattern: str) -> Path:
    """Return the one file in `folder` that matches; raises ValueError when there is none or more than one."""
    found = sorted(folder.glob(pattern))
    if len(found) != 1:
        raise ValueError(f"{folder}: holds {len(found)} files like {pattern}, not one; look at what the build printed")
    return found[0]
