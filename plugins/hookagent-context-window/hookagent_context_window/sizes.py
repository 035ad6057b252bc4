"""How many characters a request has: each block is looked at once, then sums are compared.

Characters are what can be counted for every model; `gauge` turns them into tokens.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

from hookagent import AssistantMessage, BlockView, Request, Tool, ToolCall, ToolRound, Transcript, UserMessage

MESSAGE = 16
"""What a message costs beside its text, in characters: roles and marks."""
IMAGE = 6_000
"""What an image counts for, in characters; vendors count it by its area, which is not known here."""

Block = UserMessage | AssistantMessage | ToolRound


class BlockSizes:
    """The sizes of one transcript's blocks, as they are sent. `follow` costs as much as there are new blocks.

    `steps` are the indexes of rounds and replies, ascending: where a request may begin.
    """

    def __init__(self) -> None:
        self.steps: list[int] = []
        self._blocks: list[Block] = []
        self._sizes: list[int] = []
        self._sums: list[int] = [0]
        self._tools: tuple[Tool, ...] = ()
        self._tools_size = 0

    def __len__(self) -> int:
        return len(self._blocks)

    def follow(self, transcript: Transcript) -> int:
        """Take in the blocks that are new. Returns up to which index the blocks are those of the last time."""
        blocks = self._blocks
        # A transcript that was taken back and grown anew shares its beginning with what is known.
        while blocks and (len(blocks) > len(transcript) or blocks[-1] is not transcript[len(blocks) - 1]):
            blocks.pop()
            self._sizes.pop()
            self._sums.pop()
        known = len(blocks)
        while self.steps and self.steps[-1] >= known:
            self.steps.pop()
        for index in range(known, len(transcript)):
            block = transcript[index]
            if not isinstance(block, UserMessage):
                self.steps.append(index)
            size = block_size(block)
            blocks.append(block)
            self._sizes.append(size)
            self._sums.append(self._sums[-1] + size)
        return known

    def stand_ins(self, rounds: Mapping[int, ToolRound]) -> None:
        """From now on count these rounds instead of the ones at their indexes."""
        for index, tool_round in rounds.items():
            self._sizes[index] = block_size(tool_round)
        for index in range(min(rounds, default=len(self)), len(self)):
            self._sums[index + 1] = self._sums[index] + self._sizes[index]

    def at(self, index: int) -> int:
        """The size of one block."""
        return self._sizes[index]

    def between(self, start: int, end: int) -> int:
        """The size of the blocks from `start` up to `end`, which is not among them."""
        return self._sums[end] - self._sums[start] if start < end else 0

    def blocks_of(self, view: BlockView) -> int:
        """The size of all blocks that a request holds."""
        return self.between(view.start, len(view.transcript)) + sum(self._sizes[index] for index in view.kept)

    def head_of(self, request: Request) -> int:
        """The size of the system text and the tools: the part of a request that no compaction makes smaller."""
        if request.tools is not self._tools:
            self._tools = request.tools
            self._tools_size = sum(_tool_size(tool) for tool in request.tools)
        return len(request.system) + self._tools_size

    def of(self, request: Request) -> int:
        """The size of a request."""
        extra = sum(len(note.text) + MESSAGE for note in request.notes) + text_size(request.summary)
        return self.head_of(request) + extra + self.blocks_of(request.blocks)


def text_size(text: str | None) -> int:
    """The size of a message of this text; 0 where there is none."""
    return len(text) + MESSAGE if text else 0


def block_size(block: Block) -> int:
    """The size of one block."""
    if isinstance(block, UserMessage):
        return MESSAGE + len(block.text) + IMAGE * len(block.images)
    if isinstance(block, AssistantMessage):
        return reply_size(block)
    return reply_size(block.reply) + sum(MESSAGE + len(result.content) for result in block.results if result)


def reply_size(reply: AssistantMessage) -> int:
    """The size of a reply: text, calls, and what can be read of its thinking."""
    return MESSAGE + sum(_call_size(part) if isinstance(part, ToolCall) else len(part.text) for part in reply.parts)


def _call_size(call: ToolCall) -> int:
    arguments = call.raw or "" if call.arguments is None else json.dumps(call.arguments, ensure_ascii=False)
    return MESSAGE + len(call.name) + len(arguments)


def _tool_size(tool: Tool) -> int:
    return MESSAGE + len(tool.name) + len(tool.description) + len(json.dumps(tool.parameters, default=str))
