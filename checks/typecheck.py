"""Run mypy over everything: first the core with all plugins and tests, then each plugin's own tests by themselves.

    python -m checks.typecheck

The plugins' tests are separate runs because each folder is a project of its own: two of them may have a
tests/conftest.py, and one run would take them for the same module.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def targets(root: Path) -> list[list[str]]:
    """Return what each run of mypy is given, as paths relative to `root`."""
    packages = [path.parent for path in sorted(root.glob("plugins/*/hookagent_*/__init__.py"))]
    core = [root / name for name in ("hookagent", "checks", "hatch_build.py", "tests")]
    plugin_tests = sorted(path for path in root.glob("plugins/*/tests") if any(path.rglob("*.py")))
    runs = [[path for path in [*core, *packages] if path.exists()], *([path] for path in plugin_tests)]
    return [[str(path.relative_to(root)) for path in run] for run in runs]


def main() -> int:
    """Run mypy on each target; return 1 if any of them found something."""
    codes = [
        subprocess.run([sys.executable, "-m", "mypy", *run], cwd=ROOT, check=False).returncode for run in targets(ROOT)
    ]
    return 1 if any(codes) else 0


if __name__ == "__main__":
    sys.exit(main())
