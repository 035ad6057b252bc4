"""What of a conversation the embedded model is about: what is asked now, and what this turn has found out so far."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from hookagent import AssistantMessage, ToolRound, UserMessage


class Task(NamedTuple):
    """What a request comes down to.

    `asked` are the messages that nothing has been done about yet, oldest first; `rounds` are this turn's tool rounds
    that no answer has told of; `told` is the answer that was given last, where nothing but plugins spoke since.
    """

    asked: tuple[UserMessage, ...]
    rounds: tuple[ToolRound, ...]
    told: str


def read_task(blocks: Sequence[UserMessage | AssistantMessage | ToolRound]) -> Task:
    """Read the newest blocks, back to the last answer or the prompt that began the turn.

    A plugin's message asks nothing of a model that cannot reason: it counts only where nobody else ever spoke.
    """
    asked: list[UserMessage] = []
    from_plugins: list[UserMessage] = []
    rounds: list[ToolRound] = []
    told = ""
    prompted = False
    for place in range(len(blocks) - 1, -1, -1):
        block = blocks[place]
        if isinstance(block, AssistantMessage):
            told = block.text
            break
        if isinstance(block, ToolRound):
            if prompted:
                # A turn that ended without an answer.
                break
            rounds.append(block)
        elif block.origin is not None:
            from_plugins.append(block)
        else:
            prompted = prompted or block.via == "prompt"
            if not rounds:
                asked.append(block)
    if not asked and not rounds and not told:
        asked = from_plugins
    return Task(tuple(reversed(asked)), tuple(reversed(rounds)), told if not asked and not rounds else "")
