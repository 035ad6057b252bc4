"""docs/reference/cli.md: the help of every command, as the command prints it."""

from __future__ import annotations

from collections.abc import Iterator

import click

from checks.reference.markdown import code
from hookagent.cli.group import BUILT_IN, root_command

_WIDTH = 96


def page() -> str:
    """The text of the page."""
    head = (
        "# The command\n\n"
        "What each command says of itself with `--help`. Standard output holds the answer (or the table, or the JSON)\n"
        "and nothing else; progress, warnings and errors go to standard error. [Exit codes](exit-codes.md).\n"
    )
    return "\n".join([head, *_sections()])


def _sections() -> Iterator[str]:
    for name, text in helps().items():
        yield f"## {name}\n\n{code(text, 'text')}"


def helps() -> dict[str, str]:
    """The help of each command by its whole name; commands that other distributions add are not among them."""
    root = root_command()
    assert isinstance(root, click.Group)
    found: dict[str, str] = {}
    context = _context(root, "hookagent", None)
    # Only what is built in, whatever else is installed here.
    root.list_commands = lambda ctx: list(BUILT_IN)  # type: ignore[method-assign]
    found["hookagent"] = _without_foreign(root.get_help(context))
    for name in BUILT_IN:
        command = root.get_command(context, name)
        assert command is not None
        _walk(command, f"hookagent {name}", context, found)
    return found


def _walk(command: click.Command, name: str, parent: click.Context, found: dict[str, str]) -> None:
    context = _context(command, name.rpartition(" ")[2], parent)
    found[name] = command.get_help(context)
    if isinstance(command, click.Group):
        for each in command.list_commands(context):
            sub = command.get_command(context, each)
            assert sub is not None
            _walk(sub, f"{name} {each}", context, found)


def _context(command: click.Command, name: str, parent: click.Context | None) -> click.Context:
    settings = dict(command.context_settings) | {"terminal_width": _WIDTH, "max_content_width": _WIDTH}
    return click.Context(command, info_name=name, parent=parent, **settings)


def _without_foreign(text: str) -> str:
    head, marker, rest = text.partition("\nMore commands:\n")
    return head + rest.partition("\n\n")[2] if marker else text
