"""Rules that look like a slip of the fingers: a tool is called nearly so, and none exactly so."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from hookagent.cli.defaults import APPROVAL
from hookagent.cli.enabled import plugin_entries
from hookagent.cli.options import Choices

if TYPE_CHECKING:
    from hookagent.config import LoadedConfig

_GLOB = frozenset("*?[")
_KINDS = ("deny", "ask", "allow")


def misspelt_rules(loaded: LoadedConfig, choices: Choices, tools: Iterable[str]) -> Iterator[str]:
    """What to say of each rule, typed or configured, that none of `tools` can be meant by, where one is near.

    A rule for a tool that this run has not is no fault: the same rules may stand in every call of a script.
    """
    from hookagent.tools.builtin import BUILTIN_SETS

    names = list(tools)
    spelt_well = {*names}.union(*BUILTIN_SETS.values())
    for place, pattern in (*_typed(choices), *_configured(loaded)):
        name = pattern.partition("(")[0].strip()
        near = difflib.get_close_matches(name, names, 1)
        if near and name not in spelt_well and not _GLOB & set(name):
            yield f"{place}: no tool of this run is called '{name}'; did you mean '{near[0]}'?"


def _typed(choices: Choices) -> Iterator[tuple[str, str]]:
    for kind in _KINDS:
        for pattern in getattr(choices, kind):
            yield f"--{kind} {pattern}", pattern


def _configured(loaded: LoadedConfig) -> Iterator[tuple[str, str]]:
    for index, entry in plugin_entries(loaded):
        for kind in _KINDS if entry.use == APPROVAL else ():
            for number, pattern in enumerate((entry.options or {}).get(kind, ())):
                yield str(loaded.positions.value(("plugins", index, "with", kind, number))), pattern
