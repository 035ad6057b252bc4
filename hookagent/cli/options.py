"""Options that several commands share, and what was chosen by them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import wraps
from typing import Any, TypeVar

import click

from hookagent.cli.console import Console

CommandT = TypeVar("CommandT", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True)
class Choices:
    """What the options say about the agent, as typed.

    `allow`, `ask` and `deny` are patterns of the plugin human-approval, for this run; `file` and `model` are None
    where the option was not given; `limits` are those that were given, by their names; `session` is the id of the
    session to go on with, None for a new one.
    """

    file: str | None = None
    model: str | None = None
    tools: tuple[str, ...] = ()
    plugins: tuple[str, ...] = ()
    overrides: tuple[str, ...] = ()
    allow: tuple[str, ...] = ()
    ask: tuple[str, ...] = ()
    deny: tuple[str, ...] = ()
    limits: Mapping[str, Any] = field(default_factory=dict)
    session: str | None = None


_FILE = click.option("-c", "--config", "file", metavar="FILE", help="Configuration file (default: found upwards).")
_PLUGINS = click.option(
    "-p", "--plugin", "plugins", metavar="NAME", multiple=True, help="Enable a plugin; 'no:NAME' leaves one out."
)
_OVERRIDES = click.option(
    "-o", "--set", "overrides", metavar="PATH=VALUE", multiple=True, help="Set one value of the configuration."
)
_TOOLS = click.option(
    "-t",
    "--tool",
    "tools",
    metavar="TOOL-OR-SET",
    multiple=True,
    help="Add a set (files, shell), a tool of one, or module:function.",
)
_MODEL = click.option("-m", "--model", "model", metavar="PROVIDER:MODEL", help="The model that answers.")
_AS_JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a table.")
_DENY = click.option("--deny", multiple=True, metavar="PATTERN", help="Never run calls of this tool or pattern.")
_ASK = click.option("--ask", multiple=True, metavar="PATTERN", help="Ask before calls of this tool or pattern.")
_ALLOW = click.option(
    "--allow", multiple=True, metavar="PATTERN", help="Do not ask before calls of this tool or pattern."
)
_DEBUG = click.option("--debug", is_flag=True, help="Print the log and tracebacks on standard error.")


def pass_console(command: Callable[..., int]) -> Callable[..., int]:
    """Give the console to a command, which alone writes to standard output while it works."""

    @click.pass_obj
    @wraps(command)
    def alone(console: Console, /, *words: Any, **chosen: Any) -> int:
        with console.sole_writer():
            return command(console, *words, **chosen)

    return alone


def configuration_options(command: CommandT) -> CommandT:
    """Add -c, -p, -o and --debug to a command."""
    for option in (_DEBUG, _OVERRIDES, _PLUGINS, _FILE):
        command = option(command)
    return command


def agent_options(command: CommandT) -> CommandT:
    """Add -c, -m, -t, -p, -o and --debug to a command."""
    for option in (_DEBUG, _OVERRIDES, _PLUGINS, _TOOLS, _MODEL, _FILE):
        command = option(command)
    return command


def approval_options(command: CommandT) -> CommandT:
    """Add --deny, --ask and --allow to a command: rules of `human-approval` for this run."""
    for option in (_ALLOW, _ASK, _DENY):
        command = option(command)
    return command


def json_option(command: CommandT) -> CommandT:
    """Add --json to a command that prints a table."""
    return _AS_JSON(command)
