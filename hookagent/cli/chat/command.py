"""`hookagent chat`: from the options to a conversation, and the way in which its lines are read."""

from __future__ import annotations

import importlib.util
import os
import sys
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any, Literal

import click

from hookagent.cli.console import Console
from hookagent.cli.limit_options import limit_options, take_limits
from hookagent.cli.options import Choices, agent_options, approval_options, pass_console
from hookagent.cli.session_options import session_options, take_session

if TYPE_CHECKING:
    from hookagent.cli.chat.conversation import Conversation

Mode = Literal["editor", "lines", "pipe"]


@click.command(short_help="Talk over several turns, and steer while it works.")
@click.option("-v", "--verbose", is_flag=True, help="One line for each report of a hook, and the time of hooks.")
@click.option("-q", "--quiet", is_flag=True, help="Nothing but the answers, and errors.")
@limit_options
@session_options
@approval_options
@agent_options
@pass_console
def chat(console: Console, /, verbose: bool, quiet: bool, debug: bool, **chosen: Any) -> int:
    """Talk with the agent over several turns, in one session: a new one, or one that goes on.

    At a terminal: Enter sends. While the agent works, Enter steers it, and Alt-Enter (or a '>' before the text) keeps
    the message until it is done. Ctrl-C stops the turn; at the prompt, Ctrl-D or Ctrl-C twice leaves. '/help' lists
    the commands. Typing while it works needs the extra 'chat' (pip install 'hookagent[chat]').

    Without a terminal, each line of standard input is a turn: the answers go to standard output, everything else to
    standard error, and the exit code is that of the last line. Limits hold for each turn.
    """
    from hookagent.cli.chat.conversation import Conversation, Wishes
    from hookagent.cli.chat.view import View
    from hookagent.cli.ending import begin
    from hookagent.cli.failure import UsageProblem
    from hookagent.cli.logs import logging_to

    if quiet and verbose:
        raise UsageProblem("-q and -v: they exclude each other; leave one out")
    limits = take_limits(chosen)
    choices = Choices(limits=limits, session=take_session(chosen), **chosen)
    mode = _mode()
    with nullcontext() if debug else logging_to(console, debug=False, quiet=quiet):
        agent = begin(console, choices, quiet)
        view = View(console, live=console.live and mode != "pipe", calls=not quiet and not verbose and mode != "pipe")
        return _talk(Conversation(console, agent, view, Wishes(quiet, verbose, debug)), mode)


def _mode() -> Mode:
    """How lines come in: a person needs a terminal to type at, and one to see the prompt on."""
    if not (_is_terminal(sys.stdin) and _is_terminal(sys.stderr)):
        return "pipe"
    return "editor" if not _is_dumb() and importlib.util.find_spec("prompt_toolkit") is not None else "lines"


def _is_dumb() -> bool:
    """Whether the terminal cannot move its cursor, so that no editor can work on it."""
    return os.environ.get("TERM", "") == "dumb"


def _talk(conversation: Conversation, mode: Mode) -> int:
    """Talk until it ends, and end the session in order, whatever ended it."""
    from hookagent.cli.failure import FAILED

    try:
        code = _read_lines(conversation, mode)
    except BaseException:
        conversation.close(FAILED)
        raise
    return conversation.close(code)


def _read_lines(conversation: Conversation, mode: Mode) -> int:
    from hookagent.cli.chat.history import History
    from hookagent.cli.chat.signals import ChatSignals

    if mode == "pipe":
        from hookagent.cli.chat.pipe import work_through

        with ChatSignals(conversation) as signals:
            return work_through(conversation, sys.stdin, signals)
    history = History.of_user(conversation.console.mask)
    if history.problem is not None:
        conversation.console.say(f"hookagent: warning: {history.problem}")
    _greet(conversation, mode)
    if mode == "editor":
        from hookagent.cli.chat.editor_mode import talk_with_editor

        return talk_with_editor(conversation, history)
    from hookagent.cli.chat.line_mode import talk_by_lines

    with ChatSignals(conversation) as signals:
        return talk_by_lines(conversation, history, signals)


def _greet(conversation: Conversation, mode: Mode) -> None:
    if conversation.wishes.quiet:
        return
    if mode == "editor":
        how = "Enter sends, and steers while it works; Alt-Enter keeps a message until it is done"
    elif _is_dumb():
        how = "one line at a time, since TERM says that this terminal is a dumb one"
    else:
        how = "one line at a time; for typing while it works: pip install 'hookagent[chat]'"
    conversation.console.say(f"{how}; /help lists the commands")


def _is_terminal(stream: Any) -> bool:
    try:
        return stream is not None and bool(stream.isatty())
    except ValueError:
        return False
