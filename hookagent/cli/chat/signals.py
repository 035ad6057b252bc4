"""Ctrl-C and SIGTERM where lines are read one at a time: a turn is ended in order, and what reads a line is left."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable
from types import FrameType, TracebackType
from typing import Any

from hookagent.cli.chat.conversation import Conversation
from hookagent.cli.signals import leave_now

REASONS = {signal.SIGINT: "interrupted", signal.SIGTERM: "terminated"}
"""What is given as the reason of an abort."""
ENDING = "hookagent: interrupted; ending the turn"
STILL_ENDING = "hookagent: the turn is still ending, which takes a few seconds at most; Ctrl-C again leaves at once"


class ChatSignals:
    """While it is entered, a signal in mid-turn aborts the turn; the third one in the same turn leaves at once.

    Between turns Ctrl-C is a KeyboardInterrupt and SIGTERM a SystemExit. `received` is the first signal of the last
    turn, or None. Outside of the main thread, and for a signal that is ignored, it changes nothing.
    """

    def __init__(self, conversation: Conversation, leave: Callable[[int], object] = leave_now) -> None:
        self.received: int | None = None
        self._count = 0
        self._conversation, self._leave = conversation, leave
        self._before: dict[int, Any] = {}

    def forget(self) -> None:
        """Before a turn: count from the beginning."""
        self.received = None
        self._count = 0

    def __enter__(self) -> ChatSignals:
        if threading.current_thread() is threading.main_thread():
            for number in REASONS:
                if signal.getsignal(number) not in (signal.SIG_IGN, None):
                    self._before[number] = signal.signal(number, self._handle)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)
        self._before.clear()

    def _handle(self, number: int, frame: FrameType | None) -> None:
        conversation = self._conversation
        if not conversation.running:
            if number == signal.SIGINT:
                raise KeyboardInterrupt
            raise SystemExit(128 + number)
        self._count += 1
        if self._count > 2:
            self._leave(128 + number)
            return
        if self.received is None or number == signal.SIGTERM:
            self.received = number
        conversation.console.break_line()
        conversation.console.say(ENDING if self._count == 1 else STILL_ENDING)
        conversation.abort(REASONS[signal.Signals(number)])
