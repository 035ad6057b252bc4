"""Finding the YAML logs of a session, whose names tell of its agent and its beginning, but not of its id."""

from __future__ import annotations

from itertools import islice
from pathlib import Path

from hookagent.sessions.yaml_text import yaml_lines

_LINES_OF_A_HEAD = 8


def session_log_files(home: Path, session_id: str) -> list[Path]:
    """The YAML logs in the folder `home` that belong to a session, one for each process that worked on it.

    Raises nothing: a file that cannot be read belongs to none.
    """
    wanted = yaml_lines({"session": session_id})
    return [path for path in sorted((home / "sessions").glob("*.yaml")) if _has(path, wanted)]


def _has(path: Path, line: str) -> bool:
    try:
        with path.open(encoding="utf-8", errors="replace") as file:
            return line in islice(file, _LINES_OF_A_HEAD)
    except OSError:
        return False
