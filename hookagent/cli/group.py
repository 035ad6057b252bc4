"""Commands by name: what stands in the help is known without loading any of them.

Other distributions add commands by entry point (group `hookagent.commands`: a click command under the name it is
called by). One is loaded when it is called, so a broken one breaks nothing but itself.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import NamedTuple

import click
from click.exceptions import NoSuchCommand

from hookagent.errors import ConfigurationError, PluginLoadError

COMMAND_GROUP = "hookagent.commands"


class Lazy(NamedTuple):
    """Where a command is (`module`, `attribute` in it) and its one line of help."""

    module: str
    attribute: str
    help: str


BUILT_IN: Mapping[str, Lazy] = {
    "run": Lazy("hookagent.cli.run", "run", "Work on a task until it is done, and print the answer."),
    "chat": Lazy("hookagent.cli.chat.command", "chat", "Talk over several turns, and steer while it works."),
    "sessions": Lazy("hookagent.cli.sessions", "sessions", "List, show, export, fork, check and remove sessions."),
    "plugins": Lazy("hookagent.cli.plugins", "plugins", "See which plugins there are and which are enabled."),
    "tools": Lazy("hookagent.cli.tools", "tools", "See which tools a model would get."),
    "config": Lazy("hookagent.cli.config", "config", "Check the configuration, or show what holds."),
}

EPILOG = """\b
Exit codes: 0 completed, 1 failed or stopped by a plugin, 2 usage or configuration,
3 a limit was hit, 4 refused or waiting for an answer, 130 interrupted, 143 terminated.

\b
Environment: HOOKAGENT_HOME (the folder of sessions and logs), HOOKAGENT_PLUGINS (as -p,
parted by commas), ANTHROPIC_API_KEY, OPENAI_API_KEY, OPENAI_BASE_URL and the SDKs' other
own variables, NO_COLOR."""


class LazyGroup(click.Group):
    """A group whose commands are imported when they are called, not when they are listed."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names, built-in ones first."""
        return [*BUILT_IN, *_others()]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Load one. Raises `ConfigurationError` when another distribution's cannot be loaded."""
        known = BUILT_IN.get(cmd_name)
        if known is not None:
            command: click.Command = getattr(importlib.import_module(known.module), known.attribute)
            return command
        return _load_other(cmd_name) if cmd_name in _others() else None

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command that `args` begin with. Raises `click.UsageError`, with what may have been meant."""
        try:
            return super().resolve_command(ctx, args)
        except NoSuchCommand as error:
            name = error.command_name
            if " " in name.strip():
                hint = 'a task stands behind "run", as in: hookagent run "..."'
                raise click.UsageError(f"No such command {name!r}; {hint}") from None
            raise NoSuchCommand(name, possibilities=self.list_commands(ctx), ctx=ctx) from None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of commands without loading one."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, one.help) for name, one in BUILT_IN.items()])
        others = _others()
        if others:
            with formatter.section("More commands"):
                formatter.write_dl([(name, f"From {owners}.") for name, owners in others.items()])


def root_command() -> click.Command:
    """The command `hookagent` itself."""
    from hookagent import __version__

    group = LazyGroup(
        "hookagent",
        help="A small, dependable loop for LLM agents; everything else is a plugin.",
        epilog=EPILOG,
        context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    )
    version = click.version_option(__version__, "--version", prog_name="hookagent", message="%(prog)s %(version)s")
    return version(group)


def _others() -> dict[str, str]:
    """Name and distributions of each command that entry points add; a built-in name cannot be taken."""
    from hookagent.discovery import installed

    found: dict[str, list[str]] = {}
    try:
        entries = installed(COMMAND_GROUP)
    except Exception:
        # Unreadable metadata of some distribution must not cost the help.
        return {}
    for one in entries:
        if one.name not in BUILT_IN:
            found.setdefault(one.name, []).append(one.distribution)
    return {name: " and ".join(owners) for name, owners in found.items()}


def _load_other(name: str) -> click.Command:
    from hookagent.discovery import find

    try:
        found = find(name, COMMAND_GROUP)
        command = found.load()
    except PluginLoadError as error:
        owner = f"command '{name}' ({error.distribution})" if error.distribution else f"command '{name}'"
        raise ConfigurationError(f"{owner}: {error.reason}") from error
    if not isinstance(command, click.Command):
        raise ConfigurationError(
            f"command '{name}' ({found.distribution}): '{found.value}' is a {type(command).__name__}, "
            "not a click command"
        )
    return command
