"""What a gate may answer, and the value by which a hook changes what it was given.

No gate can say "allow": verdicts are collected and the strictest wins, `Stop` > `Deny` > `Suspend` >
`Amend` (design, "Hooks"). `Approve` exists only as the answer to a `Suspend`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Stop:
    """End the run; calls that wait get a result that says so."""

    reason: str


@dataclass(frozen=True, slots=True)
class Deny:
    """Refuse this call; the model reads `reason`. `unanswered`: nobody could be asked, so the run ends `refused`."""

    reason: str
    unanswered: bool = False


@dataclass(frozen=True, slots=True)
class Suspend:
    """The call needs an answer; `resolve_suspended` is asked for it, and without one the session waits."""

    reason: str


@dataclass(frozen=True, slots=True)
class Amend:
    """Run the call with these arguments instead; they are validated, and every other gate sees them."""

    arguments: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Approve:
    """The answer "yes" to a `Suspend`."""

    reason: str = ""


Verdict = Stop | Deny | Suspend | Amend
Answer = Approve | Deny | Amend | Stop

_FROM_MILD_TO_STRICT: tuple[type, ...] = (Amend, Suspend, Deny, Stop)


def strictness(verdict: Verdict | None) -> int:
    """Rank of a verdict, 0 (none) to 4 (`Stop`)."""
    return next((rank for rank, kind in enumerate(_FROM_MILD_TO_STRICT, 1) if isinstance(verdict, kind)), 0)


def stricter(first: Verdict | None, second: Verdict | None) -> Verdict | None:
    """The stricter of two verdicts; of two equally strict ones the first, but an unanswered `Deny` before another."""
    if strictness(second) > strictness(first):
        return second
    if isinstance(first, Deny) and isinstance(second, Deny) and second.unanswered and not first.unanswered:
        return second
    return first


@dataclass(frozen=True, slots=True)
class Replace:
    """Put `value` in the place of what the hook was given (where a hook may also add messages)."""

    value: Any
