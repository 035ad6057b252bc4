"""Which paths a pattern means: `*`, `?` and `[...]` within a name, `**` across directories, `{a,b}` for either."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from fnmatch import fnmatchcase

_MOST_ALTERNATIVES = 64
_BRACES = re.compile(r"\{([^{}]*,[^{}]*)\}")


def path_filter(pattern: str) -> Callable[[Sequence[str]], bool]:
    """Return a function that says whether a relative path, given as its components, fits `pattern`.

    A pattern without "/" is matched against the last component alone, one with "/" against the whole path.
    """
    pattern = pattern.strip().removeprefix("./") or "*"
    wanted = [part.split("/") for part in _alternatives(pattern)]

    def fits(path: Sequence[str]) -> bool:
        return any(_fits(parts, path) if len(parts) > 1 else fnmatchcase(path[-1], parts[0]) for parts in wanted)

    return fits


def _alternatives(pattern: str) -> list[str]:
    done: list[str] = []
    waiting = [pattern]
    while waiting and len(done) + len(waiting) <= _MOST_ALTERNATIVES:
        current = waiting.pop()
        found = _BRACES.search(current)
        if found is None:
            done.append(current)
        else:
            waiting.extend(current[: found.start()] + part + current[found.end() :] for part in found[1].split(","))
    return done + waiting


def _fits(parts: Sequence[str], path: Sequence[str]) -> bool:
    """Match component by component; the work is at most their number times the pattern's."""
    reached = {0}
    for name in path:
        following: set[int] = set()
        for place in _past_stars(parts, reached):
            if place < len(parts) and parts[place] == "**":
                following.add(place)
            elif place < len(parts) and fnmatchcase(name, parts[place]):
                following.add(place + 1)
        reached = following
    return len(parts) in _past_stars(parts, reached)


def _past_stars(parts: Sequence[str], places: set[int]) -> set[int]:
    """Add to `places` those that lie behind a `**`, which may stand for nothing."""
    reached = set(places)
    for place, part in enumerate(parts):
        if part == "**" and place in reached:
            reached.add(place + 1)
    return reached
