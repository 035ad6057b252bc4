"""What happened, as values: frozen, numbered from 1 in a session, timed.

Every event begins with the same four fields: `number`, `seconds` (the run's monotonic clock), `turn` and
`iteration` (0 outside of one). `type` is the word that `--json` prints. The trace keeps all of them but
`MessageDelta`, `ToolProgress` and plain hook calls.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from hookagent.messages import AssistantMessage, ToolCall, ToolResult, UserMessage
from hookagent.usage import Usage


class AgentStart(NamedTuple):
    """A `run` began."""

    type = "agent_start"
    number: int
    seconds: float
    turn: int
    iteration: int
    agent: str
    model: str


class TurnStart(NamedTuple):
    """A turn began; `prompt` is its first message's text, empty when a waiting session is resumed."""

    type = "turn_start"
    number: int
    seconds: float
    turn: int
    iteration: int
    prompt: str


class IterationStart(NamedTuple):
    """An iteration began; `maximum` is the limit of the run, or None."""

    type = "iteration_start"
    number: int
    seconds: float
    turn: int
    iteration: int
    maximum: int | None


class RequestSent(NamedTuple):
    """A request left for the model: how many blocks of the transcript's, how many tools, which plugin shaped it last."""

    type = "request"
    number: int
    seconds: float
    turn: int
    iteration: int
    blocks: int
    tools: int
    shaped_by: str | None


class ResponseReceived(NamedTuple):
    """A reply came whole; `usage` is this call's alone."""

    type = "response"
    number: int
    seconds: float
    turn: int
    iteration: int
    usage: Usage
    stop_reason: str
    milliseconds: float


class MessageStart(NamedTuple):
    """A message begins: of the model (`assistant`), or one that is being stored (`user`)."""

    type = "message_start"
    number: int
    seconds: float
    turn: int
    iteration: int
    role: str


class MessageDelta(NamedTuple):
    """A piece of a streamed reply; `kind` is "text", "thinking" or "arguments". Not in the trace."""

    type = "message_delta"
    number: int
    seconds: float
    turn: int
    iteration: int
    kind: str
    text: str


class MessageEnd(NamedTuple):
    """A message is whole and stored (or, in an open round, held)."""

    type = "message_end"
    number: int
    seconds: float
    turn: int
    iteration: int
    message: UserMessage | AssistantMessage


class MessageReplaced(NamedTuple):
    """What was streamed so far of this reply is void: a second attempt follows, or a plugin replaced it."""

    type = "message_replaced"
    number: int
    seconds: float
    turn: int
    iteration: int
    reason: str


class ToolStart(NamedTuple):
    """A call is about to run, with exactly these arguments."""

    type = "tool_start"
    number: int
    seconds: float
    turn: int
    iteration: int
    call: ToolCall


class ToolProgress(NamedTuple):
    """A running tool reported something. Not in the trace."""

    type = "tool_progress"
    number: int
    seconds: float
    turn: int
    iteration: int
    call: ToolCall
    value: Any


class ToolEnd(NamedTuple):
    """A call has its result, whatever the outcome; a call that never ran has no `ToolStart`."""

    type = "tool_end"
    number: int
    seconds: float
    turn: int
    iteration: int
    call: ToolCall
    result: ToolResult


class HookReport(NamedTuple):
    """A hook implementation returned something, failed, or was slow; all others are only counted.

    `outcome` is "returned", "failed", "overran" or "slow"; `detail` a short text.
    """

    type = "hook"
    number: int
    seconds: float
    turn: int
    iteration: int
    plugin: str
    hook: str
    outcome: str
    detail: str
    milliseconds: float


class Compaction(NamedTuple):
    """A request was made shorter: blocks before and after, and by whom."""

    type = "compaction"
    number: int
    seconds: float
    turn: int
    iteration: int
    plugin: str
    blocks_before: int
    blocks_after: int
    summary: bool


class Retry(NamedTuple):
    """A model call failed in a way that may pass; it is tried again after `wait_seconds`."""

    type = "retry"
    number: int
    seconds: float
    turn: int
    iteration: int
    attempt: int
    wait_seconds: float
    error: str


class ErrorEvent(NamedTuple):
    """Something failed: `kind` is "tool", "model", "plugin", "request" or "listener"; `source` names the culprit."""

    type = "error"
    number: int
    seconds: float
    turn: int
    iteration: int
    kind: str
    source: str
    message: str


class TurnEnd(NamedTuple):
    """A turn ended with a named outcome; `usage` is this turn's alone."""

    type = "turn_end"
    number: int
    seconds: float
    turn: int
    iteration: int
    status: str
    answer: str
    usage: Usage


class AgentEnd(NamedTuple):
    """A `run` ended; `usage` is the run's."""

    type = "agent_end"
    number: int
    seconds: float
    turn: int
    iteration: int
    status: str
    answer: str
    usage: Usage


Event = (
    AgentStart
    | TurnStart
    | IterationStart
    | RequestSent
    | ResponseReceived
    | MessageStart
    | MessageDelta
    | MessageEnd
    | MessageReplaced
    | ToolStart
    | ToolProgress
    | ToolEnd
    | HookReport
    | Compaction
    | Retry
    | ErrorEvent
    | TurnEnd
    | AgentEnd
)

UNTRACED: frozenset[str] = frozenset({"message_delta", "tool_progress"})
"""The types that are announced but not kept."""
