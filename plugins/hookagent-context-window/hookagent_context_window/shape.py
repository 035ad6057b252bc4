"""What is left out of the requests of one session: whole blocks and the text of old results, never calls or ids."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping
from typing import Any

from hookagent import Request, ToolRound, Transcript
from hookagent_context_window.gauge import Gauge
from hookagent_context_window.sizes import BlockSizes, block_size, text_size

CLEARED_FROM = 200
"""A result of fewer characters stays: what would stand in its place is hardly shorter."""
SUMMARY_HEADING = "Summary of what came after this task and is no longer shown:\n"


class Shape:
    """The shape that every request of a session is given until the next compaction.

    The blocks before `start` are left out, but the protected ones; `summary` stands for them; `stand_ins` are the
    rounds that are sent with less text, by index.
    """

    def __init__(self, sizes: BlockSizes, gauge: Gauge) -> None:
        self.start = 0
        self.summary: str | None = None
        self.stand_ins: Mapping[int, ToolRound] = {}
        self._cleared = 0
        self._sizes = sizes
        self._gauge = gauge

    def shrink_to(self, known: int) -> None:
        """Forget what was decided about blocks from index `known` on: the transcript took another way there."""
        if self.start > known:
            self.start, self.summary = 0, None
        if self._cleared > known:
            self._cleared = known
            self.stand_ins = {index: stand_in for index, stand_in in self.stand_ins.items() if index < known}

    def state(self) -> dict[str, Any]:
        """What `restore` needs to bring this shape back in another process, as JSON."""
        return {"start": self.start, "summary": self.summary, "cleared": self._cleared}

    def restore(self, state: object, transcript: Transcript) -> None:
        """Take the shape that `state` once gave; one that does not fit the transcript is left alone."""
        if not isinstance(state, Mapping):
            return
        start, summary, cleared = state.get("start"), state.get("summary"), state.get("cleared")
        if type(start) is not int or type(cleared) is not int or not (summary is None or isinstance(summary, str)):
            return
        if not (0 <= start <= len(transcript) and 0 <= cleared <= len(transcript)):
            return
        self.start, self.summary, self._cleared = start, summary, cleared
        found: dict[int, ToolRound] = {}
        for index in range(start, cleared):
            block = transcript[index]
            if isinstance(block, ToolRound) and (stand_in := _cleared(block)) is not block:
                found[index] = stand_in
        self.stand_ins = found
        self._sizes.stand_ins(found)

    def apply(self, request: Request) -> Request:
        """The request in this shape; what others left out before stays out."""
        if self.start > request.blocks.start:
            request = request.dropping_before(self.start)
        if self.stand_ins:
            request = request.with_rounds(self.stand_ins)
        if self.summary is not None:
            mine = SUMMARY_HEADING + self.summary
            request = request.with_summary(f"{request.summary}\n\n{mine}" if request.summary else mine)
        return request

    # ---- choosing what goes ----

    def newest_start(self, keep_rounds: int) -> int:
        """The last index where a request may begin, so that it still holds the newest rounds whole."""
        steps = self._sizes.steps
        return max(self.start, steps[-keep_rounds]) if len(steps) >= keep_rounds else self.start

    def tokens_from(self, request: Request, start: int, summary_characters: int | None = None) -> int:
        """The tokens of `request`, which has this shape, if it began at `start`, perhaps with another summary."""
        sizes, blocks = self._sizes, request.blocks
        start = max(start, blocks.start)
        characters = sizes.of(request) - sizes.blocks_of(blocks) + sizes.between(start, len(blocks.transcript))
        characters += sum(sizes.at(index) for index in request.protected if index < start)
        if summary_characters is not None:
            characters += summary_characters - text_size(request.summary)
        return self._gauge.tokens(characters)

    def start_for(self, request: Request, goal: int, newest: int, summary_characters: int | None = None) -> int:
        """The first index from which on the request has at most `goal` tokens; `newest` when none has."""
        starts = range(max(self.start, request.blocks.start), newest)
        found = bisect_left(
            starts, True, key=lambda start: self.tokens_from(request, start, summary_characters) <= goal
        )
        return starts[found] if found < len(starts) else max(newest, starts.start)

    def drop(self, request: Request, goal: int, keep_rounds: int) -> bool:
        """Leave out the oldest blocks; whether there were any to leave out."""
        start = self.start_for(request, goal, self.newest_start(keep_rounds))
        if start <= max(self.start, request.blocks.start):
            return False
        self.start = start
        self.stand_ins = {i: r for i, r in self.stand_ins.items() if i >= start}
        return True

    def clear_results(self, request: Request, goal: int, keep_rounds: int) -> bool:
        """Take the text out of the oldest results until the goal is reached; whether there was any to take out."""
        transcript = request.blocks.transcript
        characters = self._sizes.of(request)
        found: dict[int, ToolRound] = {}
        index = max(self._cleared, self.start)
        newest = self.newest_start(keep_rounds)
        while index < newest and self._gauge.tokens(characters) > goal:
            block = transcript[index]
            if isinstance(block, ToolRound):
                stand_in = _cleared(block)
                if stand_in is not block:
                    found[index] = stand_in
                    characters -= self._sizes.at(index) - block_size(stand_in)
            index += 1
        self._cleared = index
        if found:
            self.stand_ins = {**self.stand_ins, **found}
            self._sizes.stand_ins(found)
        return bool(found)


def _cleared(tool_round: ToolRound) -> ToolRound:
    for call, result in zip(tool_round.calls, tool_round.results, strict=True):
        if result is not None and len(result.content) > CLEARED_FROM:
            text = (
                f"[the text of this result, {len(result.content)} characters, was taken out to save space; "
                f"call '{call.name}' again if it is needed]"
            )
            tool_round = tool_round.with_result_text(call.id, text)
    return tool_round
