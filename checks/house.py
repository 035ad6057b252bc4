"""The house rules about files and names: how long a file may be, what none is called, and whose names are private.

And one about comments: what is left out of the coverage says why.
"""

from __future__ import annotations

import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

from checks.imports import Module, read_tree

HARD_LIMIT = 350
SOFT_LIMIT = 250
# A name that says nothing about what is inside, so that everything ends up there.
FORBIDDEN_STEMS = frozenset({"util", "utils"})
FOLDERS = ("hookagent", "plugins", "tests", "checks", "docs")
PRAGMA = re.compile(r"#\s*pragma\b.*\bno\s+(cover|branch)\b", re.IGNORECASE)
# The form that pyproject.toml tells coverage to look for.
PRAGMA_WITH_REASON = re.compile(r"#\s*pragma: no (cover|branch) - \S")

Problem = tuple[Path, int, str]


def house_problems(root: Path) -> Iterator[Problem]:
    """Yield files that are too long or called utils, imports of what is private elsewhere, and unexplained pragmas."""
    for module in _all_modules(root):
        if module.lines > HARD_LIMIT:
            yield module.path, module.lines, f"the file has {module.lines} lines, over {HARD_LIMIT}; split it by job"
        for part in module.path.relative_to(root).with_suffix("").parts:
            if part in FORBIDDEN_STEMS:
                yield module.path, 1, f"{part!r} names no job; call it after what is inside"
        yield from _private_imports(module)
        yield from _bare_pragmas(module)


def house_warnings(root: Path) -> Iterator[Problem]:
    """Yield files that are allowed but longer than a file with one job mostly is."""
    for module in _all_modules(root):
        if SOFT_LIMIT < module.lines <= HARD_LIMIT:
            yield module.path, module.lines, f"the file has {module.lines} lines; has it more than one job?"


def _all_modules(root: Path) -> Iterator[Module]:
    for folder in FOLDERS:
        if folder == "plugins":
            # Each plugin folder is a path root of its own.
            for plugin in sorted((root / folder).glob("*/")):
                yield from read_tree(plugin)
        else:
            yield from read_tree(root / folder, folder)


def _private_imports(module: Module) -> Iterator[Problem]:
    own = module.name.split(".")[0]
    for found in module.imports:
        root = found.module.split(".")[0]
        if root not in {own, "hookagent", "checks", "tests"} and not root.startswith("hookagent_"):
            continue
        if found.name is not None and _private(found.name) and found.module != module.package:
            yield module.path, found.line, f"{found.name} is private to {found.module}; make it public, or move it"
        for index, part in enumerate(found.module.split(".")):
            # A private module may be imported within the package that holds it.
            holder = ".".join(found.module.split(".")[:index])
            if _private(part) and not f"{module.package}.".startswith(f"{holder}."):
                yield module.path, found.line, f"{found.module} is a private module; import its package instead"


def _bare_pragmas(module: Module) -> Iterator[Problem]:
    with tokenize.open(module.path) as lines:
        for token in tokenize.generate_tokens(lines.readline):
            bare = PRAGMA.search(token.string) and not PRAGMA_WITH_REASON.search(token.string)
            if token.type == tokenize.COMMENT and bare:
                text = "the pragma has no reason, so it excludes nothing; write '# pragma: no cover - REASON'"
                yield module.path, token.start[0], text


def _private(name: str) -> bool:
    return name.startswith("_") and not name.startswith("__")
