"""A copy of the product, and of the machine, in a folder of its own, with a fault in it or without one."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from types import TracebackType

from tests.machine.seeded.fault import ROOT, Fault
from tests.machine.seeded.patches import applied, patch_path, target_of

SECONDS = 900
"""How long one run of the machine may take; what hangs is not found."""
_FOLDERS = ("hookagent", "tests/machine", "checks")
_MODULES = ("hookagent", "hookagent_context_window", "tests.machine", "checks.tally")


class Copy:
    """A copy with `fault` seeded by its patch; gone at the end of the `with`."""

    def __init__(self, fault: Fault | None) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="hookagent-seeded-", ignore_cleanup_errors=True)
        self.root = Path(self._folder.name)
        # With what was compiled: only the changed file is compiled anew, since it alone has another time.
        for folder in (*_FOLDERS, *self._plugins(ROOT)):
            shutil.copytree(ROOT / folder, self.root / folder, ignore=shutil.ignore_patterns(".*", "tests"))
        if fault is not None:
            patch = patch_path(fault).read_text("utf-8")
            target = self.root / target_of(patch)
            target.write_text(applied(patch, target.read_text("utf-8")), "utf-8")

    @staticmethod
    def _plugins(root: Path) -> list[str]:
        return [f"plugins/{path.name}" for path in sorted((root / "plugins").glob("hookagent-*"))]

    def _run(self, *words: str) -> tuple[int, str]:
        path = os.pathsep.join(str(self.root / one) for one in ("", *self._plugins(self.root)))
        environment = {**os.environ, "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1"}
        environment.pop("HOOKAGENT_PROVE", None)
        try:
            done = subprocess.run(
                [sys.executable, *words],
                cwd=self.root,
                env=environment,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                encoding="utf-8",
                timeout=SECONDS,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return 1, f"not done within {SECONDS} s"
        return done.returncode, done.stdout

    def run_machine(self, examples: int, seed: int) -> tuple[int, str]:
        """Run the machine; its exit code, and what it said."""
        return self._run("-m", "tests.machine", "--examples", str(examples), "--seed", str(seed))

    def foreign_modules(self) -> str:
        """Where modules come from that are not those of the copy; "" when all are."""
        source = (
            "import importlib, sys\n"
            f"for name in {_MODULES!r}:\n"
            "    module = importlib.import_module(name)\n"
            "    place = module.__file__ or list(module.__path__)[0]\n"
            "    if not place.startswith(sys.argv[1]):\n"
            "        print(place)\n"
        )
        code, output = self._run("-c", source, str(self.root.resolve()))
        return output.strip() or ("" if code == 0 else f"exit code {code}")

    def __enter__(self) -> Copy:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._folder.cleanup()
