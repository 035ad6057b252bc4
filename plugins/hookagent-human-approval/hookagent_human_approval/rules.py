"""The rules: which calls run, which are asked about, which are refused. Pure; the tests hold them as a truth table.

The order (design, "The outside contract"): `deny` first; then a rule with an argument over one without; then `ask` over
`allow`; else the tool's own class: what only reads runs, everything else is asked about.
"""

from __future__ import annotations

import json
import os
import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any, Literal

Action = Literal["deny", "ask", "allow"]

_PATTERN = re.compile(r"(?P<tool>[\w*?\[\]!-]+)(?:\((?P<argument>[^\s=()]+)=(?P<glob>.*)\))?", re.DOTALL)
_BRACKETS = re.compile(r"\[!?[\w-]+\]")
# What lets a shell do more than one thing: operators, substitution, redirection, line breaks and other controls.
_LINE_BREAKS = "\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029"
_OPERATORS = re.compile(rf"[;&|<>`$(){'%^' if os.name == 'nt' else ''}\x00-\x08\x0e-\x1b\x1f\x7f{_LINE_BREAKS}]+")
_PARENT = re.compile(r"""(?:^|[\s/\\="':,])\.\.(?:$|[\s/\\"':,])""")

EFFECTS: Mapping[str, str] = {"reads": "reads", "writes": "writes", "sends": "sends", "runs_code": "runs code"}
"""A tool's class, in words."""


@dataclass(frozen=True, slots=True)
class Pattern:
    """A pattern as written (`text`) and as understood: a glob for the tool's name, and perhaps one for an argument."""

    text: str
    tool: str
    argument: str | None = None
    glob: str = ""


@dataclass(frozen=True, slots=True)
class Subject:
    """A call as the rules see it: its tool's name and class, and its arguments, with defaults filled in.

    `converted` has, as text, what the tool would make of an argument where that can be written as text.
    """

    tool: str
    effect: str
    arguments: Mapping[str, Any]
    converted: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Decision:
    """What the rules say, and why; `rule` is the pattern that decided, or None."""

    action: Action
    reason: str
    rule: str | None = None


def parse_pattern(text: str) -> Pattern:
    """Read `name`, a glob of names, or `name(argument=glob)`. Raises ValueError that says what is expected."""
    found = _PATTERN.fullmatch(text)
    if found is None:
        raise ValueError(f"pattern '{text}' is not understood; write a tool's name, a glob, or name(argument=glob)")
    tool, argument = found["tool"], found["argument"]
    if set("[]!") & set(_BRACKETS.sub("", tool)):
        raise ValueError(f"pattern '{text}': the brackets in '{tool}' do not fit; write [abc] or [!abc]")
    return Pattern(text, tool, argument, found["glob"] or "")


class Rules:
    """The three lists of patterns, ready to decide. Raises ValueError for a pattern that cannot be read."""

    def __init__(self, *, deny: Sequence[str] = (), ask: Sequence[str] = (), allow: Sequence[str] = ()) -> None:
        self._deny = tuple(map(parse_pattern, deny))
        self._ask = tuple(map(parse_pattern, ask))
        self._allow = tuple(map(parse_pattern, allow))

    def decide(self, subject: Subject) -> Decision:
        """Say what is to become of a call."""
        for pattern in self._deny:
            if _matches(pattern, subject):
                return Decision("deny", f"the rule 'deny: {pattern.text}' forbids it", pattern.text)
        asks = [pattern for pattern in self._ask if _matches(pattern, subject)]
        allows = [pattern for pattern in self._allow if _allows(pattern, subject)]
        for with_argument in (True, False):
            for pattern in asks:
                if (pattern.argument is not None) is with_argument:
                    return Decision("ask", f"the rule 'ask: {pattern.text}' wants a person to see it", pattern.text)
            for pattern in allows:
                if (pattern.argument is not None) is with_argument:
                    return Decision("allow", f"the rule 'allow: {pattern.text}' lets it run", pattern.text)
        does = EFFECTS.get(subject.effect, subject.effect)
        if subject.effect == "reads":
            return Decision("allow", f"the tool only {does}")
        return Decision("ask", f"the tool {does}, and no rule allows it")


def _matches(pattern: Pattern, subject: Subject) -> bool:
    """Whether a `deny` or `ask` pattern is meant: by any way of writing the value, for code by any part of a chain."""
    if not fnmatchcase(subject.tool, pattern.tool):
        return False
    if pattern.argument is None:
        return True
    for text in _texts(pattern.argument, subject):
        ways = [text, posixpath.normpath(text)]
        if subject.effect == "runs_code":
            ways += [part.strip() for part in _OPERATORS.split(text)]
        if any(fnmatchcase(way, pattern.glob) for way in ways):
            return True
    return False


def _allows(pattern: Pattern, subject: Subject) -> bool:
    """Whether an `allow` pattern is meant: by every way of writing the value, and with nothing hidden in it."""
    if not fnmatchcase(subject.tool, pattern.tool):
        return False
    if pattern.argument is None:
        return True
    texts = list(_texts(pattern.argument, subject))
    if not texts or not all(fnmatchcase(text, pattern.glob) for text in texts):
        return False
    if subject.effect == "runs_code" and any(map(_OPERATORS.search, _strings(subject.arguments))):
        return False
    # 'docs/*' must not open 'docs/../secrets'.
    return pattern.glob == "*" or ".." in pattern.glob or not any(map(_PARENT.search, texts))


def _texts(argument: str, subject: Subject) -> Iterator[str]:
    if argument in subject.arguments:
        yield _text(subject.arguments[argument])
        if argument in subject.converted:
            yield subject.converted[argument]


def _text(value: Any) -> str:
    """A value as the globs see it: a list of texts as a command line, what is no text as JSON."""
    if isinstance(value, str):
        return value
    if isinstance(value, list | tuple) and value and all(isinstance(item, str) for item in value):
        return " ".join(value)
    return json.dumps(value, ensure_ascii=False)


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield str(key)
            yield from _strings(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _strings(item)
