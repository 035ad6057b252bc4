"""What begins with a slash: looks at the session, or leaves it; nothing of it reaches the model."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Literal, NamedTuple

from hookagent.cli.chat.export import export_transcript
from hookagent.cli.closing import amount, cost_text
from hookagent.cli.console import Console
from hookagent.cli.failure import UsageProblem, report
from hookagent.cli.table import table
from hookagent.cli.tools import tool_table
from hookagent.counting import counted

if TYPE_CHECKING:
    from hookagent.agent import Agent

Obeyed = Literal["text", "done", "refused", "leave"]

# A path that begins with a slash has another one, and is text.
_COMMAND = re.compile(r"/([A-Za-z]+)(?:\s+(.*\S))?\s*", re.DOTALL)


class Command(NamedTuple):
    """A command as typed: its name, and what stands behind it, empty for nothing."""

    name: str
    argument: str


class _Known(NamedTuple):
    argument: str
    help: str
    perform: Callable[[Console, Agent, str], None]


def read_command(line: str) -> Command | None:
    """The command that a line is; None for text, which a line is too that begins with a blank."""
    found = _COMMAND.fullmatch(line)
    return Command(found[1].lower(), found[2] or "") if found is not None else None


def obey(line: str, console: Console, agent: Agent) -> Obeyed:
    """Do what a line says that is a command, and say what became of it; what there is to say goes to standard error.

    "text": it is none. "refused": it does not exist or cannot be done, which was said. "leave": the chat is to end.
    """
    command = read_command(line)
    if command is None:
        return "text"
    if command.name == "quit":
        return "leave"
    try:
        _perform(command, console, agent)
    except UsageProblem as error:
        report(console, error)
        return "refused"
    return "done"


def _perform(command: Command, console: Console, agent: Agent) -> None:
    known = _KNOWN.get(command.name)
    if known is None:
        near = difflib.get_close_matches(command.name, _KNOWN, 1)
        hint = f"did you mean '/{near[0]}'?" if near else "'/help' lists them"
        raise UsageProblem(f"/{command.name}: no such command; {hint} (a blank before it makes it text)")
    if command.argument and not known.argument:
        raise UsageProblem(f"/{command.name}: takes nothing behind it, got {command.argument!r}; leave it out")
    known.perform(console, agent, command.argument)


def _help(console: Console, agent: Agent, argument: str) -> None:
    rows = [(f"/{name} {one.argument}".rstrip(), one.help) for name, one in _KNOWN.items()]
    _say(console, table(("COMMAND", "WHAT IT DOES"), rows))


def _tools(console: Console, agent: Agent, argument: str) -> None:
    _say(console, tool_table(agent) or "no tools")


def _plugins(console: Console, agent: Agent, argument: str) -> None:
    charged = agent.session.hook_calls
    rows = []
    for plugin in agent.plugins:
        calls, seconds = charged.get(plugin.name, (0, 0.0))
        rows.append((plugin.name, plugin.distribution or "-", counted(calls, "call"), f"{seconds * 1000:.1f} ms"))
    _say(console, table(("NAME", "DISTRIBUTION", "HOOKS", "TIME"), rows) or "no plugins")


def _cost(console: Console, agent: Agent, argument: str) -> None:
    session, usage = agent.session, agent.session.usage
    cached = f"{amount(usage.cache_read_tokens)} from the cache, {amount(usage.cache_write_tokens)} into it"
    console.say(
        f"{counted(session.turn, 'turn')}: {amount(usage.prompt_tokens)} in ({cached}) / "
        f"{amount(usage.output_tokens)} out, {cost_text(usage)}"
    )
    for plugin, used in session.plugin_usage.items():
        console.say(
            f"  of that {plugin}: {amount(used.prompt_tokens)} in / {amount(used.output_tokens)} out, {cost_text(used)}"
        )
    if session.context_percent is not None:
        console.say(f"  the window is {session.context_percent:.0f} % full")


def _export(console: Console, agent: Agent, argument: str) -> None:
    path, count = export_transcript(agent, argument)
    console.say(f"{path}: {counted(count, 'message')} written")


def _quit(console: Console, agent: Agent, argument: str) -> None:
    """Stands in the table for its help; leaving is for whoever reads the lines."""


def _say(console: Console, text: str) -> None:
    console.say(text.rstrip("\n"), whole=True)


_KNOWN = {
    "help": _Known("", "List these commands.", _help),
    "tools": _Known("", "List the tools that the model has.", _tools),
    "plugins": _Known("", "List the plugins, and the time that their hooks took.", _plugins),
    "cost": _Known("", "Tokens and cost of the session so far.", _cost),
    "export": _Known("FILE", "Write the transcript to a new file: FILE.md or FILE.jsonl.", _export),
    "quit": _Known("", "Leave, as Ctrl-D does.", _quit),
}
