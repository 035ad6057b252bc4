"""What a docstring says of a function and of its parameters, in Google, NumPy and Sphinx style."""

from __future__ import annotations

import inspect
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Documentation:
    """`description` is the text without its sections; `parameters` maps a name to its whole description."""

    description: str
    parameters: dict[str, str]


def read_docstring(docstring: str | None) -> Documentation:
    """Read `docstring`, whatever its style; a docstring that no style fits is taken whole as the description."""
    if not docstring or not docstring.strip():
        return Documentation("", {})
    text = inspect.cleandoc(docstring)
    from docstring_parser import ParseError, parse

    try:
        parsed = parse(text)
    except ParseError:
        return Documentation(text.strip(), {})
    parameters: dict[str, str] = {}
    for parameter in parsed.params:
        description = (parameter.description or "").strip()
        if description:
            # NumPy style documents several parameters at once, as "first, second : int".
            for name in parameter.arg_name.split(","):
                parameters.setdefault(name.strip().lstrip("*"), description)
    return Documentation((parsed.description or "").strip(), parameters)
