"""Errors to messages and exit codes: one line for each problem, and no traceback unless `--debug` asks for one."""

from __future__ import annotations

import errno
import re
import traceback
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext

import click
from click.exceptions import NoArgsIsHelpError, NoSuchCommand, NoSuchOption

from hookagent.cli.console import Console
from hookagent.errors import ConfigurationError, HookagentError, MisuseError, describe_error, describe_os_error

FAILED, USAGE, LIMIT, REFUSED, INTERRUPTED, TERMINATED = 1, 2, 3, 4, 130, 143
"""The exit codes beside 0 (design, "Exit codes")."""
_EXTRA = re.compile(r"Got unexpected extra arguments? \((.*)\)", re.DOTALL)


class UsageProblem(ConfigurationError):
    """What was typed cannot be done; the text says what to type instead."""


def run_guarded(command: click.Command, arguments: Sequence[str]) -> int:
    """Call `command` with `arguments` and return the exit code, whatever it raises."""
    console = Console.of_process()
    debug = "--debug" in _options(arguments)
    try:
        with _log(console) if debug else nullcontext():
            returned = command.main(args=list(arguments), prog_name="hookagent", standalone_mode=False, obj=console)
        return returned if isinstance(returned, int) else 0
    except NoArgsIsHelpError as error:
        console.say(error.ctx.get_help() if error.ctx is not None else error.format_message(), whole=True)
        return USAGE
    except (click.Abort, KeyboardInterrupt):
        console.say("hookagent: interrupted")
        code, problems = INTERRUPTED, ["interrupted"]
    except SystemExit as leaving:
        # click leaves so when the reader of a help page has gone.
        return leaving.code if isinstance(leaving.code, int) else FAILED
    except BaseException as error:
        code, problems = report(console, error, debug)
    _end_json(console, arguments, code, problems)
    return code


def _log(console: Console) -> AbstractContextManager[None]:
    from hookagent.cli.logs import logging_to

    return logging_to(console, debug=True, quiet=False)


def report(console: Console, error: BaseException, debug: bool = False) -> tuple[int, list[str]]:
    """Say what happened on standard error; return the exit code and the problems, masked."""
    problems = [console.mask(problem) for problem in problems_of(error)]
    if debug:
        console.say("".join(traceback.format_exception(error)).rstrip("\n"), whole=True)
    kind = "" if isinstance(error, KeyboardInterrupt) else "error: "
    for problem in problems:
        console.say(f"hookagent: {kind}{problem}")
    return code_of(error), problems


def code_of(error: BaseException) -> int:
    """The exit code for an exception: 2 for what the user wrote, 130 for an interrupt, 1 for all else."""
    if isinstance(error, KeyboardInterrupt):
        return INTERRUPTED
    if isinstance(error, ConfigurationError | MisuseError | click.UsageError):
        return USAGE
    return FAILED


def problems_of(error: BaseException) -> list[str]:
    """The problems an exception stands for, each a line that begins with the culprit."""
    if isinstance(error, click.ClickException):
        return list(_click_problems(error))
    if isinstance(error, KeyboardInterrupt):
        return ["interrupted"]
    if isinstance(error, HookagentError):
        # A configuration error is one problem a line; a foreign text with lines in it is still one problem.
        several = getattr(error, "problems", None)
        return [str(one) for one in several] if several else [str(error) or type(error).__name__]
    if isinstance(error, OSError):
        if error.errno == errno.ENOSPC:
            return ["standard output cannot be written: no space left on device; free some, and run it again"]
        return [describe_os_error(error)]
    return [f"internal error: {describe_error(error)}; '--debug' shows where"]


def _click_problems(error: click.ClickException) -> Iterator[str]:
    # `message` is without the sentence on what else could have been meant, which is put into our words here.
    message = (error.message or error.format_message()).removesuffix(".")
    missing = isinstance(error, click.MissingParameter)
    near = getattr(error, "possibilities", None)
    if isinstance(error, click.BadParameter) and error.param is not None and not missing:
        yield f"{error.param.opts[-1]}: {message}"
        return
    if near and isinstance(error, NoSuchOption | NoSuchCommand):
        hint = f"; did you mean '{near[0]}'?"
    elif isinstance(error, click.UsageError) and error.ctx is not None:
        hint = f"; see '{error.ctx.command_path} --help'"
    else:
        hint = ""
    extra = _EXTRA.fullmatch(message)
    message = f"'{extra[1]}': nothing more was expected here" if extra else f"{message[:1].lower()}{message[1:]}"
    yield f"{message}{hint}"


def _options(arguments: Sequence[str]) -> list[str]:
    """The words before a `--`, behind which everything is text."""
    return list(arguments[: arguments.index("--")]) if "--" in arguments else list(arguments)


def _end_json(console: Console, arguments: Sequence[str], code: int, problems: list[str]) -> None:
    """End `run --json` with its last line, also where not even the options could be read."""
    before = _options(arguments)
    command = next((word for word in before if not word.startswith("-")), None)
    if command == "run" and "--json" in before and not console.json_ended:
        from hookagent.cli.json_lines import failure_line

        console.write(failure_line(code, problems))
        console.json_ended = True
