"""The values a conversation is made of: messages, calls, results. Frozen, with slots, no pydantic.

They are vendor-neutral; each provider turns them into its own wire form. What only one vendor understands
(signed thinking, reasoning items, server tool parts) is kept whole and in place as a `ProviderPart`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any, Literal, get_args

from hookagent.frozen import FrozenDict, JsonValue
from hookagent.quick_values import made_quickly
from hookagent.usage import Usage

StopReason = Literal[
    "end", "tool_calls", "length", "stop_sequence", "refusal", "filtered", "pause", "too_long", "unknown"
]
"""Why a model stopped: a closed list. `length`: the output limit cut the reply. `pause`: the vendor wants the
same content back to go on. `unknown` is never taken for success when the text is empty."""

STOP_REASONS: frozenset[str] = frozenset(get_args(StopReason))

ResultStatus = Literal["ok", "error", "denied", "not_run", "interrupted"]
"""How a call ended. `error`: it ran and failed, or could not be understood. `denied`: a gate or a person
refused. `not_run`: the run ended before it started. `interrupted`: it was started and may have run."""

Via = Literal["prompt", "steer", "follow_up", "plugin"]


@dataclass(frozen=True, slots=True)
class Image:
    """An image in a user message: `data` is base64 text, `media_type` e.g. "image/png"."""

    data: str
    media_type: str


def kept_in(block: Any) -> dict[str, Any]:
    """Make the `wire_cache` of a block: the one thing in it that is no part of its value."""
    cache: dict[str, Any] = {}
    object.__setattr__(block, "_wire_cache", cache)
    return cache


@made_quickly
@dataclass(frozen=True, slots=True)
class UserMessage:
    """What a person, a queue or a plugin says to the model.

    `origin` is None for a person, else the name of the plugin that added it (set by the host, never by the
    plugin); `via` says by which way it came.
    """

    text: str
    images: tuple[Image, ...] = ()
    origin: str | None = None
    via: Via = "prompt"
    _wire_cache: dict[str, Any] | None = field(default=None, init=False, repr=False, compare=False)

    @property
    def wire_cache(self) -> dict[str, Any]:
        """What providers keep of it, by wire form; made when first needed."""
        return self._wire_cache if self._wire_cache is not None else kept_in(self)

    @property
    def blank(self) -> bool:
        """Whether there is nothing in it that a provider would accept."""
        return not self.images and not self.text.strip()


@made_quickly
@dataclass(frozen=True, slots=True)
class TextPart:
    """A piece of a reply's text."""

    text: str


@made_quickly
@dataclass(frozen=True, slots=True)
class ProviderPart:
    """A part that only `provider` (its wire form) understands; replayed to it unchanged, or not at all.

    `kind` is "thinking", "reasoning" or "item"; `text` what a person may read of it; `data` the frozen
    JSON that the wire form needs to give it back.
    """

    provider: str
    kind: str
    data: JsonValue
    text: str = ""


@made_quickly
@dataclass(frozen=True, slots=True)
class ToolCall:
    """A model's request to run a tool.

    `arguments` are plain JSON, frozen, as the model sent them (defaults not filled in), or None when the
    text could not be understood; `raw` then holds the text and `problem` says why. Arguments that cannot
    be parsed never become `{}`.
    """

    id: str
    name: str
    arguments: FrozenDict | None
    raw: str | None = None
    problem: str | None = None


AssistantPart = TextPart | ProviderPart | ToolCall


@made_quickly
@dataclass(frozen=True, slots=True)
class AssistantMessage:
    """A model's reply, its parts in the order the model wrote them.

    `model` and `provider` say who wrote it; `usage` is this call's alone.
    """

    parts: tuple[AssistantPart, ...]
    stop_reason: StopReason = "end"
    usage: Usage = Usage()
    model: str = ""
    provider: str = ""
    stop_detail: str = ""
    _wire_cache: dict[str, Any] | None = field(default=None, init=False, repr=False, compare=False)
    _calls: tuple[ToolCall, ...] | None = field(default=None, init=False, repr=False, compare=False)

    @property
    def wire_cache(self) -> dict[str, Any]:
        """What providers keep of it, by wire form; made when first needed."""
        return self._wire_cache if self._wire_cache is not None else kept_in(self)

    @property
    def text(self) -> str:
        """The text of the reply, without thinking and calls."""
        return "".join([part.text for part in self.parts if type(part) is TextPart])

    @property
    def tool_calls(self) -> tuple[ToolCall, ...]:
        """The calls, in call order."""
        calls = self._calls
        if calls is None:
            # Read many times in a round, picked out once; where there is nothing but calls, one tuple does for both.
            parts: Any = self.parts
            if len(parts) == 1:
                calls = parts if type(parts[0]) is ToolCall else ()
            else:
                calls = tuple([part for part in parts if type(part) is ToolCall])
                calls = parts if len(calls) == len(parts) else calls
            object.__setattr__(self, "_calls", calls)
        return calls

    def without_provider_parts(self) -> AssistantMessage:
        """The same reply without the parts that only its vendor understands (dropped as a whole)."""
        return replace(self, parts=tuple(part for part in self.parts if type(part) is not ProviderPart))

    def changed(self, *, text: str | None = None, tool_calls: Iterable[ToolCall] | None = None) -> AssistantMessage:
        """A changed reply for `Replace(...)`: signed and reasoning parts go, since they would no longer be true."""
        kept_text = self.text if text is None else text
        calls = self.tool_calls if tool_calls is None else tuple(tool_calls)
        parts: tuple[AssistantPart, ...] = ((TextPart(kept_text),) if kept_text else ()) + calls
        return replace(self, parts=parts)


@made_quickly
@dataclass(frozen=True, slots=True)
class ToolResult:
    """What a call gave, as the model sees it.

    `content` is bounded, non-blank, valid text; `status` says how it ended; `is_error` is set on each wire
    that has such a flag. A tool may return one itself (its `call_id` is filled in by the loop).
    """

    content: str
    is_error: bool = False
    status: ResultStatus = "ok"
    call_id: str = ""
    error_type: str | None = None
    milliseconds: float | None = None


Message = UserMessage | AssistantMessage | ToolResult
"""One entry of the flat list that `Transcript.messages()` derives."""
