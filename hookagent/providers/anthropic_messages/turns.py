"""The turns of an Anthropic Messages request: blocks encoded once, neighbours of one role merged, the tail."""

from __future__ import annotations

import re
from typing import Any

from hookagent.messages import AssistantMessage, ProviderPart, TextPart, UserMessage
from hookagent.providers.anthropic_messages import WIRE
from hookagent.providers.encoding import (
    CONTINUE,
    arguments_object,
    encoded_blocks,
    replayable,
    result_text,
    round_results,
    sendable,
    tail_texts,
    user_texts,
    wire_call_id,
    wire_tool_name,
)
from hookagent.providers.wire.message import WireMessage
from hookagent.requests import Request
from hookagent.transcript import Block, ToolRound

CACHE_MARK = {"type": "ephemeral"}
_CALL_ID = re.compile(r"[a-zA-Z0-9_-]+")
_LONGEST_CALL_ID = 64
_OWN_BLOCKS = frozenset({"text", "thinking", "redacted_thinking", "tool_use"})
"""What an assistant turn holds where the vendor itself ran nothing."""
_INTERRUPTED = "(interrupted)"
"""What stands for a turn of which nothing is left but calls that the vendor never finished."""


def stored_turns(request: Request, model: str) -> list[WireMessage]:
    """The turns of the transcript in order, with the summary, neighbours of one role merged.

    Results lead the user turn behind their calls, and what people and plugins say follows in the same turn.
    """
    turns: list[WireMessage] = []
    for turn in encoded_blocks(request, WIRE, model, encode_block, user_turn):
        append_turn(turns, turn)
    if turns and turns[0]["role"] == "assistant":
        turns.insert(0, user_turn(CONTINUE))
    return settle_server_work(turns)


def with_tail(turns: list[WireMessage], request: Request) -> list[WireMessage]:
    """`turns` with the notes behind them, and never ending in the model's own turn.

    Only a turn in which the vendor itself is still at work goes back as it is, its trailing white space cut, and
    without a note behind it.
    """
    if turns and turns[-1].paused:
        turns[-1] = _without_trailing_space(turns[-1])
        return turns
    for note in tail_texts(request):
        append_turn(turns, user_turn(note))
    if turns and turns[-1]["role"] == "assistant":
        turns.append(user_turn(CONTINUE))
    return turns


def encode_block(block: Block, replay: bool) -> tuple[WireMessage, ...]:
    """One block as turns; an empty tuple where there is nothing in it that can be sent."""
    if isinstance(block, UserMessage):
        content: list[dict[str, Any]] = [
            {"type": "image", "source": {"type": "base64", "media_type": image.media_type, "data": image.data}}
            for image in block.images
        ]
        text = user_texts(block)
        if text:
            content.append({"type": "text", "text": text})
        return (WireMessage(role="user", content=content),) if content else ()
    if isinstance(block, ToolRound):
        return (*encode_reply(block.reply, replay), encode_results(block))
    return encode_reply(block, replay)


def encode_reply(reply: AssistantMessage, replay: bool) -> tuple[WireMessage, ...]:
    """A reply as an assistant turn, its parts in place; none where only thinking would be left."""
    content: list[dict[str, Any]] = []
    visible = False
    for part in reply.parts:
        if isinstance(part, TextPart):
            if part.text.strip():
                content.append({"type": "text", "text": sendable(part.text)})
                visible = True
        elif isinstance(part, ProviderPart):
            data = replayable(part, WIRE) if replay else None
            if data is not None and (data.get("type") != "thinking" or data.get("signature")):
                content.append(data)
                visible = visible or part.kind != "thinking"
        else:
            content.append(
                {
                    "type": "tool_use",
                    "id": wire_call_id(part.id, _LONGEST_CALL_ID, _CALL_ID),
                    "name": wire_tool_name(part.name),
                    "input": arguments_object(part),
                }
            )
            visible = True
    if not visible:
        return ()
    turn = WireMessage(role="assistant", content=content)
    turn.server_work = any(block["type"] not in _OWN_BLOCKS for block in content)
    turn.paused = turn.server_work and reply.stop_reason == "pause"
    return (turn,)


def encode_results(tool_round: ToolRound) -> WireMessage:
    """The results of a round as the user turn behind it, in call order."""
    content = []
    for call, result in round_results(tool_round):
        block: dict[str, Any] = {
            "type": "tool_result",
            "tool_use_id": wire_call_id(call.id, _LONGEST_CALL_ID, _CALL_ID),
            "content": result_text(result),
        }
        if result.is_error:
            block["is_error"] = True
        content.append(block)
    return WireMessage(role="user", content=content)


def user_turn(text: str) -> WireMessage:
    """A user turn of one text."""
    return WireMessage(role="user", content=[{"type": "text", "text": sendable(text)}])


def mark_tail(turns: list[WireMessage]) -> list[WireMessage]:
    """Mark the end of the newest stored user turn, and of the one before, as places to cache up to.

    Done before notes are added, since the next request begins alike only up to here. The marked turns are
    copies: the encoded ones are shared.
    """
    left = 2
    for index in range(len(turns) - 1, max(len(turns) - 5, -1), -1):
        turn = turns[index]
        if left and turn["role"] == "user":
            last = {**turn["content"][-1], "cache_control": CACHE_MARK}
            turns[index] = WireMessage(role="user", content=[*turn["content"][:-1], last])
            left -= 1
    return turns


def append_turn(messages: list[WireMessage], message: WireMessage) -> None:
    """Add a turn; one of the same role as the last is merged with it."""
    if not messages or messages[-1]["role"] != message["role"]:
        messages.append(message)
        return
    before = messages[-1]
    merged = message.merged
    if merged is None or merged[0] is not before:
        joined = WireMessage(role=message["role"], content=[*before["content"], *message["content"]])
        joined.paused = message.paused
        joined.server_work = before.server_work or message.server_work
        # Kept on the later one: the same two meet again in the next request.
        merged = message.merged = (before, joined)
    messages[-1] = merged[1]


def settle_server_work(turns: list[WireMessage]) -> list[WireMessage]:
    """`turns` with the vendor's own calls and answers in pairs.

    An answer goes whose call is not in the window; a call goes that was never answered, as when a paused turn did
    not go on. One in the newest assistant turn stays: the vendor runs it when the turn, or the results behind it,
    come back (API reference, "Server tools").
    """
    if not any(turn.server_work for turn in turns):
        return turns
    newest = max(index for index, turn in enumerate(turns) if turn["role"] == "assistant")
    answered = {
        block["tool_use_id"] for turn in turns if turn.server_work for block in turn["content"] if _answers(block)
    }
    made: set[Any] = set()
    settled: list[WireMessage] = []
    for index, turn in enumerate(turns):
        kept = turn["content"]
        if turn.server_work:
            is_last = index == len(turns) - 1
            calls_us = any(block["type"] == "tool_use" for block in kept)
            goes_on = index == newest and (turn.paused if is_last else calls_us)
            made |= {block["id"] for block in kept if _is_server_call(block) and (goes_on or block["id"] in answered)}
            kept = [
                block
                for block in kept
                if (not _is_server_call(block) or block["id"] in made)
                and (not _answers(block) or block["tool_use_id"] in made)
            ]
        settled.append(turn if len(kept) == len(turn["content"]) else _with_content(turn, kept))
    return settled


def _is_server_call(block: dict[str, Any]) -> bool:
    return bool(block["type"] == "server_tool_use")


def _answers(block: dict[str, Any]) -> bool:
    return "tool_use_id" in block


def _with_content(turn: WireMessage, kept: list[dict[str, Any]]) -> WireMessage:
    if all(block["type"] in ("thinking", "redacted_thinking") for block in kept):
        kept = [{"type": "text", "text": _INTERRUPTED}]
    settled = WireMessage(role=turn["role"], content=kept)
    settled.paused = turn.paused and any(block["type"] not in _OWN_BLOCKS for block in kept)
    return settled


def _without_trailing_space(turn: WireMessage) -> WireMessage:
    last = turn["content"][-1]
    if last["type"] != "text" or last["text"] == last["text"].rstrip():
        return turn
    return WireMessage(role=turn["role"], content=[*turn["content"][:-1], {**last, "text": last["text"].rstrip()}])
