"""`hookagent run`: one task, from the words that were typed to the exit code."""

from __future__ import annotations

import shlex
from contextlib import ExitStack, nullcontext
from typing import TYPE_CHECKING, Any

import click

from hookagent.cli.console import Console
from hookagent.cli.options import Choices, agent_options, read_count

if TYPE_CHECKING:
    from hookagent.agent import Agent
    from hookagent.cli.answer import Answer
    from hookagent.cli.signals import Interrupts
    from hookagent.result import RunResult


@click.command(short_help="Work on a task until it is done, and print the answer.")
@click.argument("task", nargs=-1)
@click.option("-v", "--verbose", is_flag=True, help="One line for each tool call, and the time of hooks.")
@click.option("-q", "--quiet", is_flag=True, help="Nothing but the answer, and errors.")
@click.option("--json", "as_json", is_flag=True, help="One event a line on standard output, the result last.")
@click.option("--max-iterations", callback=read_count, metavar="N", help="Stop after N model calls.")
@click.option("--deny", multiple=True, metavar="PATTERN", help="Never run calls of this tool or pattern.")
@click.option("--ask", multiple=True, metavar="PATTERN", help="Ask before calls of this tool or pattern.")
@click.option("--allow", multiple=True, metavar="PATTERN", help="Do not ask before calls of this tool or pattern.")
@agent_options
@click.pass_obj
def run(
    console: Console, /, task: tuple[str, ...], verbose: bool, quiet: bool, as_json: bool, debug: bool, **chosen: Any
) -> int:
    """Work on TASK until it is done, and print the answer.

    The answer goes to standard output, everything else to standard error. Without TASK, or with '-', the task is
    read from standard input. With both a TASK and piped text, the text follows the task, fenced as data.
    Without -t and 'tools:', the model gets the tools of the set 'files'.
    Without a list of plugins: tool-logging, context-window and human-approval.
    """
    from hookagent.cli.build import build_agent, read_choices, refuse_unguarded
    from hookagent.cli.failure import UsageProblem
    from hookagent.cli.logs import logging_to
    from hookagent.cli.task import read_task

    if quiet and verbose:
        raise UsageProblem("-q and -v: they exclude each other; leave one out")
    if len(task) > 1:
        raise UsageProblem(f"{shlex.quote(task[1])}: a second task; put one task in quotes, and options before a '--'")
    choices = Choices(**chosen)
    prompt = read_task(task[0] if task else None, console)
    with nullcontext() if debug else logging_to(console, debug=False, quiet=quiet):
        loaded = read_choices(choices)
        agent = build_agent(loaded, choices)
        refuse_unguarded(agent, loaded)
        _say_model(console, agent, quiet)
        return _work(console, agent, prompt, verbose=verbose, quiet=quiet, as_json=as_json, debug=debug)


def _say_model(console: Console, agent: Agent, quiet: bool) -> None:
    """Say which model answers and what it can do, before anything is asked of it."""
    notice = agent.provider.notice
    if not quiet:
        console.say(f"model {agent.model}" + (f": {notice}" if notice else ""))


def _work(
    console: Console, agent: Agent, prompt: str, *, verbose: bool, quiet: bool, as_json: bool, debug: bool
) -> int:
    from hookagent.cli.answer import Answer
    from hookagent.cli.closing import closing_line, exit_code, hook_line
    from hookagent.cli.failure import FAILED
    from hookagent.cli.json_lines import JsonLines, failure_line, result_line
    from hookagent.cli.progress import Progress, Ticker
    from hookagent.cli.signals import Interrupts

    progress = Progress(console, quiet=quiet, verbose=verbose)
    answer = Answer(console, live=console.live and not quiet and not as_json)
    with ExitStack() as stack:
        interrupts = stack.enter_context(Interrupts(agent.abort, console))
        with Ticker(progress, console):
            agent.subscribe(progress)
            agent.subscribe(JsonLines(console) if as_json else answer)
            agent.subscribe(_watch(console, agent, interrupts, as_json))
            result, code, errors = _run(console, agent, prompt, debug)
        if result is not None:
            code = max(code, exit_code(result, interrupts.code))
            if not as_json:
                code = _finish(console, answer, result, code, errors, debug)
            _explain(console, result, errors, told=interrupts.received is not None or console.reader_gone)
        code = _close(console, agent, code, errors, debug)
        if not quiet and result is not None:
            if verbose and (hooks := hook_line(result.session)) is not None:
                console.say(hooks)
            console.say(closing_line(result, progress.tool_calls, progress.denied))
        if as_json:
            last = (
                result_line(console, result, code, errors)
                if result is not None
                else failure_line(code or FAILED, errors)
            )
            console.write(last)
            console.json_ended = True
    return code


def _watch(console: Console, agent: Agent, interrupts: Interrupts, as_json: bool) -> Any:
    """A listener for what may have come before the run could be aborted, or while nobody looked."""

    def watch(event: Any) -> None:
        if event.type == "agent_start":
            interrupts.abort_again()
        if as_json and console.reader_gone:
            agent.abort("nobody reads standard output any more")

    return watch


def _run(console: Console, agent: Agent, prompt: str, debug: bool) -> tuple[RunResult | None, int, list[str]]:
    """Run; give the result (also of a run that a plugin's failure ended), the code so far, and what was said."""
    from hookagent.cli.failure import report
    from hookagent.private_loop import run_in_private_loop
    from hookagent.supervise import contained

    # In the private loop, so that this thread stays free for signals, even while a hook blocks the loop; contained,
    # because a keyboard interrupt that a tool raises must come here as a value and not end that loop.
    ended = run_in_private_loop(lambda: contained(agent.run(prompt)), "use the Python interface there")
    if ended.error is None:
        return agent.last_result, 0, []
    code, problems = report(console, ended.error, debug)
    return agent.last_result, code, problems


def _finish(console: Console, answer: Answer, result: RunResult, code: int, errors: list[str], debug: bool) -> int:
    """Write the answer; where there is no room for it, the session is closed in order all the same."""
    from hookagent.cli.failure import FAILED, report

    try:
        answer.finish(result)
    except OSError as error:
        errors.extend(report(console, error, debug)[1])
        return code or FAILED
    return code


def _explain(console: Console, result: RunResult, errors: list[str], *, told: bool) -> None:
    """Say why a run did not complete, unless that was `told` already, and what failed beside it."""
    from hookagent.cli.closing import explanation

    why = explanation(result)
    if why is not None and not errors:
        if not told:
            console.say(f"hookagent: {why}")
        errors.append(console.mask(result.reason or result.status))
    for error in result.errors:
        console.say(f"hookagent: error: {error}")
        errors.append(console.mask(error))
    for warning in result.warnings:
        console.say(f"hookagent: warning: {warning}")


def _close(console: Console, agent: Agent, code: int, errors: list[str], debug: bool) -> int:
    """End the session, and look whether a script was used up; what fails here keeps the answer and gives 1."""
    from hookagent.cli.failure import FAILED, report

    steps = [agent.close_sync]
    finished = getattr(agent.provider, "assert_finished", None)
    if finished is not None and code == 0:
        steps.append(finished)
    for step in steps:
        try:
            step()
        except Exception as error:
            errors.extend(report(console, error, debug)[1])
            code = code or FAILED
    return code
