"""How much work and memory something took, told without a clock: Python calls, and the most that was allocated."""

from __future__ import annotations

import sys
import tracemalloc
from collections.abc import Callable
from typing import Any

from checks.tally import count

MEGABYTE = 1_000_000


class TooMuch(BaseException):
    """More calls than allowed; no `except Exception` of what is measured can hide it."""


def within_calls(most: int, use: Callable[[], Any]) -> Any:
    """What `use` gives or raises; fails when it takes more than `most` calls, those of C functions included."""
    calls = 0

    def profile(frame: Any, event: str, argument: Any) -> None:
        nonlocal calls
        calls += event in ("call", "c_call")
        if calls > most:
            raise TooMuch(f"more than {most:,} calls")

    before = sys.getprofile()
    sys.setprofile(profile)
    try:
        return use()
    finally:
        sys.setprofile(before)


def peak_bytes(use: Callable[[], Any]) -> int:
    """The most bytes that were allocated at once while `use` ran; what it raises is raised."""
    was_tracing = tracemalloc.is_tracing()
    if not was_tracing:
        tracemalloc.start()
    try:
        start = tracemalloc.get_traced_memory()[0]
        tracemalloc.reset_peak()
        use()
        return tracemalloc.get_traced_memory()[1] - start
    finally:
        if not was_tracing:
            tracemalloc.stop()


def counted() -> None:
    """One more example for the table of proofs."""
    count("fuzz examples")
