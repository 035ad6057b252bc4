"""What the shows share: the environment of a user, and commands run in it as processes of their own."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

PATIENCE_SECONDS = 300
"""When a process counts as hanging; nothing here is expected to take more than a small part of it."""
# Keys and settings of whoever runs the tests, and what changes how a command behaves or looks.
_NOT_A_USERS = ("HOOKAGENT_", "ANTHROPIC_", "OPENAI_", "PYTEST_")
_LEFT_OUT = frozenset({"CI", "NO_COLOR", "VIRTUAL_ENV", "PYTHONHOME", "COVERAGE_PROCESS_START"})

Done = subprocess.CompletedProcess[str]


def user_variables(
    home: Path, variables: Mapping[str, str] | None = None, *, python_path: bool = True
) -> dict[str, str]:
    """The environment variables of a user with the home folder `home`, without keys or settings, and `variables`.

    `python_path` keeps PYTHONPATH, which is how a checkout that is not installed is found; leave it out for another
    environment's programs.
    """
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(_NOT_A_USERS) and name not in _LEFT_OUT and (python_path or name != "PYTHONPATH")
    }
    return kept | {"HOME": str(home), "XDG_STATE_HOME": str(home / "state"), **(variables or {})}


def before_python_path(*folders: Path) -> str:
    """A PYTHONPATH that begins with `folders` and goes on with that of this process."""
    return os.pathsep.join([*map(str, folders), *filter(None, [os.environ.get("PYTHONPATH", "")])])


def run_process(command: Sequence[str | Path], cwd: Path, variables: Mapping[str, str]) -> Done:
    """Run a command to its end with nothing on standard input and no terminal that it could ask on."""
    return subprocess.run(
        [str(word) for word in command],
        cwd=cwd,
        env=dict(variables),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        encoding="utf-8",
        start_new_session=True,
        timeout=PATIENCE_SECONDS,
        check=False,
    )
