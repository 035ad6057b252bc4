"""Rows of text as a plain table."""

from __future__ import annotations

from collections.abc import Sequence

from hookagent.escaping import one_line


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return `rows` under `head`, columns two blanks apart, foreign characters escaped; nothing for no rows."""
    if not rows:
        return ""
    cells = [list(head), *([one_line(cell) for cell in row] for row in rows)]
    widths = [max(len(row[column]) for row in cells) for column in range(len(head))]
    lines = ("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in cells)
    return "\n".join(lines) + "\n"
