"""A number and what it counts, in words."""

from __future__ import annotations


def counted(count: int, noun: str) -> str:
    """Return "1 call", "2 calls"; `noun` is the singular of a word whose plural ends in "s"."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
