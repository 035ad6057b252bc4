"""What mutmut found, read from the files that it leaves, and the list of the survivors that are known.

A mutant is written as one line that survives changes elsewhere in its file, which mutmut's own numbers do not:

    hookagent.transcript.Transcript._grown: `if len(log) == length:` -> `if len(log) != length:`
"""

from __future__ import annotations

import difflib
import json
import os
import re
from dataclasses import dataclass
from pathlib import Path

SURVIVORS = Path(__file__).resolve().parent / "survivors.txt"
# mutmut's own separator of class and method in the names that it gives to functions.
_SEPARATOR = "ǁ"
_NUMBER = re.compile(r"__mutmut_(orig|\d+)")
# How pytest, and mutmut itself, end when a mutant was noticed: a test failed, pytest broke, or it ran out of time.
_KILLED = frozenset({1, 3, 36, 24, -24, 152, 255})


@dataclass(frozen=True, slots=True)
class Mutant:
    """One changed function: the line that names the change, and whether a test noticed it."""

    line: str
    killed: bool


def mutants_of(folder: Path) -> list[Mutant]:
    """Read all mutants that mutmut left under `folder`; raises ValueError when one of them was never run."""
    found = []
    for meta in sorted((folder / "mutants").rglob("*.py.meta")):
        source = meta.with_suffix("")
        codes: dict[str, int | None] = json.loads(meta.read_text(encoding="utf-8"))["exit_code_by_key"]
        if not codes:
            continue
        spans: dict[str, list[int]] = json.loads(source.with_name(f"{source.name}.spans").read_text("utf-8"))["spans"]
        lines = source.read_text(encoding="utf-8").splitlines()
        for key, code in codes.items():
            if code is None:
                raise ValueError(f"{key}: was not run; run the mutants of its module again")
            module, _, name = key.rpartition(".")
            original = f"{name.partition('__mutmut_')[0]}__mutmut_orig"
            texts = [lines[spans[one][0] - 1 : spans[one][1]] for one in (original, name)]
            found.append(Mutant(f"{module}.{_function(name)}: {_change(*texts)}", code in _KILLED))
    return found


def forget_survivors(folder: Path) -> None:
    """Let mutmut run the survivors of an earlier run under `folder` again: their tests may have changed."""
    for meta in (folder / "mutants").rglob("*.py.meta"):
        content = json.loads(meta.read_text(encoding="utf-8"))
        codes: dict[str, int | None] = content["exit_code_by_key"]
        content["exit_code_by_key"] = {key: code if code in _KILLED else None for key, code in codes.items()}
        times = meta.stat()
        meta.write_text(json.dumps(content, indent=4), encoding="utf-8")
        os.utime(meta, (times.st_atime, times.st_mtime))


def listed_survivors(path: Path) -> dict[str, str]:
    """Read the list of survivors: the line of each mutant, and why no test kills it.

    One mutant a line, several that live for the same reason one below the other, and below them, indented, the reason.
    Raises ValueError for a mutant without a reason, and for a reason without a mutant.
    """
    listed: dict[str, str] = {}
    group: list[str] = []
    reason: list[str] = []
    for number, line in enumerate([*path.read_text(encoding="utf-8").splitlines(), "# the end"], 1):
        if line.startswith((" ", "\t")):
            if not group:
                raise ValueError(f"{path.name}:{number}: a reason stands below the mutants that it is for")
            reason.append(line.strip())
            continue
        if reason:
            listed.update(dict.fromkeys(group, " ".join(reason)))
            group, reason = [], []
        if line and not line.startswith("#"):
            group.append(line.rstrip())
    if group:
        raise ValueError(f"{path.name}: '{group[-1]}' has no reason; write it below, indented")
    return listed


def _function(name: str) -> str:
    plain = name.partition("__mutmut_")[0]
    if _SEPARATOR in plain:
        return ".".join(plain.split(_SEPARATOR)[1:])
    return plain.removeprefix("x_")


def _change(original: list[str], mutated: list[str]) -> str:
    """The lines that differ, their functions' own names apart."""
    before, after = ([_NUMBER.sub("", line).strip() for line in lines] for lines in (original, mutated))
    differing = list(difflib.ndiff(before, after))
    removed, added = ([line[2:] for line in differing if line.startswith(sign)] for sign in ("- ", "+ "))
    return f"`{' '.join(removed)}` -> `{' '.join(added)}`"
