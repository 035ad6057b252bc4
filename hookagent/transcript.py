"""The transcript: blocks, and at most one open tool round at the end.

The ordering rule (design, "The ordering rule, impossible to break") holds by shape: a round is one object,
so there is no place between a call and its result. A transcript is a snapshot: a shared append-only log
and a length. Growing the newest snapshot appends to the log; growing an older one forks it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, overload

from hookagent.messages import AssistantMessage, Message, ToolCall, ToolResult, UserMessage, kept_in
from hookagent.quick_values import made_quickly


@made_quickly
@dataclass(frozen=True, slots=True)
class ToolRound:
    """An assistant message with calls, and their results in call order; `None` where one is still missing."""

    reply: AssistantMessage
    results: tuple[ToolResult | None, ...]
    _wire_cache: dict[str, Any] | None = field(default=None, init=False, repr=False, compare=False)

    @property
    def wire_cache(self) -> dict[str, Any]:
        """What providers keep of it, by wire form; made when first needed."""
        return self._wire_cache if self._wire_cache is not None else kept_in(self)

    @property
    def calls(self) -> tuple[ToolCall, ...]:
        """The calls, in call order."""
        return self.reply.tool_calls

    @property
    def closed(self) -> bool:
        """Whether every call has its result."""
        # Not `None not in results`, which would compare each result with None by value; a generator is slower still.
        return all([result is not None for result in self.results])  # noqa: C419

    @property
    def open_calls(self) -> tuple[ToolCall, ...]:
        """The calls that have no result yet."""
        return tuple([call for call, result in zip(self.calls, self.results, strict=True) if result is None])

    def result_of(self, call_id: str) -> ToolResult | None:
        """The result of one call, or None while it is open. Raises KeyError for an unknown id."""
        for call, result in zip(self.calls, self.results, strict=True):
            if call.id == call_id:
                return result
        raise KeyError(call_id)

    def with_result_text(self, call_id: str, content: str) -> ToolRound:
        """A copy for a request in which one result reads `content`; calls and ids stay as they are."""
        results = tuple(
            ToolResult(content, result.is_error, result.status, result.call_id, result.error_type, result.milliseconds)
            if result is not None and result.call_id == call_id
            else result
            for result in self.results
        )
        return ToolRound(self.reply, results)


Block = UserMessage | AssistantMessage | ToolRound


class TranscriptError(ValueError):
    """An operation that would break the ordering rule; always a fault of the caller."""


class Transcript(Sequence[Block]):
    """A snapshot of a conversation: an immutable sequence of closed blocks, plus perhaps an open round.

    It grows by three operations only, each returning a new snapshot: `with_user`, `with_reply`,
    `with_result`. Indexing and iterating give the closed blocks.
    """

    __slots__ = ("_held", "_length", "_log", "_open_round")

    def __init__(self, blocks: Sequence[Block] = ()) -> None:
        for block in blocks:
            if isinstance(block, ToolRound) and not block.closed:
                raise TranscriptError("a transcript is built from closed blocks; grow it to open a round")
            if isinstance(block, AssistantMessage) and block.tool_calls:
                raise TranscriptError("an assistant message with calls stands in a ToolRound, with its results")
        self._log: list[Block] = list(blocks)
        self._length = len(self._log)
        self._open_round: ToolRound | None = None
        self._held: tuple[UserMessage, ...] = ()

    def end(self) -> tuple[int, Block | None, ToolRound | None]:
        """How many closed blocks there are, the newest of them, and the open round: one question for three."""
        length = self._length
        return length, self._log[length - 1] if length else None, self._open_round

    @property
    def open_round(self) -> ToolRound | None:
        """The round whose calls still wait for results, if there is one."""
        return self._open_round

    @property
    def held(self) -> tuple[UserMessage, ...]:
        """The messages that land right behind the open round's last result."""
        return self._held

    @classmethod
    def _snapshot(
        cls, log: list[Block], length: int, open_round: ToolRound | None, held: tuple[UserMessage, ...]
    ) -> Transcript:
        new = cls.__new__(cls)
        new._log = log
        new._length = length
        new._open_round = open_round
        new._held = held
        return new

    def _grown(self, block: Block) -> tuple[list[Block], int]:
        log, length = self._log, self._length
        if len(log) == length:
            log.append(block)
            # Two threads may grow one snapshot at once; the one whose block is not in its place forks.
            if log[length] is block:
                return log, length + 1
        log = log[:length]
        log.append(block)
        return log, length + 1

    def with_user(self, message: UserMessage) -> Transcript:
        """Add a user message; while a round is open it is held and lands right behind the round's last result."""
        if self._open_round is not None:
            return self._snapshot(self._log, self._length, self._open_round, (*self._held, message))
        log, length = self._grown(message)
        return self._snapshot(log, length, None, ())

    def with_reply(self, reply: AssistantMessage) -> Transcript:
        """Add a reply; one with calls opens a round. Raises TranscriptError while a round is open."""
        if self._open_round is not None:
            raise TranscriptError("a reply cannot be added while tool calls wait for results")
        calls = reply.tool_calls
        if calls:
            if len(calls) == 1:
                usable = bool(calls[0].id)
            else:
                ids = {call.id for call in calls}
                usable = len(ids) == len(calls) and all(ids)
            if not usable:
                raise TranscriptError("the calls of a reply need ids, all different")
            return self._snapshot(self._log, self._length, ToolRound(reply, (None,) * len(calls)), ())
        log, length = self._grown(reply)
        return self._snapshot(log, length, None, ())

    def with_result(self, result: ToolResult) -> Transcript:
        """Add a result, in any order; the last one closes the round and lets the held messages in behind it.

        Raises TranscriptError when no round is open, the id is not one of its calls, or it has a result.
        """
        open_round = self._open_round
        if open_round is None:
            raise TranscriptError(f"no call waits for a result (got one for '{result.call_id}')")
        results, call_id = open_round.results, result.call_id
        index = -1
        for place, call in enumerate(open_round.reply.tool_calls):
            if call.id == call_id:
                index = place
        if index < 0:
            raise TranscriptError(f"no open call has the id '{call_id}'")
        if results[index] is not None:
            raise TranscriptError(f"call '{call_id}' already has its result")
        # Of one result nothing stands before or behind it.
        filled = (result,) if len(results) == 1 else (*results[:index], result, *results[index + 1 :])
        grown = ToolRound(open_round.reply, filled)
        if len(results) > 1 and not grown.closed:
            return self._snapshot(self._log, self._length, grown, self._held)
        log, length = self._grown(grown)
        new = self._snapshot(log, length, None, ())
        for message in self._held:
            new = new.with_user(message)
        return new

    def before_newest(self) -> Transcript:
        """The snapshot without its newest closed block; for taking back what was not stored."""
        return self._snapshot(self._log, self._length - 1, None, ())

    def messages(self) -> Iterator[Message]:
        """The flat list, derived: each call's results stand right behind it, held messages behind the round."""
        for block in self:
            if isinstance(block, ToolRound):
                yield block.reply
                yield from (result for result in block.results if result is not None)
            else:
                yield block
        if self._open_round is not None:
            yield self._open_round.reply
            yield from (result for result in self._open_round.results if result is not None)
            yield from self._held

    def __len__(self) -> int:
        return self._length

    @overload
    def __getitem__(self, index: int) -> Block: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Block]: ...
    def __getitem__(self, index: int | slice) -> Block | Sequence[Block]:
        length = self._length
        if type(index) is int and 0 <= index < length:
            return self._log[index]
        if isinstance(index, slice):
            return [self._log[i] for i in range(*index.indices(length))]
        if index < 0:
            index += length
        if not 0 <= index < length:
            raise IndexError("block index out of range")
        return self._log[index]

    def __iter__(self) -> Iterator[Block]:
        log = self._log
        for index in range(self._length):
            yield log[index]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Transcript):
            return NotImplemented
        same = self._length == other._length and self._open_round == other._open_round and self._held == other._held
        return same and all(mine == theirs for mine, theirs in zip(self, other, strict=True))

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        state = f", open round of {len(self._open_round.calls)}" if self._open_round else ""
        return f"Transcript({self._length} blocks{state})"
