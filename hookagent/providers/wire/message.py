"""A message in a vendor's form, encoded once and checked once."""

from __future__ import annotations

from typing import Any, NamedTuple


class Facts(NamedTuple):
    """What a checker found in one message; the seams between messages are judged by it alone.

    `role` is the wire's word, or the item's type; `calls` the ids of its tool calls, `results` the ids that it
    answers, `open` whether the vendor itself is still at work in it.
    """

    role: str
    calls: tuple[str, ...] = ()
    results: tuple[str, ...] = ()
    open: bool = False


class WireMessage(dict[str, Any]):
    """A message (or item) as it is sent. Shared between requests, so nobody changes one after it was made.

    `facts` is None until the wire form's checker has passed it; `merged` is a neighbour and what the two became
    together; `paused` says that the vendor goes on with exactly this message, so that nothing may stand behind it,
    and `server_work` that there are calls or answers of tools in it that the vendor runs itself. `written` is its
    JSON, once it was needed.
    """

    __slots__ = ("facts", "merged", "paused", "server_work", "written")

    def __init__(self, *args: Any, **fields: Any) -> None:
        super().__init__(*args, **fields)
        self.facts: Facts | None = None
        self.merged: tuple[WireMessage, WireMessage] | None = None
        self.paused = False
        self.server_work = False
        self.written: bytes | None = None
