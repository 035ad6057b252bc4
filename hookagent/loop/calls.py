"""One call on its way through a round: what the model sent, what the gates said, what will run."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from hookagent.frozen import freeze
from hookagent.messages import AssistantMessage, ToolCall, ToolResult
from hookagent.pending import PendingCall
from hookagent.tools.arguments import ArgumentsError
from hookagent.tools.registry import ToolRegistry
from hookagent.tools.tool import Tool
from hookagent.verdicts import Amend, Deny, Stop, Suspend, Verdict, stricter

CUT_TEXT = (
    "not run: the reply was cut by the output limit, so this call may be incomplete. "
    "answer with less text, or split the work into smaller calls"
)


class CallState:
    """A call of the open round.

    `call` has the arguments as they would run, `original` as the model sent them; `problem` says why it
    cannot run; `verdict` is the strictest so far and `by` the plugin that gave it.
    """

    __slots__ = (
        "amended_by",
        "asked_by",
        "by",
        "call",
        "edited_by",
        "keywords",
        "looked_at",
        "not_found",
        "original",
        "problem",
        "result",
        "tool",
        "verdict",
    )

    def __init__(self, call: ToolCall) -> None:
        self.call = call
        self.original = call
        self.tool: Tool | None = None
        self.problem: str | None = None
        self.not_found = False
        self.keywords: dict[str, Any] | None = None
        self.verdict: Verdict | None = None
        self.by = ""
        self.asked_by: tuple[tuple[str, str], ...] = ()
        self.amended_by: str | None = None
        self.edited_by: str | None = None
        self.looked_at: ToolCall | None = None
        self.result: ToolResult | None = None

    def prepare(self, registry: ToolRegistry, cut: bool = False) -> None:
        """Find the tool and validate the arguments; what fails becomes `problem`."""
        call = self.call
        self.tool = registry.get(call.name)
        self.keywords = None
        if cut:
            self.problem = CUT_TEXT
        elif self.tool is None:
            self.not_found = True
            self.problem = registry.unknown_tool_text(call.name)
        elif call.arguments is None:
            self.problem = f"arguments cannot be understood: {call.problem or 'not a JSON object'}"
        else:
            try:
                self.keywords = self.tool.validate(call.arguments)
                self.problem = None
            except ArgumentsError as error:
                self.problem = str(error)

    def amend(self, arguments: Any) -> bool:
        """Take other arguments; whether that changed anything.

        Raises ArgumentsError when they do not fit the tool, TypeError when they are not plain JSON.
        """
        frozen = freeze(arguments)
        if frozen == self.call.arguments or self.tool is None or self.problem == CUT_TEXT:
            return False
        self.keywords = self.tool.validate(frozen)
        self.call = replace(self.call, arguments=frozen, raw=None, problem=None)
        self.problem = None
        return True

    def judge(self, verdict: Verdict, plugin: str) -> None:
        """Add a verdict (not an `Amend`); the strictest holds. A `Suspend` on what cannot run is dropped."""
        if isinstance(verdict, Suspend):
            if self.edited_by is not None:
                return
            self.asked_by = (*self.asked_by, (plugin, verdict.reason))
        strictest = stricter(self.verdict, verdict)
        if strictest is not self.verdict:
            self.verdict, self.by = strictest, plugin

    @property
    def suspended(self) -> bool:
        """Whether it waits for an answer."""
        return isinstance(self.verdict, Suspend) and self.problem is None

    @property
    def may_run(self) -> bool:
        """Whether nothing stands in its way."""
        return self.problem is None and (self.verdict is None or isinstance(self.verdict, Amend))

    def pending(self) -> PendingCall:
        """How `resolve_suspended` sees it."""
        assert self.tool is not None
        original = self.original if self.original is not self.call else None
        return PendingCall(self.call, self.tool, self.asked_by, original)

    def refusal(self) -> ToolResult | None:
        """The result of a call that will not run: a problem, or a `Deny`; None for any other."""
        if isinstance(self.verdict, Deny):
            text = f"denied by '{self.by}': {self.verdict.reason}"
            return ToolResult(text, True, "denied", self.call.id)
        if self.problem is not None and not isinstance(self.verdict, Stop):
            error_type = "UnknownTool" if self.not_found else "CutReply" if self.problem == CUT_TEXT else "BadArguments"
            return ToolResult(
                self.problem, True, "not_run" if error_type == "CutReply" else "error", self.call.id, error_type
            )
        return None


def call_states(reply: AssistantMessage, registry: ToolRegistry) -> list[CallState]:
    """The calls of a reply, found and validated; none of a cut reply can run."""
    cut = reply.stop_reason == "length"
    states = [CallState(call) for call in reply.tool_calls]
    for state in states:
        state.prepare(registry, cut)
    return states
