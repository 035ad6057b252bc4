"""Which session a command goes on with: the options that name one, and what is said of it."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from hookagent.cli.console import Console
from hookagent.cli.failure import UsageProblem

if TYPE_CHECKING:
    from hookagent.agent import Agent

CommandT = TypeVar("CommandT", bound=Callable[..., Any])

_ID = click.option("--session", "session", metavar="ID", help="Go on with a session: its id, or a unique beginning.")
_NEWEST = click.option(
    "--continue", "continues", is_flag=True, help="Go on with the newest session of this working directory."
)


def session_options(command: CommandT) -> CommandT:
    """Add --session and --continue to a command; `take_session` reads them."""
    return _NEWEST(_ID(command))


def take_session(chosen: dict[str, Any]) -> str | None:
    """Take the two options out of what was chosen; returns the id of the session to go on with, None for a new one.

    Raises `UsageProblem` for both options at once and where --continue finds nothing, `SessionError` for an id that
    no session has.
    """
    named, continues = chosen.pop("session"), chosen.pop("continues")
    if named is None and not continues:
        return None
    if named is not None and continues:
        raise UsageProblem("--continue and --session: they exclude each other; leave one out")
    from hookagent.keeping import session_store

    if named is not None:
        return session_store().find(named)
    here = working_directory()
    newest = session_store().newest(here)
    if newest is None:
        raise UsageProblem(
            f"--continue: there is no session of this working directory ({here}); leave it out to begin one, or name "
            "another one with --session ('hookagent sessions list --all' shows all)"
        )
    return newest


def working_directory() -> str:
    """The working directory. Raises `UsageProblem` where it was removed."""
    try:
        return os.getcwd()
    except OSError:
        raise UsageProblem("working directory: it does not exist any more; change to another one") from None


def say_session(console: Console, agent: Agent) -> None:
    """Say which session goes on, and what waits in it."""
    from hookagent.counting import counted

    waiting = len(agent.pending_calls) if agent.status == "waiting" else 0
    told = f", {counted(waiting, 'call')} waiting for an answer" if waiting else ""
    console.say(f"session {agent.session.id} goes on: {counted(agent.session.turn, 'turn')} so far{told}")
