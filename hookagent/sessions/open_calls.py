"""A call of a round that waits, with all that the gates said of it: what a resumed session goes on from."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hookagent.frozen import JsonValue
from hookagent.messages import ToolCall, ToolResult
from hookagent.sessions.errors import SessionError
from hookagent.sessions.fields import Fields
from hookagent.sessions.values import call_json, read_call, read_verdict, verdict_json
from hookagent.verdicts import Suspend, Verdict

if TYPE_CHECKING:
    from hookagent.loop.calls import CallState


@dataclass(frozen=True, slots=True)
class OpenCall:
    """A call of the open round, its fields named as those of the loop's `CallState`.

    `call` has the arguments as it would run, `original` as the model sent them; `verdict` is the strictest so far and
    `by` who gave it; `asked_by` pairs plugins with their reasons; `amended_by` is a plugin and a hook; `result` is set
    for the calls of a restored round that are done.
    """

    call: ToolCall
    original: ToolCall
    verdict: Verdict | None = None
    by: str = ""
    asked_by: tuple[tuple[str, str], ...] = ()
    amended_by: tuple[str, str] | None = None
    edited_by: str | None = None
    answered: bool = False
    gated: bool = False
    result: ToolResult | None = None

    @property
    def suspended(self) -> bool:
        """Whether it waits for an answer."""
        return self.result is None and isinstance(self.verdict, Suspend)


def open_calls(states: Iterable[CallState]) -> tuple[OpenCall, ...]:
    """The calls of a round that have no result yet, as the loop holds them."""
    return tuple(
        OpenCall(
            call=state.call,
            original=state.original,
            verdict=state.verdict,
            by=state.by,
            asked_by=state.asked_by,
            amended_by=state.amended_by,
            edited_by=state.edited_by,
            answered=state.answered,
            gated=state.gated,
        )
        for state in states
        if state.result is None
    )


def open_call_json(call: OpenCall) -> dict[str, Any]:
    """See `read_open_call`."""
    out: dict[str, Any] = {"original": call_json(call.original)}
    if call.call is not call.original:  # equal values need not be the same JSON: 1, 1.0 and true
        out["call"] = call_json(call.call)
    if call.verdict is not None:
        out["verdict"] = verdict_json(call.verdict)
    if call.asked_by:
        out["asked_by"] = [list(pair) for pair in call.asked_by]
    if call.amended_by is not None:
        out["amended_by"] = list(call.amended_by)
    for name in ("by", "edited_by", "answered", "gated"):
        if getattr(call, name):
            out[name] = getattr(call, name)
    return out


def read_open_call(value: JsonValue) -> OpenCall:
    """Read what `open_call_json` wrote."""
    fields = Fields(value, "open call")
    original = read_call(fields.json("original"))
    return OpenCall(
        call=read_call(fields.json("call")) if fields.has("call") else original,
        original=original,
        verdict=read_verdict(fields.json("verdict")) if fields.has("verdict") else None,
        by=fields.text("by", ""),
        asked_by=tuple(_pair(pair) for pair in fields.items("asked_by")),
        amended_by=_pair(fields.json("amended_by")) if fields.has("amended_by") else None,
        edited_by=fields.optional_text("edited_by"),
        answered=fields.flag("answered", False),
        gated=fields.flag("gated", False),
    )


def _pair(value: JsonValue) -> tuple[str, str]:
    if not isinstance(value, list) or len(value) != 2 or not all(isinstance(one, str) for one in value):
        raise SessionError("open call: expected a pair of texts")
    return value[0], value[1]
