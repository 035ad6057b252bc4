"""Options that several commands share, and what was chosen by them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

import click

CommandT = TypeVar("CommandT", bound=Callable[..., Any])


def read_count(context: click.Context, option: click.Parameter, value: str | None) -> int | None:
    """Read the value of an option that is a whole number of at least 1. Raises `click.BadParameter` for others."""
    if value is None:
        return None
    text = value.strip()
    if not (text.isascii() and text.isdigit() and len(text) <= 18 and int(text) >= 1):
        raise click.BadParameter(f"expected a whole number of at least 1, got {text!r}", context, option)
    return int(text)


@dataclass(frozen=True, slots=True)
class Choices:
    """What the options say about the agent, as typed.

    `allow`, `ask` and `deny` are patterns of the plugin human-approval, for this run; `file`, `model` and
    `max_iterations` are None where the option was not given.
    """

    file: str | None = None
    model: str | None = None
    tools: tuple[str, ...] = ()
    plugins: tuple[str, ...] = ()
    overrides: tuple[str, ...] = ()
    allow: tuple[str, ...] = ()
    ask: tuple[str, ...] = ()
    deny: tuple[str, ...] = ()
    max_iterations: int | None = None


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
_DEBUG = click.option("--debug", is_flag=True, help="Print the log and tracebacks on standard error.")


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


def json_option(command: CommandT) -> CommandT:
    """Add --json to a command that prints a table."""
    return _AS_JSON(command)
