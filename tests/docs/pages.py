"""The pages of the documentation: which there are, which of them are generated, and the blocks in them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from sybil import Document, Region
from sybil.parsers.markdown.lexers import RawFencedCodeBlockLexer

ROOT = Path(__file__).resolve().parents[2]
GENERATED = ROOT / "docs" / "reference"

_INFO = re.compile(r"(?P<language>\w*)[^\n]*$\n", re.MULTILINE)
_COMMENT = re.compile(r"<!--\s*(?P<word>[\w-]+)(?::\s*(?P<argument>.*?))?\s*-->\s*\Z")
_QUOTED = re.compile(r'next\s+"(?P<reason>.+)"')


class Block(NamedTuple):
    """A fenced block: its page, the line of its fence, its language and text, and what stands above it in comments.

    `skip` is the reason of a `<!-- skip: next "reason" -->`, `file` the name in a `<!-- file: name -->`; None: none.
    """

    page: Path
    line: int
    language: str
    text: str
    skip: str | None = None
    file: str | None = None

    @property
    def place(self) -> str:
        """Where it is, for people."""
        return f"{self.page.relative_to(ROOT)}:{self.line}"


def pages() -> list[Path]:
    """Every page that users read: the README and all of docs/."""
    return [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def written_pages() -> list[Path]:
    """The pages that people write; the others are generated, and compared as wholes."""
    return [page for page in pages() if GENERATED not in page.parents]


def blocks(page: Path) -> list[Block]:
    """The blocks of a page, in order."""
    document = Document.parse(str(page), _parse)
    return [example.parsed._replace(line=example.line) for example in document.examples()]


def prose(text: str) -> str:
    """The text with everything in fences and comments blanked, line for line."""
    kept = list(text)
    regions = list(RawFencedCodeBlockLexer(_INFO)(Document(text, "page")))
    for start, end in [(r.start, r.end) for r in regions] + [m.span() for m in re.finditer(r"(?s)<!--.*?-->", text)]:
        kept[start:end] = [" " if character != "\n" else "\n" for character in kept[start:end]]
    return "".join(kept)


def _parse(document: Document) -> Iterator[Region]:
    for region in RawFencedCodeBlockLexer(_INFO)(document):
        words = _comments_above(document.text[: region.start])
        skip = words.get("skip")
        reason = _QUOTED.fullmatch(skip) if skip is not None else None
        if skip is not None and reason is None:
            raise ValueError(f'{document.path}: {skip!r}: write <!-- skip: next "reason" -->')
        block = Block(
            Path(document.path),
            0,
            region.lexemes["language"],
            str(region.lexemes["source"]),
            reason["reason"] if reason is not None else None,
            words.get("file"),
        )
        yield Region(region.start, region.end, block, lambda example: None)


def _comments_above(text: str) -> dict[str, str]:
    """The comments directly above a block, by their word."""
    found: dict[str, str] = {}
    while (comment := _COMMENT.search(text)) is not None:
        found[comment["word"]] = comment["argument"] or ""
        text = text[: comment.start()]
    return found
