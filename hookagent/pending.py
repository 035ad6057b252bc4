"""A call that waits for an answer, as `resolve_suspended` sees it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from hookagent.messages import ToolCall

if TYPE_CHECKING:
    from hookagent.tools.tool import Tool


@dataclass(frozen=True, slots=True)
class PendingCall:
    """One suspended call: `call` with its final arguments, the `tool` it would run, and who asked why.

    `asked_by` pairs a plugin's name with its reason, in list order; `original` is the call as the model
    sent it, where a gate amended it since.
    """

    call: ToolCall
    tool: Tool
    asked_by: tuple[tuple[str, str], ...]
    original: ToolCall | None = None
