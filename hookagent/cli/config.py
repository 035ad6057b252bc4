"""`hookagent config check` and `config show`: what is wrong with the configuration, and what holds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from hookagent.cli.console import Console
from hookagent.cli.options import Choices, agent_options, configuration_options, pass_console


@click.group("config")
def config() -> None:
    """Check the configuration, or show what holds."""


@config.command("check")
@agent_options
@pass_console
def check(console: Console, /, debug: bool, **chosen: Any) -> int:
    """Report everything that is wrong with the configuration, and exit with 2 if anything is.

    Enabled plugins and named tools are loaded, so that their options are checked too; nothing is asked of a model.
    """
    from hookagent.cli.build import build_agent, read_choices, refuse_unguarded
    from hookagent.config.discover import displayed

    choices = Choices(**chosen)
    loaded = read_choices(choices)
    agent = build_agent(loaded, choices)
    refuse_unguarded(agent, loaded)
    file = displayed(loaded.file, Path.cwd()) if loaded.file is not None else "no configuration file"
    plugins = ", ".join(plugin.name for plugin in agent.plugins) or "none"
    console.write(f"{file}: no problems; plugins: {plugins}; tools: {', '.join(agent.tools.names) or 'none'}\n")
    return 0


@config.command("show")
@configuration_options
@pass_console
def show(console: Console, /, debug: bool, **chosen: Any) -> int:
    """Show the configuration that holds, as YAML, with where each value comes from and no secrets.

    What is not configured is shown as a run would have it: 'default' stands behind it.
    """
    from hookagent.cli.build import read_choices
    from hookagent.cli.defaults import in_force
    from hookagent.config import render_config

    console.write(render_config(in_force(read_choices(Choices(**chosen)))))
    return 0
