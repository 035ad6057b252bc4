"""Ctrl-C and SIGTERM where lines are read one at a time: a turn is ended in order, and what reads a line is left."""

from __future__ import annotations

import signal
from collections.abc import Callable
from types import FrameType

from hookagent.cli.chat.conversation import Conversation
from hookagent.cli.held_up import held_up_at
from hookagent.cli.signals import CODES, INTERRUPTING, REASONS, SignalScope, leave_now
from hookagent.interrupts import pass_interrupt

ENDING = "hookagent: interrupted; ending the turn"
STILL_ENDING = "hookagent: the turn is still ending, which takes a few seconds at most; Ctrl-C again leaves at once"


def still_ending() -> str:
    """What is said to somebody who presses Ctrl-C again: what holds the turn up, or that it needs a moment."""
    place = held_up_at()
    if place is None:
        return STILL_ENDING
    return f"hookagent: the turn has not ended: {place} blocks the event loop; Ctrl-C again leaves at once"


class ChatSignals(SignalScope):
    """While it is entered, a signal in mid-turn aborts the turn; the third one in the same turn leaves at once.

    While a question is open, Ctrl-C is the answer to it, and nothing else (see `take_interrupts`). Between turns
    Ctrl-C is a KeyboardInterrupt and SIGTERM a SystemExit. `received` is the first signal of the last turn, or
    SIGTERM where that came too, or None.
    """

    def __init__(self, conversation: Conversation, leave: Callable[[int], object] = leave_now) -> None:
        super().__init__(conversation.console)
        self._count = 0
        self._conversation, self._leave = conversation, leave

    def forget(self) -> None:
        """Before a turn: count from the beginning."""
        self.received = None
        self._count = 0

    def _handle(self, number: int, frame: FrameType | None) -> None:
        conversation = self._conversation
        if not conversation.running:
            if number in INTERRUPTING:
                raise KeyboardInterrupt
            raise SystemExit(CODES[number])
        if number in INTERRUPTING and self._count == 0 and pass_interrupt():
            return
        self._count += 1
        # Ctrl-C is about the turn, SIGTERM about the whole chat: the first that says how to leave decides the code.
        if self.received is None or number == signal.SIGTERM:
            self.received = number
        if self._count > 2:
            self._leave(CODES[self.received])
            return
        self._say(ENDING if self._count == 1 else still_ending())
        conversation.abort(REASONS[number])
