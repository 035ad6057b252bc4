"""A terminal without an editor: one line at a time, with what readline gives, and none while a turn runs."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable

from hookagent.cli.chat.commands import obey
from hookagent.cli.chat.conversation import Conversation
from hookagent.cli.chat.history import History
from hookagent.cli.chat.signals import ChatSignals
from hookagent.cli.chat.view import MARK
from hookagent.cli.failure import INTERRUPTED

LEAVING = "(Ctrl-C again, or Ctrl-D, leaves)"
"""What the first Ctrl-C at the prompt is answered with."""


def talk_by_lines(
    conversation: Conversation, history: History, signals: ChatSignals, read: Callable[[str], str] | None = None
) -> int:
    """Work on one line after the other, until the person leaves; give the exit code.

    `read` shows a prompt and gives a line, as `input` does.
    """
    read = _reader(history) if read is None else read
    warned = False
    while True:
        try:
            line = read(MARK)
        except EOFError:
            conversation.console.break_line()
            return 0
        except KeyboardInterrupt:
            conversation.console.break_line()
            if warned:
                return INTERRUPTED
            warned = True
            conversation.console.say(LEAVING)
            continue
        warned = False
        if not line.strip():
            continue
        history.add(line)
        obeyed = obey(line, conversation.console, conversation.agent)
        if obeyed == "leave":
            return 0
        if obeyed != "text":
            continue
        signals.forget()
        conversation.turn(line)
        if signals.code is not None and signals.code != INTERRUPTED:
            return signals.code


def _reader(history: History) -> Callable[[str], str]:
    """`input` at the terminal, with line editing and the history where the system has a readline."""
    with contextlib.suppress(ImportError):
        import readline

        for line in history.lines:
            readline.add_history(" ".join(line.splitlines()))
    terminal = sys.__stdout__

    def read(prompt: str) -> str:
        # `input` edits lines only where `sys.stdout` is descriptor 1, which leads to standard error here.
        with contextlib.redirect_stdout(terminal) if terminal is not None else contextlib.nullcontext():
            return input(prompt)

    return read
