"""What was found against a plugin, and what it left behind in the process, gathered for one text."""

from __future__ import annotations

import gc
import sys
import warnings
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, Final

from hookagent.testing.plugin_check.isolation import Surroundings
from hookagent.testing.plugin_check.judging import Problem

ALL_RUNS: Final = "all runs together"


@dataclass(frozen=True, slots=True)
class PluginReport:
    """What a good plugin went through.

    `plugin` is its name, `runs` are the reference runs that it was in, by wire form where they went over one, and
    `requests` is how many requests of them the strict server took.
    """

    plugin: str
    runs: tuple[str, ...]
    requests: int


class Findings:
    """Problems by what they are, each with the runs that show it."""

    def __init__(self) -> None:
        self._where: dict[Problem, list[str]] = {}

    def __bool__(self) -> bool:
        return bool(self._where)

    def add(self, where: str, *problems: Problem) -> None:
        """Note problems of one run."""
        for problem in problems:
            places = self._where.setdefault(problem, [])
            if where not in places:
                places.append(where)

    def text(self, plugin: str, runs: int) -> str:
        """Everything, as the text of an error."""
        problems = "1 problem" if len(self._where) == 1 else f"{len(self._where)} problems"
        lines = [f"plugin '{plugin}': {problems} in {runs} reference runs"]
        for number, (problem, places) in enumerate(self._where.items(), 1):
            hook = f"hook '{problem.hook}': " if problem.hook else ""
            lines.append(f"{number}. {places[0]}: {hook}{problem.what}")
            lines.append(f"   what to do: {problem.remedy}")
            if len(places) > 1:
                lines.append(f"   also in: {', '.join(places[1:])}")
        return "\n".join(lines)

    def report(self, plugin: str, runs: list[str], requests: int) -> PluginReport:
        """The report of a good plugin. Raises `AssertionError` when something was found."""
        if self:
            raise AssertionError(self.text(plugin, len(runs)))
        return PluginReport(plugin, tuple(runs), requests)


class Aftermath:
    """A context around all runs: at its end, what they left behind (warnings, lost exceptions, changes) is added.

    What others left behind before is not this plugin's; `but` names surroundings that it may change.
    """

    def __init__(self, findings: Findings, but: Collection[str] = ()) -> None:
        self._findings = findings
        self._but = but
        self._warnings = warnings.catch_warnings(record=True)
        self._warned: list[warnings.WarningMessage] = []
        self._lost: list[str] = []

    def __enter__(self) -> None:
        self._before = Surroundings()
        gc.collect()
        gc.freeze()  # at the end only what is new has to be looked through
        recorded = self._warnings.__enter__()
        self._warned = [] if recorded is None else recorded
        warnings.simplefilter("always")
        self._hook = sys.unraisablehook
        sys.unraisablehook = self._keep

    def __exit__(self, *exception: Any) -> None:
        gc.collect()
        gc.unfreeze()
        sys.unraisablehook = self._hook
        self._warnings.__exit__(*exception)
        self._findings.add(ALL_RUNS, *self._before.changes(self._but))
        self._findings.add(ALL_RUNS, *map(_warning, self._warned), *map(_lost, self._lost))

    def _keep(self, told: sys.UnraisableHookArgs) -> None:
        self._lost.append(f"{told.exc_type.__name__}: {told.exc_value}")


def _warning(warned: warnings.WarningMessage) -> Problem:
    text = f"{warned.category.__name__}: {warned.message} ({warned.filename}:{warned.lineno})"
    return Problem(f"Python warned of {text}", "mend what it warns of; tests with warnings as errors would fail")


def _lost(text: str) -> Problem:
    return Problem(f"an exception was lost: {text}", "do not raise in finalizers and callbacks")
