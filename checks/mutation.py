"""Change the code in small ways, one at a time, and see that the tests of that code notice.

    python -m checks.mutation [--work FOLDER] [MODULE ...]

mutmut makes the mutants and runs them; what is ours is the choice of tests, the floor, and the list of survivors:
`checks/survivors.txt` names each mutant that no test can or need tell from the original, with the reason. With `--work`
the folder is kept and used again: mutants that were killed stay so, unless their code has changed.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from checks.mutants import SURVIVORS, Mutant, forget_survivors, listed_survivors, mutants_of

ROOT = Path(__file__).resolve().parent.parent
LOWEST_KILLED = 85.0
"""How many of a module's mutants its tests must kill, as a percentage."""
WINDOW = Path("plugins/hookagent-context-window")
# All but those over the wire forms, which start servers and say nothing about the window's own code.
WINDOW_TESTS = (
    "compaction figures gauge options places questions requests resume said shape summaries summarizer".split()
)
# Those that look at one step of the loop each; the tables that go through all of it take a minute for each mutant.
LOOP_TESTS = (
    "abort agent_box agent_queues agent_tools alone alone_abort answers box_behaviour box_queues box_rounds "
    "branches_blame branches_budget branches_calls branches_ends branches_gates branches_loop branches_misuse "
    "branches_model branches_rarely branches_rounds branches_told branches_turns branches_waiting direct_calls ending "
    "exact_alone exact_asking exact_asking_ends exact_budget exact_call_limits exact_calls exact_calls_around "
    "exact_changed_results exact_direct exact_ending exact_execution exact_execution_ends exact_messages_in "
    "exact_model_call exact_replies exact_request exact_results exact_run exact_run_nested exact_starting "
    "exact_tool_round exact_turn exact_turn_ends exact_turn_told gates hook_order last_words limits message_order "
    "model_call nested_gates nesting stray_cancel too_long"
).split()


@dataclass(frozen=True, slots=True)
class Target:
    """One module: the package it lies in, which files are changed (patterns of paths from there), and its tests."""

    package: str
    changed: tuple[str, ...]
    tests: tuple[str, ...]
    spared: tuple[str, ...] = ()


TARGETS = {
    "transcript": Target(
        "hookagent",
        ("hookagent/transcript.py",),
        ("tests/core/test_transcript.py", "tests/core/test_branches_transcript.py"),
    ),
    "window": Target(
        "hookagent_context_window",
        ("hookagent_context_window/*.py",),
        tuple(f"{WINDOW}/tests/test_context_window_{name}.py" for name in WINDOW_TESTS),
    ),
    "gates": Target(
        "hookagent",
        ("hookagent/loop/gates.py", "hookagent/loop/answers.py"),
        tuple(f"tests/core/test_{name}.py" for name in "gates answers branches_gates direct_calls nesting".split()),
    ),
    "dispatch": Target(
        "hookagent",
        ("hookagent/dispatch.py", "hookagent/implementations.py"),
        (
            "tests/core/test_dispatch.py",
            "tests/core/test_branches_blame.py",
            "tests/core/test_branches_dispatch.py",
            "tests/core/test_branches_hook_times.py",
            "tests/core/test_branches_listening.py",
            "tests/core/test_exact_dispatch.py",
            "tests/core/test_message_order.py",
            "tests/core/test_stray_cancel.py",
        ),
    ),
    "loop": Target(
        "hookagent",
        ("hookagent/loop/*.py",),
        tuple(f"tests/core/test_{name}.py" for name in LOOP_TESTS),
        ("hookagent/loop/gates.py", "hookagent/loop/answers.py"),
    ),
}
_SETTINGS = """
[tool.mutmut]
source_paths = ["{package}"]
only_mutate = {changed}
do_not_mutate = {spared}
also_copy = ["hookagent", "hookagent_context_window", "plugins", "checks", "conftest.py"]
pytest_add_cli_args = ["-p", "no:cacheprovider", "-p", "checks.quick_first"]
pytest_add_cli_args_test_selection = {tests}
# A worker is forked from a process that has run no test: sessions and threads of one test reach no other.
process_isolation = "forkserver"
timeout_multiplier = 4.0
timeout_constant = 3.0
use_git_change_detection = false
"""


def prepare(target: Target, folder: Path) -> None:
    """Fill `folder` with a copy of the checkout and the settings of mutmut for one module."""
    sources = {"hookagent": "hookagent", "tests": "tests", "checks": "checks", "conftest.py": "conftest.py"}
    sources |= {f"{WINDOW}/hookagent_context_window": "hookagent_context_window", f"{WINDOW}/tests": f"{WINDOW}/tests"}
    for source, copy in sources.items():
        _copy(ROOT / source, folder / copy)
    lists = {name: _toml_list(getattr(target, name)) for name in ("changed", "spared", "tests")}
    settings = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    text = settings + _SETTINGS.format(package=target.package, **lists)
    (folder / "pyproject.toml").write_text(text, encoding="utf-8")


def run(name: str, folder: Path) -> list[Mutant]:
    """Make and run the mutants of one module in `folder`; raises CalledProcessError when mutmut itself fails."""
    prepare(TARGETS[name], folder)
    forget_survivors(folder)
    children = os.cpu_count() or 2
    with (folder / "mutmut.log").open("w", encoding="utf-8") as log:
        command = [sys.executable, "-m", "mutmut", "run", "--max-children", str(children)]
        subprocess.run(command, cwd=folder, stdout=log, stderr=subprocess.STDOUT, check=True)
    return mutants_of(folder)


def report(name: str, mutants: Iterable[Mutant], listed: Mapping[str, str]) -> list[str]:
    """Print how many mutants of a module were killed, and return what is wrong; `listed` are the known survivors."""
    found = list(mutants)
    survivors = [mutant for mutant in found if not mutant.killed]
    killed = 100.0 * (len(found) - len(survivors)) / len(found) if found else 0.0
    print(f"{name:<12} {len(found):>6} mutants {len(survivors):>6} survived {killed:>8.1f} % killed", flush=True)
    problems = [
        f"{name}: {mutant.line} survived; kill it with a test, or list it in checks/{SURVIVORS.name} with the reason"
        for mutant in survivors
        if mutant.line not in listed
    ]
    if killed < LOWEST_KILLED:
        problems.append(f"{name}: {killed:.1f} % of the mutants were killed, less than {LOWEST_KILLED:g} %; add tests")
    return problems


def main(arguments: list[str]) -> int:
    """Run the named modules, or all; return 1 if one has too many survivors, or one that is not listed."""
    parser = argparse.ArgumentParser(prog="python -m checks.mutation", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument(
        "modules", nargs="*", metavar="MODULE", help=f"of {', '.join(TARGETS)}; all of them unless given"
    )
    parser.add_argument("--work", type=Path, metavar="FOLDER", help="keep the mutants and their results here")
    options = parser.parse_args(arguments)
    unknown = sorted(set(options.modules) - set(TARGETS))
    if unknown:
        parser.error(f"no module {', '.join(unknown)}; name one of {', '.join(TARGETS)}")
    problems: list[str] = []
    listed = listed_survivors(SURVIVORS)
    with tempfile.TemporaryDirectory(prefix="hookagent-mutation-") as temporary:
        for name in options.modules or TARGETS:
            folder = (options.work or Path(temporary)) / name
            try:
                problems += report(name, run(name, folder), listed)
            except subprocess.CalledProcessError:
                log = (folder / "mutmut.log").read_text(encoding="utf-8", errors="replace")
                problems.append(f"{name}: mutmut could not run the tests; its last words: {log[-2000:]}")
    for problem in problems:
        print(problem)
    print(f"mutation: {len(problems)} problems" if problems else "mutation: every survivor is listed with its reason")
    return 1 if problems else 0


def _copy(source: Path, copy: Path) -> None:
    """Copy a file or a folder; what the copy has and the source has not goes, times are kept for mutmut to compare."""
    if source.is_file():
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(source, copy)
        return
    if copy.exists():
        shutil.rmtree(copy)
    shutil.copytree(source, copy, ignore=shutil.ignore_patterns("__pycache__"))


def _toml_list(values: Iterable[str]) -> str:
    return "[" + ", ".join(f'"{value}"' for value in values) + "]"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
