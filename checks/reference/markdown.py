"""Small pieces of Markdown: tables, docstrings, signatures."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any

_TOPIC = re.compile(r'\((?:see )?(?:the )?design[^()"]*"(?P<topic>[^"]+)"[^()]*\)')
_DESIGN = "../explanation/design.md"


def anchor(heading: str) -> str:
    """The anchor that a forge makes of a heading."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table; line breaks and bars in cells are made harmless."""
    lines = [_row(head), _row(["---"] * len(head)), *(_row(row) for row in rows)]
    return "\n".join(lines) + "\n"


def doc(thing: Any, fallback: str = "") -> str:
    """The docstring, with references to the design made into links; `fallback` where there is none of its own."""
    own = getattr(thing, "__doc__", None)
    return linked(inspect.cleandoc(own)) if own else fallback


def linked(text: str) -> str:
    """Make references to topics of the design into links."""

    def link(found: re.Match[str]) -> str:
        topic = " ".join(found["topic"].split())
        return f'([design, "{topic}"]({_DESIGN}#{anchor(topic.partition(",")[0])}))'

    return _TOPIC.sub(link, text)


def signature(name: str, function: Callable[..., Any], *, bound: bool = False, width: int = 100) -> str:
    """`name(arguments) -> result`, one argument a line when it is long; `bound` leaves out the first argument."""
    found = inspect.signature(function)
    parameters = list(found.parameters.values())
    if bound and parameters:
        parameters = parameters[1:]
    found = found.replace(parameters=[p.replace(default=_shown(p.default)) for p in parameters])
    text = f"{name}{_plain(str(found))}"
    if len(text) <= width:
        return text
    inside = [_plain(str(p)) for p in found.parameters.values()]
    keyword = next((i for i, p in enumerate(found.parameters.values()) if p.kind is p.KEYWORD_ONLY), None)
    if keyword is not None:
        inside.insert(keyword, "*")
    returns = f" -> {_annotation(found.return_annotation)}" if found.return_annotation is not found.empty else ""
    return f"{name}(\n" + "".join(f"    {one},\n" for one in inside) + f"){returns}"


def code(text: str, language: str = "python") -> str:
    """A fenced block."""
    return f"```{language}\n{text}\n```\n"


class _Shown:
    """A default value as a reader may write it."""

    def __init__(self, text: str) -> None:
        self._text = text

    def __repr__(self) -> str:
        return self._text


def _shown(default: Any) -> Any:
    if default is inspect.Parameter.empty or isinstance(default, str | int | float | bool | tuple | None):
        return default
    return _Shown("...")


def _plain(text: str) -> str:
    text = re.sub(r"ForwardRef\('([^']*)'\)", r"\1", text)
    return re.sub(r": '([^']*)'", r": \1", re.sub(r"-> '([^']*)'", r"-> \1", text))


def _annotation(annotation: Any) -> str:
    return annotation if isinstance(annotation, str) else getattr(annotation, "__name__", str(annotation))


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(" ".join(cell.split()).replace("|", "\\|") for cell in cells) + " |"
