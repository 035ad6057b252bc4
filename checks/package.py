"""Build the distribution in each of its forms, and check what is in them.

    python -m checks.package

The source distribution and the wheel made from it; the wheel made from the checkout, which must hold the same; the
core-alone wheel; and an editable install. The wheel is installed into a clean environment and its command is run.
"""

from __future__ import annotations

import configparser
import json
import sys
import tempfile
import tomllib
import zipfile
from email.message import Message
from email.parser import Parser
from pathlib import Path

from checks.environment import Environment, build, only_file
from hatch_build import CORE_ONLY, plugin_entry_points, plugin_folders, plugin_package

ROOT = Path(__file__).resolve().parent.parent
# Prints the plugins' entry points and packages that an environment can see, as JSON.
LOOK = """
import importlib.metadata, importlib.util, json, sys
names = [[e.group, e.name, e.value] for e in importlib.metadata.distribution("hookagent").entry_points]
found = [name for name in sys.argv[1:] if importlib.util.find_spec(name)]
print(json.dumps({"entry_points": sorted(names), "packages": found}))
"""

EntryPoints = dict[str, dict[str, str]]


def wheel_files(wheel: Path) -> dict[str, bytes]:
    """Return the files of a wheel by name, without the list of them, which differs with the file order."""
    with zipfile.ZipFile(wheel) as archive:
        return {name: archive.read(name) for name in archive.namelist() if not name.endswith("/RECORD")}


def wheel_entry_points(files: dict[str, bytes]) -> EntryPoints:
    """Return the entry points that a wheel declares, by group and name."""
    parser = configparser.ConfigParser(delimiters=("=",))
    parser.optionxform = str  # type: ignore[assignment,method-assign]
    for name, content in files.items():
        if name.endswith(".dist-info/entry_points.txt"):
            parser.read_string(content.decode())
    return {group: dict(parser[group]) for group in parser.sections()}


def expected_entry_points(*, core_only: bool) -> EntryPoints:
    """Return what pyproject.toml files say: the command, and for the full wheel the plugins."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    plugins = {} if core_only else plugin_entry_points(plugin_folders(ROOT))
    return {"console_scripts": project["scripts"], **plugins}


def metadata_problems(metadata: Message) -> list[str]:
    """Return what is wrong with the core metadata of a wheel."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    expected = {
        "Name": project["name"],
        "Version": project["version"],
        "Requires-Python": project["requires-python"],
        "License-Expression": "Apache-2.0",
        "License-File": "LICENSE",
        "Description-Content-Type": "text/markdown",
    }
    problems = [
        f"{key} is {metadata[key]!r}, not {value!r}" for key, value in expected.items() if metadata[key] != value
    ]
    if "Typing :: Typed" not in metadata.get_all("Classifier", []):
        problems.append("the classifier 'Typing :: Typed' is missing")
    problems.extend(
        f"{requirement} has no lower or no upper bound"
        for requirement in metadata.get_all("Requires-Dist", [])
        if "==" not in requirement
        and not (">=" in requirement and "<" in requirement)
        and "hookagent[" not in requirement
    )
    return problems


def wheel_problems(wheel: Path, *, core_only: bool) -> list[str]:
    """Return what is wrong with a wheel: what it holds, declares, or lacks."""
    files = wheel_files(wheel)
    packages = [] if core_only else [plugin_package(folder) for folder in plugin_folders(ROOT)]
    sources = [ROOT / "hookagent", *packages]
    wanted = {
        path.relative_to(source.parent).as_posix()
        for source in sources
        for path in source.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    wanted |= {f"{source.name}/py.typed" for source in sources}
    info = next(name for name in files if name.endswith(".dist-info/METADATA")).removesuffix("METADATA")
    held = {name for name in files if not name.startswith(info)}
    problems = [f"lacks {name}" for name in sorted(wanted - held)]
    problems.extend(f"holds {name}, which is no source file" for name in sorted(held - wanted))
    if files.get(f"{info}licenses/LICENSE") != (ROOT / "LICENSE").read_bytes():
        problems.append("does not hold the LICENSE of this checkout")
    found, expected = wheel_entry_points(files), expected_entry_points(core_only=core_only)
    if found != expected:
        problems.append(f"declares the entry points {found}, not {expected}")
    problems.extend(metadata_problems(Parser().parsestr(files[f"{info}METADATA"].decode())))
    return [f"{wheel.name}: {problem}" for problem in problems]


def pin_problems() -> list[str]:
    """Return where the extra `local` and the folder of the local plugin ask for different versions of the model."""
    path = ROOT / "plugins" / "hookagent-local" / "pyproject.toml"
    if not path.exists():
        return []
    extra = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"][
        "local"
    ]
    needs = tomllib.loads(path.read_text(encoding="utf-8"))["project"].get("dependencies", [])
    return [
        f"hookagent-local: needs {need}, which the extra 'local' does not give" for need in extra if need not in needs
    ]


def install_problems(environment: Environment, title: str) -> list[str]:
    """Return what an environment with hookagent installed cannot see, or not run."""
    packages = sorted(plugin_package(folder).name for folder in plugin_folders(ROOT))
    command = [str(environment.python), "-I", "-c", LOOK, *packages]
    seen = json.loads(environment.run(command, cwd=environment.bin))
    groups = expected_entry_points(core_only=False)
    expected = sorted([group, name, value] for group, names in groups.items() for name, value in names.items())
    problems = []
    if seen["entry_points"] != expected:
        problems.append(f"{title}: shows the entry points {seen['entry_points']}, not {expected}")
    if seen["packages"] != packages:
        problems.append(f"{title}: finds the packages {seen['packages']}, not {packages}")
    if "Usage: hookagent" not in environment.run([str(environment.bin / "hookagent"), "--help"], cwd=environment.bin):
        problems.append(f"{title}: hookagent --help does not show its usage")
    return problems


def main() -> int:
    """Build, install and check all forms; print each problem; return 1 if there is any."""
    problems = pin_problems()
    with tempfile.TemporaryDirectory(prefix="hookagent-package-") as name:
        work = Path(name)
        build(ROOT, work / "full")
        build(ROOT, work / "direct", "--wheel")
        build(ROOT, work / "core", "--wheel", **{CORE_ONLY: "1"})
        wheel = only_file(work / "full", "*.whl")
        problems += wheel_problems(wheel, core_only=False)
        problems += wheel_problems(only_file(work / "core", "*.whl"), core_only=True)
        if wheel_files(wheel) != wheel_files(only_file(work / "direct", "*.whl")):
            problems.append(
                f"{wheel.name}: made from the source distribution differs from the one made from the checkout"
            )
        for title, requirement in (("wheel", [str(wheel)]), ("editable install", ["--editable", str(ROOT)])):
            environment = Environment(work / "environment")
            environment.install(*requirement)
            problems += install_problems(environment, title)
    for problem in problems:
        print(problem)
    print(f"package: {len(problems)} problems" if problems else "package: every form holds what it must")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
