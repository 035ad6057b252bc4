"""Build each folder under plugins/ as the project it is, and run its own tests against a wheel of the core alone.

    python -m checks.plugin_folders [FOLDER-NAME ...]

This is what a third party's plugin meets: hookagent from a wheel without any packed plugin, the plugin from its own
wheel, and tests that see nothing of this checkout.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from checks.environment import Environment, build, clean_variables, only_file
from hatch_build import CORE_ONLY, plugin_folders

ROOT = Path(__file__).resolve().parent.parent


def run_folder(folder: Path, environment: Environment, work: Path) -> bool:
    """Build and install one plugin, run its tests, take it away again; tell whether all went well."""
    print(f"--- {folder.name}", flush=True)
    try:
        build(folder, work / "dist", "--wheel")
        environment.install(str(only_file(work / "dist", "*.whl")))
    except subprocess.CalledProcessError:
        print(f"{folder.name}: cannot be built or installed beside the core; see above", file=sys.stderr)
        return False
    # Away from the checkout, so that neither its packages nor its pytest settings are found from there.
    shutil.copytree(folder / "tests", work / "tests", ignore=shutil.ignore_patterns("__pycache__"))
    # The settings that a plugin's own pyproject.toml would give are the same strict ones as the core's.
    options = ["--import-mode=importlib", "--strict-markers", "-W", "error", "-p", "no:cacheprovider", "-q"]
    command = [str(environment.python), "-m", "pytest", *options, "tests"]
    # The conftest.py at the root, which keeps sessions out of the user's own folder, is not there.
    variables = clean_variables(HOOKAGENT_HOME=str(environment.home))
    done = subprocess.run(command, cwd=work, env=variables, check=False)
    environment.run([str(environment.python), "-m", "pip", "uninstall", "--quiet", "--yes", folder.name])
    return done.returncode == 0


def main(names: list[str]) -> int:
    """Run the named folders, or all; return 1 if one fails."""
    folders = [folder for folder in plugin_folders(ROOT) if not names or folder.name in names]
    unknown = set(names) - {folder.name for folder in folders}
    if unknown:
        sys.exit(f"plugins: no folder {', '.join(sorted(unknown))} under plugins/; name one that is there")
    failed = []
    with tempfile.TemporaryDirectory(prefix="hookagent-plugins-") as name:
        work = Path(name)
        build(ROOT, work / "core", "--wheel", **{CORE_ONLY: "1"})
        environment = Environment(work / "environment")
        environment.install(f"{only_file(work / 'core', '*.whl')}[testing]")
        for folder in folders:
            (work / folder.name).mkdir()
            if not run_folder(folder, environment, work / folder.name):
                failed.append(folder.name)
    print(
        f"plugins: {len(folders) - len(failed)} of {len(folders)} pass" + "".join(f"; {name} fails" for name in failed)
    )
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
