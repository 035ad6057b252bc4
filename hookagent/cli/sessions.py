"""`hookagent sessions`: what is kept of former runs, looked at, taken along, checked and removed."""

from __future__ import annotations

import contextlib
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from hookagent.cli.console import Console
from hookagent.cli.failure import FAILED, UsageProblem, report
from hookagent.cli.options import json_option, pass_console
from hookagent.cli.session_options import working_directory
from hookagent.escaping import one_line, paragraphs

if TYPE_CHECKING:
    from hookagent.sessions.store import SessionStore

Form = Literal["jsonl", "yaml", "markdown"]

_FORMS: dict[str, Form] = {
    ".jsonl": "jsonl",
    ".yaml": "yaml",
    ".yml": "yaml",
    ".md": "markdown",
    ".markdown": "markdown",
}
_DEBUG = click.option("--debug", is_flag=True, help="Print the log and tracebacks on standard error.")


@click.group("sessions")
def sessions() -> None:
    """List, show, export, fork, check and remove the sessions that were kept.

    A session is named by its id, or by a beginning of it that no other one has. To go on with one:
    hookagent run --session ID, or --continue for the newest of the working directory.
    """


@sessions.command("list")
@click.option("--all", "everything", is_flag=True, help="Those of all directories, and of nested agents too.")
@json_option
@_DEBUG
@pass_console
def list_sessions(console: Console, /, everything: bool, as_json: bool, debug: bool) -> int:
    """List the sessions of this working directory, the one that was worked on last first.

    The status is that of the last turn. 'waiting' tells how many calls wait for an answer; 'unfinished' means that
    the turn has no end: a process is at work on it, or was ended in the middle.
    """
    from hookagent.cli.session_rows import row_json, rows_text, session_rows

    rows = session_rows(_store(), None if everything else working_directory())
    if as_json:
        console.write(json.dumps([row_json(row) for row in rows], ensure_ascii=True, indent=2) + "\n")
        return 0
    if not rows:
        console.say("no sessions" if everything else "no sessions of this working directory; '--all' lists all")
    console.write(rows_text(console, rows, directories=everything))
    return 0


@sessions.command("show")
@click.argument("beginning", metavar="ID")
@_DEBUG
@pass_console
def show(console: Console, /, beginning: str, debug: bool) -> int:
    """Show what was said in a session, and what waits in it. Long results are cut; 'export' gives all."""
    from hookagent.cli.session_text import session_text
    from hookagent.limits import Limits
    from hookagent.sessions.restore import restore

    store = _store()
    found = store.find(beginning)
    _say_if_at_work(console, store, found)
    console.write(session_text(store.row(found), restore(store.read(found), Limits(), session_id=found)))
    return 0


@sessions.command("export")
@click.argument("beginning", metavar="ID")
@click.option(
    "-f",
    "--format",
    "form",
    type=click.Choice(("jsonl", "yaml", "markdown")),
    help="Every record as a line of JSON, or what was said (default: by the file's ending; markdown).",
)
@click.option("-o", "--output", "file", metavar="FILE", help="Write this new file, for its owner alone.")
@_DEBUG
@pass_console
def export(console: Console, /, beginning: str, form: Form | None, file: str | None, debug: bool) -> int:
    """Write a session as text, exactly as it was: nothing is masked."""
    store = _store()
    found = store.find(beginning)
    form = form or _form_of(file)
    if form != "jsonl":
        _say_if_at_work(console, store, found)
    text = store.export(found, form)
    if file is None:
        console.write(paragraphs(text) if console.out_is_terminal else text)
        return 0
    path = write_new(file, text)
    console.say(f"{path}: written")
    return 0


@sessions.command("fork")
@click.argument("beginning", metavar="ID")
@click.option("--at-turn", type=click.IntRange(min=1), metavar="N", help="Take over what was said up to turn N.")
@click.option("--at-record", type=click.IntRange(min=1), metavar="N", help="The same up to a record of the export.")
@_DEBUG
@pass_console
def fork(console: Console, /, beginning: str, at_turn: int | None, at_record: int | None, debug: bool) -> int:
    """Begin a session that shares the history of another one, and print its id; neither changes the other.

    Go on with it by: hookagent run --session ID "..."
    """
    if at_turn is not None and at_record is not None:
        raise UsageProblem("--at-turn and --at-record: they exclude each other; leave one out")
    store = _store()
    console.write(store.fork(store.find(beginning), at_turn=at_turn, at_record=at_record) + "\n")
    return 0


@sessions.command("rm")
@click.argument("beginnings", nargs=-1, required=True, metavar="ID...")
@click.option("-y", "--yes", is_flag=True, help="Do not ask.")
@_DEBUG
@pass_console
def remove(console: Console, /, beginnings: tuple[str, ...], yes: bool, debug: bool) -> int:
    """Remove sessions and their YAML logs for good; asks first. Forks of them keep what they share.

    One that is in use is not removed. The lines in the text log, which all sessions of an agent share, stay there.
    """
    from hookagent.errors import ConfigurationError
    from hookagent.sessions.log_files import session_log_files

    store = _store()
    ids = list(dict.fromkeys(store.find(one) for one in beginnings))
    if not yes and not _confirmed(console, store, ids):
        console.say("nothing was removed")
        return FAILED
    code = 0
    for one in ids:
        try:
            store.remove(one)
            for path in session_log_files(store.path.parent, one):
                path.unlink(missing_ok=True)
        except (ConfigurationError, OSError) as error:
            code = max(code, report(console, error, debug)[0])
        else:
            console.say(f"session {one}: removed")
    return code


@sessions.command("verify")
@click.argument("beginning", required=False, metavar="[ID]")
@_DEBUG
@pass_console
def verify(console: Console, /, beginning: str | None, debug: bool) -> int:
    """Check one session or all: every record can be read, and gives a conversation. With 1 if anything is wrong."""
    store = _store()
    found = None if beginning is None else store.find(beginning)
    problems = store.verify(found)
    for problem in problems:
        console.write(one_line(problem) + "\n")
    if problems:
        return FAILED
    console.say("no problems" if found is None else f"session {found}: no problems")
    return 0


def _store() -> SessionStore:
    from hookagent.keeping import session_store

    return session_store()


def _say_if_at_work(console: Console, store: SessionStore, session_id: str) -> None:
    """Say that a session has not ended, since its records alone look like those of a process that was killed."""
    from hookagent.sessions.overview import UNFINISHED, overview

    # The lock is looked at only where it matters: for that moment nobody else could take it.
    holder = store.holder(session_id) if overview(store, session_id).status == UNFINISHED else None
    if holder is not None:
        console.say(
            f"session {session_id}: {holder} is at work on it; a call that has no result yet is shown as interrupted"
        )


def _confirmed(console: Console, store: SessionStore, ids: Sequence[str]) -> bool:
    """Ask on the terminal; Enter, end of file and all that is not a yes mean no."""
    from hookagent.sessions.overview import overview

    if not _is_terminal(sys.stdin) or not _is_terminal(sys.stderr):
        raise UsageProblem("rm: nobody can be asked here; say --yes to remove without asking")
    for one in ids:
        console.say(f"session {one}: {one_line(console.mask(overview(store, one).first_prompt), 60) or 'no prompt'}")
    console.say(f"remove {'it' if len(ids) == 1 else f'these {len(ids)}'} for good? [y/N]")
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def _is_terminal(stream: object) -> bool:
    isatty = getattr(stream, "isatty", None)
    try:
        return isatty is not None and bool(isatty())
    except ValueError:
        return False


def _form_of(file: str | None) -> Form:
    return _FORMS.get(Path(file).suffix.lower(), "markdown") if file is not None else "markdown"


def write_new(file: str, text: str) -> Path:
    """Write a file that is not there yet, for its owner alone. Raises `UsageProblem`."""
    from hookagent.sessions.places import private_file

    if not file:
        raise UsageProblem("--output: names no file; write one such as talk.md")
    path = Path(file)
    made = False
    try:
        descriptor = private_file(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL)
        made = True
        with open(descriptor, "w", encoding="utf-8", errors="backslashreplace", newline="\n") as stream:
            stream.write(text)
    except FileExistsError:
        raise UsageProblem(f"{one_line(file)}: there is a file already; name a new one") from None
    except (OSError, ValueError) as error:
        if made:
            # Half of a session would pass for a whole one, and stand in the way of the next attempt.
            with contextlib.suppress(OSError):
                path.unlink()
        reason = getattr(error, "strerror", None) or str(error)
        raise UsageProblem(f"{one_line(file)}: cannot be written: {reason.lower()}; name another file") from None
    return path
