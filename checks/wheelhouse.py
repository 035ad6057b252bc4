"""Fill one folder with the wheels that every tox environment needs, so that each installs from it alone.

    python -m checks.wheelhouse FOLDER

Afterwards PIP_NO_INDEX=1 and PIP_FIND_LINKS=FOLDER in the environment make pip use nothing else; tox hands both on.
The requirements are read from the pyproject.toml files of the core and of the plugin folders. A second pass adds the
lowest versions that we promise to work with.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LOWEST = ROOT / "checks" / "lowest.txt"
# hatchling asks for it when it builds an editable wheel; that need stands in no file of ours.
BUILD_NEEDS = ("editables~=0.3",)


def requirement_name(requirement: str) -> str:
    """Return the normalized distribution name that a requirement starts with."""
    found = re.match(r"[A-Za-z0-9._-]+", requirement)
    if found is None:
        raise ValueError(f"{requirement!r}: is not a requirement; it must start with a distribution's name")
    return re.sub(r"[-_.]+", "-", found.group()).lower()


def project_files(root: Path) -> list[Path]:
    """Return the pyproject.toml files of the core and of each plugin folder."""
    return [root / "pyproject.toml", *sorted(root.glob("plugins/*/pyproject.toml"))]


def requirements(root: Path) -> list[str]:
    """Collect what the projects under `root` need to be built, used and tested, without our own distributions."""
    needed: set[str] = set(BUILD_NEEDS)
    own: set[str] = set()
    for path in project_files(root):
        content = tomllib.loads(path.read_text(encoding="utf-8"))
        project = content["project"]
        own.add(requirement_name(project["name"]))
        needed.update(content.get("build-system", {}).get("requires", []))
        needed.update(project.get("dependencies", []))
        for extra in project.get("optional-dependencies", {}).values():
            needed.update(extra)
    return sorted(requirement for requirement in needed if requirement_name(requirement) not in own)


def fill(folder: Path) -> None:
    """Put all wheels into `folder`; raises CalledProcessError when pip cannot get or build one."""
    folder.mkdir(parents=True, exist_ok=True)
    pip_wheel = [sys.executable, "-m", "pip", "wheel", "--quiet", "--wheel-dir", str(folder)]
    subprocess.run([*pip_wheel, *requirements(ROOT)], check=True)
    subprocess.run([*pip_wheel, "--requirement", str(LOWEST)], check=True)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("wheelhouse: takes one argument, the folder to fill")
    try:
        fill(Path(sys.argv[1]))
    except subprocess.CalledProcessError:
        sys.exit(f"wheelhouse: pip could not fill {sys.argv[1]}; see what it printed above")
