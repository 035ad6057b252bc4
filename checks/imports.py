"""What a tree of Python files imports, read from their syntax alone: nothing is executed."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Import:
    """One imported module or name.

    `module` is absolute ("hookagent.messages"); `name` is what a `from` import takes from it, else None.
    `type_only` says that it stands under `if TYPE_CHECKING:`; `lazy` that it stands inside a function.
    """

    module: str
    name: str | None
    line: int
    type_only: bool
    lazy: bool


@dataclass(frozen=True, slots=True)
class Module:
    """One Python file: its dotted name, its path, its syntax tree, its imports, and how many lines it has."""

    name: str
    path: Path
    tree: ast.Module
    imports: tuple[Import, ...]
    lines: int

    @property
    def package(self) -> str:
        """The dotted name that relative imports of this file start from."""
        return self.name if self.path.name == "__init__.py" else self.name.rpartition(".")[0]


def read_tree(folder: Path, prefix: str = "") -> list[Module]:
    """Read all Python files under `folder`; `prefix` is the dotted name of the folder itself, "" for a path root.

    A file that cannot be parsed raises SyntaxError. A folder that is not there holds no files.
    """
    modules = []
    for path in sorted(folder.rglob("*.py")):
        parts = list(path.relative_to(folder).with_suffix("").parts)
        if any(part.startswith(".") for part in parts):
            continue
        if parts[-1] == "__init__":
            parts.pop()
        modules.append(read_module(path, ".".join(([prefix] if prefix else []) + parts)))
    return modules


def read_module(path: Path, name: str) -> Module:
    """Read one Python file that is imported as `name`."""
    text = path.read_text(encoding="utf-8")
    tree = ast.parse(text, filename=str(path))
    package = name if path.name == "__init__.py" else name.rpartition(".")[0]
    imports = tuple(_imports(tree, package, type_only=False, lazy=False))
    return Module(name, path, tree, imports, len(text.splitlines()))


def _imports(node: ast.AST, package: str, *, type_only: bool, lazy: bool) -> Iterator[Import]:
    if isinstance(node, ast.Import):
        for alias in node.names:
            yield Import(alias.name, None, node.lineno, type_only, lazy)
    elif isinstance(node, ast.ImportFrom):
        module = _absolute(node, package)
        for alias in node.names:
            yield Import(module, alias.name, node.lineno, type_only, lazy)
    elif isinstance(node, ast.If) and _is_type_checking(node.test):
        for child in node.body:
            yield from _imports(child, package, type_only=True, lazy=lazy)
        for child in node.orelse:
            yield from _imports(child, package, type_only=type_only, lazy=lazy)
    else:
        inside = lazy or isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
        for below in ast.iter_child_nodes(node):
            yield from _imports(below, package, type_only=type_only, lazy=inside)


def _absolute(node: ast.ImportFrom, package: str) -> str:
    if not node.level:
        return node.module or ""
    parts = package.split(".")
    base = parts[: len(parts) - node.level + 1]
    return ".".join([*base, node.module] if node.module else base)


def _is_type_checking(test: ast.expr) -> bool:
    return (isinstance(test, ast.Name) and test.id == "TYPE_CHECKING") or (
        isinstance(test, ast.Attribute) and test.attr == "TYPE_CHECKING"
    )
