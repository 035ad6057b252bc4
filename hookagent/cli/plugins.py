"""`hookagent plugins list`: what is installed, what is enabled, and what cannot be loaded.

Only what is enabled is loaded, one by one; of all others the metadata is read, and their code stays unimported.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import click

from hookagent.cli.console import Console
from hookagent.cli.options import Choices, configuration_options, json_option, pass_console
from hookagent.cli.table import table
from hookagent.errors import ConfigurationError, HookagentError

if TYPE_CHECKING:
    from hookagent.discovery import Installed
    from hookagent.host import LoadedPlugin, PluginEntry


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the list; `hooks` is None for what is not loaded, `reason` says why something is broken."""

    name: str
    distribution: str | None
    version: str | None
    state: str
    hooks: list[str] | None = None
    reason: str | None = None


@click.group("plugins")
def plugins() -> None:
    """See which plugins there are and which are enabled."""


@plugins.command("list")
@json_option
@configuration_options
@pass_console
def list_plugins(console: Console, /, as_json: bool, debug: bool, **chosen: Any) -> int:
    """List all plugins: name, distribution, version, state and hooks.

    'enabled' ones are loaded in call order; 'installed' ones are known but not enabled, and not loaded; 'broken'
    ones are enabled and cannot be loaded. A configuration with errors is reported, and counts as none.
    """
    from hookagent import discovery

    entries = _enabled(console, Choices(**chosen))
    rows = [_row(entry) for entry in entries]
    names = {entry.use for entry in entries}
    rows += [_installed_row(one) for one in discovery.installed() if one.name not in names]
    if as_json:
        console.write(json.dumps([asdict(row) for row in rows], ensure_ascii=True, indent=2) + "\n")
        return 0
    if not rows:
        console.say("no plugins are installed")
    cells = [(row.name, row.distribution or "-", row.version or "-", row.state, _told(row, console)) for row in rows]
    console.write(table(("NAME", "DISTRIBUTION", "VERSION", "STATE", "HOOKS"), cells))
    return 0


def _enabled(console: Console, choices: Choices) -> list[PluginEntry]:
    from hookagent.cli.build import reach_working_directory, read_choices
    from hookagent.cli.enabled import plugin_entries
    from hookagent.cli.failure import problems_of

    try:
        loaded = read_choices(choices)
    except ConfigurationError as error:
        for problem in problems_of(error):
            console.say(f"hookagent: warning: {problem}")
        return []
    reach_working_directory(loaded.config)
    return [entry for _, entry in plugin_entries(loaded)]


def _row(entry: PluginEntry) -> Row:
    from hookagent.contract import CONTRACTS
    from hookagent.host import load_plugins
    from hookagent.registering import hook_table

    loaded: LoadedPlugin
    try:
        (loaded,) = load_plugins([entry])
        hooks = hook_table((loaded,))
    except HookagentError as error:
        return Row(str(entry.use), *_known_owner(str(entry.use)), "broken", None, getattr(error, "reason", str(error)))
    name, version = _parted(loaded.distribution)
    return Row(loaded.name, name, version, "enabled", [hook for hook in CONTRACTS if getattr(hooks, hook)])


def _installed_row(one: Installed) -> Row:
    return Row(one.name, *_parted(one.distribution), "installed")


def _known_owner(name: str) -> tuple[str | None, str | None]:
    from hookagent import discovery

    owners = [one.distribution for one in discovery.installed() if one.name == name]
    return _parted(owners[0]) if len(owners) == 1 else (None, None)


def _parted(distribution: str | None) -> tuple[str | None, str | None]:
    name, _, version = (distribution or "").rpartition(" ")
    return (name or None, version or None)


def _told(row: Row, console: Console) -> str:
    if row.state == "broken":
        return console.mask(row.reason or "")
    if row.hooks is None:
        return "(not loaded)"
    return ", ".join(row.hooks) or "none"
