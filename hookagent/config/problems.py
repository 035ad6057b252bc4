"""What is wrong with a configuration, and where: the values that every module of the package reports with.

A problem is printed as `agent.yaml:4:3: unknown key 'limits.max_iteratons'; did you mean 'max_iterations'?`
(design, "The outside contract", YAML). All problems of a configuration are reported at once.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hookagent.errors import ConfigurationError
from hookagent.escaping import visible_text

if TYPE_CHECKING:
    from hookagent.config.load import LoadedConfig

_LONGEST_SHOWN = 60
_CLOSE_ENOUGH = 0.7


@dataclass(frozen=True, slots=True)
class Place:
    """Where something was written.

    `file` is a path as the user would type it, or an option such as `-o model=x`, or a word such as
    `default`; `line` and `column` count from 1 (columns in characters) and are None where there are none.
    """

    file: str
    line: int | None = None
    column: int | None = None

    def __str__(self) -> str:
        return ":".join(str(part) for part in (self.file, self.line, self.column) if part is not None)


@dataclass(frozen=True, slots=True)
class ConfigProblem:
    """One thing that is wrong: a place (see `Place`; `file` may be empty for values made in Python) and a text."""

    file: str
    line: int | None
    column: int | None
    message: str

    @classmethod
    def at(cls, place: Place, message: str) -> ConfigProblem:
        """Return the problem `message` at `place`."""
        return cls(place.file, place.line, place.column, message)

    def __str__(self) -> str:
        where = str(Place(self.file, self.line, self.column)) if self.file else ""
        return f"{where}: {self.message}" if where else self.message


class ConfigError(ConfigurationError):
    """A configuration that cannot be used.

    `problems` holds everything that is wrong with it, sorted by place: what has a line first, then what was
    given by option or environment, in the order given. `str()` is one problem a line. `usable` is what could be
    read all the same of plugins, tools and model (a `LoadedConfig`), so that what is wrong with these can be said with
    the rest.
    """

    usable: LoadedConfig | None = None

    def __init__(self, problems: Iterable[ConfigProblem]) -> None:
        # Two aliases of one faulty node would otherwise report the same line twice.
        unique = dict.fromkeys(problems)
        self.problems: list[ConfigProblem] = sorted(unique, key=_order)
        super().__init__("\n".join(str(problem) for problem in self.problems))


def fail(place: Place, message: str) -> ConfigError:
    """Return the error for a single problem, to be raised."""
    return ConfigError([ConfigProblem.at(place, message)])


def closest(word: str, candidates: Iterable[str]) -> str | None:
    """Return the candidate that `word` most probably stands for, or None."""
    by_folded = {candidate.lower().replace("-", "_"): candidate for candidate in candidates}
    found = difflib.get_close_matches(word.lower().replace("-", "_"), list(by_folded), 1, _CLOSE_ENOUGH)
    return by_folded[found[0]] if found else None


def suggestion(word: str, candidates: Iterable[str]) -> str:
    """Return `; did you mean '...'?` for the closest candidate, or an empty text."""
    match = closest(word, candidates)
    return f"; did you mean '{shown(match)}'?" if match is not None else ""


def shown(text: str) -> str:
    """Return foreign text fit for one line of a terminal: escaped where not printable, cut where long."""
    cut = text if len(text) <= _LONGEST_SHOWN else f"{text[: _LONGEST_SHOWN - 1]}…"
    return visible_text(cut)


def _order(problem: ConfigProblem) -> tuple[bool, str, int, int]:
    if problem.line is None:
        return (True, "", 0, 0)
    return (False, problem.file, problem.line, problem.column or 0)
