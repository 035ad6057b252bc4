"""What all wire forms do alike when a Request becomes a body: order, clean text, ids, names, arguments."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from hookagent.frozen import thaw
from hookagent.messages import AssistantMessage, ProviderPart, ToolCall, ToolResult, UserMessage
from hookagent.providers.wire.message import WireMessage
from hookagent.requests import Request
from hookagent.tools.text import clean_text
from hookagent.transcript import Block, ToolRound

NO_OUTPUT = "(no output)"
"""What stands for a result that says nothing; vendors refuse blank text."""
CONTINUE = "Continue."
"""The user-role text behind a request that would end with the model's own turn: repaired by adding, not by cutting."""
UNPARSED = "_unparsed"
"""The key under which arguments that are no JSON object are shown for what they were."""

EncodeBlock = Callable[[Block, bool], tuple[WireMessage, ...]]
"""Encodes one block; the flag says whether parts that only its vendor understands may be replayed."""


def encoded_blocks(
    request: Request, wire: str, model: str, encode: EncodeBlock, encode_text: Callable[[str], WireMessage]
) -> Iterator[WireMessage]:
    """All messages of the request's blocks in order, each block encoded once per wire form, and the summary right
    behind the first task.

    Where the model spoke twice in a row, the text that asked it to go on stands between again, as it was sent
    then. What was encoded is kept in the block's `wire_cache` under `wire`. Parts of another vendor or another
    model are left out (thinking is bound to the model that wrote it), and the outcome is kept apart.
    """
    view = request.blocks
    transcript, replaced, first_task = view.transcript, view.replaced, request.first_task()
    summary = request.summary if request.summary is not None and request.summary.strip() else None
    if first_task is None and summary:
        yield encode_text(summary)
    spoke = False
    for places in (view.kept, range(view.start, len(transcript))):
        for place in places:
            block = (replaced.get(place) if replaced else None) or transcript[place]
            reply = block.reply if type(block) is ToolRound else block
            replay = type(reply) is not AssistantMessage or not reply.model or reply.model == model
            key = wire if replay else wire + ":foreign"
            messages = block.wire_cache.get(key)
            if messages is None:
                messages = block.wire_cache[key] = encode(block, replay)
            if spoke and messages and type(reply) is AssistantMessage:
                yield encode_text(CONTINUE)
            yield from messages
            if messages:
                spoke = type(block) is AssistantMessage and not messages[-1].paused
            if place == first_task and summary:
                yield encode_text(summary)
                spoke = False


def tail_texts(request: Request) -> list[str]:
    """The notes to be sent behind everything else."""
    return [sendable(note.text) for note in request.notes if note.text.strip()]


def sendable(text: str) -> str:
    """`text` without what UTF-8 cannot carry."""
    return text if text.isascii() else clean_text(text)


def result_text(result: ToolResult) -> str:
    """A result's text, never blank."""
    return sendable(result.content) if result.content.strip() else NO_OUTPUT


def round_results(tool_round: ToolRound) -> list[tuple[ToolCall, ToolResult]]:
    """The calls of a closed round with their results, in call order."""
    return [(c, r) for c, r in zip(tool_round.calls, tool_round.results, strict=True) if r is not None]


def wire_call_id(call_id: str, longest: int, pattern: re.Pattern[str] | None = None) -> str:
    """`call_id` where the wire form takes it, else one made from it: the same for the call and its result."""
    if 0 < len(call_id) <= longest and (pattern is None or pattern.fullmatch(call_id)):
        return call_id
    return "call_" + hashlib.sha256(call_id.encode("utf-8", "surrogatepass")).hexdigest()[:24]


def wire_tool_name(name: str) -> str:
    """A called name as vendors take it: models make up names that no vendor would take back."""
    return re.sub(r"[^a-zA-Z0-9_-]", "_", name)[:64] or "unnamed"


def arguments_object(call: ToolCall) -> dict[str, Any]:
    """The arguments as a plain JSON object; text that was none is shown for what it was, never as `{}`."""
    if call.arguments is not None:
        try:
            text = json.dumps(call.arguments, ensure_ascii=False, allow_nan=False)
        except (TypeError, ValueError, RecursionError):
            return {UNPARSED: sendable(repr(call.arguments))}
        if text.isascii():
            return _plain(call.arguments)
        return _plain(json.loads(clean_text(text)))
    return {UNPARSED: sendable(call.raw or "")}


def arguments_text(call: ToolCall) -> str:
    """The same as the text of a JSON object."""
    return json.dumps(arguments_object(call), ensure_ascii=False)


def replayable(part: ProviderPart, wire: str) -> dict[str, Any] | None:
    """The part's own JSON as a plain object, or None where it belongs to another wire form."""
    return _plain(part.data) if part.provider == wire and isinstance(part.data, Mapping) else None


def _plain(value: Any) -> dict[str, Any]:
    plain: dict[str, Any] = thaw(value)
    return plain


def user_texts(message: UserMessage) -> str:
    """The text of a user message, clean; "" where it is blank."""
    return sendable(message.text) if message.text.strip() else ""
