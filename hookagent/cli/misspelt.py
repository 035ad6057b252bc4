"""Rules of this run that look like a slip of the fingers: a tool is called nearly so, and none exactly so."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator

from hookagent.cli.options import Choices

_GLOB = frozenset("*?[")


def misspelt_rules(choices: Choices, tools: Iterable[str]) -> Iterator[str]:
    """What to say of each rule of `choices` that none of `tools` can be meant by, where one is near.

    A rule for a tool that this run has not is no fault: the same rules may stand in every call of a script.
    """
    names = list(tools)
    for option in ("deny", "ask", "allow"):
        for pattern in getattr(choices, option):
            name = pattern.partition("(")[0].strip()
            near = difflib.get_close_matches(name, names, 1)
            if near and name not in names and not _GLOB & set(name):
                yield f"--{option} {pattern}: no tool of this run is called '{name}'; did you mean '{near[0]}'?"
