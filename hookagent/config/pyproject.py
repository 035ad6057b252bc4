"""`[tool.hookagent]` of a `pyproject.toml`, with places.

The standard library's TOML reader gives values without places, so a small scan of the text finds the line of each
key. It follows tables, dotted keys and inline tables; where it does not find a key, the place is that of the
nearest thing around it.
"""

from __future__ import annotations

import bisect
import datetime
import re
import tomllib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from hookagent.config.positions import Document, KeyPath, Positions
from hookagent.config.problems import Place, fail
from hookagent.config.source import DEEPEST, MOST_NODES

_REACH = 4_000
_SECTION = ("tool", "hookagent")
_MENTION = re.compile(rb"^[^#\n]*\bhookagent\b", re.MULTILINE)
_WHERE = re.compile(r" \(at (?:line (\d+), column (\d+)|end of document)\)$")
_QUOTED = re.compile(r"'[^']{2,}'|\"[^\"]{2,}\"|\(.*\)")
_PART = r"""(?:[A-Za-z0-9_-]+|"[^"\n]*"|'[^'\n]*')"""
_KEYS = rf"{_PART}(?:[ \t]*\.[ \t]*{_PART})*"
_HEADER = re.compile(rf"^[ \t]*(\[\[?)[ \t]*({_KEYS})[ \t]*\]\]?", re.MULTILINE)
_ASSIGNMENT = re.compile(rf"^[ \t]*({_KEYS})[ \t]*=[ \t]*", re.MULTILINE)
_ENDLESS_KEY = re.compile(r"""^[ \t\[]*(?>["']?[\w-]++["']?[ \t]*+\.[ \t]*+){50}""", re.MULTILINE)
_LONG_STRING = re.compile(r'"""(?:\\.|[^\\])*?"""|' + r"'''.*?'''", re.DOTALL)


def mentions_section(path: Path) -> bool:
    """Return whether a `pyproject.toml` has `[tool.hookagent]`; one that is broken counts if it speaks of hookagent."""
    try:
        data = path.read_bytes()
    except OSError:
        return False
    if not _MENTION.search(data):
        return False
    try:
        tool = _loads(data.decode("utf-8-sig")).get("tool")
    except (ValueError, RecursionError):
        return b"tool" in data
    return isinstance(tool, dict) and "hookagent" in tool


def parse_pyproject(text: str, file: str) -> Document | None:
    """Parse the section of a `pyproject.toml`; `file` is its name in errors. None when there is no such section.

    Raises `ConfigError` for what is not TOML and for a section that is not a table.
    """
    try:
        tool = _loads(text).get("tool")
    except tomllib.TOMLDecodeError as error:
        place, message = _explained(error, text, file)
        raise fail(place, message) from None
    except (ValueError, RecursionError):
        raise fail(Place(file), "this is not valid TOML: nested too deeply, or a number without end") from None
    if not isinstance(tool, dict) or "hookagent" not in tool:
        return None
    section = tool["hookagent"]
    scanned = _Text(text, file)
    places = dict(scanned.statements())
    positions = Positions()
    if not isinstance(section, dict):
        raise fail(places.get(_SECTION, Place(file)), "'tool.hookagent' must be a table; write '[tool.hookagent]'")
    start = places.get(_SECTION) or next(
        (place for path, place in places.items() if path[:2] == _SECTION), Place(file, 1, 1)
    )
    positions.record((), start, start)
    for path, place in places.items():
        if len(path) > 2 and path[:2] == _SECTION:
            positions.record(path[2:], place, place)
    _refuse_large(section, start)
    document = Document(_plain(section), positions)
    _fill(document.data, (), positions, scanned)
    return document


def _loads(text: str) -> dict[str, Any]:
    # The standard library takes quadratic time for a key of very many parts.
    if _ENDLESS_KEY.search(text):
        raise ValueError("a key of too many parts")
    return tomllib.loads(text)


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(child) for key, child in value.items()}
    if isinstance(value, list):
        return [_plain(child) for child in value]
    if isinstance(value, datetime.date | datetime.time):
        return value.isoformat()
    return value


def _explained(error: tomllib.TOMLDecodeError, text: str, file: str) -> tuple[Place, str]:
    said = str(error)
    where = _WHERE.search(said)
    last_line = text.rstrip().count("\n") + 1
    place = Place(file, int(where[1]), int(where[2])) if where and where[1] else Place(file, last_line, 1)
    reason = _QUOTED.sub("...", _WHERE.sub("", said))
    return place, f"this is not valid TOML: {reason[:1].lower()}{reason[1:]}"


class _Text:
    """A text that tells offsets from places."""

    def __init__(self, text: str, file: str) -> None:
        # The inside of long texts may look like tables and keys.
        self.text = _LONG_STRING.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), text)
        self._file = file
        self._starts = [0, *(match.end() for match in re.finditer("\n", text))]

    def place(self, offset: int) -> Place:
        line = bisect.bisect_right(self._starts, offset)
        return Place(self._file, line, offset - self._starts[line - 1] + 1)

    def offset(self, place: Place) -> int:
        return self._starts[(place.line or 1) - 1] + (place.column or 1) - 1

    def statements(self) -> Iterator[tuple[KeyPath, Place]]:
        """Yield the path and the place of each table header and each key at the start of a line."""
        table: KeyPath = ()
        counts: dict[KeyPath, int] = {}
        found = [*_HEADER.finditer(self.text), *_ASSIGNMENT.finditer(self.text)]
        for match in sorted(found, key=lambda match: match.start()):
            if match.re is _HEADER:
                table = _split(match[2])
                if match[1] == "[[":
                    counts[table] = counts.get(table, -1) + 1
                    table = (*table, counts[table])
                yield table, self.place(match.start(2))
            else:
                yield (*table, *_split(match[1])), self.place(match.start(1))

    def inside(self, parent: Place, word: str, *, key: bool) -> Place | None:
        """Return where a key or a quoted text stands that belongs to a value starting at `parent`."""
        quoted = re.escape(word)
        pattern = rf"""(?<![\w-])["']?{quoted}["']?[ \t]*[=.]""" if key else rf"""["']{quoted}["']"""
        start = self.offset(parent)
        match = re.compile(pattern).search(self.text, start, start + _REACH)
        return self.place(match.start()) if match else None


def _fill(value: Any, path: KeyPath, positions: Positions, text: _Text) -> None:
    """Give every value a place: that of its inline key where it is found behind its parent's, else its parent's."""
    children: list[tuple[str | int, Any]] = []
    if isinstance(value, dict):
        children = list(value.items())
    elif isinstance(value, list):
        children = list(enumerate(value))
    for key, child in children:
        below = (*path, key)
        if not positions.knows(below):
            parent = positions.value(path)
            word = key if isinstance(key, str) else child
            place = text.inside(parent, word, key=isinstance(key, str)) if isinstance(word, str) else None
            positions.record(below, place or parent, place or parent)
        _fill(child, below, positions, text)


def _refuse_large(value: Any, place: Place) -> None:
    level, count = [value], 0
    for _ in range(DEEPEST):
        count += len(level)
        if count > MOST_NODES:
            raise fail(place, f"more than {MOST_NODES:,} values; shorten the configuration")
        level = [child for parent in level for child in _children(parent)]
        if not level:
            return
    raise fail(place, f"nested deeper than {DEEPEST} levels; flatten it")


def _children(value: Any) -> Iterable[Any]:
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, list) else ()


def _split(keys: str) -> KeyPath:
    return tuple(part.strip("\"'") for part in re.findall(_PART, keys))
