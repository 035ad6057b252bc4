"""Other projects, through a harness of adapters: each in the interpreter that has it installed."""

from __future__ import annotations

import json
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

_WORKLOADS = ("W3", "W4", "W6", "W8")


def lines(python: str, adapter: str, harness: str) -> Iterator[str]:
    """Run the harness's workloads with one adapter file, and give a line for each figure.

    `python` is the interpreter, `harness` the folder with its `common.py`. Figures are as the harness prints them.
    """
    common = Path(harness).resolve() / "common.py"
    for workload in _WORKLOADS:
        with tempfile.TemporaryDirectory() as folder:
            command = [python, str(common), "--adapter", str(Path(adapter).resolve().with_suffix(""))]
            done = subprocess.run(
                [*command, "--workload", workload], cwd=folder, capture_output=True, text=True, check=False
            )
        for text in done.stdout.splitlines():
            if not text.startswith("{"):
                continue
            figure = json.loads(text)
            value = figure["value"]
            shown = f"{value:12.2f}" if isinstance(value, float | int) else f"{figure.get('error', 'skipped'):>12}"
            yield f"{figure['peer']:20} {workload} {figure['metric']:40} {shown}"
