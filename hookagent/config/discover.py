"""Which file is the configuration, when none was named.

`hookagent.yaml` (or `.yml`) from the working directory upwards to the repository's root or home, else
`[tool.hookagent]` in `pyproject.toml` on the same way (design, "The outside contract", YAML). Outside of both
a repository and home only the working directory itself is looked at: a folder above it may belong to anybody.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from hookagent.config.problems import Place, fail

YAML_NAMES = ("hookagent.yaml", "hookagent.yml")
PYPROJECT = "pyproject.toml"


def find_config(working_directory: Path, home: Path | None) -> Path | None:
    """Return the configuration file that holds for a working directory, or None. Both paths are absolute;
    `home` is None where there is none.

    Raises `ConfigError` when `hookagent.yaml` and `hookagent.yml` lie side by side, or when a `pyproject.toml`
    that speaks of hookagent cannot be read.
    """
    folders = list(_folders(working_directory, home))
    for folder in folders:
        # A dangling link and a folder of that name count as present: they are reported, not passed over.
        present = [folder / name for name in YAML_NAMES if os.path.lexists(folder / name)]
        if len(present) > 1:
            file = displayed(present[0], working_directory)
            raise fail(Place(file), f"'{YAML_NAMES[1]}' lies beside it; keep one of the two")
        if present:
            return present[0]
    return next((path for folder in folders if _has_section(path := folder / PYPROJECT)), None)


def displayed(path: Path, working_directory: Path) -> str:
    """Return a path as the user would type it in the working directory."""
    try:
        return os.path.relpath(path, working_directory)
    except ValueError:
        # Another drive on Windows.
        return str(path)


def _folders(working_directory: Path, home: Path | None) -> Iterator[Path]:
    way = [working_directory, *working_directory.parents]
    homes = (home, home.resolve()) if home is not None else ()
    ends = [index for index, folder in enumerate(way) if os.path.lexists(folder / ".git") or folder in homes]
    yield from way[: ends[0] + 1 if ends else 1]


def _has_section(path: Path) -> bool:
    from hookagent.config.pyproject import mentions_section

    return path.is_file() and mentions_section(path)
