"""How a block is run, by its language; all blocks of a page share one folder and one Python namespace.

- `python` is executed; `text` below it is what it prints.
- `console` holds commands behind `$ ` and, below each, what it prints on both outputs together.
- `yaml` is a configuration, and is loaded as one with its plugins' options; `toml` and `json` are parsed.
- A block without a language is a drawing.
- Whatever stands under `<!-- file: name -->` is written to that file first.

In expected output `...` stands for any text. A page with `<!-- environment: own -->` gets a virtual environment of its
own, in which what pip installs can be found, without touching the one that runs the tests.
"""

from __future__ import annotations

import contextlib
import doctest
import io
import json
import logging
import os
import re
import shlex
import subprocess
import sys
import sysconfig
import tomllib
import types
import venv
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.docs.pages import Block

_MARK = "\x1f"
_OWN_ENVIRONMENT = re.compile(r"<!--\s*environment:\s*own\s*-->")
_KEPT_VARIABLES = ("PATH", "LANG", "TMPDIR", "PYTHONPATH", "SYSTEMROOT")


class BlockFailure(AssertionError):
    """A block did not do what the page says."""


class PageRun:
    """One page being run in `folder`, which is empty at first; `text` is the whole page."""

    def __init__(self, folder: Path, text: str) -> None:
        self._folder = folder
        self._module = types.ModuleType("page")
        self._output: str | None = None
        bin_folder = Path(sysconfig.get_path("scripts"))
        if _OWN_ENVIRONMENT.search(text):
            bin_folder = _own_environment(folder.parent / "environment")
        self._environment = {name: os.environ[name] for name in _KEPT_VARIABLES if name in os.environ} | {
            "PATH": f"{bin_folder}{os.pathsep}{os.environ.get('PATH', '')}",
            "HOME": str(folder),
            "NO_COLOR": "1",
            "COLUMNS": "80",
            "LC_ALL": "C.UTF-8",
            "PYTHONDONTWRITEBYTECODE": "1",
            "PIP_NO_INDEX": "1",
            # pip reads this one the other way round: 0 means no isolation, so that the backend that is here is used.
            "PIP_NO_BUILD_ISOLATION": "0",
            "PIP_DISABLE_PIP_VERSION_CHECK": "1",
            "PIP_NO_CACHE_DIR": "1",
        }

    def run(self, block: Block) -> None:
        """Run one block. Raises `BlockFailure` with its place."""
        try:
            if block.file is not None:
                path = self._folder / block.file
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(block.text, encoding="utf-8")
            if block.language and (block.file is None or block.language in ("yaml", "toml", "json")):
                getattr(self, f"_run_{block.language}", self._run_unknown)(block)
        except BlockFailure:
            raise
        except Exception as error:
            raise BlockFailure(f"{block.place}: {type(error).__name__}: {error}") from error

    def _run_python(self, block: Block) -> None:
        code = compile("\n" * block.line + block.text, str(block.page), "exec", dont_inherit=True)
        printed = io.StringIO()
        # As a module, because what is defined in it looks its annotations up there.
        sys.modules["page"] = self._module
        with contextlib.redirect_stdout(printed), _inside(self._folder, self._environment):
            exec(code, self._module.__dict__)
        self._output = printed.getvalue()

    def _run_text(self, block: Block) -> None:
        if self._output is None:
            raise BlockFailure(f"{block.place}: a text block stands below the block that prints it")
        _compare(block, block.text, self._output)
        self._output = None

    def _run_console(self, block: Block) -> None:
        commands = _commands(block)
        lines = []
        for command, _ in commands:
            lines += [command, f"__status=$?; printf '{_MARK}'; (exit $__status)"]
        done = subprocess.run(
            ["bash", "-c", "\n".join(lines)],
            cwd=self._folder,
            env=self._environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            check=False,
        )
        outputs = done.stdout.decode("utf-8", "replace").split(_MARK)
        for (command, expected), output in zip(commands, outputs, strict=False):
            _compare(block, expected, output, command)
        if len(outputs) != len(commands) + 1:
            raise BlockFailure(f"{block.place}: it ended after {len(outputs)} of {len(commands)} commands")
        self._output = None

    def _run_yaml(self, block: Block) -> None:
        if block.file is not None and "script" in block.file:
            from hookagent.providers import ScriptedProvider

            ScriptedProvider.from_file(self._folder / block.file)
            return
        from hookagent.config import load_config
        from hookagent.host import PluginEntry, load_plugins

        path = self._folder / (block.file or "checked.yaml")
        path.write_text(block.text, encoding="utf-8")
        for each in re.findall(r"\{file: ([^}]+)\}", block.text):
            (self._folder / each).parent.mkdir(parents=True, exist_ok=True)
            (self._folder / each).write_text("You are a careful assistant.\n", encoding="utf-8")
        config = load_config(path, environment={}, working_directory=self._folder)
        if block.file is None:
            load_plugins([PluginEntry(one.use, one.options) for one in config.plugins or ()])
            path.unlink()

    def _run_toml(self, block: Block) -> None:
        tomllib.loads(block.text)

    def _run_json(self, block: Block) -> None:
        json.loads(block.text)

    def _run_unknown(self, block: Block) -> None:
        raise BlockFailure(f"{block.place}: no way to run a block of '{block.language}'; choose another language")


def _commands(block: Block) -> list[tuple[str, str]]:
    """The commands of a console block, each with the output that is expected of it."""
    commands: list[tuple[str, str]] = []
    lines = iter(block.text.splitlines())
    for line in lines:
        if line.startswith("$ "):
            command = line[2:]
            while command.endswith("\\"):
                command += "\n" + next(lines)
            commands.append((command, ""))
        elif commands:
            command, expected = commands[-1]
            commands[-1] = (command, f"{expected}{line}\n")
        else:
            raise BlockFailure(f"{block.place}: a console block begins with '$ ' and a command")
    return commands


def _compare(block: Block, expected: str, output: str, command: str | None = None) -> None:
    checker = doctest.OutputChecker()
    if not checker.check_output(expected, output, doctest.ELLIPSIS):
        what = f" ({shlex.quote(command)})" if command is not None else ""
        raise BlockFailure(f"{block.place}{what}: expected:\n{expected}\ngot:\n{output}")


@contextlib.contextmanager
def _inside(folder: Path, environment: dict[str, str]) -> Iterator[None]:
    before, path = dict(os.environ), list(sys.path)
    known = set(sys.modules)
    log = logging.getLogger()
    handlers, level = list(log.handlers), log.level
    os.environ.clear()
    os.environ.update(environment)
    sys.path.insert(0, str(folder))
    try:
        with contextlib.chdir(folder):
            yield
    finally:
        os.environ.clear()
        os.environ.update(before)
        sys.path[:] = path
        log.handlers[:] = handlers
        log.setLevel(level)
        # A module that a page wrote must not be met by the next page.
        for name in set(sys.modules) - known:
            file: Any = getattr(sys.modules[name], "__file__", None)
            if isinstance(file, str) and Path(file).is_relative_to(folder):
                del sys.modules[name]


def _own_environment(folder: Path) -> Path:
    """Make a virtual environment that sees all that this one has; return the folder of its commands."""
    venv.create(folder, with_pip=True, symlinks=True)
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    site_packages = folder / "lib" / version / "site-packages"
    seen = [path for path in sys.path if path.endswith(("site-packages", "dist-packages"))]
    lines = [f"import site; site.addsitedir({path!r})" for path in seen]
    (site_packages / "_seen.pth").write_text("\n".join(lines) + "\n", encoding="utf-8")
    scripts = folder / "bin"
    for name, start in {
        "hookagent": "from hookagent.cli import main; sys.exit(main())",
        "pytest": "import pytest; sys.exit(pytest.console_main())",
    }.items():
        command = scripts / name
        command.write_text(f"#!{scripts / 'python'}\nimport sys\n{start}\n", encoding="utf-8")
        command.chmod(0o755)
    return scripts
