"""`hookagent tools list`: which tools a model would get, what they can do, and who brings them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from hookagent.cli.console import Console
from hookagent.cli.options import Choices, agent_options, json_option, pass_console
from hookagent.cli.table import table

if TYPE_CHECKING:
    from hookagent.agent import Agent
    from hookagent.tools.tool import Tool


@click.group("tools")
def tools() -> None:
    """See which tools a model would get."""


@tools.command("list")
@json_option
@agent_options
@pass_console
def list_tools(console: Console, /, as_json: bool, debug: bool, **chosen: Any) -> int:
    """List the tools of a run with these options: name, what it can do, who brings it, what it is for.

    What a tool can do: 'reads' changes nothing, 'writes' changes files or data, 'sends' tells somebody else
    something, 'runs_code' can do anything. With --json, also the schema of its arguments.
    """
    from hookagent.cli.build import build_agent, read_choices

    choices = Choices(**chosen)
    agent = build_agent(read_choices(choices), choices)
    if as_json:
        listed = [_as_json(tool, agent) for tool in agent.tools]
        console.write(json.dumps(listed, ensure_ascii=True, indent=2) + "\n")
        return 0
    rows = tool_table(agent)
    if not rows:
        console.say("no tools")
    console.write(rows)
    return 0


def tool_table(agent: Agent) -> str:
    """The tools of an agent as a table; empty when it has none."""
    rows = [(tool.name, tool.effect, _owner(tool, agent), _first_line(tool)) for tool in agent.tools]
    return table(("NAME", "EFFECT", "FROM", "WHAT FOR"), rows)


def _as_json(tool: Tool, agent: Agent) -> dict[str, Any]:
    return {
        "name": tool.name,
        "effect": tool.effect,
        "plugin": agent.tools.owner(tool.name),
        "source": tool.source,
        "description": tool.description,
        "parameters": tool.parameters,
    }


def _owner(tool: Tool, agent: Agent) -> str:
    plugin = agent.tools.owner(tool.name)
    return f"plugin {plugin}" if plugin is not None else tool.source.partition(" ")[0]


def _first_line(tool: Tool) -> str:
    lines = tool.description.strip().splitlines()
    return lines[0] if lines else ""
