"""The limits of a run as options: how each is called and read, and what is advised when one was hit."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import fields
from typing import Any, NamedTuple, TypeVar

import click

from hookagent.errors import ConfigurationError
from hookagent.limits import Limits

CommandT = TypeVar("CommandT", bound=Callable[..., Any])

_WHOLE = re.compile(r"[0-9]{1,18}")
_DECIMAL = re.compile(r"[0-9]{1,18}\.[0-9]{0,18}|\.[0-9]{1,18}")
_CLOSING = "closing_answer"


class _Words(NamedTuple):
    """What stands for the value of an option in the help, and what the option does."""

    value: str
    help: str


_WORDS = {
    "max_iterations": _Words("N", "Stop after N model calls."),
    "max_tool_calls": _Words("N", "Stop after N tool calls."),
    "max_tokens": _Words("N", "Stop after N tokens, read and written."),
    "max_input_tokens": _Words("N", "Stop after N tokens read."),
    "max_output_tokens": _Words("N", "Stop after N tokens written."),
    "max_cost_usd": _Words("USD", "Stop at this cost in US dollars; needs a known price."),
    "max_seconds": _Words("SECONDS", "Stop after this time, not counting the time people take to answer."),
    "max_equal_calls": _Words("N", "Stop after N rounds of equal calls with equal results."),
    _CLOSING: _Words("", "At a limit, ask for one last answer, with tools switched off."),
}


def limit_options(command: CommandT) -> CommandT:
    """Add an option for each limit to a command; one that is not given is None there."""
    for name, words in reversed(_WORDS.items()):
        if name == _CLOSING:
            switch = f"{option_name(name)}/--no-{option_name(name).removeprefix('--')}"
            command = click.option(switch, name, default=None, help=words.help)(command)
        else:
            command = click.option(option_name(name), name, callback=_read, metavar=words.value, help=words.help)(
                command
            )
    return command


def option_name(limit: str) -> str:
    """The option for a limit: `max_tokens` gives `--max-tokens`."""
    return f"--{limit.replace('_', '-')}"


def take_limits(chosen: dict[str, Any]) -> dict[str, Any]:
    """Take the limits out of the options that were chosen; returns those that were given, by their names."""
    taken = {one.name: chosen.pop(one.name, None) for one in fields(Limits)}
    return {name: value for name, value in taken.items() if value is not None}


def advice(limit: str | None, reason: str) -> str:
    """What to do about the `limit` that ended a run, to stand behind the `reason`.

    Empty where there is no option for it: the reason says then what to do.
    """
    if limit not in _WORDS:
        return ""
    if limit == "max_cost_usd" and "price is unknown" in reason:
        # A higher one would not hold either.
        return f"; leave it out, or limit tokens with {option_name('max_tokens')}"
    return f"; raise it with {option_name(limit)}"


def _read(context: click.Context, option: click.Parameter, value: str | None) -> int | float | None:
    """Read a number; whether it can be a limit is for `Limits` to say. Raises `click.BadParameter`."""
    if value is None:
        return None
    text = value.strip()
    number = int(text) if _WHOLE.fullmatch(text) else float(text) if _DECIMAL.fullmatch(text) else None
    try:
        Limits.of({str(option.name): text if number is None else number})
    except ConfigurationError as error:
        reason = str(error).removeprefix(f"limits.{option.name}: ")
        raise click.BadParameter(reason, context, option) from None
    return number
