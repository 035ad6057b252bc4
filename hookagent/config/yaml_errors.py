"""PyYAML's complaints in our words.

PyYAML quotes what it found, which may be part of a secret (an unquoted password that starts with `*` is an
"undefined alias"), and speaks of tokens and blocks. So its texts are recognised and never passed on.
"""

from __future__ import annotations

import re

import yaml

from hookagent.config.problems import Place

# The first entry whose pattern is part of PyYAML's text wins.
_TEXTS: tuple[tuple[str, str], ...] = (
    (r"found character '\t'", "a tab where spaces are expected; indent with spaces"),
    ("that cannot start any token", "this character cannot start a value; put the value in quotes"),
    (
        "found undefined alias",
        "a '*' refers to something that has no '&' name; put text that starts with '*' in quotes",
    ),
    ("found duplicate anchor", "this '&' name is given twice; rename one of them"),
    ("expected a single document", "a second document starts here; one file holds one configuration"),
    ("found unexpected document separator", "the text in quotes is not closed{opened}; add the closing quote"),
    ("mapping values are not allowed", "a ':' that cannot stand here; put text that holds ': ' in quotes"),
    ("mapping keys are not allowed", "a '?' that cannot stand here; put text that starts with '?' in quotes"),
    ("sequence entries are not allowed", "a '-' that cannot stand here; put each list item on a line of its own"),
    ("could not find expected ':'", "expected ':' after the key{opened}; or is the line before it not finished?"),
    ("expected ',' or ']'", "the list in [ ] is not closed{opened}; add ']' or ','"),
    ("expected ',' or '}'", "the mapping in {{ }} is not closed{opened}; add '}}' or ','"),
    ("found unknown escape character", "unknown escape in double quotes; write '\\\\' for '\\', or use single quotes"),
    ("expected escape sequence", "an escape in double quotes is not complete; write '\\\\' for '\\'"),
    ("indentation indicator", "a '|' or '>' is followed by something unexpected; put the text on the next line"),
    ("expected a comment or a line break", "unexpected text behind '|', '>' or '%'; put the text on the next line"),
    ("found undefined tag handle", "a '!' that cannot stand here; put text that starts with '!' in quotes"),
    ("tag", "a '!' that cannot stand here; put text that starts with '!' in quotes"),
    ("URI", "a '!' that cannot stand here; put text that starts with '!' in quotes"),
    ("directive", "a line that starts with '%' is not text; put it in quotes"),
    ("incompatible YAML document", "this YAML version is not known; remove the '%YAML' line"),
    ("scanning an a", "a '&' or '*' without a proper name; put text that starts with it in quotes"),
    ("expected <block end>", "this does not fit what stands before it; check the indentation and the quotes"),
    ("expected the node content", "a value is missing here"),
    ("expected '<document start>'", "unexpected text behind the end of the configuration; check the indentation"),
)
_VARIABLE_IN_BRACES = re.compile(r"\{[^\n'\"]*[:,\[][ ]*\$\{")


def explain(error: yaml.YAMLError, file: str, text: str) -> tuple[Place, str]:
    """Return the place and the message for an error of PyYAML in `text`; no content of the file is in it."""
    if not isinstance(error, yaml.MarkedYAMLError):
        return Place(file), "this is not valid YAML"
    mark = error.problem_mark or error.context_mark
    place = Place(file, mark.line + 1, mark.column + 1) if mark else Place(file)
    if error.problem == "found unexpected end of stream" and error.context:
        message = "the text in quotes is not closed{opened}; add the closing quote"
    else:
        said = f"{error.context or ''} {error.problem or ''}"
        message = next((ours for theirs, ours in _TEXTS if theirs in said), "this is not valid YAML; check the line")
    hint = "; '${...}' inside { } must be in quotes" if mark and _open_variable(text, mark.line) else ""
    return place, message.format(opened=_opened(error)) + hint


def _open_variable(text: str, line: int) -> bool:
    lines = text.split("\n")
    return line < len(lines) and _VARIABLE_IN_BRACES.search(lines[line]) is not None


def _opened(error: yaml.MarkedYAMLError) -> str:
    start = error.context_mark
    if start is None or error.problem_mark is None:
        return ""
    return f" (it starts on line {start.line + 1}, column {start.column + 1})"
