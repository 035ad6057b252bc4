"""Start-up: fresh interpreters that import hookagent, or print the command's help."""

from __future__ import annotations

import resource
import statistics
import subprocess
import sys
from collections.abc import Iterator

from tests.benchmarks.measuring import Row

_CLICK = "import click\n@click.group()\ndef main(): pass\nmain(['--help'])"


def rows(repeats: int) -> Iterator[Row]:
    """See the module's first line."""
    commands = {
        "hookagent": ["-c", "import hookagent"],
        "json": ["-c", "import json"],
        "help": ["-m", "hookagent", "--help"],
        "click": ["-c", _CLICK],
    }
    taken: dict[str, list[float]] = {name: [] for name in commands}
    for turn in range(max(1, repeats) + 1):
        for name, arguments in commands.items():
            seconds = _cpu_of(arguments)
            if turn:  # the first one fills the file cache
                taken[name].append(seconds)
    best = {name: statistics.median(values) * 1e3 for name, values in taken.items()}
    # A third of what `llm` takes for its import, which is thirty times that of `json`.
    yield Row("python -c 'import hookagent', whole process", "ms", best["hookagent"], best["json"], 10.0, "import json")
    yield Row("hookagent --help, whole process", "ms", best["help"], best["click"], 2.0, "python + click --help")


def _cpu_of(arguments: list[str]) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, *arguments], stdout=subprocess.DEVNULL, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
