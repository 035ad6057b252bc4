"""What happened, as values: frozen, numbered from 1 in a session, timed.

Every event begins with the same four fields: `number`, `seconds` (the run's monotonic clock), `turn` and
`iteration` (0 outside of one). `type` is the word that `--json` prints. The trace keeps all of them but
`MessageDelta`, `ToolProgress`, `Nested` and plain hook calls.
"""

# ruff: noqa: D102 - `type` means the same everywhere and is explained once, above

from __future__ import annotations

from typing import Any, Literal, NamedTuple

from hookagent.messages import AssistantMessage, ToolCall, ToolResult, UserMessage
from hookagent.nested_event import Nested as Nested
from hookagent.usage import Usage


class AgentStart(NamedTuple):
    """A `run` began."""

    number: int
    seconds: float
    turn: int
    iteration: int
    agent: str
    model: str

    @property
    def type(self) -> Literal["agent_start"]:
        return "agent_start"


class TurnStart(NamedTuple):
    """A turn began; `prompt` is its first message's text, empty when a waiting session is resumed."""

    number: int
    seconds: float
    turn: int
    iteration: int
    prompt: str

    @property
    def type(self) -> Literal["turn_start"]:
        return "turn_start"


class IterationStart(NamedTuple):
    """An iteration began; `maximum` is the limit of the run, or None."""

    number: int
    seconds: float
    turn: int
    iteration: int
    maximum: int | None

    @property
    def type(self) -> Literal["iteration_start"]:
        return "iteration_start"


class RequestSent(NamedTuple):
    """A request goes to the model: how many blocks and tools it has, which plugin shaped it last.

    It is said once per model call, just before `wrap_model_call`: also where such a hook then answers by itself (from
    a cache), and nothing leaves, or passes something else on, or the same several times.
    """

    number: int
    seconds: float
    turn: int
    iteration: int
    blocks: int
    tools: int
    shaped_by: str | None

    @property
    def type(self) -> Literal["request"]:
        return "request"


class ResponseReceived(NamedTuple):
    """A reply came whole; `usage` is this call's alone."""

    number: int
    seconds: float
    turn: int
    iteration: int
    usage: Usage
    stop_reason: str
    milliseconds: float

    @property
    def type(self) -> Literal["response"]:
        return "response"


class MessageStart(NamedTuple):
    """A message begins: of the model (`assistant`), or one that is being stored (`user`)."""

    number: int
    seconds: float
    turn: int
    iteration: int
    role: str

    @property
    def type(self) -> Literal["message_start"]:
        return "message_start"


class MessageDelta(NamedTuple):
    """A piece of a streamed reply; `kind` is "text", "thinking" or "arguments". Not in the trace."""

    number: int
    seconds: float
    turn: int
    iteration: int
    kind: str
    text: str

    @property
    def type(self) -> Literal["message_delta"]:
        return "message_delta"


class MessageEnd(NamedTuple):
    """A message is whole and stored (or, in an open round, held)."""

    number: int
    seconds: float
    turn: int
    iteration: int
    message: UserMessage | AssistantMessage

    @property
    def type(self) -> Literal["message_end"]:
        return "message_end"


class MessageReplaced(NamedTuple):
    """What was streamed so far of this reply is void: a second attempt follows, or a plugin replaced it."""

    number: int
    seconds: float
    turn: int
    iteration: int
    reason: str

    @property
    def type(self) -> Literal["message_replaced"]:
        return "message_replaced"


class ToolStart(NamedTuple):
    """A call is about to run, with exactly these arguments."""

    number: int
    seconds: float
    turn: int
    iteration: int
    call: ToolCall

    @property
    def type(self) -> Literal["tool_start"]:
        return "tool_start"


class ResolveStart(NamedTuple):
    """Calls are suspended, and somebody is about to be asked for an answer: what follows may take a person's time."""

    number: int
    seconds: float
    turn: int
    iteration: int
    calls: tuple[ToolCall, ...]

    @property
    def type(self) -> Literal["resolve_start"]:
        return "resolve_start"


class ResolveEnd(NamedTuple):
    """The asking is over; `open` are the ids of the calls that nobody answered."""

    number: int
    seconds: float
    turn: int
    iteration: int
    open: tuple[str, ...]

    @property
    def type(self) -> Literal["resolve_end"]:
        return "resolve_end"


class ToolProgress(NamedTuple):
    """A running tool reported something. Not in the trace."""

    number: int
    seconds: float
    turn: int
    iteration: int
    call: ToolCall
    value: Any

    @property
    def type(self) -> Literal["tool_progress"]:
        return "tool_progress"


class ToolEnd(NamedTuple):
    """A call has its result, whatever the outcome; a call that never ran has no `ToolStart`."""

    number: int
    seconds: float
    turn: int
    iteration: int
    call: ToolCall
    result: ToolResult

    @property
    def type(self) -> Literal["tool_end"]:
        return "tool_end"


class HookReport(NamedTuple):
    """A hook implementation returned something, failed, or was slow; all others are only counted.

    `outcome` is "returned", "failed", "overran" or "slow"; `detail` a short text.
    """

    number: int
    seconds: float
    turn: int
    iteration: int
    plugin: str
    hook: str
    outcome: str
    detail: str
    milliseconds: float

    @property
    def type(self) -> Literal["hook"]:
        return "hook"


class Compaction(NamedTuple):
    """What is sent was made shorter than before: blocks before and after, by whom, and what stands in their place.

    `first_kept` is the transcript index from which on all blocks are sent; told once, not with each request.
    """

    number: int
    seconds: float
    turn: int
    iteration: int
    plugin: str
    blocks_before: int
    blocks_after: int
    summary: bool
    first_kept: int = 0
    summary_text: str | None = None

    @property
    def type(self) -> Literal["compaction"]:
        return "compaction"


class Retry(NamedTuple):
    """A model call failed in a way that may pass; it is tried again after `wait_seconds`."""

    number: int
    seconds: float
    turn: int
    iteration: int
    attempt: int
    wait_seconds: float
    error: str

    @property
    def type(self) -> Literal["retry"]:
        return "retry"


class ErrorEvent(NamedTuple):
    """Something failed: `kind` is "tool", "model", "plugin" or "listener"; `source` names the culprit."""

    number: int
    seconds: float
    turn: int
    iteration: int
    kind: str
    source: str
    message: str

    @property
    def type(self) -> Literal["error"]:
        return "error"


class TurnEnd(NamedTuple):
    """A turn ended with a named outcome; `usage` is this turn's alone."""

    number: int
    seconds: float
    turn: int
    iteration: int
    status: str
    answer: str
    usage: Usage

    @property
    def type(self) -> Literal["turn_end"]:
        return "turn_end"


class AgentEnd(NamedTuple):
    """A `run` ended; `usage` is the run's."""

    number: int
    seconds: float
    turn: int
    iteration: int
    status: str
    answer: str
    usage: Usage

    @property
    def type(self) -> Literal["agent_end"]:
        return "agent_end"


# fmt: off
Event = (
    AgentStart | TurnStart | IterationStart | RequestSent | ResponseReceived | MessageStart | MessageDelta
    | MessageEnd | MessageReplaced | ToolStart | ResolveStart | ResolveEnd | ToolProgress | ToolEnd
    | Nested | HookReport | Compaction | Retry | ErrorEvent | TurnEnd | AgentEnd
)
# fmt: on

UNTRACED: frozenset[type] = frozenset({MessageDelta, ToolProgress, Nested})
"""The events that are announced but not kept in the trace."""
