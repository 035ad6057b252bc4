"""The golden files: for each scenario the sequence of hooks and events, and the messages, as they must be.

One YAML file per scenario, with what happens in words. Where a parallel and a sequential round do not differ, one
sequence stands for both. The sequences were derived by hand from the rules of the design; `python -m tests.golden
--write` renews them after a rule has changed, and every changed line then wants to be read.
"""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import yaml

from tests.golden.perform import play
from tests.golden.stage import Mode, Scenario
from tests.golden.table import MODES, plainest

FOLDER = Path(__file__).parent / "traces"


class Golden(NamedTuple):
    """What must be noted in one mode: the laid-out trace, and the messages, one a line."""

    sequence: str
    messages: str


def path_of(scenario: Scenario) -> Path:
    """Where a scenario's golden file is."""
    return FOLDER / f"{scenario.name}.yaml"


def read(scenario: Scenario) -> Mapping[Mode, Golden]:
    """The golden sequences of a scenario, by mode. Raises FileNotFoundError where nobody wrote them yet."""
    return parsed(path_of(scenario).read_text(encoding="utf-8"))


def parsed(text: str) -> Mapping[Mode, Golden]:
    """The golden sequences in the text of a file, by mode."""
    found = yaml.safe_load(text)
    both = found if "sequence" in found else None
    return {mode: Golden(**{key: (both or found[mode])[key] for key in Golden._fields}) for mode in MODES}


def written(scenario: Scenario, goldens: Mapping[Mode, Golden]) -> str:
    """The text of a golden file."""
    lines = [f"title: {scenario.title}", "happens: >-", *_indented("\n".join(textwrap.wrap(scenario.happens, 108)))]
    if goldens["parallel"] == goldens["sequential"]:
        lines += _section(goldens["parallel"], 0)
    else:
        for mode in MODES:
            lines += [f"{mode}:", *_section(goldens[mode], 1)]
    return "\n".join(lines) + "\n"


def performed(scenario: Scenario) -> Mapping[Mode, Golden]:
    """What is noted now, in the plainest cell of each mode."""
    played = {mode: play(scenario, plainest(mode)) for mode in MODES}
    return {mode: Golden(one.trace, one.messages) for mode, one in played.items()}


def _section(golden: Golden, depth: int) -> list[str]:
    out: list[str] = []
    for key, text in golden._asdict().items():
        out += [f"{key}: |", *_indented(text)] if text else [f"{key}: ''"]
    return [f"{'  ' * depth}{line}" for line in out]


def _indented(text: str) -> list[str]:
    return [f"  {line}" for line in text.splitlines()]
