"""What the strict server answers: vendor-neutral replies, faults, and the script they come from."""

from __future__ import annotations

import enum
import json
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

Stop = Literal["end", "tool_use", "length", "stop_sequence", "content_filter", "refusal", "pause"]
FaultKind = Literal["status", "error_event", "cut", "drop", "stall", "hold"]


class ScriptError(Exception):
    """The script cannot answer: it ran out, or asks for something that the wire form does not have."""


class NoId(enum.Enum):
    """Ids as faulty servers send them: the field left out, or null. An empty id is the text ''."""

    MISSING = "missing"
    NULL = "null"


@dataclass(frozen=True, slots=True)
class Usage:
    """Four token counts that do not overlap, and how many of the output tokens were thinking.

    Each wire form reports them its own way: Anthropic side by side, OpenAI with the cached ones inside the input.
    """

    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    thinking_tokens: int = 0


@dataclass(frozen=True, slots=True)
class Call:
    """A tool call. Arguments given as a text are sent as they are, also when they are no JSON; no id: a fresh one."""

    name: str
    arguments: Mapping[str, Any] | str = field(default_factory=dict)
    id: str | NoId | None = None

    def arguments_text(self) -> str:
        """Give the arguments as the text that streams and the OpenAI wires carry."""
        return self.arguments if isinstance(self.arguments, str) else json.dumps(self.arguments, ensure_ascii=False)


@dataclass(frozen=True, slots=True)
class Thinking:
    """Thinking ahead of, or between, the visible parts. Redacted thinking shows no text."""

    text: str
    redacted: bool = False


@dataclass(frozen=True, slots=True)
class ServerCall:
    """A tool call that the vendor runs itself (Anthropic only); without a result it is still going on."""

    name: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    id: str | None = None
    result: Sequence[Mapping[str, Any]] | None = None


Part = str | Call | Thinking | ServerCall


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """Something that goes wrong.

    `kind` says how: `status` (an HTTP error instead of an answer), `error_event` (the vendor's error event inside a
    stream that began with 200), `cut` (the stream ends in order, but without its closing events), `drop` (the
    connection breaks), `stall` (nothing more comes until `StrictServer.release()`), `hold` (the same from the headers
    on, which do not come either). `after` counts the stream events
    that still leave; None: all but the closing ones. Where a request does not stream, `error_event` is an HTTP error,
    and `cut` and `drop` break off half-way through the body.
    """

    kind: FaultKind = "status"
    status: int = 500
    message: str = "a fault made for this test"
    code: str | None = None
    retry_after: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    after: int | None = None


@dataclass(frozen=True, slots=True)
class Reply:
    """One answer of the model.

    The parts are thinking, text, calls, in this order, or `parts` where the order matters. `stop` is one of the neutral
    reasons, put into the vendor's word, or any other text, sent as it is; None: what the parts say. `usage` None: an
    estimate by characters. `raw` is sent instead of a rendered answer: a text as the literal body, an object as JSON
    (or as one stream event), a list of objects as stream events.

    Raises ValueError when `text`, `thinking` or `calls` are given beside `parts`, or a fault that leaves no reply.
    """

    text: str = ""
    calls: Sequence[Call] = ()
    thinking: str | Thinking | None = None
    stop: Stop | str | None = None
    usage: Usage | None = None
    parts: Sequence[Part] = ()
    fault: Fault | None = None
    raw: str | Mapping[str, Any] | Sequence[Mapping[str, Any]] | None = None

    def __post_init__(self) -> None:
        if self.parts and (self.text or self.calls or self.thinking is not None):
            raise ValueError("Reply: parts cannot be given beside text, calls or thinking")
        if self.fault is not None and self.fault.kind == "status":
            raise ValueError("Reply: a fault of kind 'status' leaves no reply; put the Fault itself into the script")

    def all_parts(self) -> list[Part]:
        """Give the parts in the order in which they are sent."""
        if self.parts:
            return list(self.parts)
        parts: list[Part] = []
        if self.thinking is not None:
            parts.append(Thinking(self.thinking) if isinstance(self.thinking, str) else self.thinking)
        if self.text:
            parts.append(self.text)
        return [*parts, *self.calls]

    def neutral_stop(self) -> str:
        """Give the stop reason, deduced from the parts where none is set."""
        if self.stop is not None:
            return self.stop
        return "tool_use" if any(isinstance(part, Call) for part in self.all_parts()) else "end"


Answer = Reply | Fault
Step = Answer | Callable[[Mapping[str, Any]], Answer]


class Script:
    """The answers in order; safe to use from several threads.

    A list is used up from its start, each callable in it once, with the request body; a single callable answers all.
    """

    def __init__(self, replies: Sequence[Step] | Callable[[Mapping[str, Any]], Answer]) -> None:
        self._always = replies if callable(replies) else None
        self._steps = [] if callable(replies) else list(replies)
        self._used = 0
        self._lock = threading.Lock()

    @property
    def remaining(self) -> int:
        """How many replies of the list were not asked for."""
        return len(self._steps) - self._used

    def extend(self, replies: Sequence[Step]) -> None:
        """Add replies behind the last one."""
        with self._lock:
            self._steps.extend(replies)

    def next(self, body: Mapping[str, Any]) -> Answer:
        """Give the answer to a request; raises `ScriptError` when there is none left."""
        if self._always is not None:
            return self._always(body)
        with self._lock:
            if self._used >= len(self._steps):
                raise ScriptError(f"the script has no reply left: all {self._used} were used")
            step = self._steps[self._used]
            self._used += 1
        return step(body) if callable(step) else step
