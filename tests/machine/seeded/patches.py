"""Unified diffs, made and applied in Python: a packed copy of the project may be without git."""

from __future__ import annotations

import difflib
import re
from pathlib import Path

from tests.machine.seeded.fault import Fault

FOLDER = Path(__file__).parent
_HUNK = re.compile(r"^@@ -(\d+)(?:,\d+)? \+\d+(?:,\d+)? @@")
_CONTEXT = 2


class PatchError(ValueError):
    """A patch that does not fit the file it is for."""


def patch_path(fault: Fault) -> Path:
    """Where the patch of a fault lies."""
    return FOLDER / f"{fault.name}.patch"


def patch_text(fault: Fault, text: str) -> str:
    """The patch that puts `fault` into its file, which reads `text` now; at its head a line says what it breaks."""
    before, after = text.splitlines(keepends=True), fault.seeded(text).splitlines(keepends=True)
    diff = difflib.unified_diff(before, after, f"a/{fault.path}", f"b/{fault.path}", n=_CONTEXT)
    return f"{fault.says}\n\n{''.join(diff)}"


def target_of(patch: str) -> str:
    """The path of the file that a patch changes. Raises `PatchError` when it names none."""
    for line in patch.splitlines():
        if line.startswith("--- a/"):
            return line.removeprefix("--- a/").strip()
    raise PatchError("it names no file ('--- a/...')")


def applied(patch: str, text: str) -> str:
    """`text` with the hunks of `patch` applied, each nearest to the line that it names, wherever that has moved.

    Raises `PatchError` when a hunk's lines are not there.
    """
    lines = text.splitlines(keepends=True)
    moved = 0
    for start, old, new in _hunks(patch):
        places = [place for place in range(len(lines) - len(old) + 1) if lines[place : place + len(old)] == old]
        if not places:
            raise PatchError(f"{target_of(patch)}: the lines of the hunk at line {start} are not there")
        place = min(places, key=lambda found: abs(found - (start - 1 + moved)))
        lines[place : place + len(old)] = new
        moved = place - (start - 1) + len(new) - len(old)
    return "".join(lines)


def _hunks(patch: str) -> list[tuple[int, list[str], list[str]]]:
    hunks: list[tuple[int, list[str], list[str]]] = []
    for line in patch.splitlines(keepends=True):
        head = _HUNK.match(line)
        if head:
            hunks.append((int(head[1]), [], []))
        elif hunks:
            _, old, new = hunks[-1]
            if line[0] in " -":
                old.append(line[1:])
            if line[0] in " +":
                new.append(line[1:])
    if not hunks:
        raise PatchError("it has no hunks")
    return hunks
