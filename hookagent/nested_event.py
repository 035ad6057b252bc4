"""The event that stands for one of another agent: it belongs to `hookagent.events`, which it is a part of."""

# ruff: noqa: D102 - `type` means the same for all events and is explained there

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from hookagent.events import Event


class Nested(NamedTuple):
    """Something happened in an agent that runs inside of a tool of this one. Not in the trace: it is in the inner one.

    `event` is the inner agent's own event (deltas and progress are left out), `agent` and `session_id` say whose it
    is, `call_id` names the call whose tool the inner agent runs in.
    """

    number: int
    seconds: float
    turn: int
    iteration: int
    call_id: str
    agent: str
    session_id: str
    event: Event

    @property
    def type(self) -> Literal["nested"]:
        return "nested"
