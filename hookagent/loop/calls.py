"""One call on its way through a round: what the model sent, what the gates said, what will run."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Protocol

from hookagent.frozen import FrozenDict, JsonValue, freeze, thaw
from hookagent.messages import StopReason, ToolCall, ToolResult
from hookagent.pending import PendingCall
from hookagent.tools.arguments import ArgumentsError
from hookagent.tools.registry import ToolRegistry
from hookagent.tools.tool import Tool
from hookagent.verdicts import Amend, Deny, Stop, Suspend, Verdict, stricter

_CUT_TEXTS = {
    "length": (
        "not run: the reply was cut by the output limit, so this call may be incomplete. "
        "answer with less text, or split the work into smaller calls"
    ),
    "too_long": "not run: the reply was cut where the context window ended, so this call may be incomplete",
    "refusal": "not run: the reply was stopped as a refusal, so its calls cannot be trusted",
    "filtered": "not run: the reply was stopped by a filter, so its calls cannot be trusted",
}


_RESTORED = ("original", "verdict", "by", "asked_by", "amended_by", "edited_by", "answered", "gated", "result")


class OpenCall(Protocol):
    """What a session on disk knows of a call that waits; its fields are those of `CallState`."""

    @property
    def call(self) -> ToolCall:
        """The call, with the arguments as it would run."""


class CallState:
    """A call of the open round.

    `call` has the arguments as they would run, `original` as the model sent them; `problem` says why it
    cannot run; `verdict` is the strictest so far and `by` the plugin that gave it. `amended_by` is the gate
    (plugin and hook) that changed the arguments last, `edited_by` the plugin that did so in answer to a
    `Suspend`; `gated` says that `before_each_tool` was asked, `asked` which plugins were asked for an answer,
    `answered` that one said yes; `round_saw` and `looked_at` are the call as `before_tools` and then all gates
    saw it once more; `raised` is what the tool raised below around hooks.
    """

    # Most calls need hardly any of it, so what is not said stands here once for all of them.
    tool: Tool | None = None
    cut = False
    problem: str | None = None
    not_found = False
    keywords: dict[str, Any] | None = None
    verdict: Verdict | None = None
    by = ""
    asked_by: tuple[tuple[str, str], ...] = ()
    asked: tuple[str, ...] = ()
    answered = False
    amended_by: tuple[str, str] | None = None
    edited_by: str | None = None
    gated = False
    round_saw: ToolCall | None = None
    looked_at: ToolCall | None = None
    started = False
    raised: BaseException | None = None
    result: ToolResult | None = None

    def __init__(self, call: ToolCall) -> None:
        self.call = call
        self.original = call

    @classmethod
    def restored(cls, known: OpenCall) -> CallState:
        """A call of a round that waits, as a session on disk knows it."""
        state = cls(known.call)
        for name in _RESTORED:
            setattr(state, name, getattr(known, name))
        return state

    def prepare(self, registry: ToolRegistry) -> None:
        """Find the tool and validate the arguments; what fails becomes `problem`."""
        call = self.call
        tool = self.tool = registry.get(call.name)
        if self.cut:
            return
        self.not_found = tool is None
        if tool is None:
            self.problem = registry.unknown_tool_text(call.name)
        elif call.arguments is None:
            problem = call.problem or "not a JSON object"
            self.problem = f"arguments cannot be understood: {problem}\nexpected: {tool.expected}"
        else:
            try:
                self.keywords = tool.validate(call.arguments)
                self.problem = None
            except ArgumentsError as error:
                self.problem = str(error)

    def amend(self, arguments: Mapping[str, Any]) -> bool:
        """Take other arguments; whether that changed anything.

        Raises ArgumentsError when they do not fit the tool, TypeError when they are not plain JSON.
        """
        fitting = self._fitting(arguments)
        if fitting is None:
            return False
        frozen, self.keywords = fitting
        self.call = replace(self.call, arguments=frozen, raw=None, problem=None)
        self.problem = None
        return True

    def would_change(self, arguments: Mapping[str, Any]) -> bool:
        """Whether `amend` would change anything; raises what it raises."""
        return self._fitting(arguments) is not None

    def _fitting(self, arguments: Mapping[str, Any]) -> tuple[FrozenDict, dict[str, Any]] | None:
        frozen: FrozenDict = freeze(thaw(freeze(arguments)))  # a copy through and through, whoever made it
        if self.tool is None or self.cut or same_json(frozen, self.call.arguments):
            return None
        return frozen, self.tool.validate(frozen)

    @property
    def changed(self) -> bool:
        """Whether it would run with other arguments than the model sent."""
        return self.call is not self.original and not same_json(self.call.arguments, self.original.arguments)

    def judge(self, verdict: Verdict, plugin: str) -> None:
        """Add a verdict (not an `Amend`); the strictest holds.

        A `Suspend` on what cannot run is dropped, and so is one on a call that was answered for already.
        """
        if isinstance(verdict, Suspend):
            if self.problem is not None or self.answered:
                return
            if (plugin, verdict.reason) not in self.asked_by:
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
        return PendingCall(self.call, self.tool, self.asked_by, self.original if self.changed else None)

    def refusal(self) -> ToolResult | None:
        """The result of a call that will not run: a problem, or a `Deny`; None for any other."""
        if self.verdict is None and self.problem is None:
            return None
        if isinstance(self.verdict, Deny):
            text = f"denied by '{self.by}': {self.verdict.reason}"
            return ToolResult(text, True, "denied", self.call.id)
        if self.problem is not None and not isinstance(self.verdict, Stop):
            error_type = "UnknownTool" if self.not_found else "CutReply" if self.cut else "BadArguments"
            return ToolResult(self.problem, True, "not_run" if self.cut else "error", self.call.id, error_type)
        return None


def same_json(first: JsonValue, second: JsonValue) -> bool:
    """Whether two JSON values are the same; 1, 1.0 and true are not, though Python calls them equal."""
    return bool(first == second) and json.dumps(first, sort_keys=True) == json.dumps(second, sort_keys=True)


def call_states(calls: Sequence[ToolCall], stop_reason: StopReason, registry: ToolRegistry) -> list[CallState]:
    """The calls of a reply, found and validated; none of a cut reply can run."""
    cut = _CUT_TEXTS.get(stop_reason)
    states = []
    for call in calls:
        state = CallState(call)
        if cut is not None:
            state.cut, state.problem = True, cut
        state.prepare(registry)
        states.append(state)
    return states
